//! What would become of a namespace.

use engine_diag::sentence;
use engine_model::host::Host;
use engine_value::{Path, Type, Value};
use providers_api::{Call, Issue, PlanRequest, Planned};
use serde_json::Value as Json;

use super::metadata::{MAPS, body, get, key, path, set};
use crate::{
    cluster::{Cluster, DEFAULT_MANAGER, FieldManager, discovery::Lookup},
    object::{
        key::ObjectKey,
        refusal::{Refusal, refusal},
        shape::is_applied_by,
    },
    resource::issue::{failed, owned, wrong},
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
    let PlanRequest { prior, config, proposed, .. } = request;
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
    let body = name.as_str().and_then(|name| Some((name.to_owned(), body(&planned.object, name)?)));
    match body {
        Some((name, body)) => {
            let is_ours = is_update || standing == Some(key(&name));
            planned.unverified = ask(cluster, &name, &body, is_ours, call, &mut planned.issues).await?;
        }
        None => planned.unverified = Some("its name, a label or an annotation is known only after apply".to_owned()),
    }
    Ok(planned)
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

/// Asks the server by a dry run; gives why it could not be asked.
async fn ask(
    cluster: &Cluster,
    name: &str,
    body: &Json,
    is_ours: bool,
    call: Call<'_>,
    issues: &mut Vec<Issue>,
) -> Result<Option<String>, Vec<Issue>> {
    let key = key(name);
    let failed = |error| vec![failed(path(), &format!("Cannot plan {key}"), &error)];
    let Lookup::Served(kind) = cluster.kind("v1", "Namespace", call).await.map_err(failed)? else {
        return Err(vec![Issue::error(path(), "Unknown kind", "The API server does not serve namespaces.")]);
    };
    let mut manager = FieldManager { name: DEFAULT_MANAGER.to_owned(), force: false };
    let mut sent = cluster.dry_run(&kind, &key, body, &manager, call).await.map_err(failed)?;
    if let Err(status) = &sent
        && let Refusal::Owned(conflicts) = refusal(status)
    {
        // This type has no way to ask for force: it takes what it is configured to be, and says from whom.
        for issue in owned(&path().parent().unwrap_or_default(), &serde_json::json!({}), &key.to_string(), &conflicts) {
            issues.push(Issue {
                severity: engine_diag::Severity::Warning,
                ..issue.hint("It is taken over. Where the other manager writes it again, leave it out here.")
            });
        }
        manager.force = true;
        sent = cluster.dry_run(&kind, &key, body, &manager, call).await.map_err(failed)?;
    }
    let object = match sent {
        Ok(object) => object,
        Err(status) => {
            return match refusal(&status) {
                Refusal::NotAllowed => Ok(Some(format!("this identity may not apply {key}, not even for show"))),
                Refusal::Wrong(causes) => Err(wrong(&Path::root(), body, &key.to_string(), causes)),
                _ => Err(vec![Issue::error(path(), format!("{key} is refused"), sentence(&status.message))]),
            };
        }
    };
    let version = object.pointer("/metadata/resourceVersion").and_then(Json::as_str).unwrap_or_default();
    if is_ours || version.is_empty() {
        return Ok(None);
    }
    match cluster.get(&kind, &key, call).await.map_err(failed)? {
        Some(live) if !is_applied_by(&live, DEFAULT_MANAGER) => {
            let detail = format!("{key} is in the cluster, and was not made under this address.");
            let hint = "Give this one another name, or leave the namespace to whoever made it.";
            Err(vec![Issue::error(path().attr("name"), "Object exists already", detail).hint(hint)])
        }
        Some(_) => {
            let detail = format!("{key} is in the cluster, and we have applied it before: it is taken over.");
            issues.push(
                Issue::warning(path().attr("name"), "Object exists already", detail).hint(
                    "That is right after an interrupted run. Where another configuration manages it, rename one.",
                ),
            );
            Ok(None)
        }
        None => Ok(None),
    }
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
