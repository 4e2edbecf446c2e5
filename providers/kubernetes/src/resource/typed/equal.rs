//! When two values of an attribute mean the same to Kubernetes.

use std::{collections::BTreeMap, sync::Arc};

use engine_value::Value;

use super::field::{Field, Holds};
use crate::object::quantity::billionths;

/// Null, empty (but for nulls), zero or false: what the API leaves out. HashiCorp's provider stores some of these as null and some as
/// empty, depending on how an object came into its state.
pub(super) fn is_nothing(value: &Value) -> bool {
    if !value.is_known() {
        return false;
    }
    value.is_null()
        || value.as_str() == Some("")
        || value.as_bool() == Some(false)
        || value.as_i64() == Some(0)
        || value.as_map().is_some_and(|parts| parts.values().all(Value::is_null))
        || value.as_sequence().is_some_and(<[Value]>::is_empty)
}

/// Do two wholly known values mean the same?
pub(super) fn same_meaning(holds: Holds, one: &Value, other: &Value) -> bool {
    if is_nothing(one) && is_nothing(other) {
        return true;
    }
    match holds {
        Holds::Texts | Holds::Encoded | Holds::Quantities => {
            let entries = |map: &Value| -> Option<BTreeMap<Arc<str>, Value>> {
                let entries = map.as_map()?.iter().filter(|(_, value)| !value.is_null());
                Some(entries.map(|(name, value)| (name.clone(), value.clone())).collect())
            };
            let same = |one: &Value, other: &Value| match holds {
                Holds::Quantities => same_quantity(one, other),
                _ => one == other,
            };
            match (entries(one), entries(other)) {
                (Some(one), Some(other)) => {
                    one.len() == other.len()
                        && one.iter().all(|(name, one)| other.get(name).is_some_and(|other| same(one, other)))
                }
                _ => one == other,
            }
        }
        Holds::One(fields, _) | Holds::Many(fields, _) => {
            let (one, other) = (one.as_sequence().unwrap_or_default(), other.as_sequence().unwrap_or_default());
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same_block(fields, one, other))
        }
        Holds::SetOf(fields) => {
            let (one, other) = (one.as_sequence().unwrap_or_default(), other.as_sequence().unwrap_or_default());
            let within = |block: &Value, blocks: &[Value]| blocks.iter().any(|other| same_block(fields, block, other));
            one.len() == other.len()
                && one.iter().all(|block| within(block, other))
                && other.iter().all(|block| within(block, one))
        }
        _ => one == other,
    }
}

fn same_block(fields: &[Field], one: &Value, other: &Value) -> bool {
    fields.iter().all(|field| match (one.get(field.name), other.get(field.name)) {
        (Some(one), Some(other)) => same_meaning(field.holds, one, other),
        (one, other) => one == other,
    })
}

/// `1000m` and `1`.
pub(super) fn same_quantity(one: &Value, other: &Value) -> bool {
    if one == other {
        return true;
    }
    let amount = |value: &Value| billionths(value.as_str()?);
    matches!((amount(one), amount(other)), (Some(one), Some(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use engine_value::Type;

    use super::*;

    fn texts(entries: &[(&str, Option<&str>)]) -> Value {
        let value = |text: &Option<&str>| text.map_or_else(|| Value::null(Type::String), Value::from);
        Value::map(Type::String, entries.iter().map(|(name, text)| (*name, value(text))))
    }

    #[test]
    fn what_means_the_same_is_the_same() {
        let null = || Value::null(Type::Dynamic);
        for (holds, one, other, same) in [
            (Holds::Text, null(), "".into(), true),
            (Holds::Text, "a".into(), "".into(), false),
            (Holds::Bool, null(), false.into(), true),
            (Holds::Bool, null(), true.into(), false),
            (Holds::Texts, null(), texts(&[]), true),
            (Holds::Texts, texts(&[("a", None)]), null(), true),
            (Holds::Texts, texts(&[("a", Some("1")), ("b", None)]), texts(&[("a", Some("1"))]), true),
            (Holds::Texts, texts(&[("a", Some("1000m"))]), texts(&[("a", Some("1"))]), false),
            (Holds::Quantities, texts(&[("a", Some("1000m"))]), texts(&[("a", Some("1"))]), true),
            (Holds::Quantities, texts(&[("a", Some("1"))]), texts(&[("a", Some("2"))]), false),
        ] {
            assert_eq!(same_meaning(holds, &one, &other), same, "{one:?} and {other:?}");
        }
    }
}
