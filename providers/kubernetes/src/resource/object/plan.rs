//! What would become of an object: the API server says it, by a dry run, wherever it can be asked.

use std::sync::Arc;

use engine_diag::Severity;
use engine_model::address::ResourceAddr;
use engine_value::{Data, Path, Type, Value};
use providers_api::{Call, Issue, Planned};

use super::{
    Desired, Places, UNVERIFIED,
    announced::Announced,
    ask::{ANEW, Answer, Unverified, ask},
    invalid, says_nothing,
};
use crate::{
    cluster::Cluster,
    object::{body::is_hollow, convert::from_json, key::ObjectKey},
    schema::{Schema, predict::predict},
};

/// What is asked.
pub(crate) struct Question<'a> {
    /// As it is to become.
    pub(crate) desired: &'a Desired,
    /// What the state has of this address; `None`: nothing.
    pub(crate) prior: Option<Prior<'a>>,
    /// What surrounds it.
    pub(crate) around: &'a Around,
    /// Where issues point.
    pub(crate) places: Places<'a>,
}

/// What surrounds an object in its plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    /// The object of this address that is destroyed first, where one half of a replacement is planned.
    pub(crate) standing: Option<ObjectKey>,
    /// What other changes bring, as far as it is known.
    pub(crate) announced: Arc<Announced>,
    /// Is all of it known? Then the object is planned for the last time.
    pub(crate) is_last: bool,
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
    /// See [`Planned::waits`].
    pub(crate) waits: bool,
    /// See [`Planned::after`].
    pub(crate) after: Vec<ResourceAddr>,
}

impl Verdict {
    /// The plan of a resource: its own object, and what else there is to say.
    pub(crate) fn planned(self, object: Value) -> Planned {
        Planned {
            replace: self.replace,
            private: if self.unverified.is_some() { UNVERIFIED.to_vec() } else { Vec::new() },
            unverified: self.unverified,
            issues: self.issues,
            waits: self.waits,
            after: self.after,
            ..Planned::object(object)
        }
    }
}

/// Plans one object.
///
/// # Errors
/// What is wrong with it, or with the world, each at its place.
pub(crate) async fn plan(cluster: &Cluster, question: &Question<'_>, call: Call<'_>) -> Result<Verdict, Vec<Issue>> {
    let Question { desired, prior, .. } = question;
    let replace = prior.as_ref().map(|prior| renamed(prior.desired, question)).unwrap_or_default();
    let kept = prior.as_ref().filter(|_| replace.is_empty());
    let object = kept.map(|prior| prior.object.clone()).unwrap_or_else(|| Value::null(Type::Dynamic));
    let mut verdict =
        Verdict { object, replace, unverified: None, issues: Vec::new(), waits: false, after: Vec::new() };
    if kept.is_some_and(|prior| stays(prior, desired)) {
        return Ok(verdict);
    }
    let uid = kept.and_then(|prior| prior.object.get("metadata")?.get("uid").cloned());
    let uid = |is_kept: bool| uid.clone().filter(|_| is_kept).unwrap_or_else(|| Value::unknown(Type::String));
    match ask(cluster, question, kept.is_some(), call, &mut verdict.issues).await? {
        Answer::Object(found) => verdict.object = with_uid(from_json(&found), uid(true)),
        Answer::Immutable(paths) => {
            verdict.replace.extend(paths);
            verdict.object = skeleton(desired, uid(false));
            verdict.unverified = Some(ANEW.to_owned());
        }
        Answer::Unverified(unverified) => {
            verdict.object = match kept.filter(|prior| prior.desired.body == desired.body) {
                // What is wanted as before, and was then accepted, is to be as it was then.
                Some(prior) => with_uid(prior.stored.clone(), uid(true)),
                None => predicted(cluster, question, &unverified, uid(true), call, &mut verdict.issues).await?,
            };
            verdict.unverified = Some(unverified.why);
            (verdict.waits, verdict.after) = (unverified.waits, unverified.after);
        }
    }
    Ok(verdict)
}

/// What the schema of its kind promises of an object that nobody could be asked about; without a schema its name.
///
/// # Errors
/// What is wrong with it by that schema.
async fn predicted(
    cluster: &Cluster,
    question: &Question<'_>,
    unverified: &Unverified,
    uid: Value,
    call: Call<'_>,
    issues: &mut Vec<Issue>,
) -> Result<Value, Vec<Issue>> {
    let Question { desired, places, .. } = question;
    let Some((api_version, kind)) = desired.kind() else { return Ok(skeleton(desired, uid)) };
    let schema = match &unverified.schema {
        Some(schema) => Some(schema.clone()),
        None if cluster.is_to_come().is_some() => None,
        None => cluster.schema(api_version, kind, call).await,
    };
    let built_in = Schema::of_builtin(api_version, kind);
    let tells_less = |schema: &Schema| built_in.is_some() && !schema.tells_lists();
    let schema = schema.filter(|schema| !tells_less(schema)).or_else(|| built_in.clone());
    let Some(schema) = schema.filter(|_| !unverified.waits || question.around.is_last) else {
        return Ok(skeleton(desired, uid));
    };
    let what = desired.key().map_or_else(|| kind.to_owned(), |key| key.to_string());
    let found = invalid::invalid(&schema, desired, &what, *places);
    if found.iter().any(|issue| issue.severity == Severity::Error) {
        return Err(found);
    }
    issues.extend(found);
    let said = without_fields(desired.body.clone(), &desired.left_out);
    // What may or may not be there cannot be shown as a field.
    Ok(with_uid(predict(&schema, &said), uid))
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

/// The body without the fields at these paths.
fn without_fields(object: Value, paths: &[Vec<String>]) -> Value {
    paths.iter().fold(object, |object, names| {
        let Some((last, before)) = names.split_last() else { return object };
        let around = before.iter().fold(Path::root(), |path, name| path.attr(name.as_str()));
        match around.get(&object).as_ref().and_then(Value::as_map) {
            Some(fields) => {
                let rest = fields.iter().filter(|(name, _)| ***name != **last);
                let rest = Value::object(rest.map(|(name, value)| (name.to_string(), value.clone())));
                if around.is_root() { rest } else { around.set(&object, rest).unwrap_or(object) }
            }
            None => object,
        }
    })
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
            // Whether it is there cannot be shown as a field.
            _ if is_hollow(value) => return unknown(),
            _ => unknown(),
        };
        object.push((name.to_string(), value));
    }
    Value::object(object)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::{super::Conflicts, *};

    fn desired(body: Value) -> Desired {
        Desired::new(body, "sliceform", Conflicts::Refused)
    }

    fn changed(before: Value, after: Value) -> Vec<String> {
        let (before, after) = (desired(before), desired(after));
        let (around, places) = (Around::default(), |path: &Path| path.clone());
        let question = Question { desired: &after, prior: None, around: &around, places: &places };
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
        // The server leaves such a part out, or does not.
        let body = json!({"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "overhead": {"podFixed": {}}});
        assert!(!skeleton(&desired(from_json(&body)), Value::unknown(Type::String)).is_known());
    }
}
