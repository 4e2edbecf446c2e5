//! What a manager owns of an object, read from `metadata.managedFields` without the provider's own code.

use serde_json::{Map, Value as Json, json};

/// The fields that a manager has applied.
pub(super) fn owned(object: &Json, manager: &str) -> Json {
    let entries = object.pointer("/metadata/managedFields").and_then(Json::as_array);
    let is_ours = |entry: &&Json| {
        entry["manager"] == manager && entry["operation"] == "Apply" && entry.get("subresource").is_none()
    };
    entries.into_iter().flatten().find(is_ours).map_or(Json::Null, |entry| entry["fieldsV1"].clone())
}

/// A part of a field set.
enum Part<'a> {
    Field(&'a str),
    Item(Map<String, Json>),
    Member(Json),
}

fn parts(fields: &Json) -> Vec<(Part<'_>, &Json)> {
    let read = |(name, inside)| {
        let name: &String = name;
        let part = match name.split_at_checked(2) {
            Some(("f:", name)) => Part::Field(name),
            Some(("k:", keys)) => Part::Item(serde_json::from_str(keys).unwrap()),
            Some(("v:", value)) => Part::Member(serde_json::from_str(value).unwrap()),
            _ => return None,
        };
        Some((part, inside))
    };
    fields.as_object().into_iter().flatten().filter_map(read).collect()
}

fn item<'a>(list: Option<&'a Json>, keys: &Map<String, Json>) -> Option<&'a Json> {
    // A key that is left out has its default.
    let fits = |item: &&Json| keys.iter().all(|(name, value)| item.get(name).is_none_or(|found| found == value));
    let exact = |item: &&Json| keys.iter().all(|(name, value)| item.get(name) == Some(value));
    let items = list?.as_array()?;
    items.iter().find(exact).or_else(|| items.iter().find(fits))
}

fn is_empty(value: Option<&Json>) -> bool {
    match value {
        Some(Json::Object(fields)) => fields.is_empty(),
        Some(Json::Array(items)) => items.is_empty(),
        _ => false,
    }
}

/// Where what is owned differs between two states of an object. An empty map of what is wanted says nothing about what others
/// put into it.
pub(super) fn moved(fields: &Json, wanted: &Json, before: &Json, after: &Json) -> Vec<String> {
    let mut found = Vec::new();
    if parts(fields).is_empty() {
        return found;
    }
    differing(fields, Some(wanted), Some(before), Some(after), "", &mut found);
    found
}

fn differing(
    fields: &Json,
    wanted: Option<&Json>,
    before: Option<&Json>,
    after: Option<&Json>,
    at: &str,
    found: &mut Vec<String>,
) {
    let parts = parts(fields);
    if parts.is_empty() {
        let is_map = |value: Option<&Json>| value.is_some_and(Json::is_object);
        let same = before == after || (wanted == Some(&json!({})) && is_map(before) && is_map(after));
        if !same {
            found.push(at.to_owned());
        }
        return;
    }
    for (part, inside) in parts {
        match part {
            Part::Field(name) => {
                let field = |value: Option<&'_ Json>| value.and_then(|value| value.get(name)).cloned();
                let (wanted, before, after) = (field(wanted), field(before), field(after));
                let at = format!("{at}.{name}");
                differing(inside, wanted.as_ref(), before.as_ref(), after.as_ref(), &at, found);
            }
            Part::Item(keys) => {
                let at = format!("{at}[{}]", Json::Object(keys.clone()));
                match (item(before, &keys), item(after, &keys)) {
                    (None, None) => {}
                    (Some(before), Some(after)) => {
                        differing_inside(inside, item(wanted, &keys), before, after, &at, found);
                    }
                    _ => found.push(at),
                }
            }
            Part::Member(member) => {
                let has =
                    |list: Option<&Json>| list.and_then(Json::as_array).is_some_and(|list| list.contains(&member));
                if has(before) != has(after) {
                    found.push(format!("{at}[{member}]"));
                }
            }
        }
    }
}

fn differing_inside(
    fields: &Json,
    wanted: Option<&Json>,
    before: &Json,
    after: &Json,
    at: &str,
    found: &mut Vec<String>,
) {
    // An item of which nothing else is owned.
    if !parts(fields).is_empty() {
        differing(fields, wanted, Some(before), Some(after), at, found);
    }
}

/// Where a planned object is not what the manager owns of a live one. An empty field of what is wanted says nothing.
pub(super) fn disagreements(fields: &Json, wanted: &Json, planned: &Json, live: &Json) -> Vec<String> {
    let (mut fields, mut planned) = (fields.clone(), planned.clone());
    for pointer in ["", "/metadata"] {
        let wanted = wanted.pointer(pointer);
        let place = if pointer.is_empty() { "" } else { "/f:metadata" };
        if let Some(Json::Object(fields)) = fields.pointer_mut(place) {
            fields.retain(|name, _| !is_empty(wanted.and_then(|wanted| wanted.get(name.trim_start_matches("f:")))));
        }
    }
    if let Json::Object(fields) = &mut fields {
        fields.retain(|name, inside| name != "f:metadata" || !parts(inside).is_empty());
    }
    for (around, names) in [("", &["apiVersion", "kind"][..]), ("/metadata", &["name", "namespace", "uid"])] {
        if let Some(Json::Object(at)) = planned.pointer_mut(around) {
            names.iter().for_each(|name| drop(at.remove(*name)));
        }
    }
    if is_empty(planned.get("metadata")) {
        planned.as_object_mut().unwrap().remove("metadata");
    }
    let mut found = Vec::new();
    if !parts(&fields).is_empty() || !is_empty(Some(&planned)) {
        disagreeing(&fields, Some(&planned), Some(live), "", &mut found);
    }
    found
}

fn disagreeing(fields: &Json, planned: Option<&Json>, live: Option<&Json>, at: &str, found: &mut Vec<String>) {
    let parts = parts(fields);
    if parts.is_empty() {
        let is_container = live.is_some_and(|live| live.is_object() || live.is_array());
        let same = planned == live || (is_empty(planned) && is_container) || (planned.is_none() && is_empty(live));
        if !same {
            found.push(format!("{at}: planned {planned:?}, is {live:?}"));
        }
        return;
    }
    let (mut names, mut count) = (Vec::new(), 0);
    for (part, inside) in &parts {
        match part {
            Part::Field(name) => {
                names.push(*name);
                let field = |value: Option<&Json>| value.and_then(|value| value.get(name)).cloned();
                let (planned, live) = (field(planned), field(live));
                disagreeing(inside, planned.as_ref(), live.as_ref(), &format!("{at}.{name}"), found);
            }
            Part::Item(keys) => {
                count += 1;
                let at = format!("{at}[{}]", Json::Object(keys.clone()));
                match (item(planned, keys), item(live, keys)) {
                    (Some(planned), Some(live)) if !self::parts(inside).is_empty() => {
                        disagreeing(inside, Some(planned), Some(live), &at, found);
                    }
                    (Some(_), Some(_)) | (None, None) => {}
                    (planned, live) => found.push(format!("{at}: planned {planned:?}, is {live:?}")),
                }
            }
            Part::Member(member) => {
                count += 1;
                if !planned.and_then(Json::as_array).is_some_and(|list| list.contains(member)) {
                    found.push(format!("{at}[{member}]: is not planned"));
                }
            }
        }
    }
    match planned {
        Some(Json::Object(fields)) => {
            let others = fields.keys().filter(|name| !names.contains(&name.as_str()));
            found.extend(others.map(|name| format!("{at}.{name}: is planned, and not owned")));
        }
        Some(Json::Array(items)) if items.len() != count => {
            found.push(format!("{at}: {} items are planned, and {count} owned", items.len()));
        }
        _ => {}
    }
}

/// An object without what servers and controllers write.
pub(super) fn content(object: &Json) -> Json {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove("status");
    let metadata = object["metadata"].as_object_mut().unwrap();
    ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"]
        .iter()
        .for_each(|name| drop(metadata.remove(*name)));
    if let Some(Json::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove("deployment.kubernetes.io/revision");
    }
    if is_empty(metadata.get("annotations")) {
        metadata.remove("annotations");
    }
    object
}
