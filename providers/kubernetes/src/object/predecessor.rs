//! Objects that went under another manager before: kubectl's client-side apply, HashiCorp's provider.
//!
//! A field that two managers own is not removed when one of them gives it up. So what our state has of an object is taken
//! over from such a manager before the object is applied, as kubectl does when it changes to server-side apply: only the
//! fields that the state has, since the rest may be another configuration's.

use serde_json::{Map, Value as Json, json};

/// Managers whose objects go on under ours, where the state has them: kubectl's client-side apply, and HashiCorp's
/// provider (its manifests as `Terraform`, its typed resources as `HashiCorp`).
pub(crate) const PREDECESSORS: [&str; 3] = ["kubectl-client-side-apply", "Terraform", "HashiCorp"];

/// Is it one of them, as a conflict names it: `"Terraform"`, `"Terraform" using v1`?
pub(crate) fn is_predecessor(manager: &str) -> bool {
    let name = manager.strip_prefix('"').and_then(|rest| rest.split('"').next()).unwrap_or(manager);
    PREDECESSORS.contains(&name)
}

/// The patch (RFC 6902) after which `manager` owns what predecessors own of `body`, and they do not. It holds only for the
/// version of the object that it was made from. `None`: they own nothing of it.
pub(crate) fn takeover(live: &Json, body: &Json, manager: &str) -> Option<Json> {
    let entries = live.pointer("/metadata/managedFields")?.as_array()?;
    let text = |entry: &Json, name: &str| entry.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let own = |entry: &Json| text(entry, "subresource").is_empty();
    let (mut kept, mut taken, mut ours) = (Vec::new(), Map::new(), None);
    for entry in entries {
        let name = text(entry, "manager");
        let mut entry = entry.clone();
        if name == manager && own(&entry) && text(&entry, "operation") == "Apply" {
            ours = Some(kept.len());
        } else if name != manager
            && own(&entry)
            && is_predecessor(&name)
            && let Some(Json::Object(fields)) = entry.get_mut("fieldsV1")
        {
            unite(&mut taken, take(fields, body));
            if fields.is_empty() {
                continue;
            }
        }
        kept.push(entry);
    }
    if taken.is_empty() {
        return None;
    }
    let index = ours.unwrap_or_else(|| {
        let version = live.get("apiVersion").cloned().unwrap_or_default();
        kept.push(json!({"manager": manager, "operation": "Apply", "apiVersion": version, "fieldsType": "FieldsV1",
            "fieldsV1": {}}));
        kept.len() - 1
    });
    if let Some(Json::Object(fields)) = kept[index].get_mut("fieldsV1") {
        unite(fields, taken);
    }
    Some(json!([
        {"op": "replace", "path": "/metadata/managedFields", "value": kept},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": live.pointer("/metadata/resourceVersion")},
    ]))
}

/// Takes out of a set of fields those that a body has.
fn take(fields: &mut Map<String, Json>, body: &Json) -> Map<String, Json> {
    let mut taken = Map::new();
    let names: Vec<String> = fields.keys().filter(|name| *name != ".").cloned().collect();
    for name in names {
        let Some(Json::Object(mut inside)) = fields.remove(&name) else { continue };
        let part = match name.split_at_checked(2) {
            Some(("f:", field)) => body.get(field),
            Some(("k:", keys)) => item(body, keys),
            Some(("v:", value)) => {
                let value = serde_json::from_str::<Json>(value).ok();
                body.as_array().and_then(|items| items.iter().find(|item| Some(*item) == value.as_ref()))
            }
            _ => None,
        };
        let Some(part) = part else {
            fields.insert(name, inside.into());
            continue;
        };
        let is_whole = inside.is_empty();
        let found = take(&mut inside, part);
        let is_map_itself = inside.keys().all(|element| element == ".");
        if is_whole || is_map_itself {
            // Nothing of it is left to the other manager, not even that it is there.
            let mut found = found;
            unite(&mut found, std::mem::take(&mut inside));
            taken.insert(name, found.into());
        } else {
            if !found.is_empty() {
                taken.insert(name.clone(), found.into());
            }
            fields.insert(name, inside.into());
        }
    }
    taken
}

fn item<'a>(list: &'a Json, keys: &str) -> Option<&'a Json> {
    let keys: Map<String, Json> = serde_json::from_str(keys).ok()?;
    let fits = |item: &&Json| keys.iter().all(|(name, value)| item.get(name).is_none_or(|found| found == value));
    list.as_array()?.iter().find(fits)
}

fn unite(into: &mut Map<String, Json>, fields: Map<String, Json>) {
    for (name, inside) in fields {
        match (into.get_mut(&name), inside) {
            (Some(Json::Object(into)), Json::Object(inside)) => unite(into, inside),
            (_, inside) => _ = into.insert(name, inside),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_state_has_is_taken_from_predecessors_and_nothing_else() {
        let live = json!({"apiVersion": "v1", "metadata": {"resourceVersion": "7", "managedFields": [
            {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsV1": {
                "f:data": {".": {}, "f:a": {}, "f:b": {}},
                "f:metadata": {"f:annotations": {".": {}, "f:last": {}}}}},
            {"manager": "Terraform", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": {"f:x": {}, "f:y": {}}},
                "f:spec": {"f:list": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {}}}}}},
            {"manager": "somebody", "operation": "Update", "fieldsV1": {"f:data": {"f:a": {}}}},
        ]}});
        let body = json!({"data": {"a": "1", "b": "2"}, "metadata": {"labels": {"x": "1"}},
            "spec": {"list": [{"name": "c", "image": "i"}]}});
        let patch = takeover(&live, &body, "sliceform").unwrap();
        let entries = patch[0]["value"].as_array().unwrap();
        let fields = |manager: &str| {
            entries.iter().find(|entry| entry["manager"] == manager).map(|entry| entry["fieldsV1"].clone())
        };
        assert_eq!(
            fields("kubectl-client-side-apply"),
            Some(json!({"f:metadata": {"f:annotations": {".": {}, "f:last": {}}}}))
        );
        assert_eq!(fields("Terraform"), Some(json!({"f:metadata": {"f:labels": {"f:y": {}}}})));
        assert_eq!(fields("somebody"), Some(json!({"f:data": {"f:a": {}}})));
        let ours = json!({
            "f:data": {".": {}, "f:a": {}, "f:b": {}}, "f:metadata": {"f:labels": {"f:x": {}}},
            "f:spec": {"f:list": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {}}}}});
        assert_eq!(fields("sliceform"), Some(ours));
        assert_eq!(patch[1]["value"], "7");
        assert_eq!(takeover(&live, &json!({"data": {"z": "1"}}), "sliceform"), None);
        assert!(is_predecessor("\"Terraform\" using v1") && !is_predecessor("\"terraform\""));
    }
}
