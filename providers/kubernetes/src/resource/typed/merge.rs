//! From what an object is and what the configuration says: what it will be, and what of that is a change.

use engine_model::schema::Usage;
use engine_value::{Path, Value};

use super::{
    equal::same_meaning,
    field::{Field, Holds},
    read::{none, nothing},
};

/// What a plan comes to.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Everything that changes.
    pub(super) changed: Vec<Path>,
    /// Of that, what the API does not change in place.
    pub(super) replaced: Vec<Path>,
}

/// The object that the configuration asks for. What means the same as `prior` keeps its spelling; what is left to the
/// provider stays as it is, and is unknown where there is no `prior`.
pub(super) fn merged(
    fields: &[Field],
    config: &Value,
    prior: Option<&Value>,
    at: &Path,
    differences: &mut Differences,
) -> Value {
    config.map_parts(|step, given| {
        let engine_value::Step::Attr(name) = &step else { return given.clone() };
        let before = prior.and_then(|prior| prior.step(&step));
        let Some(field) = fields.iter().find(|field| *field.name == **name) else {
            // `id` is the provider's, and `timeouts` of which none is set say nothing.
            let says_nothing = |value: &Value| value.is_null() || value.parts().all(Value::is_null);
            return before
                .filter(|before| given.is_null() && (&**name == "id" || says_nothing(before)))
                .unwrap_or(given)
                .clone();
        };
        of_field(field, given, before, &at.clone().attr(name.clone()), differences)
    })
}

fn of_field(field: &Field, given: &Value, before: Option<&Value>, at: &Path, differences: &mut Differences) -> Value {
    if field.write_only {
        return none(field);
    }
    let decides = match field.usage {
        Usage::Computed => true,
        Usage::OptionalComputed => given.is_null(),
        Usage::Required | Usage::Optional => false,
    };
    if decides {
        return before.cloned().unwrap_or_else(|| Value::unknown(none(field).type_of()));
    }
    let wanted = match field.default {
        // One that was imported without it goes on without it.
        Some(_) if given.is_null() && before.is_some_and(Value::is_null) => return Value::null(none(field).type_of()),
        Some(default) if given.is_null() => default.value(),
        _ => given.clone(),
    };
    let Some(before) = before else {
        return match field.nested() {
            Some((fields, _)) => each(fields, &wanted, None, at, &mut Differences::default()),
            None => wanted,
        };
    };
    if wanted.is_wholly_known() && field.nested().is_none() && same_meaning(field.holds, before, &wanted) {
        return before.clone();
    }
    match field.holds {
        Holds::One(fields, _) | Holds::Many(fields, _) if wanted.is_known() => {
            let (count, was) = (wanted.parts().count(), before.parts().count());
            let mut inside = Differences::default();
            let mut merged = each(fields, &wanted, Some(before), at, &mut inside);
            if count == was && inside.changed.is_empty() {
                return before.clone();
            }
            // What Kubernetes decides in it may follow from what changes beside it. Metadata are each by itself.
            if !fields.iter().any(|field| field.usage == Usage::Computed) {
                merged = each(fields, &wanted, None, at, &mut Differences::default());
            }
            if count != was {
                inside.changed.push(at.clone());
                if field.replaces || fields.iter().any(|field| field.replaces) {
                    inside.replaced.push(at.clone());
                }
            }
            differences.changed.append(&mut inside.changed);
            differences.replaced.append(&mut inside.replaced);
            return merged;
        }
        Holds::SetOf(fields) if wanted.is_known() => {
            let merged = each(fields, &wanted, None, at, &mut Differences::default());
            if merged.is_wholly_known() && same_meaning(field.holds, before, &merged) {
                return before.clone();
            }
            differences.changed.push(at.clone());
            return merged;
        }
        _ => {}
    }
    differences.changed.push(at.clone());
    if field.replaces {
        differences.replaced.push(at.clone());
    }
    wanted
}

/// Nested objects one by one, each with the one that was at its place.
fn each(fields: &[Field], wanted: &Value, before: Option<&Value>, at: &Path, differences: &mut Differences) -> Value {
    wanted.map_parts(|step, wanted| {
        if !wanted.is_known() || wanted.is_null() {
            return wanted.clone();
        }
        let was = before.map(|before| before.step(&step).cloned().unwrap_or_else(|| nothing_there(fields)));
        merged(fields, wanted, was.as_ref(), &at.clone().step(step), differences)
    })
}

/// A block that is new beside others: what the provider decides in it is not known.
fn nothing_there(fields: &[Field]) -> Value {
    nothing(fields).map_parts(|step, part| {
        let engine_value::Step::Attr(name) = &step else { return part.clone() };
        match fields.iter().find(|field| *field.name == **name) {
            Some(field) if matches!(field.usage, Usage::Computed | Usage::OptionalComputed) => {
                Value::unknown(part.type_of())
            }
            _ => part.clone(),
        }
    })
}

#[cfg(test)]
mod tests {
    use engine_value::Type;

    use super::*;
    use crate::resource::typed::{kind, read::nothing};

    fn limits(default: &str, request: Value) -> Value {
        let fields = kind::of("kubernetes_limit_range").unwrap().fields;
        let amount = |amount: &str| Value::map(Type::String, [("cpu", Value::from(amount))]);
        let one =
            |fields: &[Field], name: &str| nothing(fields.iter().find(|f| f.name == name).unwrap().nested().unwrap().0);
        let spec = fields.iter().find(|field| field.name == "spec").unwrap().nested().unwrap().0;
        let with = |object: Value, name: &str, value: Value| Path::root().attr(name).set(&object, value).unwrap();
        let list = |block: Value| Value::list(block.type_of(), vec![block]);
        let limit = with(with(one(spec, "limit"), "default", amount(default)), "default_request", request);
        with(nothing(fields), "spec", list(with(one(fields, "spec"), "limit", list(limit))))
    }

    fn plan(prior: &Value, config: &Value) -> (Value, Vec<String>) {
        let kind = kind::of("kubernetes_limit_range").unwrap();
        let mut differences = Differences::default();
        let merged = merged(kind.fields, config, Some(prior), &Path::root(), &mut differences);
        (merged, differences.changed.iter().map(Path::to_string).collect())
    }

    #[test]
    fn what_kubernetes_decides_stays_until_something_beside_it_changes() {
        let none = || Value::null(Type::map(Type::String));
        let request = || Value::map(Type::String, [("cpu", Value::from("1"))]);
        let prior = limits("1", request());
        assert_eq!(plan(&prior, &limits("1000m", none())), (prior.clone(), Vec::new()));
        let (object, changed) = plan(&prior, &limits("2", none()));
        assert_eq!(changed, ["spec[0].limit[0].default"]);
        assert_eq!(object, limits("2", Value::unknown(Type::map(Type::String))));
    }
}
