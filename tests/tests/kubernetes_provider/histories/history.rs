//! One history, and what must be true of it.

use std::sync::atomic::{AtomicU32, Ordering};

use engine_diag::{Diagnostics, Severity};
use engine_model::plan::{Plan, PlanMode};
use http::Method;
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::Value as Json;

use super::{
    event::{Event, event},
    grammar::{Grammar, changed, merged, places},
    kinds::Kind,
    owned::{content, disagreements, moved, owned},
};
use crate::{
    run::{Run, actions},
    site::{Site, change, planned, unchanged},
};

const MANAGER: &str = "sliceform";

/// The life of one object.
#[derive(Clone, Debug)]
pub(super) struct History {
    /// As we make it.
    first: Json,
    /// What others do.
    events: Vec<Event>,
    /// What we want after that.
    next: Next,
    /// Do we take what others own?
    force: bool,
}

/// What we want after others have had their turn.
#[derive(Clone, Debug)]
enum Next {
    /// The same.
    Same,
    /// The same with these fields otherwise.
    Changed(Json),
    /// The same without what stands at a place.
    Without(Index),
    /// Another one.
    Other(Json),
}

impl Next {
    fn of(&self, first: &Json) -> Json {
        match self {
            Self::Same => first.clone(),
            Self::Changed(part) => merged(first, part),
            Self::Without(at) => {
                let places: Vec<String> = places(first).into_iter().filter(|place| place != "/metadata").collect();
                if places.is_empty() { first.clone() } else { changed(first, at.get::<String>(&places), None) }
            }
            Self::Other(other) => other.clone(),
        }
    }
}

/// Any history of objects of a kind.
pub(super) fn history(grammar: &Grammar) -> impl Strategy<Value = History> + use<> {
    let next = prop_oneof![
        2 => Just(Next::Same),
        2 => grammar.part().prop_map(Next::Changed),
        1 => any::<Index>().prop_map(Next::Without),
        1 => grammar.whole().prop_map(Next::Other),
    ];
    (grammar.whole(), vec(event(grammar), 0..4), next, any::<bool>()).prop_map(|(first, events, next, force)| History {
        first,
        events,
        next,
        force,
    })
}

/// What a server says to an object that we apply.
enum Answer {
    Object(Json),
    /// Other managers own these fields: manager and field.
    Conflict(Vec<(String, String)>),
    Refused(String),
}

/// An object of a test.
struct Subject<'a> {
    site: &'a Site,
    kind: &'a Kind,
    name: String,
    path: String,
}

impl Subject<'_> {
    /// The object with what names it.
    fn named(&self, object: &Json) -> Json {
        let mut object = object.clone();
        object["apiVersion"] = self.kind.api_version.into();
        object["kind"] = self.kind.kind.into();
        object["metadata"]["name"] = self.name.as_str().into();
        if self.kind.namespaced {
            object["metadata"]["namespace"] = self.site.namespace.as_str().into();
        }
        object
    }

    fn text(&self, object: &Json, force: bool) -> String {
        let json = Json::from(self.named(object).to_string());
        format!(
            "resource \"kubernetes_manifest\" \"x\" {{\n manifest = jsondecode({json})\n field_manager {{\n force_conflicts = {force}\n }}\n}}\n"
        )
    }

    /// What the server says to an object, without doing it.
    async fn answer(&self, object: &Json, force: bool) -> Answer {
        let uri = format!("{}?fieldManager={MANAGER}&force={force}&fieldValidation=Strict&dryRun=All", self.path);
        let object = self.named(object);
        match self.site.send(Method::PATCH, &uri, "application/apply-patch+yaml", Some(&object)).await {
            Ok(object) => Answer::Object(object),
            Err(kube::Error::Api(status)) => {
                let causes = status.details.as_ref().map(|details| details.causes.as_slice()).unwrap_or_default();
                let conflicts: Vec<(String, String)> = causes
                    .iter()
                    .filter(|cause| cause.reason == "FieldManagerConflict")
                    .map(|cause| {
                        let manager = cause.message.split('"').nth(1).unwrap_or_default();
                        (manager.to_owned(), cause.field.clone())
                    })
                    .collect();
                if conflicts.is_empty() { Answer::Refused(status.message.clone()) } else { Answer::Conflict(conflicts) }
            }
            Err(error) => panic!("{error}"),
        }
    }

    async fn live(&self) -> Json {
        self.site.live(&self.path).await.unwrap()
    }
}

fn errors(diagnostics: &Diagnostics) -> Vec<String> {
    let errors = diagnostics.0.iter().filter(|one| one.severity == Severity::Error);
    errors.map(|one| format!("{}: {}", one.summary, one.detail)).collect()
}

fn none(found: Vec<String>, what: &str) -> Result<(), String> {
    if found.is_empty() { Ok(()) } else { Err(format!("{what}: {}", found.join("; "))) }
}

impl History {
    /// Lets it happen; `Err` says what is not as it must be.
    pub(super) async fn happen(&self, site: &Site, kind: &Kind) -> Result<(), String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}-{}", kind.kind.to_lowercase(), site.namespace, NEXT.fetch_add(1, Ordering::Relaxed));
        let path = kind.path(&site.namespace, &name);
        let subject = Subject { site, kind, name, path };
        let provider = site.provider(site.admin());
        let run = Run::with([provider.clone()], &subject.text(&self.first, false)).await;
        if self.begin(&subject, &run).await? {
            let first = subject.live().await;
            for event in &self.events {
                event.happen(site, kind, &subject.path).await;
            }
            let next = self.next.of(&self.first);
            let run = run.then([provider], &subject.text(&next, self.force));
            self.go_on(&subject, &run, &first, &next).await?;
        }
        _ = site.send(Method::DELETE, &subject.path, "application/json", None).await;
        Ok(())
    }

    /// Makes the object; `false`: the server refuses it.
    async fn begin(&self, subject: &Subject<'_>, run: &Run) -> Result<bool, String> {
        let answer = subject.answer(&self.first, false).await;
        let (plan, diagnostics) = run.try_plan(PlanMode::Normal).await;
        match (answer, errors(&diagnostics)) {
            (Answer::Object(object), errors) if errors.is_empty() => {
                agrees(&plan, &self.first, &object)?;
                run.apply(plan).await;
                unchanged(run).await;
                Ok(true)
            }
            (Answer::Object(_), errors) => Err(format!("a good object is refused: {}", errors.join("; "))),
            (Answer::Refused(_), errors) if !errors.is_empty() => Ok(false),
            (Answer::Refused(why), _) => Err(format!("a bad object is planned: {why}")),
            (Answer::Conflict(_), _) => Err("there is a conflict about nothing".to_owned()),
        }
    }

    /// Plans what we want now, and applies it.
    async fn go_on(&self, subject: &Subject<'_>, run: &Run, first: &Json, next: &Json) -> Result<(), String> {
        let live = subject.live().await;
        let before = owned(first, MANAGER);
        let has_moved = !moved(&before, &self.first, first, &live).is_empty();
        let (plan, diagnostics) = run.try_plan(PlanMode::Normal).await;
        let errors = errors(&diagnostics);
        if subject.named(next) == subject.named(&self.first) && !has_moved {
            none(errors, "nothing has moved, and yet there are errors")?;
            return none(actions(&plan), "nothing has moved, and yet there are changes");
        }
        let mut answer = subject.answer(next, self.force).await;
        // What kubectl took of ours is ours again: then apply must do it. What else it has is a conflict.
        if let Answer::Conflict(conflicts) = &answer
            && errors.is_empty()
            && conflicts.iter().all(|(manager, _)| manager == "kubectl-client-side-apply")
        {
            answer = subject.answer(next, true).await;
        }
        let would_be = match answer {
            Answer::Object(object) => object,
            Answer::Conflict(conflicts) => {
                for (manager, field) in &conflicts {
                    let field = field.trim_start_matches('.');
                    let tells = |error: &String| error.contains(field) && error.contains(&format!("{manager:?}"));
                    if !errors.iter().any(tells) {
                        return Err(format!("the conflict with {manager} about {field} is not told: {errors:?}"));
                    }
                }
                return if errors.len() == conflicts.len() {
                    Ok(())
                } else {
                    Err(format!("too much is told: {errors:?}"))
                };
            }
            Answer::Refused(why) => return refused(&why, &plan, &errors, run).await,
        };
        none(errors, "the server would do it, and yet there are errors")?;
        agrees(&plan, next, &would_be)?;
        let ours = owned(&would_be, MANAGER);
        let moves = !moved(&before, &self.first, &live, &would_be).is_empty()
            || !moved(&ours, next, &live, &would_be).is_empty();
        let done = actions(&plan);
        if subject.named(next) == subject.named(&self.first) && done.is_empty() == moves {
            return Err(format!("the plan is {done:?}, and what we own would move: {moves}"));
        }
        run.apply(plan).await;
        let now = subject.live().await;
        unchanged(run).await;
        none(moved(&ours, next, &would_be, &now), "after apply we do not have what was planned")?;
        let inherits = self.events.iter().any(|event| matches!(event, Event::Kubectl { .. }));
        if !inherits && !done.is_empty() && content(&would_be) != content(&now) {
            return Err(format!("the object is {}, and should be {}", content(&now), content(&would_be)));
        }
        Ok(())
    }
}

/// The server refuses what we want: the plan says so, or makes another object.
async fn refused(why: &str, plan: &Plan, errors: &[String], run: &Run) -> Result<(), String> {
    if !errors.is_empty() {
        return Ok(());
    }
    let done = actions(plan);
    if done.len() != 1 || !done[0].contains("delete") {
        return Err(format!("the server refuses it ({why}), and the plan is {done:?}"));
    }
    run.apply(plan.clone()).await;
    unchanged(run).await;
    Ok(())
}

/// Is the planned object what our manager will own?
fn agrees(plan: &Plan, wanted: &Json, object: &Json) -> Result<(), String> {
    let change = change(plan, "x");
    if change.unverified.is_some() {
        return Err(format!("it is not verified: {:?}", change.unverified));
    }
    none(
        disagreements(&owned(object, MANAGER), wanted, &planned(plan, "x", ""), object),
        "the plan is not what the server makes",
    )
}
