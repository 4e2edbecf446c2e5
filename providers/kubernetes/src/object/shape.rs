//! What `metadata.managedFields` tells about the shape of an object: which lists are maps by which keys, which are sets,
//! and what is owned as one piece. So no schema has to be fetched to compare two objects.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// The fields that at least one manager owns, as a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    fields: BTreeMap<String, Shape>,
    /// Items of a list that is a map, by their keys as canonical JSON.
    items: BTreeMap<String, Shape>,
    /// A list that is a set.
    set: bool,
    /// Owned by itself, without parts.
    owned: bool,
}

impl Shape {
    /// The shape of an object, as all its managers know it together.
    pub(crate) fn of(object: &Json) -> Self {
        let mut shape = Self::default();
        for entry in entries(object) {
            if let Some(Json::Object(fields)) = entry.get("fieldsV1") {
                shape.add(fields);
            }
        }
        shape
    }

    fn add(&mut self, fields: &Map<String, Json>) {
        for (element, inside) in fields {
            let child = match element.split_at_checked(2) {
                Some(("f:", name)) => self.fields.entry(name.to_owned()).or_default(),
                Some(("k:", keys)) => self.items.entry(canonical(keys)).or_default(),
                Some(("v:", _)) => {
                    self.set = true;
                    continue;
                }
                _ => continue,
            };
            if let Json::Object(inside) = inside {
                child.owned |= inside.is_empty();
                child.add(inside);
            }
        }
    }

    /// A field of an object.
    pub(crate) fn field(&self, name: &str) -> Option<&Shape> {
        self.fields.get(name)
    }

    /// An item of a list that is a map.
    pub(crate) fn item(&self, keys: &Map<String, Json>) -> Option<&Shape> {
        self.items.get(&Json::Object(keys.clone()).to_string())
    }

    /// The names of the keys, where it is a list that is a map.
    pub(crate) fn key_names(&self) -> Option<Vec<String>> {
        let keys = self.items.keys().next()?;
        let keys: Map<String, Json> = serde_json::from_str(keys).ok()?;
        Some(keys.into_iter().map(|(name, _)| name).collect())
    }

    /// Is it a list that is a set?
    pub(crate) fn is_set(&self) -> bool {
        self.set
    }

    /// Owned as one piece: a scalar, an atomic list or map, or an empty one.
    pub(crate) fn is_leaf(&self) -> bool {
        self.owned && self.fields.is_empty() && self.items.is_empty() && !self.set
    }
}

/// Does a manager own a field at the top of the object (`status`) by having applied it?
pub(crate) fn applied_field(object: &Json, manager: &str, field: &str) -> bool {
    let field = format!("f:{field}");
    applied(object, manager)
        .is_some_and(|entry| entry.pointer("/fieldsV1").is_some_and(|set| set.get(&field).is_some()))
}

/// Was the object ever applied by this manager?
pub(crate) fn is_applied_by(object: &Json, manager: &str) -> bool {
    applied(object, manager).is_some()
}

/// Who set a finalizer of an object.
pub(crate) fn managers_of_finalizer<'a>(object: &'a Json, finalizer: &str) -> Vec<&'a str> {
    let element = format!("v:{}", Json::from(finalizer));
    let owns = |entry: &&Json| {
        let set = entry.get("fieldsV1").and_then(|set| set.get("f:metadata")?.get("f:finalizers"));
        set.is_some_and(|set| set.get(&element).is_some())
    };
    entries(object).iter().filter(owns).filter_map(|entry| entry.get("manager")?.as_str()).collect()
}

fn applied<'a>(object: &'a Json, manager: &str) -> Option<&'a Json> {
    entries(object).iter().find(|entry| {
        let text = |name: &str| entry.get(name).and_then(Json::as_str).unwrap_or_default();
        text("operation") == "Apply" && text("manager") == manager && text("subresource").is_empty()
    })
}

fn entries(object: &Json) -> &[Json] {
    object.pointer("/metadata/managedFields").and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

fn canonical(keys: &str) -> String {
    // Members of a parsed object are in the order of their names.
    serde_json::from_str::<Json>(keys).map_or_else(|_| keys.to_owned(), |keys| keys.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_managers_together_tell_the_shape() {
        let object = json!({"metadata": {"managedFields": [
            {"manager": "a", "operation": "Apply", "fieldsV1": {
                "f:spec": {"f:containers": {"k:{\"name\":\"x\"}": {".": {}, "f:image": {}}}, "f:selector": {}},
                "f:status": {}}},
            {"manager": "b", "operation": "Update", "fieldsV1": {
                "f:metadata": {"f:finalizers": {".": {}, "v:\"y\"": {}}}}},
        ]}});
        let shape = Shape::of(&object);
        let spec = shape.field("spec").unwrap();
        let containers = spec.field("containers").unwrap();
        assert_eq!(containers.key_names(), Some(vec!["name".to_owned()]));
        let keys = json!({"name": "x"});
        assert!(containers.item(keys.as_object().unwrap()).unwrap().field("image").unwrap().is_leaf());
        assert!(spec.field("selector").unwrap().is_leaf());
        assert!(shape.field("metadata").unwrap().field("finalizers").unwrap().is_set());
        assert!(applied_field(&object, "a", "status"));
        assert!(!applied_field(&object, "b", "metadata"), "b updated, it never applied");
        assert_eq!(managers_of_finalizer(&object, "y"), ["b"]);
        assert_eq!(managers_of_finalizer(&object, "z"), [""; 0]);
        assert!(is_applied_by(&object, "a") && !is_applied_by(&object, "b"));
    }
}
