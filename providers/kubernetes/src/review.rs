//! What the apply of a plan will need and this identity may not: asked of the API server, which knows its own rules.
//!
//! Once per verb and kind where several namespaces are meant; where that is denied, once per namespace; again by name only
//! where that is denied, too, since roles may name single objects.

use std::collections::{BTreeMap, BTreeSet};

use engine_diag::Severity;
use engine_model::{
    address::ResourceAddr,
    change::{Action, ResourceChange},
    finding::{Finding, Place, Review},
};
use engine_value::Path;
use futures::{StreamExt, stream};
use providers_api::Call;

use crate::{
    cluster::{
        Cluster,
        access::{Access, Asked},
        discovery::Lookup,
    },
    object::key::ObjectKey,
    resource::object::announced::Announced,
};

/// Questions under way at a time: enough to hide the latency, few enough not to be throttled.
const AT_ONCE: usize = 8;

/// So many objects of a kind are asked about by name where the whole kind is denied.
const BY_NAME: usize = 100;

/// What the apply of these changes will lack.
pub(crate) async fn review(
    cluster: &Cluster,
    changes: &[(&ResourceChange, ObjectKey)],
    announced: &Announced,
    call: Call<'_>,
) -> Review {
    let mut needs: Vec<(&ResourceChange, &ObjectKey, Asked)> = Vec::new();
    for (change, key) in changes {
        let kind = match cluster.kind(&key.api_version, &key.kind, call).await {
            Ok(Lookup::Served(kind)) => (*kind).clone(),
            Ok(Lookup::Missing(_)) => {
                let definition = announced.definition(&key.api_version, &key.kind);
                match definition.and_then(|definition| definition.kind(&key.api_version, &key.kind)) {
                    Some(kind) => kind,
                    None => continue,
                }
            }
            // What cannot be asked about is told where it is planned.
            Err(_) => continue,
        };
        needs.extend(verbs(change.action).iter().map(|verb| (*change, key, Asked::new(verb, &kind, key))));
    }
    let distinct: BTreeSet<Asked> = needs.iter().map(|(_, _, asked)| asked.clone()).collect();
    let mut answers = ask_widely(cluster, distinct, call).await;
    if answers.values().any(|answer| *answer == Access::Refused) {
        return Review { findings: vec![cannot_tell()], ..Review::default() };
    }
    let mut by_name: BTreeMap<Asked, BTreeSet<Asked>> = BTreeMap::new();
    for (_, key, asked) in needs.iter().filter(|(_, _, asked)| asked.verb != "create") {
        if answers.get(asked) == Some(&Access::Denied) {
            by_name.entry(asked.clone()).or_default().insert(asked.of_name(&key.name));
        }
    }
    let named = by_name.into_values().filter(|names| names.len() <= BY_NAME).flatten().collect();
    answers.extend(ask(cluster, named, call).await);

    let mut lacks: BTreeMap<&ResourceAddr, (&ResourceChange, &ObjectKey, Vec<Asked>)> = BTreeMap::new();
    for (change, key, asked) in &needs {
        let denied = |asked: &Asked| answers.get(asked) == Some(&Access::Denied);
        let named = asked.of_name(&key.name);
        if denied(asked) && (!answers.contains_key(&named) || denied(&named)) {
            lacks.entry(&change.addr).or_insert_with(|| (change, key, Vec::new())).2.push(asked.clone());
        }
    }
    let findings = lacks.into_values().map(|(change, key, asked)| lacking(change, key, &asked)).collect();
    Review { findings, ..Review::default() }
}

/// The verbs that carrying out a change needs.
fn verbs(action: Action) -> &'static [&'static str] {
    match action {
        Action::Create => &["get", "create", "patch"],
        Action::Update => &["get", "patch"],
        // It is waited for until it is gone.
        Action::Delete => &["get", "list", "watch", "delete"],
        Action::Replace(_) => &["get", "list", "watch", "create", "patch", "delete"],
        Action::NoOp | Action::Read | Action::Forget => &[],
    }
}

/// The answers to all of these, by as few questions as serve: what is allowed in all namespaces is so in each.
async fn ask_widely(cluster: &Cluster, asked: BTreeSet<Asked>, call: Call<'_>) -> BTreeMap<Asked, Access> {
    let mut places: BTreeMap<Asked, BTreeSet<Asked>> = BTreeMap::new();
    for one in &asked {
        if let Some(wide) = one.of_all_namespaces() {
            places.entry(wide).or_default().insert(one.clone());
        }
    }
    places.retain(|_, places| places.len() > 1);
    let wide = ask(cluster, places.keys().cloned().collect(), call).await;
    let allowed = wide.into_iter().filter(|(_, answer)| *answer == Access::Allowed);
    let mut answers: BTreeMap<Asked, Access> =
        allowed.filter_map(|(wide, _)| places.remove(&wide)).flatten().map(|one| (one, Access::Allowed)).collect();
    let rest = asked.into_iter().filter(|one| !answers.contains_key(one)).collect();
    answers.extend(ask(cluster, rest, call).await);
    answers
}

async fn ask(cluster: &Cluster, asked: BTreeSet<Asked>, call: Call<'_>) -> BTreeMap<Asked, Access> {
    stream::iter(asked)
        .map(|asked| async move {
            let answer = cluster.may(&asked, call).await;
            (asked, answer)
        })
        .buffer_unordered(AT_ONCE)
        .collect()
        .await
}

fn lacking(change: &ResourceChange, key: &ObjectKey, asked: &[Asked]) -> Finding {
    let happens = match change.action {
        Action::Create => "created",
        Action::Delete => "destroyed",
        Action::Replace(_) => "replaced",
        _ => "updated",
    };
    let verbs: Vec<&str> = asked.iter().map(|asked| asked.verb).collect();
    let place = asked.first().map(Asked::place).unwrap_or_default();
    Finding {
        severity: Severity::Warning,
        code: "kubernetes_forbidden".to_owned(),
        summary: "Apply will not be allowed".to_owned(),
        detail: format!("{key} is to be {happens}, and this identity may not {} {place}.", verbs.join(" or ")),
        hint: Some("Ask for a role that allows it, or apply as another identity.".to_owned()),
        places: vec![("the object".to_owned(), Place::new(change.addr.clone(), Path::root()))],
    }
}

fn cannot_tell() -> Finding {
    Finding {
        severity: Severity::Warning,
        code: "kubernetes_access_unknown".to_owned(),
        summary: "Whether apply will be allowed is not known".to_owned(),
        detail: "This identity may not ask what it may do, so rights that it lacks are found only at apply.".to_owned(),
        hint: Some("Bind it to the cluster role system:basic-user, which every identity usually has.".to_owned()),
        places: Vec::new(),
    }
}
