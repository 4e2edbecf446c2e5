//! Asking the API server what would become of an object, by a dry run; or why it cannot be asked.

use engine_diag::{Severity, sentence};
use engine_model::address::ResourceAddr;
use engine_value::{Path, Value};
use kube::core::Status;
use providers_api::{Call, Issue, ProviderError};
use serde_json::Value as Json;

use super::{Conflicts, Desired, Places, invalid, plan::Question};
use crate::{
    cluster::{
        Cluster,
        discovery::{Kind, Lookup, Missing, is_built_in},
    },
    object::{
        key::ObjectKey,
        owner::conflicts,
        place::says,
        predecessor::is_predecessor,
        project::{project, without},
        refusal::{Refusal, narrowed, refusal},
        shape::is_applied_by,
    },
    resource::issue::{At, failed, owned, wrong},
    schema::Schema,
};

/// What the API server says.
pub(super) enum Answer {
    /// This is what the object would be.
    Object(Json),
    /// Fields that cannot be changed stand against it.
    Immutable(Vec<Path>),
    /// It cannot be asked.
    Unverified(Unverified),
}

/// Why an object is planned without the API server.
pub(super) struct Unverified {
    /// For people.
    pub(super) why: String,
    /// May another change of the plan bring what is missing?
    pub(super) waits: bool,
    /// The change that brings it.
    pub(super) after: Vec<ResourceAddr>,
    /// The schema that it will have; `None`: the one that the cluster has, or the built-in one.
    pub(super) schema: Option<Schema>,
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

/// Why the new one of a replacement of the same name is not verified, and what the API server says against a change.
fn anew(told: &[(String, String)]) -> String {
    let told = told.iter().map(|(message, field)| {
        // What follows in further lines is the difference, field by field.
        let message = message.lines().next().unwrap_or_default().trim_end_matches(['.', ':']);
        if field.is_empty() { message.to_owned() } else { format!("{}: {message}", field.trim_start_matches('.')) }
    });
    let why: Vec<String> = told.collect();
    format!("{ANEW}; the API server refuses to change it: {}", why.join("; "))
}

/// Why the new one of a replacement of the same name is not verified.
pub(super) const ANEW: &str = "it is made anew, which can be checked only when the old one is gone";

/// Asks the API server, where it can be asked.
///
/// # Errors
/// What is wrong with the object, or with the world, each at its place.
pub(super) async fn ask(
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

    /// Is the field one that the state has, and its manager one under which the object went before? Such fields are taken
    /// over; others of that manager may be another configuration's.
    fn is_inherited(&self, (manager, field): &(String, String)) -> bool {
        let before = self.question.prior.as_ref().and_then(|prior| prior.desired.json.as_ref());
        self.is_update && is_predecessor(manager) && before.is_some_and(|before| says(field, before))
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
            let is_inherited = conflicts.iter().all(|conflict| self.is_inherited(conflict));
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
        match self.told(&status, *is_update || stands, call).await {
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
                let fields = fields.iter().flat_map(|(_, field)| narrowed(&status, field, &before, body));
                Ok(Answer::Immutable(fields.map(|field| at(&field)).collect()))
            }
            Refusal::Owned(_) if stands => Ok(Unverified::new(ANEW).into()),
            Refusal::Immutable(told) if stands => Ok(Unverified::new(anew(&told)).into()),
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

    /// What a refusal means; `changes`: of an object that is there. Rules about changes are a definition's own, and so are
    /// their words.
    async fn told(&self, status: &Status, changes: bool, call: Call<'_>) -> Refusal {
        let refusal = refusal(status);
        let may_be_rule = changes && matches!(refusal, Refusal::Wrong(_) | Refusal::Immutable(_));
        if !may_be_rule || is_built_in(&self.key.api_version) {
            return refusal;
        }
        match self.cluster.schema(&self.key.api_version, &self.key.kind, call).await {
            Some(schema) => refusal.by_rules(|field, message| schema.demanded(field, message)),
            None => refusal,
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
        let found: Vec<(String, String)> = found.into_iter().filter(|conflict| !self.is_inherited(conflict)).collect();
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
