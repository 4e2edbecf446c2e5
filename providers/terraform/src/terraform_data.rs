//! `terraform_data`: an object that lives in the state alone. What goes into `input` comes out of `output` at apply;
//! another `triggers_replace` makes another object.

use engine_model::{
    host::Host,
    schema::{Attribute, Block, Schema, Usage},
};
use engine_value::{Path, Refinements, Type, Unknown, Value};
use providers_api::Planned;

pub(crate) const TYPE: &str = "terraform_data";

const TRIGGERS: &str = "triggers_replace";

pub(crate) fn schema() -> Schema {
    let attribute = |ty, usage, description| Attribute::new(ty, usage, description);
    let attributes = [
        ("id", attribute(Type::String, Usage::Computed, "A UUID, made when the object is.")),
        ("input", attribute(Type::Dynamic, Usage::Optional, "What `output` will be.")),
        ("output", attribute(Type::Dynamic, Usage::Computed, "What `input` was at the last apply.")),
        (TRIGGERS, attribute(Type::Dynamic, Usage::Optional, "Another value replaces the object.")),
    ];
    Schema { version: 0, block: Block::new(attributes, "An object that lives in the state alone.") }
}

fn object(id: Value, input: Value, output: Value, triggers: Value) -> Value {
    Value::object([("id", id), ("input", input), ("output", output), (TRIGGERS, triggers)])
}

fn part(object: &Value, name: &str) -> Value {
    object.get(name).cloned().unwrap_or_else(|| Value::null(Type::Dynamic))
}

fn bare(value: Value) -> Value {
    value.unmark_deep().0
}

/// `prior` and `config`: null where there is none.
pub(crate) fn plan(prior: &Value, config: &Value) -> Planned {
    if config.is_null() {
        return Planned::object(config.clone());
    }
    let (input, triggers) = (part(config, "input"), part(config, TRIGGERS));
    let unknown_output = |input: &Value| Value::unknown(bare(input.clone()).type_of());
    if prior.is_null() {
        let refinements = Refinements { not_null: true, ..Refinements::default() };
        let id = Value::unknown_with(Unknown { ty: Type::String, refinements, origin: None });
        let output = if input.is_null() { bare(input.clone()) } else { unknown_output(&input) };
        return Planned::object(object(id, input, output, triggers));
    }
    let is_same = |name| bare(part(prior, name)) == bare(part(config, name));
    let output = if is_same("input") { part(prior, "output") } else { unknown_output(&input) };
    let replace = if is_same(TRIGGERS) { Vec::new() } else { vec![Path::root().attr(TRIGGERS)] };
    Planned { replace, ..Planned::object(object(part(prior, "id"), input, output, triggers)) }
}

/// `planned`: null where the object goes; `None` then.
pub(crate) fn apply(planned: &Value, host: &dyn Host) -> Option<Value> {
    if planned.is_null() {
        return None;
    }
    let id = part(planned, "id");
    let id = if id.as_str().is_some() { id } else { Value::string(random_id(host)) };
    let input = part(planned, "input");
    Some(object(id, input.clone(), bare(input), part(planned, TRIGGERS)))
}

/// Any identifier is one: there is nothing to find.
pub(crate) fn imported(id: &str) -> Value {
    let null = || Value::null(Type::Dynamic);
    object(Value::string(id), null(), null(), null())
}

fn random_id(host: &dyn Host) -> String {
    let mut bytes = [0; 16];
    host.random(&mut bytes);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

#[cfg(test)]
mod tests {
    use engine_model::host::FixedHost;
    use engine_value::{Marks, json};

    use super::*;

    fn config(input: Value, triggers: Value) -> Value {
        let null = Value::null(Type::String);
        object(null, input, Value::null(Type::Dynamic), triggers)
    }

    fn null() -> Value {
        Value::null(Type::Dynamic)
    }

    /// What is known of the planned object, what is not, and which paths replace it.
    fn planned(prior: &Value, config: &Value) -> (String, String, usize) {
        let planned = plan(prior, config);
        let known = json::known_part(&planned.object, false).map_or("-".to_owned(), |known| known.to_string());
        (known, json::after_unknown(&planned.object).to_string(), planned.replace.len())
    }

    #[test]
    fn plans_are_those_of_terraform() {
        // Each was seen in a plan of Terraform 1.11.4 (where it replaces, the second half is another plan, without prior).
        let one = || Value::int(1);
        let prior = |input: Value, triggers: Value| object(Value::string("i"), input.clone(), input, triggers);
        let same = r#"{"id":"i","input":1,"output":1,"triggers_replace":null}"#;
        for (prior, config, known, unknown, replace) in [
            (
                null(),
                config(null(), null()),
                r#"{"input":null,"output":null,"triggers_replace":null}"#,
                r#"{"id":true}"#,
                0,
            ),
            (
                null(),
                config(one(), null()),
                r#"{"input":1,"triggers_replace":null}"#,
                r#"{"id":true,"output":true}"#,
                0,
            ),
            (prior(one(), null()), config(one(), null()), same, "{}", 0),
            (prior(one(), null()), config(one().mark(Marks::SENSITIVE), null()), same, "{}", 0),
            (
                prior(one(), null()),
                config(Value::string("1"), null()),
                r#"{"id":"i","input":"1","triggers_replace":null}"#,
                r#"{"output":true}"#,
                0,
            ),
            (
                prior(one(), null()),
                config(null(), null()),
                r#"{"id":"i","input":null,"triggers_replace":null}"#,
                r#"{"output":true}"#,
                0,
            ),
            (
                prior(null(), Value::tuple([one()])),
                config(null(), Value::list(Type::Number, vec![one()])),
                r#"{"id":"i","input":null,"output":null,"triggers_replace":[1]}"#,
                r#"{"triggers_replace":[false]}"#,
                1,
            ),
            (
                prior(null(), one()),
                config(null(), Value::unknown(Type::String)),
                r#"{"id":"i","input":null,"output":null}"#,
                r#"{"triggers_replace":true}"#,
                1,
            ),
            (prior(null(), one()), null(), "null", "false", 0),
        ] {
            assert_eq!(planned(&prior, &config), (known.to_owned(), unknown.to_owned(), replace));
        }
    }

    #[test]
    fn an_unknown_output_has_the_type_of_the_input_and_the_id_is_not_null() {
        let input = Value::object([("a", Value::int(1))]);
        let planned = plan(&null(), &config(input.clone(), null())).object;
        assert_eq!(part(&planned, "output").type_of(), input.type_of());
        let unknown = |name: &str| match part(&planned, name).data {
            engine_value::Data::Unknown(unknown) => unknown.refinements.not_null,
            other => panic!("{name} is {other:?}"),
        };
        assert_eq!((unknown("id"), unknown("output")), (true, false));
    }

    #[test]
    fn what_goes_in_comes_out() {
        let host = FixedHost::new(0);
        let secret = Value::string("s").mark(Marks::SENSITIVE);
        let planned = plan(&null(), &config(secret.clone(), null())).object;
        let applied = apply(&planned, &host).unwrap();
        assert_eq!((part(&applied, "input"), part(&applied, "output")), (secret, Value::string("s")));
        let id = part(&applied, "id").as_str().unwrap().to_owned();
        assert_eq!(uuid::Uuid::parse_str(&id).unwrap().to_string(), id);

        let changed = plan(&applied, &config(null(), null())).object;
        assert_eq!(apply(&changed, &host).unwrap(), object(Value::string(&id), null(), null(), null()));
        assert_eq!(apply(&null(), &host), None);
    }
}
