//! The proposed object: what the configuration says, with what it leaves to the provider taken from the object that is
//! there.

use std::{collections::BTreeMap, sync::Arc};

use engine_model::schema::{Attribute, AttributeType, Block, NestedBlock, Nesting, Usage};
use engine_value::{Data, Path, Step, Type, Value};

/// The configuration of an object (of the schema's type, with unknown values), with computed attributes that it leaves
/// out taken from `prior`, or unknown where `prior` is null; others that it leaves out are their default. Null stays null.
pub fn proposed(block: &Block, prior: &Value, config: &Value) -> Value {
    let prior = is_object(prior).then_some(prior);
    of_block(block, prior, config)
}

fn is_object(value: &Value) -> bool {
    value.is_known() && !value.is_null()
}

fn of_block(block: &Block, prior: Option<&Value>, config: &Value) -> Value {
    if !is_object(config) {
        return config.clone();
    }
    config.map_parts(|step, part| {
        let Step::Attr(name) = &step else { return part.clone() };
        let prior = prior.and_then(|prior| prior.step(&step));
        match (block.attributes.get(name), block.blocks.get(name)) {
            (Some(attribute), _) => of_attribute(attribute, prior, part),
            (None, Some(nested)) => of_nested_block(nested, prior, part),
            (None, None) => part.clone(),
        }
    })
}

fn of_attribute(attribute: &Attribute, prior: Option<&Value>, config: &Value) -> Value {
    if attribute.write_only {
        return Value::null(attribute.value_type());
    }
    let left_out = config.is_null() && attribute.is_computed();
    if left_out || attribute.usage == Usage::Computed {
        return prior.cloned().unwrap_or_else(|| Value::unknown(attribute.value_type()));
    }
    if let Some(default) = attribute.default.as_ref().filter(|_| config.is_null()) {
        return default.clone();
    }
    match &attribute.ty {
        AttributeType::Nested { nesting, attributes } if is_object(config) && has_computed(attributes) => {
            held(*nesting, prior, config, &|prior, config| of_attributes(attributes, prior, config), &|value| {
                given(attributes, value)
            })
        }
        _ => config.clone(),
    }
}

fn of_attributes(attributes: &BTreeMap<Arc<str>, Attribute>, prior: Option<&Value>, config: &Value) -> Value {
    if !is_object(config) {
        return config.clone();
    }
    config.map_parts(|step, part| {
        let Step::Attr(name) = &step else { return part.clone() };
        let prior = prior.and_then(|prior| prior.step(&step));
        attributes.get(name).map_or_else(|| part.clone(), |attribute| of_attribute(attribute, prior, part))
    })
}

fn of_nested_block(nested: &NestedBlock, prior: Option<&Value>, config: &Value) -> Value {
    if !is_object(config) || !block_has_computed(&nested.block) {
        return config.clone();
    }
    let block = &nested.block;
    held(nested.nesting, prior, config, &|prior, config| of_block(block, prior, config), &|value| {
        given(&block.attributes, value)
    })
}

/// Goes through what holds nested objects, and finds for each the one that it was before: by place, by key, or in a set
/// by everything that the configuration gives.
fn held(
    nesting: Nesting,
    prior: Option<&Value>,
    config: &Value,
    object: &dyn Fn(Option<&Value>, &Value) -> Value,
    given: &dyn Fn(&Value) -> Value,
) -> Value {
    let prior = prior.filter(|prior| is_object(prior));
    match nesting {
        Nesting::Single | Nesting::Group => object(prior, config),
        Nesting::List | Nesting::Map => {
            config.map_parts(|step, part| object(prior.and_then(|prior| prior.step(&step)), part))
        }
        Nesting::Set => {
            let mut before: BTreeMap<Value, &Value> = BTreeMap::new();
            for element in prior.into_iter().flat_map(Value::parts) {
                before.entry(given(element)).or_insert(element);
            }
            config.map_parts(|_, part| object(before.get(&given(part)).copied(), part))
        }
    }
}

/// The object without what a provider may have added.
fn given(attributes: &BTreeMap<Arc<str>, Attribute>, object: &Value) -> Value {
    object.map_parts(|step, part| match &step {
        Step::Attr(name) if attributes.get(name).is_some_and(Attribute::is_computed) => Value::null(Type::Dynamic),
        _ => part.clone(),
    })
}

fn has_computed(attributes: &BTreeMap<Arc<str>, Attribute>) -> bool {
    attributes.values().any(|attribute| {
        attribute.is_computed()
            || attribute.write_only
            || attribute.default.is_some()
            || matches!(&attribute.ty, AttributeType::Nested { attributes, .. } if has_computed(attributes))
    })
}

fn block_has_computed(block: &Block) -> bool {
    has_computed(&block.attributes) || block.blocks.values().any(|nested| block_has_computed(&nested.block))
}

/// The planned object with what the configuration now says in the place of what was unknown when it was planned. What
/// only the provider decides stays unknown.
pub fn settled(block: &Block, planned: &Value, config: &Value) -> Value {
    if planned.is_wholly_known() || !is_object(config) {
        return planned.clone();
    }
    fill(planned, &proposed(block, &Value::null(Type::Dynamic), config))
}

fn fill(planned: &Value, now: &Value) -> Value {
    match (&planned.data, &now.data) {
        (Data::Unknown(_), Data::Null(_)) => planned.clone(),
        (Data::Unknown(_), _) => now.clone().mark(planned.marks),
        // Elements of a set that were unknown have no place: the set is what it is now, if that is known.
        (Data::Set(..), Data::Set(..)) if planned.has_unknown() => now.clone().mark(planned.marks),
        _ => planned.map_parts(|step, part| now.step(&step).map_or_else(|| part.clone(), |now| fill(part, now))),
    }
}

/// The schema's attribute that a path leads to or through, with the path up to it: the innermost one.
pub(crate) fn attribute_at<'a>(block: &'a Block, path: &Path) -> Option<&'a Attribute> {
    enum At<'a> {
        Block(&'a Block),
        Attributes(&'a BTreeMap<Arc<str>, Attribute>),
    }
    let (mut at, mut found) = (At::Block(block), None);
    for step in &path.0 {
        let Step::Attr(name) = step else { continue };
        let attribute = match at {
            At::Block(block) => match (block.attributes.get(name), block.blocks.get(name)) {
                (Some(attribute), _) => attribute,
                (None, Some(nested)) => {
                    at = At::Block(&nested.block);
                    continue;
                }
                (None, None) => return found,
            },
            At::Attributes(attributes) => match attributes.get(name) {
                Some(attribute) => attribute,
                None => return found,
            },
        };
        found = Some(attribute);
        match &attribute.ty {
            AttributeType::Nested { attributes, .. } => at = At::Attributes(attributes),
            AttributeType::Plain(_) => return found,
        }
    }
    found
}

/// The configuration without what is never stored.
pub(crate) fn storable(block: &Block, config: &Value) -> Value {
    if !block_has_write_only(block) {
        return config.clone();
    }
    config.transform(&mut |path, part| match attribute_at(block, path) {
        Some(attribute) if attribute.write_only => Value::null(part.type_of()),
        _ => part,
    })
}

fn block_has_write_only(block: &Block) -> bool {
    fn any(attributes: &BTreeMap<Arc<str>, Attribute>) -> bool {
        attributes.values().any(|attribute| {
            attribute.write_only || matches!(&attribute.ty, AttributeType::Nested { attributes, .. } if any(attributes))
        })
    }
    any(&block.attributes) || block.blocks.values().any(|nested| block_has_write_only(&nested.block))
}

/// Every path that the schema marks as sensitive or write-only, with the value's own places in collections.
pub(crate) fn sensitive_paths(block: &Block, object: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    object.walk(&mut |path, _| match attribute_at(block, path) {
        Some(attribute) if attribute.sensitive => {
            found.push(path.clone());
            false
        }
        Some(attribute) => matches!(attribute.ty, AttributeType::Nested { .. }),
        None => true,
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(usage: Usage) -> Attribute {
        Attribute::new(Type::String, usage, "")
    }

    fn text(value: Option<&str>) -> Value {
        value.map_or_else(|| Value::null(Type::String), Value::from)
    }

    fn block() -> Block {
        let share = Attribute::nested(
            Nesting::Set,
            [("name", attribute(Usage::Required)), ("id", attribute(Usage::Computed))],
            Usage::Optional,
            "",
        );
        Block::new(
            [
                ("given", attribute(Usage::Optional)),
                ("either", attribute(Usage::OptionalComputed)),
                ("made", attribute(Usage::Computed)),
                ("shares", share),
            ],
            "",
        )
    }

    fn share(name: &str, id: Option<&str>) -> Value {
        Value::object([("name", text(Some(name))), ("id", text(id))])
    }

    fn object(given: Option<&str>, either: Option<&str>, made: Option<&str>, shares: Vec<Value>) -> Value {
        let ty = Type::object([("name", Type::String), ("id", Type::String)]);
        Value::object([
            ("given", text(given)),
            ("either", text(either)),
            ("made", text(made)),
            ("shares", Value::set(ty, shares)),
        ])
    }

    #[test]
    fn computed_attributes_come_from_what_is_there() {
        let prior = object(Some("old"), Some("chosen"), Some("id-1"), vec![share("a", Some("a-1"))]);
        let config = object(None, None, None, vec![share("a", None), share("b", None)]);
        let proposed = proposed(&block(), &prior, &config);
        assert_eq!(proposed.get("given"), Some(&text(None)));
        assert_eq!(proposed.get("either"), Some(&text(Some("chosen"))));
        assert_eq!(proposed.get("made"), Some(&text(Some("id-1"))));
        let shares = proposed.get("shares").unwrap();
        let ids: Vec<Option<&str>> =
            shares.as_sequence().unwrap().iter().map(|s| s.get("id").unwrap().as_str()).collect();
        assert!(ids.contains(&Some("a-1")), "{ids:?}");
        assert!(ids.contains(&None), "{ids:?}");
    }

    #[test]
    fn without_an_object_they_are_unknown() {
        let config = object(Some("new"), Some("mine"), None, vec![]);
        let proposed = proposed(&block(), &Value::null(Type::Dynamic), &config);
        assert_eq!(proposed.get("either"), Some(&text(Some("mine"))));
        assert!(!proposed.get("made").unwrap().is_known());
    }

    #[test]
    fn a_default_stands_where_nothing_is_given() {
        let block = Block::new([("given", attribute(Usage::Optional).with_default("usual".into()))], "");
        let given = |value: Option<&str>| Value::object([("given", text(value))]);
        let nothing = Value::null(Type::Dynamic);
        assert_eq!(proposed(&block, &nothing, &given(None)), given(Some("usual")));
        assert_eq!(proposed(&block, &given(Some("old")), &given(None)), given(Some("usual")));
        assert_eq!(proposed(&block, &nothing, &given(Some("mine"))), given(Some("mine")));
    }

    #[test]
    fn what_is_never_stored_is_not_in_a_plan() {
        let block = Block::new(
            [("given", attribute(Usage::Optional)), ("secret", attribute(Usage::Optional).write_only())],
            "",
        );
        let object = |secret: Option<&str>| Value::object([("given", text(Some("a"))), ("secret", text(secret))]);
        assert_eq!(storable(&block, &object(Some("s"))), object(None));
    }

    #[test]
    fn what_was_unknown_is_filled_and_what_the_provider_decides_is_not() {
        let mut planned = object(None, None, None, vec![]);
        for name in ["given", "made"] {
            planned = Path::root().attr(name).set(&planned, Value::unknown(Type::String)).unwrap();
        }
        let now = object(Some("known"), None, None, vec![]);
        let settled = settled(&block(), &planned, &now);
        assert_eq!(settled.get("given"), Some(&text(Some("known"))));
        assert!(!settled.get("made").unwrap().is_known());
    }
}
