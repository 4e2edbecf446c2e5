//! What would become of an object: the API server says it, by a dry run, wherever it can be asked.

use std::sync::Arc;

use engine_diag::{Severity, sentence};
use engine_model::address::ResourceAddr;
use engine_value::{Data, Path, Type, Value};
use providers_api::{Call, Issue, Planned, ProviderError};
use serde_json::Value as Json;

use super::{Conflicts, Desired, Places, UNVERIFIED, announced::Announced, invalid, says_nothing};
use crate::{
    cluster::{
        Cluster,
        discovery::{Kind, Lookup, Missing, is_built_in},
    },
    object::{
        convert::from_json,
        key::ObjectKey,
        owner::conflicts,
        predecessor::is_predecessor,
        project::{project, without},
        refusal::{Refusal, narrowed, refusal},
        shape::is_applied_by,
    },
    resource::issue::{At, failed, owned, wrong},
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

/// What the API server says.
enum Answer {
    /// This is what the object would be.
    Object(Json),
    /// Fields that cannot be changed stand against it.
    Immutable(Vec<Path>),
    /// It cannot be asked.
    Unverified(Unverified),
}

/// Why an object is planned without the API server.
struct Unverified {
    /// For people.
    why: String,
    /// May another change of the plan bring what is missing?
    waits: bool,
    /// The change that brings it.
    after: Vec<ResourceAddr>,
    /// The schema that it will have; `None`: the one that the cluster has, or the built-in one.
    schema: Option<Schema>,
}

impl Unverified {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), waits: false, after: Vec::new(), schema: None }
    }
}

impl From<Unverified> for Answer {
    fn from(unverified: Unverified) -> Self {
        Self::Unverified(unverified)
    }
}

/// Why the new one of a replacement of the same name is not verified.
const ANEW: &str = "it is made anew, which can be checked only when the old one is gone";

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

async fn ask(
    cluster: &Cluster,
    question: &Question<'_>,
    is_update: bool,
    call: Call<'_>,
    issues: &mut Vec<Issue>,
) -> Result<Answer, Vec<Issue>> {
    let Question { desired, around, places, .. } = question;
    let Some((api_version, name)) = desired.kind() else { return Ok(Unverified::new(PARTS).into()) };
    let definition = around.announced.definition(api_version, name);
    if let Some(definition) = definition {
        let Some(schema) = definition.schema(api_version) else {
            let versions = definition.versions();
            if versions.is_empty() {
                return Ok(
                    Unverified { after: vec![definition.addr.clone()], ..Unverified::new(&definition.what) }.into()
                );
            }
            let detail = format!("{}, and serves {name} as {}.", definition.what, versions.join(", "));
            return Err(vec![Issue::error(places(&Path::root().attr("apiVersion")), "Unknown version", detail)]);
        };
        check_scope(schema.namespaced, desired, *places)?;
        let after = vec![definition.addr.clone()];
        return Ok(Unverified { after, schema: Some(schema.clone()), ..Unverified::new(&definition.what) }.into());
    }
    if let Some(why) = cluster.is_to_come() {
        let schema = Schema::of_builtin(api_version, name);
        if let Some(issue) = invalid::unknown_kind(api_version, name, *places).filter(|_| schema.is_none()) {
            return Err(vec![issue]);
        }
        check_scope(schema.as_ref().and_then(|schema| schema.namespaced), desired, *places)?;
        let after = desired.key().and_then(|key| around.announced.namespace(&key).cloned()).into_iter().collect();
        // A definition, or the namespace, may come in this plan.
        let waits = schema.is_none_or(|schema| schema.namespaced == Some(true));
        return Ok(Unverified { waits, after, ..Unverified::new(why) }.into());
    }
    let (Some(body), Some(key)) = (&desired.json, desired.key()) else {
        return Ok(Unverified::new(PARTS).into());
    };
    let root = || places(&Path::root());
    let unreachable = |error| vec![failed(root(), &format!("Cannot plan {key}"), &error)];
    let kind = match cluster.kind(&key.api_version, &key.kind, call).await.map_err(unreachable)? {
        Lookup::Served(kind) => kind,
        Lookup::Missing(missing) if missing.is_built_in() => return Err(vec![unknown_kind(&missing, *places)]),
        Lookup::Missing(missing) => {
            let hint = if missing.hint.is_empty() { String::new() } else { format!(" ({})", missing.hint) };
            return Ok(Unverified { waits: true, ..Unverified::new(format!("{}{hint}", missing.what())) }.into());
        }
    };
    check_scope(Some(kind.namespaced), desired, *places)?;
    if let Some(addr) = around.announced.namespace(&key) {
        let why = format!("namespace {} is created in this plan", key.namespace.as_deref().unwrap_or_default());
        return Ok(Unverified { after: vec![addr.clone()], ..Unverified::new(why) }.into());
    }
    let asked = Asked { cluster, question, kind: &kind, key: &key, body, is_update };
    asked.dry_run(call, issues).await
}

/// Why what has unknown parts is not verified.
const PARTS: &str = "parts of it are known only after apply";

/// An object that the API server is asked about.
struct Asked<'a> {
    cluster: &'a Cluster,
    question: &'a Question<'a>,
    kind: &'a Kind,
    key: &'a ObjectKey,
    body: &'a Json,
    is_update: bool,
}

impl Asked<'_> {
    fn at(&self, field: &str) -> Path {
        (self.question.places)(&self.question.desired.place(field))
    }

    fn unreachable(&self, error: &ProviderError) -> Vec<Issue> {
        vec![failed(self.at(""), &format!("Cannot plan {}", self.key), error)]
    }

    async fn dry_run(&self, call: Call<'_>, issues: &mut Vec<Issue>) -> Result<Answer, Vec<Issue>> {
        let Self { cluster, kind, key, body, is_update, .. } = self;
        let Question { desired, around, .. } = self.question;
        let stands = around.standing.as_ref() == Some(*key);
        let at = |field: &str| self.at(field);
        let mut manager = desired.manager();
        manager.force = desired.conflicts == Conflicts::Taken;
        let mut sent = cluster.dry_run(kind, key, body, &manager, call).await.map_err(|e| self.unreachable(&e))?;
        let what = key.to_string();
        if let Err(status) = &sent
            && let Refusal::Owned(conflicts) = refusal(status)
        {
            let is_inherited = *is_update && conflicts.iter().all(|(manager, _)| is_predecessor(manager));
            if desired.conflicts == Conflicts::TakenAndTold && !is_inherited {
                for issue in owned(&at, &what, &conflicts) {
                    let hint = "It is taken over. Where the other manager writes it again, leave it out here.";
                    issues.push(Issue { severity: Severity::Warning, ..issue.hint(hint) });
                }
            }
            if desired.conflicts == Conflicts::TakenAndTold || is_inherited {
                manager.force = true;
                sent = cluster.dry_run(kind, key, body, &manager, call).await.map_err(|e| self.unreachable(&e))?;
            }
        }
        let status = match sent {
            Ok(object) => {
                if !is_update && !stands && exists(&object) {
                    self.taken_over(call, issues).await?;
                }
                let body = without((*body).clone(), &desired.left_out);
                return Ok(Answer::Object(project(&body, &object, &manager.name)));
            }
            Err(status) => status,
        };
        match refusal(&status) {
            Refusal::NoNamespace(namespace) => {
                let why = format!("namespace {namespace} does not exist yet");
                Ok(Unverified { waits: true, ..Unverified::new(why) }.into())
            }
            Refusal::NoKind => Ok(Unverified::new(format!("the cluster does not serve {} any more", key.kind)).into()),
            Refusal::NotAllowed => {
                self.foreign(call).await?;
                Ok(Unverified::new(format!("this identity may not apply {what}, not even for show")).into())
            }
            Refusal::Immutable(fields) if *is_update => {
                let before =
                    self.question.prior.as_ref().and_then(|prior| prior.desired.json.clone()).unwrap_or_default();
                let fields = fields.iter().flat_map(|field| narrowed(&status, field, &before, body));
                Ok(Answer::Immutable(fields.map(|field| at(&field)).collect()))
            }
            Refusal::Owned(_) | Refusal::Immutable(_) if stands => Ok(Unverified::new(ANEW).into()),
            Refusal::Immutable(_) => {
                self.taken_over(call, issues).await?;
                Ok(Unverified::new("an object of this name is there, and has to go first").into())
            }
            Refusal::Owned(conflicts) => Err(refused_as_owned(&at, &what, &conflicts)),
            Refusal::Changed(message) => {
                let issue = Issue::error(at(""), format!("{what} is refused"), sentence(&message));
                Err(vec![issue.hint("Plan again.")])
            }
            // Its definition may change in this plan.
            Refusal::Wrong(causes) if !around.is_last && !is_built_in(&key.api_version) => {
                let why = format!("{what} is refused: {}", causes.first().map_or("", |(what, _)| what));
                Ok(Unverified { waits: true, ..Unverified::new(why) }.into())
            }
            Refusal::Wrong(causes) => Err(wrong(&at, &what, causes)),
        }
    }

    /// Who may not ask the server is told of conflicts all the same: the object tells who owns what.
    async fn foreign(&self, call: Call<'_>) -> Result<(), Vec<Issue>> {
        let Question { desired, .. } = self.question;
        if desired.conflicts != Conflicts::Refused {
            return Ok(());
        }
        let Ok(Some(live)) = self.cluster.get(self.kind, self.key, call).await else { return Ok(()) };
        let found = conflicts(&live, self.body, &desired.manager);
        let found: Vec<(String, String)> =
            found.into_iter().filter(|(manager, _)| !self.is_update || !is_predecessor(manager)).collect();
        let issues = refused_as_owned(&|field| self.at(field), &self.key.to_string(), &found);
        if issues.is_empty() { Ok(()) } else { Err(issues) }
    }

    /// An object of this name is there although the state has none. One that we applied ourselves is what an interrupted
    /// run left; anybody else's is not ours to take.
    async fn taken_over(&self, call: Call<'_>, issues: &mut Vec<Issue>) -> Result<(), Vec<Issue>> {
        let Self { cluster, kind, key, .. } = self;
        let Question { desired, places, .. } = self.question;
        let name = places(&Path::root().attr("metadata").attr("name"));
        let live = cluster.get(kind, key, call).await;
        match live.map_err(|error| self.unreachable(&error))? {
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
                issues.push(Issue::warning(name, "Object exists already", detail).hint(
                    "That is right after an interrupted run. Where another configuration manages it, rename one.",
                ));
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn refused_as_owned(at: At<'_>, what: &str, conflicts: &[(String, String)]) -> Vec<Issue> {
    let hint = "Leave the field out, have the other manager give it up, or take it with \
                `field_manager { force_conflicts = true }`.";
    owned(at, what, conflicts).into_iter().map(|issue| issue.hint(hint)).collect()
}

/// Does the answer to a dry run tell of an object that is there? A new one has no version yet.
fn exists(object: &Json) -> bool {
    object.pointer("/metadata/resourceVersion").and_then(Json::as_str).is_some_and(|version| !version.is_empty())
}

fn unknown_kind(missing: &Missing, places: Places<'_>) -> Issue {
    let at = places(&Path::root().attr(if missing.version_served { "kind" } else { "apiVersion" }));
    let issue = Issue::error(at, "Unknown kind", sentence(&missing.what()));
    if missing.hint.is_empty() { issue } else { issue.hint(missing.hint.clone()) }
}

fn check_scope(namespaced: Option<bool>, desired: &Desired, places: Places<'_>) -> Result<(), Vec<Issue>> {
    let part = |name: &str| desired.body.get(name);
    let namespace = part("metadata").and_then(|metadata| metadata.get("namespace")?.as_str());
    match namespace.filter(|namespace| !namespace.is_empty()) {
        Some(namespace) if namespaced == Some(false) => {
            let kind = part("kind").and_then(Value::as_str).unwrap_or_default();
            let detail = format!("A {kind} belongs to the cluster, and cannot lie in namespace {namespace}.");
            let at = places(&Path::root().attr("metadata").attr("namespace"));
            Err(vec![Issue::error(at, "Namespace of a cluster-scoped object", detail).hint("Remove it.")])
        }
        _ => Ok(()),
    }
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
    }
}
