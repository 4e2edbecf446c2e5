//! Which fields of a live object others own with other values than the ones that are wanted: what a server-side apply
//! would be refused for. For who may not ask the server.

use serde_json::{Map, Value as Json};

/// The conflicts that an apply by `manager` would meet: who, which field. Fields that the manager owns too are none.
pub(crate) fn conflicts(live: &Json, wanted: &Json, manager: &str) -> Vec<(String, String)> {
    let entries = live.pointer("/metadata/managedFields").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let text = |entry: &Json, name: &str| entry.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for entry in entries {
        let is_ours = text(entry, "manager") == manager && text(entry, "operation") == "Apply";
        if is_ours || !text(entry, "subresource").is_empty() {
            continue;
        }
        if let Some(Json::Object(fields)) = entry.get("fieldsV1") {
            let mut inside = Vec::new();
            differing(fields, wanted, live, &mut String::new(), &mut inside);
            let who = format!("{:?}", text(entry, "manager"));
            found.extend(inside.into_iter().map(|field| (who.clone(), field)));
        }
    }
    found.sort();
    found.dedup();
    found
}

fn differing(fields: &Map<String, Json>, wanted: &Json, live: &Json, path: &mut String, found: &mut Vec<String>) {
    for (element, inside) in fields {
        let part = match element.split_at_checked(2) {
            Some(("f:", name)) => {
                let pair = wanted.get(name).zip(live.get(name));
                pair.map(|(wanted, live)| (format!(".{name}"), wanted, live))
            }
            Some(("k:", keys)) => {
                let item = |list: &Json| position(list, keys);
                let pair = item(wanted).zip(item(live));
                pair.map(|(w, l)| (format!("[{}]", spelled(keys)), &wanted[w], &live[l]))
            }
            _ => None,
        };
        let (Some((step, wanted, live)), Json::Object(inside)) = (part, inside) else { continue };
        let length = path.len();
        path.push_str(&step);
        if inside.keys().all(|element| element == ".") {
            // "." is the map itself, which is there in both.
            if wanted != live && (inside.is_empty() || !wanted.is_object()) {
                found.push(path.clone());
            }
        } else {
            differing(inside, wanted, live, path, found);
        }
        path.truncate(length);
    }
}

/// Keys as the API server spells them in the path of a field: `containerPort=80,protocol="TCP"`.
fn spelled(keys: &str) -> String {
    let keys: Map<String, Json> = serde_json::from_str(keys).unwrap_or_default();
    keys.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

fn position(list: &Json, keys: &str) -> Option<usize> {
    let keys: Map<String, Json> = serde_json::from_str(keys).ok()?;
    let fits = |item: &Json| keys.iter().all(|(name, value)| item.get(name).is_none_or(|found| found == value));
    list.as_array()?.iter().position(fits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_own_with_other_values_is_a_conflict() {
        let live = json!({
            "metadata": {"labels": {"a": "1", "b": "2"}, "managedFields": [
                {"manager": "sliceform", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": {"f:a": {}}}}},
                {"manager": "hpa", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                {"manager": "kubelet", "operation": "Update", "subresource": "status", "fieldsV1": {"f:spec": {"f:x": {}}}},
                {"manager": "other", "operation": "Apply", "fieldsV1": {"f:metadata": {"f:labels": {".": {}, "f:b": {}}},
                    "f:spec": {"f:list": {"k:{\"name\":\"c\"}": {".": {}, "f:name": {}, "f:image": {}}}}}},
            ]},
            "spec": {"replicas": 5, "x": 1, "list": [{"name": "c", "image": "i:1"}]},
        });
        let wanted = json!({"metadata": {"labels": {"a": "x", "b": "2"}},
            "spec": {"replicas": 2, "x": 2, "list": [{"name": "c", "image": "i:2"}]}});
        let found = conflicts(&live, &wanted, "sliceform");
        let found: Vec<(&str, &str)> = found.iter().map(|(who, field)| (who.as_str(), field.as_str())).collect();
        assert_eq!(found, [("\"hpa\"", ".spec.replicas"), ("\"other\"", ".spec.list[name=\"c\"].image")]);
        assert_eq!(conflicts(&live, &json!({"spec": {"replicas": 5}}), "sliceform"), []);
    }
}
