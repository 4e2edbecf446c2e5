//! What others do to an object.

use http::Method;
use proptest::{prelude::*, sample::Index};
use serde_json::{Value as Json, json};

use super::{
    grammar::{Grammar, changed, merged, places},
    kinds::Kind,
};
use crate::site::Site;

/// Something that another manager does. What the server refuses has not happened.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// Server-side apply.
    Apply { force: bool, part: Json },
    /// A merge patch; what stands at these places is removed.
    Merge { part: Json, removed: Vec<Index> },
    /// A patch of RFC 6902: something else stands at a place, or nothing.
    Patch { at: Index, value: Option<Json> },
    /// The object is read, changed and written, as `kubectl edit` and controllers do.
    Write { part: Json, removed: Vec<Index> },
    /// A strategic patch by kubectl's client-side apply.
    Kubectl { part: Json },
}

/// Any event.
pub(super) fn event(grammar: &Grammar) -> impl Strategy<Value = Event> + use<> {
    let part = || grammar.part();
    let places = || prop::collection::vec(any::<Index>(), 0..2);
    let value = prop::sample::select(vec![json!("x"), json!("1"), json!(1), json!(true), json!([]), json!({})]);
    prop_oneof![
        3 => (any::<bool>(), part()).prop_map(|(force, part)| Event::Apply { force, part }),
        2 => (part(), places()).prop_map(|(part, removed)| Event::Merge { part, removed }),
        2 => (any::<Index>(), prop::option::of(value)).prop_map(|(at, value)| Event::Patch { at, value }),
        1 => (part(), places()).prop_map(|(part, removed)| Event::Write { part, removed }),
        1 => part().prop_map(|part| Event::Kubectl { part }),
    ]
}

/// Places of an object that somebody may change.
fn own_places(object: &Json) -> Vec<String> {
    let is_system = |place: &String| {
        place == "/metadata"
            || place == "/apiVersion"
            || place == "/kind"
            || place.starts_with("/status")
            || (place.starts_with("/metadata/")
                && !place.starts_with("/metadata/labels/")
                && !place.starts_with("/metadata/annotations/"))
    };
    places(object).into_iter().filter(|place| !is_system(place)).collect()
}

impl Event {
    /// Makes it happen.
    pub(super) async fn happen(&self, site: &Site, kind: &Kind, path: &str) {
        let Some(live) = site.live(path).await else { return };
        let named = |part: &Json| {
            let mut part = part.clone();
            part["apiVersion"] = kind.api_version.into();
            part["kind"] = kind.kind.into();
            part
        };
        let pick = |object: &Json, at: &Index| {
            let places = own_places(object);
            (!places.is_empty()).then(|| at.get(&places).clone())
        };
        let (method, query, content, body) = match self {
            Self::Apply { force, part } => {
                let query = format!("fieldManager=other&force={force}");
                (Method::PATCH, query, "application/apply-patch+yaml", named(part))
            }
            Self::Merge { part, removed } => {
                let nothing = |patch: Json, at: &Index| match pick(&patch, at) {
                    Some(place) => changed(&patch, &place, Some(Json::Null)),
                    None => patch,
                };
                let patch = removed.iter().fold(part.clone(), nothing);
                (Method::PATCH, "fieldManager=merger".to_owned(), "application/merge-patch+json", patch)
            }
            Self::Patch { at, value } => {
                let Some(place) = pick(&live, at) else { return };
                let patch = match value {
                    Some(value) => json!([{"op": "replace", "path": place, "value": value}]),
                    None => json!([{"op": "remove", "path": place}]),
                };
                (Method::PATCH, "fieldManager=patcher".to_owned(), "application/json-patch+json", patch)
            }
            Self::Write { part, removed } => {
                let without = |object: Json, at: &Index| match pick(&object, at) {
                    Some(place) => changed(&object, &place, None),
                    None => object,
                };
                let object = removed.iter().fold(merged(&live, part), without);
                (Method::PUT, "fieldManager=writer".to_owned(), "application/json", object)
            }
            Self::Kubectl { part } => {
                let query = "fieldManager=kubectl-client-side-apply".to_owned();
                (Method::PATCH, query, "application/strategic-merge-patch+json", part.clone())
            }
        };
        match site.send(method, &format!("{path}?{query}"), content, Some(&body)).await {
            Ok(_) | Err(kube::Error::Api(_)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
