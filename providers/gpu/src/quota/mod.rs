//! `gpu_quota`: the slices that a namespace may request, as a ResourceQuota. Everything else is zero: a quota that lists
//! only some names leaves all others unlimited.

mod hard;
mod realise;

use engine_model::{
    name::ResourceName,
    schema::{Attribute, Block, Schema, Usage},
};
use engine_value::{Path, Type, Value};
use providers_api::{Issue, PlanRequest, Planned, ReadAnswer, ReadObject, ReadRequest};

pub(crate) use realise::apply;

use crate::{
    attributes::{known, text, with},
    resource::{Amounts, is_gpu_resource},
    world::World,
};
use hard::{Private, hard, known_names, zeroed};

/// The type's name.
pub(crate) const TYPE: &str = "gpu_quota";

/// The ResourceQuota's name where none is given.
const DEFAULT_NAME: &str = "sliceform-gpu";

/// The schema.
pub(crate) fn schema() -> Schema {
    let plain = |ty, usage, description: &str| Attribute::new(ty, usage, description);
    let block = Block::new(
        [
            ("id", plain(Type::String, Usage::Computed, "`NAMESPACE/NAME`.")),
            ("namespace", plain(Type::String, Usage::Required, "Whose requests are limited.")),
            (
                "name",
                plain(Type::String, Usage::OptionalComputed, "Name of the ResourceQuota; `sliceform-gpu` by default."),
            ),
            (
                "slices",
                plain(
                    Type::map(Type::Number),
                    Usage::Required,
                    "How many of each resource may be requested: `{ \"nvidia.com/mig-1g.10gb\" = 4 }`. Every other GPU \
                     resource is zero.",
                ),
            ),
            (
                "zeroed",
                plain(
                    Type::Number,
                    Usage::Computed,
                    "How many other names are held at zero: what nodes offer now or by plan, `nvidia.com/gpu`, and \
                     every MIG profile of the catalog.",
                ),
            ),
        ],
        "The slices that a namespace may request. Everything else is zero.",
    );
    Schema { version: 0, block }
}

/// Everything that is wrong with a configuration, as far as it is known.
pub(crate) fn check(config: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    for (name, amount) in known(config, "slices").and_then(Value::as_map).into_iter().flatten() {
        let path = slice_path(name);
        if let Some(bare) = name.strip_prefix("requests.") {
            let detail = "Names stand as pods request them; the quota's own prefix `requests.` is added.";
            let hint = format!("Write {bare:?}.");
            issues.push(Issue::error(path, "Invalid resource name", detail).hint(hint));
        } else if !is_gpu_resource(name) {
            let detail =
                format!("{name:?} is no GPU resource: those are nvidia.com/gpu, nvidia.com/mig-… and sliceform.io/….");
            let hint = "For other resources use a ResourceQuota of your own.";
            issues.push(Issue::error(path, "Invalid resource name", detail).hint(hint));
        } else if amount.is_known() && amount.as_i64().is_none_or(|amount| amount < 0) {
            let detail = "An amount is a whole number from 0.";
            issues.push(Issue::error(path, "Invalid amount", detail));
        }
    }
    issues
}

/// The path of a slice in a quota.
pub(crate) fn slice_path(name: &str) -> Path {
    Path::root().attr("slices").key(name)
}

/// The slices of an object that are known.
pub(crate) fn slices_of(object: &Value) -> Amounts {
    let entries = known(object, "slices").and_then(Value::as_map).into_iter().flatten();
    let amount = |value: &Value| u64::try_from(value.as_i64()?).ok();
    entries.filter_map(|(name, value)| Some((ResourceName::from(&**name), amount(value)?))).collect()
}

/// Plans a quota.
///
/// # Errors
/// None: what is wrong with the configuration was told before.
pub(crate) fn propose(request: &PlanRequest, world: &World) -> Result<Planned, Vec<Issue>> {
    if request.config.is_null() {
        let private = request.private.clone();
        return Ok(Planned { private, ..Planned::object(Value::null(request.prior.type_of())) });
    }
    let mut private = Private::from_bytes(&request.private);
    let pools = request.earlier.iter().filter(|change| &*change.addr.ty == crate::pool::TYPE);
    private.names = known_names(world, pools, &private);
    let mut object = request.config.clone();
    if object.get("name").is_some_and(Value::is_null) {
        object = with(&object, "name", Value::string(DEFAULT_NAME));
    }
    let (object, replace) = (identified(&object), replaced(&request.prior, &object));
    let object = with(&object, "zeroed", zeroed(&object, &private.names));
    let pending = !request.prior.is_null() && private != Private::from_bytes(&request.private);
    Ok(Planned { private: private.to_bytes(), replace, pending, ..Planned::object(object) })
}

fn identified(object: &Value) -> Value {
    let id = match (text(object, "namespace"), text(object, "name")) {
        (Some(namespace), Some(name)) => Value::string(format!("{namespace}/{name}")),
        _ => Value::unknown(Type::String),
    };
    with(object, "id", id)
}

fn replaced(prior: &Value, object: &Value) -> Vec<Path> {
    if prior.is_null() {
        return Vec::new();
    }
    let differs = |name: &&str| object.get(name) != prior.get(name);
    ["namespace", "name"].iter().copied().filter(differs).map(|name| Path::root().attr(name)).collect()
}

/// What a quota is now. Only names that it owns count: what others add to the same ResourceQuota is theirs.
pub(crate) fn read(request: ReadRequest, world: &World) -> ReadAnswer {
    let (namespace, name) = (text(&request.object, "namespace"), text(&request.object, "name"));
    let found = world
        .quotas
        .iter()
        .find(|quota| Some(quota.namespace.as_str()) == namespace && Some(quota.name.as_str()) == name);
    let Some(found) = found else { return ReadAnswer::Gone };
    let private = Private::from_bytes(&request.private);
    let wanted = hard(&slices_of(&request.object), &private.names);
    let (mut slices, mut zeros, mut notes) = (Amounts::new(), 0, Vec::new());
    let said = slices_of(&request.object);
    for (resource, amount) in &wanted {
        let is = found.hard.get(resource).copied();
        if is != Some(*amount) {
            notes.push(match is {
                Some(is) => format!("{}/{}: {resource} is {is}, not {amount}", found.namespace, found.name),
                None => format!("{}/{}: {resource} is not limited any more", found.namespace, found.name),
            });
        }
        match is {
            Some(0) if !said.contains_key(resource) => zeros += 1,
            Some(is) => {
                slices.insert(resource.clone(), is);
            }
            None => {}
        }
    }
    let mut object = request.object.clone();
    if !notes.is_empty() {
        let slices =
            slices.iter().map(|(name, amount)| (name.as_str(), Value::int(i64::try_from(*amount).unwrap_or(i64::MAX))));
        object = with(&object, "slices", Value::map(Type::Number, slices));
        object = with(&object, "zeroed", Value::int(zeros));
    }
    ReadAnswer::Object(ReadObject { object, private: request.private, notes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::WorldBuilder;

    fn config(slices: &[(&str, i64)]) -> Value {
        let slices = slices.iter().map(|(name, amount)| (*name, Value::int(*amount)));
        Value::object([
            ("id", Value::null(Type::String)),
            ("namespace", Value::string("team-a")),
            ("name", Value::null(Type::String)),
            ("slices", Value::map(Type::Number, slices)),
            ("zeroed", Value::null(Type::Number)),
        ])
    }

    fn request(prior: Value, config: Value, private: Vec<u8>) -> PlanRequest {
        PlanRequest {
            addr: "gpu_quota.a".parse().unwrap(),
            stored: prior.clone(),
            proposed: config.clone(),
            prior,
            private,
            config,
            earlier: Default::default(),
            is_last: false,
        }
    }

    fn planned(slices: &[(&str, i64)]) -> Planned {
        let nothing = Value::null(Type::Dynamic);
        propose(&request(nothing, config(slices), Vec::new()), &WorldBuilder::default().build()).unwrap()
    }

    fn read_back(planned: &Planned, hard: &[(&str, u64)], missing: &[&str]) -> ReadAnswer {
        let names = Private::from_bytes(&planned.private).names;
        let mut is = super::hard(&slices_of(&planned.object), &names);
        is.extend(hard.iter().map(|(name, amount)| (ResourceName::from(*name), *amount)));
        is.retain(|name, _| !missing.contains(&name.as_str()));
        let is: Vec<(&str, u64)> = is.iter().map(|(name, amount)| (name.as_str(), *amount)).collect();
        let mut world = WorldBuilder::default().quota("team-a", &is).build();
        world.quotas[0].name = DEFAULT_NAME.to_owned();
        let request = ReadRequest {
            addr: "gpu_quota.a".parse().unwrap(),
            object: planned.object.clone(),
            private: planned.private.clone(),
        };
        read(request, &world)
    }

    #[test]
    fn names_and_amounts_are_checked() {
        for (slices, expected) in [
            (&[("nvidia.com/gpu", 1), ("sliceform.io/notebook", 2)][..], vec![]),
            (&[("requests.nvidia.com/gpu", 1)][..], vec!["Invalid resource name"]),
            (&[("cpu", 1)][..], vec!["Invalid resource name"]),
            (&[("nvidia.com/gpu", -1)][..], vec!["Invalid amount"]),
        ] {
            let issues: Vec<String> = check(&config(slices)).into_iter().map(|issue| issue.summary).collect();
            assert_eq!(issues, expected);
        }
    }

    #[test]
    fn a_second_plan_is_empty() {
        let first = planned(&[("nvidia.com/mig-1g.10gb", 4)]);
        assert_eq!(first.object.get("id"), Some(&Value::string("team-a/sliceform-gpu")));
        let second = request(first.object.clone(), config(&[("nvidia.com/mig-1g.10gb", 4)]), first.private.clone());
        let second = propose(&second, &WorldBuilder::default().build()).unwrap();
        assert_eq!((second.object, second.pending, second.replace), (first.object, false, vec![]));
    }

    #[test]
    fn another_namespace_is_another_quota() {
        let first = planned(&[]);
        let moved = with(&config(&[]), "namespace", Value::string("team-b"));
        let second = propose(&request(first.object, moved, first.private), &WorldBuilder::default().build()).unwrap();
        assert_eq!(second.replace, [Path::root().attr("namespace")]);
    }

    #[test]
    fn drift_is_what_we_own_and_nothing_else() {
        let planned = planned(&[("nvidia.com/mig-1g.10gb", 4)]);
        for (hard, missing, notes, slices) in [
            (vec![], vec![], vec![], vec![("nvidia.com/mig-1g.10gb", 4)]),
            // Somebody else's name in the same quota.
            (vec![("sliceform.io/theirs", 9)], vec![], vec![], vec![("nvidia.com/mig-1g.10gb", 4)]),
            (
                vec![("nvidia.com/mig-1g.10gb", 5)],
                vec![],
                vec!["team-a/sliceform-gpu: nvidia.com/mig-1g.10gb is 5, not 4"],
                vec![("nvidia.com/mig-1g.10gb", 5)],
            ),
            (
                vec![("nvidia.com/gpu", 2)],
                vec![],
                vec!["team-a/sliceform-gpu: nvidia.com/gpu is 2, not 0"],
                vec![("nvidia.com/gpu", 2), ("nvidia.com/mig-1g.10gb", 4)],
            ),
            (
                vec![],
                vec!["nvidia.com/gpu"],
                vec!["team-a/sliceform-gpu: nvidia.com/gpu is not limited any more"],
                vec![("nvidia.com/mig-1g.10gb", 4)],
            ),
        ] {
            let ReadAnswer::Object(read) = read_back(&planned, &hard, &missing) else { panic!("it is there") };
            assert_eq!(read.notes, notes);
            let expected: Amounts = slices.into_iter().map(|(name, amount)| (name.into(), amount)).collect();
            assert_eq!(slices_of(&read.object), expected);
            assert_eq!(read.object == planned.object, notes.is_empty());
        }
    }
}
