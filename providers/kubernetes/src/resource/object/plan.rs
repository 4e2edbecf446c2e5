//! What would become of an object: the API server says it, by a dry run, wherever it can be asked.

use engine_diag::sentence;
use engine_value::{Data, Path, Type, Value};
use providers_api::{Call, Issue};
use serde_json::Value as Json;

use super::{Conflicts, Desired, Places, says_nothing};
use crate::{
    cluster::{
        Cluster,
        discovery::{Kind, Lookup, Missing},
    },
    object::{
        convert::from_json,
        key::ObjectKey,
        project::{project, without},
        refusal::{Refusal, refusal},
        shape::is_applied_by,
    },
    resource::issue::{failed, owned, wrong},
};

/// What is asked.
pub(crate) struct Question<'a> {
    /// As it is to become.
    pub(crate) desired: &'a Desired,
    /// What the state has of this address; `None`: nothing.
    pub(crate) prior: Option<Prior<'a>>,
    /// The object of this address that is destroyed first, where one half of a replacement is planned.
    pub(crate) standing: Option<&'a ObjectKey>,
    /// Where issues point.
    pub(crate) places: Places<'a>,
}

/// What the state has.
pub(crate) struct Prior<'a> {
    /// As it was wanted when it was last applied.
    pub(crate) desired: &'a Desired,
    /// Of the object, as it is now, what `desired` says, and `metadata.uid`.
    pub(crate) object: Value,
    /// The same as it was left by the last apply.
    pub(crate) stored: Value,
}

/// What would become of it.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// Of the object what `desired` says, as the server spells it, and `metadata.uid`. Unknown where nobody can tell.
    pub(crate) object: Value,
    /// Places that cannot be changed; not empty: the object is replaced.
    pub(crate) replace: Vec<Path>,
    /// Set where the server was not asked, and why.
    pub(crate) unverified: Option<String>,
    /// Warnings.
    pub(crate) issues: Vec<Issue>,
}

/// What the API server says.
enum Answer {
    /// This is what the object would be.
    Object(Json),
    /// Fields that cannot be changed stand against it.
    Immutable(Vec<Path>),
    /// It cannot be asked, and why.
    Unverified(String),
}

/// Why the new one of a replacement of the same name is not verified.
const ANEW: &str = "it is made anew, which can be checked only when the old one is gone";

/// Plans one object.
///
/// # Errors
/// What is wrong with it, or with the world, each at its place.
pub(crate) async fn plan(cluster: &Cluster, question: &Question<'_>, call: Call<'_>) -> Result<Verdict, Vec<Issue>> {
    let Question { desired, prior, .. } = question;
    let mut replace = prior.as_ref().map(|prior| renamed(prior.desired, question)).unwrap_or_default();
    let kept = prior.as_ref().filter(|_| replace.is_empty());
    if let Some(prior) = kept.filter(|prior| stays(prior, desired)) {
        let object = prior.object.clone();
        return Ok(Verdict { object, replace, unverified: None, issues: Vec::new() });
    }
    let uid = kept.and_then(|prior| prior.object.get("metadata")?.get("uid").cloned());
    let uid = |is_kept: bool| uid.clone().filter(|_| is_kept).unwrap_or_else(|| Value::unknown(Type::String));
    let mut issues = Vec::new();
    let answer = match (&desired.json, desired.key()) {
        (Some(body), Some(key)) => ask(cluster, question, kept.is_some(), body, &key, call, &mut issues).await?,
        _ => Answer::Unverified("parts of it are known only after apply".to_owned()),
    };
    let (object, unverified) = match answer {
        Answer::Object(found) => (with_uid(from_json(&found), uid(true)), None),
        Answer::Immutable(paths) => {
            replace.extend(paths);
            (skeleton(desired, uid(false)), Some(ANEW.to_owned()))
        }
        // What is wanted as before, and was then accepted, is to be as it was then.
        Answer::Unverified(why) => match kept.filter(|prior| prior.desired.body == desired.body) {
            Some(prior) => (with_uid(prior.stored.clone(), uid(true)), Some(why)),
            None => (skeleton(desired, uid(true)), Some(why)),
        },
    };
    Ok(Verdict { object, replace, unverified, issues })
}

/// Is there nothing to ask? It is wanted as it was when it was last applied, and is as that left it.
fn stays(prior: &Prior<'_>, desired: &Desired) -> bool {
    prior.desired.json.is_some()
        && prior.desired.body == desired.body
        && prior.desired.manager == desired.manager
        && prior.desired.left_out == desired.left_out
        && !prior.object.is_null()
        && prior.object == prior.stored
}

/// Parts of the name that differ, or may: then it is another object.
fn renamed(before: &Desired, question: &Question<'_>) -> Vec<Path> {
    let group =
        |value: &Value| value.as_str().map(|text| text.split_once('/').map_or("", |(group, _)| group).to_owned());
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let namespace =
        |value: &Value| Some(value.as_str().filter(|text| !text.is_empty()).unwrap_or("default").to_owned());
    type Read<'a> = &'a dyn Fn(&Value) -> Option<String>;
    let parts: [(&[&str], Read<'_>); 4] = [
        (&["apiVersion"], &group),
        (&["kind"], &text),
        (&["metadata", "namespace"], &namespace),
        (&["metadata", "name"], &text),
    ];
    let absent = Value::null(Type::String);
    let changed = parts.into_iter().filter(|(names, read)| {
        let part = |desired: &Desired| {
            names.iter().try_fold(desired.body.clone(), |at, name| {
                if at.is_known() { at.get(name).cloned() } else { Some(Value::unknown(Type::Dynamic)) }
            })
        };
        let (before, after) =
            (part(before).unwrap_or(absent.clone()), part(question.desired).unwrap_or(absent.clone()));
        !after.is_known() || read(&before) != read(&after)
    });
    let place = |names: &[&str]| names.iter().fold(Path::root(), |path, name| path.attr(*name));
    changed.map(|(names, _)| (question.places)(&place(names))).collect()
}

async fn ask(
    cluster: &Cluster,
    question: &Question<'_>,
    is_update: bool,
    body: &Json,
    key: &ObjectKey,
    call: Call<'_>,
    issues: &mut Vec<Issue>,
) -> Result<Answer, Vec<Issue>> {
    let Question { desired, standing, places, .. } = question;
    let stands = *standing == Some(key);
    let at = |field: &str| places(&desired.place(field));
    let root = || places(&Path::root());
    let unreachable = |error| vec![failed(root(), &format!("Cannot plan {key}"), &error)];
    let kind = match cluster.kind(&key.api_version, &key.kind, call).await.map_err(unreachable)? {
        Lookup::Served(kind) => kind,
        Lookup::Missing(missing) if missing.is_built_in() => return Err(vec![unknown_kind(&missing, *places)]),
        Lookup::Missing(missing) => {
            let hint = if missing.hint.is_empty() { String::new() } else { format!(" ({})", missing.hint) };
            return Ok(Answer::Unverified(format!("{}{hint}", missing.what())));
        }
    };
    check_scope(&kind, key, *places)?;
    let mut manager = desired.manager();
    manager.force = desired.conflicts == Conflicts::Taken;
    let mut sent = cluster.dry_run(&kind, key, body, &manager, call).await.map_err(unreachable)?;
    let what = key.to_string();
    if desired.conflicts == Conflicts::TakenAndTold
        && let Err(status) = &sent
        && let Refusal::Owned(conflicts) = refusal(status)
    {
        for issue in owned(&at, &what, &conflicts) {
            let issue = issue.hint("It is taken over. Where the other manager writes it again, leave it out here.");
            issues.push(Issue { severity: engine_diag::Severity::Warning, ..issue });
        }
        manager.force = true;
        sent = cluster.dry_run(&kind, key, body, &manager, call).await.map_err(unreachable)?;
    }
    match sent {
        Ok(object) => {
            if !is_update && !stands && exists(&object) {
                taken_over(cluster, &kind, question, key, call, issues).await?;
            }
            Ok(Answer::Object(project(&without(body.clone(), &desired.left_out), &object, &manager.name)))
        }
        Err(status) => match refusal(&status) {
            Refusal::NoNamespace(namespace) => {
                Ok(Answer::Unverified(format!("namespace {namespace} does not exist yet")))
            }
            Refusal::NoKind => Ok(Answer::Unverified(format!("the cluster does not serve {} any more", key.kind))),
            Refusal::NotAllowed => {
                Ok(Answer::Unverified(format!("this identity may not apply {what}, not even for show")))
            }
            Refusal::Immutable(fields) if is_update => {
                Ok(Answer::Immutable(fields.iter().map(|field| at(field)).collect()))
            }
            Refusal::Owned(_) | Refusal::Immutable(_) if stands => Ok(Answer::Unverified(ANEW.to_owned())),
            Refusal::Immutable(_) => {
                taken_over(cluster, &kind, question, key, call, issues).await?;
                Ok(Answer::Unverified("an object of this name is there, and has to go first".to_owned()))
            }
            Refusal::Owned(conflicts) => Err(owned(&at, &what, &conflicts)
                .into_iter()
                .map(|issue| {
                    issue.hint(
                        "Leave the field out, have the other manager give it up, or take it with \
                         `field_manager { force_conflicts = true }`.",
                    )
                })
                .collect()),
            Refusal::Changed(message) => {
                Err(vec![Issue::error(root(), format!("{what} is refused"), sentence(&message)).hint("Plan again.")])
            }
            Refusal::Wrong(causes) => Err(wrong(&at, &what, causes)),
        },
    }
}

/// Does the answer to a dry run tell of an object that is there? A new one has no version yet.
fn exists(object: &Json) -> bool {
    object.pointer("/metadata/resourceVersion").and_then(Json::as_str).is_some_and(|version| !version.is_empty())
}

/// An object of this name is there although the state has none. One that we applied ourselves is what an interrupted run
/// left; anybody else's is not ours to take.
async fn taken_over(
    cluster: &Cluster,
    kind: &Kind,
    question: &Question<'_>,
    key: &ObjectKey,
    call: Call<'_>,
    issues: &mut Vec<Issue>,
) -> Result<(), Vec<Issue>> {
    let Question { desired, places, .. } = question;
    let name = places(&Path::root().attr("metadata").attr("name"));
    let live = cluster.get(kind, key, call).await;
    match live.map_err(|error| vec![failed(places(&Path::root()), &format!("Cannot plan {key}"), &error)])? {
        Some(live) if !is_applied_by(&live, &desired.manager) => {
            let detail = format!("{key} is in the cluster, and was not made under this address.");
            let hint = "Import it, give this one another name, or remove the other.";
            Err(vec![Issue::error(name, "Object exists already", detail).hint(hint)])
        }
        Some(_) => {
            let detail = format!(
                "{key} is in the cluster, and the field manager {} has applied it before: it is taken over.",
                desired.manager
            );
            issues.push(
                Issue::warning(name, "Object exists already", detail).hint(
                    "That is right after an interrupted run. Where another configuration manages it, rename one.",
                ),
            );
            Ok(())
        }
        None => Ok(()),
    }
}

fn unknown_kind(missing: &Missing, places: Places<'_>) -> Issue {
    let at = places(&Path::root().attr(if missing.version_served { "kind" } else { "apiVersion" }));
    let issue = Issue::error(at, "Unknown kind", sentence(&missing.what()));
    if missing.hint.is_empty() { issue } else { issue.hint(missing.hint.clone()) }
}

fn check_scope(kind: &Kind, key: &ObjectKey, places: Places<'_>) -> Result<(), Vec<Issue>> {
    match &key.namespace {
        Some(namespace) if !kind.namespaced => {
            let detail = format!("A {} belongs to the cluster, and cannot lie in namespace {namespace}.", kind.kind);
            let at = places(&Path::root().attr("metadata").attr("namespace"));
            Err(vec![Issue::error(at, "Namespace of a cluster-scoped object", detail).hint("Remove it.")])
        }
        _ => Ok(()),
    }
}

fn with_uid(object: Value, uid: Value) -> Value {
    Path::root().attr("metadata").attr("uid").set(&object, uid).unwrap_or(object)
}

/// What is known of an object that could not be asked for: its name and kind. The rest may be spelled in another way by
/// the server, so that nothing can be promised.
fn skeleton(desired: &Desired, uid: Value) -> Value {
    let Some(fields) = desired.body.as_map() else { return Value::unknown(Type::Dynamic) };
    let left_out = |path: &[&str]| desired.left_out.iter().any(|names| names.iter().eq(path.iter()));
    let unknown = || Value::unknown(Type::Dynamic);
    let mut object: Vec<(String, Value)> = Vec::new();
    for (name, value) in fields.iter().filter(|(name, value)| !says_nothing(value) && !left_out(&[name])) {
        let value = match name.as_ref() {
            "apiVersion" | "kind" => value.clone(),
            "metadata" => match &value.data {
                Data::Object(metadata) | Data::Map(_, metadata) => {
                    let parts =
                        metadata.iter().filter(|(name, value)| !says_nothing(value) && !left_out(&["metadata", name]));
                    let parts = parts.map(|(name, value)| match name.as_ref() {
                        "name" | "namespace" => (name.to_string(), value.clone()),
                        _ => (name.to_string(), unknown()),
                    });
                    Value::object(parts.chain([("uid".to_owned(), uid.clone())]))
                }
                _ => unknown(),
            },
            "status" => continue,
            _ => unknown(),
        };
        object.push((name.to_string(), value));
    }
    Value::object(object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn desired(body: Value) -> Desired {
        Desired::new(body, "sliceform", Conflicts::Refused)
    }

    fn changed(before: Value, after: Value) -> Vec<String> {
        let (before, after) = (desired(before), desired(after));
        let question = Question { desired: &after, prior: None, standing: None, places: &|path: &Path| path.clone() };
        renamed(&before, &question).iter().map(Path::to_string).collect()
    }

    #[test]
    fn another_name_is_another_object() {
        let base = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}});
        let with = |pointer: &str, value: &str| {
            let mut body = base.clone();
            let (around, name) = pointer.rsplit_once('/').unwrap();
            body.pointer_mut(around).unwrap()[name] = value.into();
            body
        };
        let cases: [(Json, &[&str]); 6] = [
            (base.clone(), &[]),
            (with("/apiVersion", "apps/v2"), &[]),
            (with("/metadata/namespace", "default"), &[]),
            (with("/apiVersion", "batch/v1"), &["apiVersion"]),
            (with("/metadata/namespace", "b"), &["metadata.namespace"]),
            (with("/metadata/name", "b"), &["metadata.name"]),
        ];
        for (after, expected) in cases {
            assert_eq!(changed(from_json(&base), from_json(&after)), expected, "{after}");
        }
    }

    #[test]
    fn a_name_that_is_not_known_may_be_another() {
        let body = |name: Value| {
            let metadata = Value::object([("name", name)]);
            Value::object([("apiVersion", "v1".into()), ("kind", "Node".into()), ("metadata", metadata)])
        };
        assert_eq!(changed(body("a".into()), body(Value::unknown(Type::String))), ["metadata.name"]);
    }

    #[test]
    fn what_cannot_be_asked_is_promised_by_name_only() {
        let body = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "labels": {"b": "c"}},
            "stringData": {"x": "y"}, "type": null});
        let object = skeleton(&desired(from_json(&body)), Value::unknown(Type::String));
        let metadata = object.get("metadata").unwrap();
        assert_eq!(metadata.get("name"), Some(&Value::from("a")));
        assert!(!metadata.get("labels").unwrap().is_known());
        assert!(!metadata.get("uid").unwrap().is_known());
        let names: Vec<&str> = object.as_map().unwrap().keys().map(AsRef::as_ref).collect();
        assert_eq!(names, ["apiVersion", "data", "kind", "metadata"]);
    }
}
