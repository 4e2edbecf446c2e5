//! What a provider's answers must agree with: the configuration, the schema, and what it said before.
//!
//! A breach is a provider's fault, never the user's. Each check returns every breach, as (path, what is wrong); how they
//! are told is up to the caller ([`breach`] has the words).

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::Diagnostic;
use engine_model::{
    address::{ProviderConfigAddr, ResourceAddr},
    schema::{Attribute, AttributeType, Block},
};
use engine_value::{Data, Path, Step, Type, Value};

/// What is wrong, and where.
pub type Breach = (Path, String);

/// Does a planned object agree with the schema and, wherever that is known, with the configuration? A value may also
/// stay as it is in `prior`, where the provider holds both to mean the same.
pub fn planned(block: &Block, prior: &Value, config: &Value, planned: &Value) -> Vec<Breach> {
    let mut breaches = Vec::new();
    conforms(planned, &block.value_type(), &mut Path::root(), &mut breaches);
    if breaches.is_empty() {
        of_block(block, Some(prior), config, planned, &mut Path::root(), &mut breaches);
    }
    breaches
}

/// Does an object agree with what was planned, wherever that was known? With `wholly_known` nothing of it may be
/// unknown: it is the result of an apply.
pub fn agrees(block: &Block, planned: &Value, actual: &Value, wholly_known: bool) -> Vec<Breach> {
    let mut breaches = Vec::new();
    conforms(actual, &block.value_type(), &mut Path::root(), &mut breaches);
    if breaches.is_empty() {
        same(planned, actual, wholly_known, &mut Path::root(), &mut breaches);
    }
    breaches
}

/// A breach of the contract as an error. `summary` is Terraform's: "Provider produced invalid plan".
pub fn breach(summary: &str, addr: &ResourceAddr, provider: &ProviderConfigAddr, breaches: &[Breach]) -> Diagnostic {
    let list: Vec<String> = breaches
        .iter()
        .map(|(path, what)| if path.is_root() { what.clone() } else { format!("{path}: {what}") })
        .collect();
    let detail = format!(
        "{provider} gave an answer for {addr} that it must not give. This is a fault of the provider, not of the \
         configuration.\n  - {}",
        list.join("\n  - ")
    );
    Diagnostic::error(summary, detail).about(addr)
}

/// What is now known contradicts what was planned: both are told.
pub(crate) fn contradiction(addr: &ResourceAddr, breaches: &[Breach]) -> Diagnostic {
    let list: Vec<String> = breaches.iter().map(|(path, what)| format!("{path}: {what}")).collect();
    let detail = format!("What is known now of {addr} is not what the plan was made for.\n  - {}", list.join("\n  - "));
    let error = Diagnostic::error("Configuration contradicts the plan", detail).about(addr);
    error.hint("Make a new plan and review it.")
}

/// Is the value of this type, whole?
fn conforms(value: &Value, ty: &Type, at: &mut Path, breaches: &mut Vec<Breach>) {
    let mut inside = |step: Step, part: &Value, ty: &Type| {
        at.0.push(step);
        conforms(part, ty, at, breaches);
        at.0.pop();
    };
    let fits = match (&value.data, ty) {
        (Data::Null(_) | Data::Unknown(_), _)
        | (_, Type::Dynamic)
        | (Data::Bool(_), Type::Bool)
        | (Data::Number(_), Type::Number)
        | (Data::String(_), Type::String) => true,
        (Data::List(_, elements), Type::List(ty)) => {
            elements.iter().enumerate().for_each(|(index, part)| inside(Step::Index(index), part, ty));
            true
        }
        (Data::Set(_, elements), Type::Set(ty)) => {
            elements.iter().for_each(|part| inside(Step::Element(Box::new(part.clone())), part, ty));
            true
        }
        (Data::Map(_, elements), Type::Map(ty)) => {
            elements.iter().for_each(|(key, part)| inside(Step::Key(key.clone()), part, ty));
            true
        }
        (Data::Tuple(elements), Type::Tuple(types)) if elements.len() == types.len() => {
            elements.iter().zip(types.iter()).enumerate().for_each(|(i, (part, ty))| inside(Step::Index(i), part, ty));
            true
        }
        (Data::Object(attributes), Type::Object(types)) if attributes.keys().eq(types.keys()) => {
            attributes.iter().zip(types.values()).for_each(|((name, part), attr)| {
                inside(Step::Attr(name.clone()), part, &attr.ty);
            });
            true
        }
        _ => false,
    };
    if !fits {
        breaches.push((at.clone(), format!("must be {}, is {}", ty.friendly(), value.type_of().friendly())));
    }
}

fn of_block(
    block: &Block,
    prior: Option<&Value>,
    config: &Value,
    planned: &Value,
    at: &mut Path,
    breaches: &mut Vec<Breach>,
) {
    let (Some(configured), Some(planned)) = (config.as_map(), planned.as_map()) else { return };
    for (name, planned) in planned {
        let Some(config) = configured.get(name) else { continue };
        let prior = prior.and_then(|prior| prior.get(name));
        at.0.push(Step::Attr(name.clone()));
        if let Some(attribute) = block.attributes.get(name) {
            of_attribute(attribute, prior, config, planned, at, breaches);
        } else if let Some(nested) = block.blocks.get(name).filter(|_| prior.is_none_or(|prior| prior != planned)) {
            nested_parts(prior, config, planned, at, breaches, &mut |prior, config, planned, at, breaches| {
                of_block(&nested.block, prior, config, planned, at, breaches);
            });
        }
        at.0.pop();
    }
}

fn of_attributes(
    attributes: &BTreeMap<Arc<str>, Attribute>,
    prior: Option<&Value>,
    config: &Value,
    planned: &Value,
    at: &mut Path,
    breaches: &mut Vec<Breach>,
) {
    let (Some(configured), Some(planned)) = (config.as_map(), planned.as_map()) else { return };
    for (name, planned) in planned {
        let (Some(attribute), Some(config)) = (attributes.get(name), configured.get(name)) else { continue };
        at.0.push(Step::Attr(name.clone()));
        of_attribute(attribute, prior.and_then(|prior| prior.get(name)), config, planned, at, breaches);
        at.0.pop();
    }
}

fn of_attribute(
    attribute: &Attribute,
    prior: Option<&Value>,
    config: &Value,
    planned: &Value,
    at: &mut Path,
    breaches: &mut Vec<Breach>,
) {
    if attribute.write_only {
        if !planned.is_null() {
            breaches.push((at.clone(), "is write-only and must stay null".to_owned()));
        }
        return;
    }
    if prior.is_some_and(|prior| prior == planned) || (config.is_null() && attribute.is_computed()) {
        return;
    }
    let config = if config.is_null() { attribute.default.as_ref().unwrap_or(config) } else { config };
    match &attribute.ty {
        AttributeType::Nested { attributes, .. } if config.is_known() && !config.is_null() => {
            nested_parts(prior, config, planned, at, breaches, &mut |prior, config, planned, at, breaches| {
                of_attributes(attributes, prior, config, planned, at, breaches);
            });
        }
        _ => same_as_configured(config, planned, at, breaches),
    }
}

/// Goes on into two parts that stand at the same place.
type Pairwise<'a> = dyn FnMut(&Value, &Value, &mut Path, &mut Vec<Breach>) + 'a;

type Inside<'a> = dyn FnMut(Option<&Value>, &Value, &Value, &mut Path, &mut Vec<Breach>) + 'a;

/// Nested objects one by one, each with what it is configured to be and what it was.
fn nested_parts(
    prior: Option<&Value>,
    config: &Value,
    planned: &Value,
    at: &mut Path,
    breaches: &mut Vec<Breach>,
    inside: &mut Inside<'_>,
) {
    if prior.is_some_and(|prior| prior == planned) && config.is_wholly_known() {
        return;
    }
    if !config.is_known() || !planned.is_known() || config.is_null() || planned.is_null() {
        same_as_configured(config, planned, at, breaches);
        return;
    }
    if let (Data::Object(_), Data::Object(_)) = (&config.data, &planned.data) {
        inside(prior, config, planned, at, breaches);
        return;
    }
    let (wanted, got) = (config.parts().count(), planned.parts().count());
    if let Data::Set(..) = config.data {
        // Members of a set have no names to compare them by; unknown ones may turn out to be equal.
        if config.is_wholly_known() && wanted != got {
            breaches.push((at.clone(), format!("the configuration has {wanted} of them, the plan {got}")));
        }
        return;
    }
    if wanted != got {
        breaches.push((at.clone(), format!("the configuration has {wanted} of them, the plan {got}")));
        return;
    }
    for (step, config) in config.steps().into_iter().zip(config.parts()) {
        let before = prior.and_then(|prior| prior.step(&step));
        let planned = planned.step(&step);
        at.0.push(step);
        match planned {
            Some(planned) => inside(before, config, planned, at, breaches),
            None => breaches.push((at.clone(), "is configured and not planned".to_owned())),
        }
        at.0.pop();
    }
}

/// Equal to the configuration wherever that is known, and unknown where it is not.
fn same_as_configured(config: &Value, planned: &Value, at: &mut Path, breaches: &mut Vec<Breach>) {
    if !config.is_known() {
        if planned.is_known() {
            breaches.push((at.clone(), "is planned to be known, but its configuration is not known yet".to_owned()));
        }
        return;
    }
    compare(config, planned, at, breaches, "the configuration", "the plan", &mut same_as_configured);
}

fn same(planned: &Value, actual: &Value, wholly_known: bool, at: &mut Path, breaches: &mut Vec<Breach>) {
    if !planned.is_known() {
        if wholly_known && !actual.is_wholly_known() {
            breaches.push((at.clone(), "is still unknown".to_owned()));
        }
        return;
    }
    if wholly_known && !actual.is_known() {
        breaches.push((at.clone(), "is still unknown".to_owned()));
        return;
    }
    compare(planned, actual, at, breaches, "the plan", "the result", &mut |planned, actual, at, breaches| {
        same(planned, actual, wholly_known, at, breaches);
    });
}

/// One level: recurses into parts that have names on both sides, compares all others.
fn compare(
    expected: &Value,
    actual: &Value,
    at: &mut Path,
    breaches: &mut Vec<Breach>,
    who_expected: &str,
    who_actual: &str,
    inside: &mut Pairwise<'_>,
) {
    let mut say = |what: String| breaches.push((at.clone(), what));
    match (&expected.data, &actual.data) {
        (Data::Set(..), Data::Set(..)) if !expected.is_wholly_known() => {}
        (Data::Object(x) | Data::Map(_, x), Data::Object(y) | Data::Map(_, y)) => {
            if let Some(name) = x.keys().find(|name| !y.contains_key(*name)) {
                return say(format!("{who_expected} has {name:?}, {who_actual} has not"));
            }
            if let Some(name) = y.keys().find(|name| !x.contains_key(*name)) {
                return say(format!("{who_actual} has {name:?}, {who_expected} has not"));
            }
            for (step, part) in expected.steps().into_iter().zip(expected.parts()) {
                let other = actual.step(&step).cloned();
                at.0.push(step);
                if let Some(other) = &other {
                    inside(part, other, at, breaches);
                }
                at.0.pop();
            }
        }
        (Data::List(_, x) | Data::Tuple(x), Data::List(_, y) | Data::Tuple(y)) => {
            if x.len() != y.len() {
                return say(format!("{who_expected} has {} elements, {who_actual} {}", x.len(), y.len()));
            }
            for (index, (part, other)) in x.iter().zip(y.iter()).enumerate() {
                at.0.push(Step::Index(index));
                inside(part, other, at, breaches);
                at.0.pop();
            }
        }
        // The types of nulls are the schema's business.
        (Data::Null(_), Data::Null(_)) => {}
        (x, y) if x == y => {}
        _ => say(format!("{who_expected} says {}, {who_actual} {}", shown(expected), shown(actual))),
    }
}

/// A value in an error text: never a sensitive one, never a long one.
fn shown(value: &Value) -> String {
    if value.contains_sensitive() {
        return "(sensitive value)".to_owned();
    }
    match &value.data {
        Data::Unknown(_) => "(known after apply)".to_owned(),
        Data::Null(_) => "null".to_owned(),
        Data::Bool(_) | Data::Number(_) | Data::String(_) => {
            let text = engine_value::json::encode(value).unwrap_or_default();
            if text.len() <= 60 { text } else { format!("{}…", text.chars().take(60).collect::<String>()) }
        }
        _ => value.type_of().friendly(),
    }
}

#[cfg(test)]
mod tests {
    use engine_model::schema::Usage;

    use super::*;

    fn block() -> Block {
        Block::new(
            [
                ("given", Attribute::new(Type::String, Usage::Optional, "")),
                ("labels", Attribute::new(Type::map(Type::String), Usage::Optional, "")),
                ("made", Attribute::new(Type::String, Usage::Computed, "")),
            ],
            "",
        )
    }

    fn object(given: Value, labels: Value, made: Value) -> Value {
        Value::object([("given", given), ("labels", labels), ("made", made)])
    }

    fn labels(value: Value) -> Value {
        Value::map(Type::String, [("a", value)])
    }

    #[test]
    fn a_plan_agrees_with_the_configuration_where_that_is_known() {
        let (unknown, null) = (|| Value::unknown(Type::String), || Value::null(Type::String));
        let config = object("1".into(), labels(unknown()), null());
        let prior = object("1.0".into(), labels("x".into()), "id".into());
        for (planned_object, expected) in [
            (object("1".into(), labels(unknown()), unknown()), vec![]),
            (object("1.0".into(), labels(unknown()), unknown()), vec![]),
            (object("2".into(), labels(unknown()), unknown()), vec!["given"]),
            (object("1".into(), labels("y".into()), unknown()), vec!["labels[\"a\"]"]),
            (object("1".into(), Value::null(Type::map(Type::String)), unknown()), vec!["labels"]),
            (object("1".into(), labels(unknown()), Value::int(3)), vec!["made"]),
        ] {
            let paths: Vec<String> =
                planned(&block(), &prior, &config, &planned_object).iter().map(|(path, _)| path.to_string()).collect();
            assert_eq!(paths, expected, "{planned_object:?}");
        }
    }

    #[test]
    fn a_default_may_be_planned_and_blocks_may_stay_as_they_are() {
        let rule = Block::new([("verb", Attribute::new(Type::String, Usage::Optional, ""))], "");
        let nested = |block| engine_model::schema::NestedBlock {
            nesting: engine_model::schema::Nesting::List,
            block,
            min_items: 0,
            max_items: 0,
        };
        let given = Attribute::new(Type::String, Usage::Optional, "").with_default("usual".into());
        let block = Block::new([("given", given)], "").with_block("rule", nested(rule));
        let object = |given: Option<&str>, rules: &[&str]| {
            let rules = rules.iter().map(|verb| Value::object([("verb", (*verb).into())])).collect();
            let ty = Type::object([("verb", Type::String)]);
            let given = given.map_or_else(|| Value::null(Type::String), Value::from);
            Value::object([("given", given), ("rule", Value::list(ty, rules))])
        };
        for (prior, config, plan, fits) in [
            (object(None, &[]), object(None, &[]), object(Some("usual"), &[]), true),
            (object(None, &[]), object(None, &[]), object(Some("other"), &[]), false),
            (object(Some("usual"), &["get"]), object(None, &[]), object(Some("usual"), &["get"]), true),
            (object(Some("usual"), &["get"]), object(None, &[]), object(Some("usual"), &["put"]), false),
        ] {
            assert_eq!(planned(&block, &prior, &config, &plan).is_empty(), fits, "{plan:?}");
        }
    }

    #[test]
    fn a_result_agrees_with_the_plan_and_is_wholly_known() {
        let planned = object("1".into(), labels(Value::unknown(Type::String)), Value::unknown(Type::String));
        let good = object("1".into(), labels("x".into()), "id".into());
        assert_eq!(agrees(&block(), &planned, &good, true), []);
        let other = object("2".into(), labels("x".into()), Value::unknown(Type::String));
        let paths: Vec<String> = agrees(&block(), &planned, &other, true).iter().map(|(p, _)| p.to_string()).collect();
        assert_eq!(paths, ["given", "made"]);
        assert_eq!(agrees(&block(), &planned, &planned, false), []);
    }

    #[test]
    fn a_breach_never_shows_a_secret() {
        let secret = |text: &str| Value::from(text).mark(engine_value::Marks::SENSITIVE);
        let (null, nobody) = (Value::null(Type::String), Value::null(Type::map(Type::String)));
        let config = object(secret("hunter2"), nobody.clone(), null.clone());
        let breaches = planned(&block(), &Value::null(Type::Dynamic), &config, &object(secret("other"), nobody, null));
        assert_eq!(breaches.len(), 1);
        assert!(!breaches[0].1.contains("hunter2") && !breaches[0].1.contains("other"), "{}", breaches[0].1);
    }
}
