//! What would become of a manifest: the API server says it, by a dry run, wherever it can be asked.

use engine_diag::sentence;
use engine_value::{Data, Path, Type, Value};
use providers_api::{Call, Issue, PlanRequest, Planned};
use serde_json::Value as Json;

use super::{config::Config, read::with_object};
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
    resource::issue::{failed, owned, within, wrong},
};

/// What the API server says about a manifest.
enum Verdict {
    /// This is what the object would be, of what the manifest says.
    Object(Json),
    /// Fields that cannot be changed stand against it.
    Immutable(Vec<Path>),
    /// It cannot be asked, and why.
    Unverified(String),
}

/// Why the new one of a replacement of the same name is not verified.
const ANEW: &str = "it is made anew, which can be checked only when the old one is gone";

/// Plans one object. See the crate's contract.
///
/// `standing` is the object of this address that is destroyed first, where one half of a replacement is planned.
pub(crate) async fn plan(
    cluster: &Cluster,
    request: PlanRequest,
    standing: Option<ObjectKey>,
    call: Call<'_>,
) -> Result<Planned, Vec<Issue>> {
    if request.config.is_null() {
        return Ok(Planned::object(request.config));
    }
    let config = Config::of(&request.proposed);
    let before = (!request.prior.is_null()).then(|| Config::of(&request.prior));
    let mut replace = before.as_ref().map(|before| identity_changes(before, &config)).unwrap_or_default();
    let is_update = before.is_some() && replace.is_empty();
    let mut issues = Vec::new();
    let verdict = match (&config.body, config.key()) {
        (Some(body), Some(key)) => {
            let stands = standing.as_ref() == Some(&key);
            let question = Question { config: &config, body, key: &key, is_update, stands };
            ask(cluster, &question, call, &mut issues).await?
        }
        _ => Verdict::Unverified("parts of the manifest are known only after apply".to_owned()),
    };
    let (mut object, mut unverified) = (None, None);
    match verdict {
        Verdict::Object(found) => object = Some(with_uid(from_json(&found), uid(&request.prior, is_update))),
        Verdict::Immutable(paths) => {
            replace.extend(paths);
            unverified = Some(ANEW.to_owned());
        }
        Verdict::Unverified(why) => {
            unverified = Some(why);
            // What is configured as before, and was then accepted, is to be as it was then.
            if before.is_some_and(|before| is_update && before.manifest == config.manifest) {
                object = request.stored.get("object").map(|stored| with_uid(stored.clone(), uid(&request.prior, true)));
            }
        }
    }
    let is_replaced = !replace.is_empty();
    let object = object.unwrap_or_else(|| skeleton(&config, uid(&request.prior, is_update && !is_replaced)));
    Ok(Planned { replace, unverified, issues, ..Planned::object(with_object(&request.proposed, object)) })
}

/// Parts of the name that differ, or may: then it is another object.
fn identity_changes(before: &Config, after: &Config) -> Vec<Path> {
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
        let part = |config: &Config| {
            names.iter().try_fold(config.manifest.clone(), |at, name| {
                if at.is_known() { at.get(name).cloned() } else { Some(Value::unknown(Type::Dynamic)) }
            })
        };
        let (before, after) = (part(before).unwrap_or(absent.clone()), part(after).unwrap_or(absent.clone()));
        !after.is_known() || read(&before) != read(&after)
    });
    changed.map(|(names, _)| names.iter().fold(root(), |path, name| path.attr(*name))).collect()
}

struct Question<'a> {
    config: &'a Config,
    body: &'a Json,
    key: &'a ObjectKey,
    is_update: bool,
    /// It is there, and destroyed first.
    stands: bool,
}

async fn ask(
    cluster: &Cluster,
    question: &Question<'_>,
    call: Call<'_>,
    issues: &mut Vec<Issue>,
) -> Result<Verdict, Vec<Issue>> {
    let Question { config, body, key, .. } = question;
    let unreachable = |error| vec![failed(root(), &format!("Cannot plan {key}"), &error)];
    let kind = match cluster.kind(&key.api_version, &key.kind, call).await.map_err(unreachable)? {
        Lookup::Served(kind) => kind,
        Lookup::Missing(missing) if missing.is_built_in() => return Err(vec![unknown_kind(&missing)]),
        Lookup::Missing(missing) => {
            let hint = if missing.hint.is_empty() { String::new() } else { format!(" ({})", missing.hint) };
            return Ok(Verdict::Unverified(format!("{}{hint}", missing.what())));
        }
    };
    check_scope(&kind, key)?;
    let sent = cluster.dry_run(&kind, key, body, &config.manager, call).await.map_err(unreachable)?;
    let what = key.to_string();
    match sent {
        Ok(object) => {
            if !question.is_update && !question.stands && exists(&object) {
                taken_over(cluster, &kind, question, call, issues).await?;
            }
            Ok(Verdict::Object(project(&without((*body).clone(), &config.left_out), &object, &config.manager.name)))
        }
        Err(status) => match refusal(&status) {
            Refusal::NoNamespace(namespace) => {
                Ok(Verdict::Unverified(format!("namespace {namespace} does not exist yet")))
            }
            Refusal::NoKind => Ok(Verdict::Unverified(format!("the cluster does not serve {} any more", key.kind))),
            Refusal::NotAllowed => {
                Ok(Verdict::Unverified(format!("this identity may not apply {what}, not even for show")))
            }
            Refusal::Immutable(fields) if question.is_update => {
                Ok(Verdict::Immutable(fields.iter().map(|field| within(&root(), field, body)).collect()))
            }
            Refusal::Owned(_) | Refusal::Immutable(_) if question.stands => Ok(Verdict::Unverified(ANEW.to_owned())),
            Refusal::Immutable(_) => {
                taken_over(cluster, &kind, question, call, issues).await?;
                Ok(Verdict::Unverified("an object of this name is there, and has to go first".to_owned()))
            }
            Refusal::Owned(conflicts) => Err(owned(&root(), body, &what, &conflicts)
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
            Refusal::Wrong(causes) => Err(wrong(&root(), body, &what, causes)),
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
    call: Call<'_>,
    issues: &mut Vec<Issue>,
) -> Result<(), Vec<Issue>> {
    let Question { config, key, .. } = question;
    let live = cluster.get(kind, key, call).await;
    match live.map_err(|error| vec![failed(root(), &format!("Cannot plan {key}"), &error)])? {
        Some(live) if !is_applied_by(&live, &config.manager.name) => {
            let detail = format!("{key} is in the cluster, and was not made under this address.");
            let hint = "Give this one another name, or remove the other.";
            Err(vec![Issue::error(root().attr("metadata").attr("name"), "Object exists already", detail).hint(hint)])
        }
        Some(_) => {
            let detail = format!(
                "{key} is in the cluster, and the field manager {} has applied it before: it is taken over.",
                config.manager.name
            );
            issues.push(
                Issue::warning(root().attr("metadata").attr("name"), "Object exists already", detail).hint(
                    "That is right after an interrupted run. Where another configuration manages it, rename one.",
                ),
            );
            Ok(())
        }
        None => Ok(()),
    }
}

fn unknown_kind(missing: &Missing) -> Issue {
    let at = root().attr(if missing.version_served { "kind" } else { "apiVersion" });
    let issue = Issue::error(at, "Unknown kind", sentence(&missing.what()));
    if missing.hint.is_empty() { issue } else { issue.hint(missing.hint.clone()) }
}

fn check_scope(kind: &Kind, key: &ObjectKey) -> Result<(), Vec<Issue>> {
    match &key.namespace {
        Some(namespace) if !kind.namespaced => {
            let detail = format!("A {} belongs to the cluster, and cannot lie in namespace {namespace}.", kind.kind);
            let at = root().attr("metadata").attr("namespace");
            Err(vec![Issue::error(at, "Namespace of a cluster-scoped object", detail).hint("Remove it.")])
        }
        _ => Ok(()),
    }
}

fn root() -> Path {
    Path::root().attr("manifest")
}

/// The UID that the object has, or will be given.
fn uid(prior: &Value, is_update: bool) -> Value {
    let known = Path::root().attr("object").attr("metadata").attr("uid").get(prior).filter(|_| is_update);
    known.unwrap_or_else(|| Value::unknown(Type::String))
}

fn with_uid(object: Value, uid: Value) -> Value {
    Path::root().attr("metadata").attr("uid").set(&object, uid).unwrap_or(object)
}

/// What is known of an object that could not be asked for: its name and kind. The rest may be spelled in another way by
/// the server, so that nothing can be promised.
fn skeleton(config: &Config, uid: Value) -> Value {
    let Some(fields) = config.manifest.as_map() else { return Value::unknown(Type::Dynamic) };
    let left_out = |path: &[&str]| config.left_out.iter().any(|names| names.iter().eq(path.iter()));
    let unknown = || Value::unknown(Type::Dynamic);
    let mut object: Vec<(String, Value)> = Vec::new();
    let is_secret = fields.get("kind").and_then(Value::as_str) == Some("Secret");
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
        object.push((if is_secret && &**name == "stringData" { "data".to_owned() } else { name.to_string() }, value));
    }
    Value::object(object)
}

/// Null, or empty but for nulls: then it is not in `object`.
fn says_nothing(value: &Value) -> bool {
    match &value.data {
        Data::Null(_) => true,
        Data::Object(parts) | Data::Map(_, parts) => parts.values().all(Value::is_null),
        Data::List(_, parts) | Data::Set(_, parts) | Data::Tuple(parts) => parts.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(manifest: Value) -> Config {
        Config::of(&Value::object([("manifest", manifest)]))
    }

    #[test]
    fn another_name_is_another_object() {
        let base = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}});
        let with = |pointer: &str, value: &str| {
            let mut manifest = base.clone();
            let (around, name) = pointer.rsplit_once('/').unwrap();
            manifest.pointer_mut(around).unwrap()[name] = value.into();
            manifest
        };
        let cases: [(Json, &[&str]); 6] = [
            (base.clone(), &[]),
            (with("/apiVersion", "apps/v2"), &[]),
            (with("/metadata/namespace", "default"), &[]),
            (with("/apiVersion", "batch/v1"), &["manifest.apiVersion"]),
            (with("/metadata/namespace", "b"), &["manifest.metadata.namespace"]),
            (with("/metadata/name", "b"), &["manifest.metadata.name"]),
        ];
        for (after, expected) in cases {
            let changed = identity_changes(&config(from_json(&base)), &config(from_json(&after)));
            let changed: Vec<String> = changed.iter().map(Path::to_string).collect();
            assert_eq!(changed, expected, "{after}");
        }
    }

    #[test]
    fn a_name_that_is_not_known_may_be_another() {
        let manifest = |name: Value| {
            let metadata = Value::object([("name", name)]);
            config(Value::object([("apiVersion", "v1".into()), ("kind", "Node".into()), ("metadata", metadata)]))
        };
        let changed = identity_changes(&manifest("a".into()), &manifest(Value::unknown(Type::String)));
        assert_eq!(changed.iter().map(Path::to_string).collect::<Vec<_>>(), ["manifest.metadata.name"]);
    }

    #[test]
    fn what_cannot_be_asked_is_promised_by_name_only() {
        let manifest = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "labels": {"b": "c"}},
            "stringData": {"x": "y"}, "type": null});
        let object = skeleton(&config(from_json(&manifest)), Value::unknown(Type::String));
        let metadata = object.get("metadata").unwrap();
        assert_eq!(metadata.get("name"), Some(&Value::from("a")));
        assert!(!metadata.get("labels").unwrap().is_known());
        assert!(!metadata.get("uid").unwrap().is_known());
        let names: Vec<&str> = object.as_map().unwrap().keys().map(AsRef::as_ref).collect();
        assert_eq!(names, ["apiVersion", "data", "kind", "metadata"]);
    }
}
