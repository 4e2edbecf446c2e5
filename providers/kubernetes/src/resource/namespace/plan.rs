//! What would become of a namespace.

use engine_model::host::Host;
use engine_value::{Path, Type, Value};
use providers_api::{Call, Issue, PlanRequest, Planned};

use super::metadata::{MAPS, desired, get, path, place, set};
use crate::{
    cluster::Cluster,
    object::key::ObjectKey,
    resource::object::{
        self,
        plan::{Prior, Question},
    },
};

/// Plans one namespace. See the crate's contract.
///
/// `standing` is the namespace of this address that is destroyed first, where one half of a replacement is planned.
pub(crate) async fn plan(
    cluster: &Cluster,
    request: PlanRequest,
    standing: Option<ObjectKey>,
    call: Call<'_>,
) -> Result<Planned, Vec<Issue>> {
    if request.config.is_null() {
        return Ok(Planned::object(request.config));
    }
    let PlanRequest { prior, stored, config, proposed, .. } = request;
    let mut replace = Vec::new();
    if !prior.is_null() {
        let differs = |name: &str| {
            let (before, after) = (get(&prior, name), get(&config, name));
            after.is_some_and(|after| !after.is_null() && Some(&after) != before.as_ref())
        };
        replace
            .extend(["name", "generate_name"].into_iter().filter(|name| differs(name)).map(|name| path().attr(name)));
    }
    let is_update = !prior.is_null() && replace.is_empty();
    let name = name(&config, if is_update { Some(&prior) } else { None }, call.host);
    let mut object = set(&proposed, "name", name.clone());
    object = Path::root().attr("id").set(&object, name.clone()).unwrap_or(object);
    let changes = MAPS.iter().any(|field| get(&config, field) != get(&prior, field));
    if !is_update || changes {
        object = set(&object, "resource_version", Value::unknown(Type::String));
    }
    if !is_update {
        object = set(&object, "generation", Value::unknown(Type::Number));
        object = set(&object, "uid", Value::unknown(Type::String));
    }
    let mut planned = Planned { replace, ..Planned::object(object) };
    let wanted = desired(&planned.object);
    let before = is_update.then(|| desired(if stored.is_null() { &prior } else { &stored }));
    let prior = before.as_ref().map(|before| Prior {
        desired: before,
        object: desired(&prior).body,
        stored: before.body.clone(),
    });
    let question = Question { desired: &wanted, prior, standing: standing.as_ref(), places: &place };
    let verdict = object::plan::plan(cluster, &question, call).await?;
    planned.replace.extend(verdict.replace);
    Ok(Planned { unverified: verdict.unverified, issues: verdict.issues, ..planned })
}

/// The name: configured, or the one it has, or made up now, so that the plan tells it and an interrupted apply finds it.
fn name(config: &Value, prior: Option<&Value>, host: &dyn Host) -> Value {
    let configured = get(config, "name").filter(|name| !name.is_null());
    if let Some(name) = configured.or_else(|| get(prior?, "name")) {
        return name;
    }
    match get(config, "generate_name") {
        Some(prefix) => match prefix.as_str() {
            Some(text) => Value::from(format!("{text}{}", suffix(host))).mark(prefix.marks),
            None => Value::unknown(Type::String),
        },
        None => Value::unknown(Type::String),
    }
}

/// Five characters of the alphabet that Kubernetes takes for generated names: no vowels, so no words.
fn suffix(host: &dyn Host) -> String {
    const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut bytes = [0; 5];
    host.random(&mut bytes);
    bytes.iter().map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()])).collect()
}

#[cfg(test)]
mod tests {
    use engine_model::host::FixedHost;

    use super::*;

    #[test]
    fn generated_names_are_told_at_plan_and_kept() {
        let metadata = |name: Option<&str>| {
            let name = name.map_or(Value::null(Type::String), Value::from);
            let metadata = Value::object([("name", name), ("generate_name", "team-".into())]);
            Value::object([("metadata", Value::list(metadata.type_of(), vec![metadata]))])
        };
        let made = name(&metadata(None), None, &FixedHost::new(0));
        let text = made.as_str().unwrap();
        assert!(text.starts_with("team-") && text.len() == 10, "{text}");
        assert_eq!(name(&metadata(None), Some(&metadata(Some("team-x"))), &FixedHost::new(0)), Value::from("team-x"));
    }
}
