//! Who owns which fields: `metadata.managedFields`, and how it follows updates and applies.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::compare::{Comparison, compare, field_set};
use super::fields::FieldSet;
use super::merge::{merge, remove};
use super::object;
use super::schema::Type;
use super::status::{Cause, Failure};

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Apply,
    Update,
}

/// What tells two managers apart. Appliers are the same through all API versions; updaters are not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Manager {
    pub(super) operation: Operation,
    pub(super) name: String,
    /// Empty for appliers.
    pub(super) api_version: String,
    /// Empty for the object itself.
    pub(super) subresource: String,
}

#[derive(Clone, Debug, PartialEq)]
struct Owned {
    fields: FieldSet,
    api_version: String,
    time: Option<String>,
}

/// All managers of one object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Managers(BTreeMap<Manager, Owned>);

/// Fields that are never owned: they name the object, or the server sets them.
const NEVER_OWNED: &[&str] = &[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
];

/// Who writes, when and through what.
#[derive(Clone, Debug)]
pub(super) struct Writer<'a> {
    pub(super) manager: &'a str,
    pub(super) api_version: &'a str,
    /// Empty for the object itself.
    pub(super) subresource: &'a str,
    /// RFC 3339.
    pub(super) now: &'a str,
}

impl Writer<'_> {
    fn manager(&self, operation: Operation) -> Manager {
        let api_version = match operation {
            Operation::Apply => String::new(),
            Operation::Update => self.api_version.to_owned(),
        };
        let (name, subresource) = (self.manager.to_owned(), self.subresource.to_owned());
        Manager { operation, name, api_version, subresource }
    }
}

impl Managers {
    /// Reads `metadata.managedFields` of an object.
    pub(super) fn of(object: &Value) -> Managers {
        let mut managers = Managers::default();
        for entry in object::items(object, "/metadata/managedFields") {
            let operation = match object::text(entry, "/operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => continue,
            };
            let api_version = object::text(entry, "/apiVersion").to_owned();
            let manager = Manager {
                operation,
                name: object::text(entry, "/manager").to_owned(),
                api_version: if operation == Operation::Apply { String::new() } else { api_version.clone() },
                subresource: object::text(entry, "/subresource").to_owned(),
            };
            let fields = entry.get("fieldsV1").map(FieldSet::from_json).unwrap_or_default();
            let time = entry.get("time").and_then(Value::as_str).map(str::to_owned);
            managers.0.insert(manager, Owned { fields, api_version, time });
        }
        managers
    }

    /// The managers that an update goes on from: those of the request if it has some (so that they can be edited), none
    /// if it asks for a reset (`[]` or `[{}]`), else those of the live object.
    pub(super) fn of_update(live: &Value, new: &Value) -> Managers {
        match new.pointer("/metadata/managedFields").and_then(Value::as_array).map(Vec::as_slice) {
            Some([]) => Managers::default(),
            Some([Value::Object(only)]) if only.is_empty() => Managers::default(),
            Some(_) => match Managers::of(new) {
                managers if managers.0.is_empty() => Managers::of(live),
                managers => managers,
            },
            None => Managers::of(live),
        }
    }

    /// Writes `metadata.managedFields`.
    pub(super) fn write_to(&self, object: &mut Value) {
        let metadata = object::metadata_mut(object);
        metadata.remove("managedFields");
        if self.0.is_empty() {
            return;
        }
        let mut entries: Vec<(&Manager, &Owned)> = self.0.iter().collect();
        entries.sort_by(|(a, owned_a), (b, owned_b)| {
            let key = |manager: &Manager, owned: &Owned| {
                (
                    manager.operation,
                    owned.time.clone(),
                    manager.name.clone(),
                    owned.api_version.clone(),
                    manager.subresource.clone(),
                )
            };
            key(a, owned_a).cmp(&key(b, owned_b))
        });
        let entries: Vec<Value> = entries.into_iter().map(|(manager, owned)| entry(manager, owned)).collect();
        metadata.insert("managedFields".to_owned(), entries.into());
    }

    /// Follows a create, update or patch from `live` to `new` (both without managed fields, or ignoring them).
    pub(super) fn update(mut self, live: &Value, new: &Value, schema: Type<'_>, writer: &Writer<'_>) -> Managers {
        let comparison = compare(live, new, schema);
        self.give_way(None, &comparison);
        let taken = strip(comparison.modified.union(&comparison.added));
        let own = writer.manager(Operation::Update);
        if !taken.is_empty() {
            let before = self.0.remove(&own).map(|owned| owned.fields).unwrap_or_default();
            let fields = before.union(&taken);
            let time = Some(writer.now.to_owned());
            self.0.insert(own, Owned { fields, api_version: writer.api_version.to_owned(), time });
        }
        self
    }

    /// Merges `config` into `live`.
    ///
    /// # Errors
    /// Other managers own fields that would change, and `force` is not given.
    pub(super) fn apply(
        mut self,
        live: &Value,
        config: &Value,
        schema: Type<'_>,
        writer: &Writer<'_>,
        force: bool,
    ) -> Result<(Value, Managers), Failure> {
        let own = writer.manager(Operation::Apply);
        let merged = merge(live, config, schema);
        // Pruning must see that the configuration names the object: else `metadata` would count as given up.
        let fields = field_set(config, schema);
        let before =
            self.0.insert(own.clone(), Owned { fields, api_version: writer.api_version.to_owned(), time: None });
        let merged = match &before {
            Some(before) => self.prune(merged, &before.fields, schema),
            None => merged,
        };
        let comparison = compare(live, &merged, schema);
        if !force {
            self.check_conflicts(&own, &comparison)?;
        }
        self.give_way(Some(&own), &comparison);
        if let Some(owned) = self.0.get_mut(&own) {
            owned.fields = strip(std::mem::take(&mut owned.fields));
            let unchanged = before.as_ref().is_some_and(|before| before.fields == owned.fields) && *live == merged;
            owned.time = match before {
                Some(before) if unchanged => before.time,
                _ => Some(writer.now.to_owned()),
            };
        }
        self.0.retain(|_, owned| !owned.fields.is_empty());
        Ok((merged, self))
    }

    /// Takes out of `merged` what the applier gave up: what it applied last time, does not apply now, and nobody else
    /// owns. Invariant: `self` has the applier's new fields already.
    fn prune(&self, merged: Value, last: &FieldSet, schema: Type<'_>) -> Value {
        let named = |set: &FieldSet| set.with_named_fields(Some(schema));
        let without = |set: &FieldSet| remove(&merged, set, Some(schema)).unwrap_or_else(|| Value::Object(Map::new()));
        let last = named(last);
        let all = named(&field_set(&merged, schema));
        let mut owned = named(&field_set(&without(&last), schema));
        for manager in self.0.values() {
            owned = owned.union(&named(&manager.fields));
        }
        // Items that nobody owns, or only updaters, stay unless this applier had them.
        let kept = named(&field_set(&without(&all.difference(&owned)), schema));
        without(&all.difference(&kept).intersection(&last))
    }

    fn check_conflicts(&self, own: &Manager, comparison: &Comparison) -> Result<(), Failure> {
        let touched = comparison.modified.union(&comparison.added);
        let mut conflicts: Vec<(String, Vec<String>)> = Vec::new();
        for (manager, owned) in self.0.iter().filter(|(manager, _)| *manager != own) {
            let paths = owned.fields.intersection(&touched).paths();
            if !paths.is_empty() {
                conflicts.push((shown(manager, owned), paths));
            }
        }
        let count: usize = conflicts.iter().map(|(_, paths)| paths.len()).sum();
        let message = match conflicts.as_slice() {
            [] => return Ok(()),
            [(manager, paths)] if count == 1 => {
                format!("Apply failed with 1 conflict: conflict with {manager}: {}", paths.concat())
            }
            many => {
                let lines: Vec<String> = many
                    .iter()
                    .map(|(manager, paths)| format!("conflicts with {manager}:\n- {}", paths.join("\n- ")))
                    .collect();
                format!("Apply failed with {count} conflicts: {}", lines.join("\n"))
            }
        };
        let causes: Vec<Cause> = conflicts
            .iter()
            .flat_map(|(manager, paths)| {
                paths.iter().map(move |path| Cause {
                    reason: "FieldManagerConflict",
                    message: format!("conflict with {manager}"),
                    field: path.clone(),
                })
            })
            .collect();
        Err(Failure::apply_conflict(message, &causes))
    }

    /// All managers but `own` lose what the change took from them or removed.
    fn give_way(&mut self, own: Option<&Manager>, comparison: &Comparison) {
        let lost = comparison.modified.union(&comparison.added).union(&comparison.removed);
        for (manager, owned) in &mut self.0 {
            if Some(manager) != own {
                owned.fields = owned.fields.difference(&lost);
            }
        }
        self.0.retain(|_, owned| !owned.fields.is_empty());
    }
}

fn strip(mut fields: FieldSet) -> FieldSet {
    let mut never = FieldSet::default();
    let element = super::fields::Element::field;
    for field in NEVER_OWNED {
        never.insert(&[element("metadata"), element(field)]);
    }
    for field in ["apiVersion", "kind", "metadata"] {
        never.insert(&[element(field)]);
    }
    fields.member = false;
    fields.difference(&never)
}

fn entry(manager: &Manager, owned: &Owned) -> Value {
    let mut entry = json!({
        "manager": manager.name,
        "operation": match manager.operation { Operation::Apply => "Apply", Operation::Update => "Update" },
        "apiVersion": owned.api_version,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned.fields.to_json(),
    });
    if let Some(time) = &owned.time {
        entry["time"] = time.as_str().into();
    }
    if !manager.subresource.is_empty() {
        entry["subresource"] = manager.subresource.as_str().into();
    }
    entry
}

/// A manager as conflict messages name it.
fn shown(manager: &Manager, owned: &Owned) -> String {
    let mut text = format!("{:?}", manager.name);
    if !manager.subresource.is_empty() {
        text += &format!(" with subresource {:?}", manager.subresource);
    }
    if manager.operation == Operation::Update {
        // The time is no part of who somebody is.
        text += &format!(" using {}", owned.api_version);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::api::kinds;

    /// A small configuration of a pod: labels, containers by name with an image and environment, a selector as a whole.
    fn config() -> impl Strategy<Value = Value> {
        let word = || prop::sample::select(vec!["a", "b", "c"]);
        let labels = prop::collection::btree_map(word(), word(), 0..3);
        let container = (word(), word(), prop::collection::btree_map(word(), word(), 0..3));
        // An empty list map is nothing that somebody could own.
        let containers = prop::collection::vec(container, 1..3);
        let selector = prop::option::of(prop::collection::btree_map(word(), word(), 1..3));
        let finalizers = prop::collection::btree_set(word(), 0..3);
        (labels, containers, selector, finalizers).prop_map(|(labels, containers, selector, finalizers)| {
            let mut seen = std::collections::BTreeSet::new();
            let containers: Vec<Value> = containers
                .into_iter()
                .filter(|(name, ..)| seen.insert(*name))
                .map(|(name, image, env)| {
                    let env: Vec<Value> = env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
                    json!({"name": name, "image": image, "env": env})
                })
                .collect();
            let mut config = json!({
                "metadata": {"name": "p", "labels": labels, "finalizers": finalizers}, "spec": {"containers": containers, "nodeSelector": selector},
            });
            let pod = kinds::resources().iter().find(|resource| resource.kind == "Pod").unwrap();
            crate::api::conform::conform(&mut config, pod.schema(), pod.flavour);
            config
        })
    }

    fn schema() -> Type<'static> {
        kinds::resources().iter().find(|resource| resource.kind == "Pod").unwrap().schema()
    }

    fn writer<'a>(manager: &'a str, now: &'a str) -> Writer<'a> {
        Writer { manager, api_version: "v1", subresource: "", now }
    }

    fn sets(managers: &Managers) -> Value {
        let name = |manager: &Manager| format!("{}-{:?}", manager.name, manager.operation);
        let sets = managers.0.iter().map(|(manager, owned)| (name(manager), owned.fields.to_json()));
        Value::Object(sets.collect())
    }

    /// Each line of the file is a sequence of applies and updates of one pod, with what Kubernetes' own library made of it:
    /// structured-merge-diff v6.4.2 with the schema of the typed apply configurations of Kubernetes 1.37. (One habit of the
    /// library is not in there: it leaves an updater the ownership of a map that it has just emptied and dropped.)
    #[test]
    fn agrees_with_the_records_of_kubernetes_own_library() {
        for (number, line) in include_str!("recorded/apply.jsonl").lines().enumerate() {
            let steps: Vec<Value> = serde_json::from_str(line).unwrap();
            let (mut live, mut managers) = (json!({"metadata": {"name": "p", "uid": "u"}}), Managers::default());
            for (index, step) in steps.iter().enumerate() {
                let place = format!("line {}, step {index}", number + 1);
                let writer = writer(object::text(step, "/manager"), "t");
                let config = &step["config"];
                if step["op"] == "update" {
                    managers = managers.update(&live, config, schema(), &writer);
                    live = config.clone();
                } else {
                    match managers.clone().apply(&live, config, schema(), &writer, step["force"] == true) {
                        Ok((next, owners)) => (live, managers) = (next, owners),
                        Err(failure) => {
                            let status = failure.to_json();
                            let mut fields: Vec<&str> = object::items(&status, "/details/causes")
                                .map(|cause| object::text(cause, "/field"))
                                .collect();
                            fields.sort_unstable();
                            assert_eq!(json!(fields), step["conflicts"], "{place}");
                            continue;
                        }
                    }
                }
                assert_eq!(live, step["live"], "{place}");
                assert_eq!(sets(&managers), step["sets"], "{place}");
            }
        }
    }

    proptest! {
        /// Whatever three managers apply, force and update in turn: every manager then owns fields that are there; applying
        /// the same again changes neither the object nor the record; and what an applier says is what the object has.
        #[test]
        fn applies_settle(steps in prop::collection::vec((0..3usize, any::<bool>(), any::<bool>(), config()), 1..8)) {
            let (mut live, mut managers) = (json!({}), Managers::default());
            for (step, (who, force, is_update, config)) in steps.into_iter().enumerate() {
                let now = format!("t{step}");
                let writer = writer(["x", "y", "z"][who], &now);
                if is_update {
                    let next = merge(&live, &config, schema());
                    managers = managers.update(&live, &next, schema(), &writer);
                    live = next;
                } else {
                    let Ok((next, owners)) = managers.clone().apply(&live, &config, schema(), &writer, force) else {
                        prop_assert!(!force, "force never conflicts");
                        continue;
                    };
                    prop_assert_eq!(merge(&next, &config, schema()), next.clone(), "the configuration is in force");
                    let later = Writer { now: "later", ..writer };
                    let again = owners.clone().apply(&next, &config, schema(), &later, false).unwrap();
                    prop_assert_eq!(&again, &(next.clone(), owners.clone()), "a second apply does nothing");
                    (live, managers) = (next, owners);
                }
                let there = compare(&json!({}), &live, schema()).added.union(&field_set(&live, schema()));
                for (manager, owned) in &managers.0 {
                    let gone = owned.fields.difference(&there).paths();
                    prop_assert!(gone.is_empty(), "{} owns {:?}, which is gone", manager.name, gone);
                }
                let mut written = json!({"metadata": {}});
                managers.write_to(&mut written);
                prop_assert_eq!(Managers::of(&written), managers.clone(), "the record is read as it was written");
            }
        }
    }
}
