//! Configuration for an object that was imported: what `-generate-config-out` writes. It plans to no change.
//!
//! What is sensitive is never written down: an argument takes it from a sensitive variable, which has to be given then, and
//! what is sensitive inside of one is left out, with a comment.

use std::collections::BTreeMap;

use engine_lang::write::{self, Body, Item};
use engine_model::{
    address::ResourceAddr,
    schema::{Attribute, AttributeType, Block, Nesting, Usage},
};
use engine_value::{Data, Path, Step, Value};

/// The resource block that `config` says, an object of the schema's type, wholly known, and the variables that it takes
/// its secrets from. `notes` stand above what they are about.
///
/// # Errors
/// The argument that no source text can say.
pub fn resource(
    addr: &ResourceAddr,
    schema: &Block,
    config: &Value,
    notes: &[(Path, String)],
) -> Result<String, String> {
    let mut by_argument: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, note) in notes {
        let argument = path.0.first().map_or("", |step| match step {
            Step::Attr(name) | Step::Key(name) => name,
            _ => "",
        });
        by_argument.entry(argument).or_default().push(note);
    }
    let mut body = Body::default();
    body.0.extend(by_argument.get("").into_iter().flatten().map(|note| Item::Comment((*note).to_owned())));
    let mut variables = Vec::new();
    block(schema, config, &by_argument, &mut body, &mut |argument, attribute| {
        let name = format!("{}_{}_{argument}", addr.ty, addr.name);
        variables.push(variable(&name, argument, addr, attribute));
        Some(format!("var.{name}"))
    });
    let labels = vec![addr.ty.to_string(), addr.name.to_string()];
    let resource = Item::Block(write::Block { ty: "resource".to_owned(), labels, body });
    write::write(&Body(std::iter::once(resource).chain(variables).collect()))
}

fn variable(name: &str, argument: &str, addr: &ResourceAddr, attribute: &Attribute) -> Item {
    let description = format!("{argument} of {addr}, which is sensitive.");
    let body = Body(vec![
        Item::Attribute("description".to_owned(), Value::from(description)),
        Item::Expression("type".to_owned(), attribute.value_type().to_string()),
        Item::Attribute("sensitive".to_owned(), Value::bool(true)),
    ]);
    Item::Block(write::Block { ty: "variable".to_owned(), labels: vec![name.to_owned()], body })
}

/// The expression for a sensitive argument; `None`: there can be none here.
type Secret<'a> = &'a mut dyn FnMut(&str, &Attribute) -> Option<String>;

fn block(schema: &Block, config: &Value, notes: &BTreeMap<&str, Vec<&str>>, body: &mut Body, secret: Secret<'_>) {
    for (name, attribute) in &schema.attributes {
        let value = config.get(name).filter(|value| !value.is_null());
        if attribute.usage == Usage::Computed || (value.is_none() && attribute.usage != Usage::Required) {
            continue;
        }
        let told = notes.get(&**name).into_iter().flatten();
        body.0.extend(told.map(|note| Item::Comment((*note).to_owned())));
        let null = || Value::null(attribute.value_type());
        let is_secret = attribute.sensitive || value.is_some_and(|value| value.marks.sensitive);
        match value {
            None => body.0.push(Item::Attribute(name.to_string(), null())),
            Some(_) if is_secret => body.0.push(match secret(name, attribute) {
                Some(expression) => Item::Expression(name.to_string(), expression),
                None => Item::Comment(format!("{name} is sensitive, and left out.")),
            }),
            Some(value) => {
                let (value, left_out) = configurable(attribute, value);
                let hidden = left_out.iter().map(|path| format!("{name}{path} is sensitive, and left out."));
                body.0.extend(hidden.map(Item::Comment));
                body.0.push(Item::Attribute(name.to_string(), value));
            }
        }
    }
    for (name, nested) in &schema.blocks {
        let Some(value) = config.get(name).filter(|value| !value.is_null()) else { continue };
        let each: Vec<(Option<String>, &Value)> = match (nested.nesting, &value.data) {
            (Nesting::Single | Nesting::Group, _) => vec![(None, value)],
            (Nesting::Map, Data::Map(_, members) | Data::Object(members)) => {
                members.iter().map(|(key, value)| (Some(key.to_string()), value)).collect()
            }
            _ => value.as_sequence().unwrap_or_default().iter().map(|value| (None, value)).collect(),
        };
        for (label, value) in each {
            let mut inside = Body::default();
            let told = notes.get(&**name).into_iter().flatten();
            inside.0.extend(told.map(|note| Item::Comment((*note).to_owned())));
            // A block may stand there many times, so that its arguments have no names of their own.
            block(&nested.block, value, &BTreeMap::new(), &mut inside, &mut |_, _| None);
            if !(nested.nesting == Nesting::Group && inside.0.is_empty()) {
                let labels = label.into_iter().collect();
                body.0.push(Item::Block(write::Block { ty: name.to_string(), labels, body: inside }));
            }
        }
    }
}

/// A value without what only the provider gives, without nulls where the schema has names for them, and without what is
/// sensitive; and where the last stood.
fn configurable(attribute: &Attribute, value: &Value) -> (Value, Vec<String>) {
    let value = match &attribute.ty {
        AttributeType::Plain(_) => value.clone(),
        AttributeType::Nested { nesting, attributes } => nested(*nesting, attributes, value),
    };
    let mut left_out = Vec::new();
    let value = without_secrets(&value, &mut String::new(), &mut left_out);
    (value, left_out)
}

fn nested(nesting: Nesting, attributes: &BTreeMap<std::sync::Arc<str>, Attribute>, value: &Value) -> Value {
    let one = |object: &Value| {
        let Some(members) = object.as_map() else { return object.clone() };
        let kept = members.iter().filter_map(|(name, value)| {
            let attribute = attributes.get(name)?;
            let is_given = attribute.usage == Usage::Required || !value.is_null();
            if attribute.usage == Usage::Computed || !is_given {
                return None;
            }
            let value = match &attribute.ty {
                AttributeType::Plain(_) => value.clone(),
                AttributeType::Nested { nesting, attributes } => nested(*nesting, attributes, value),
            };
            Some((name.clone(), if attribute.sensitive { value.mark(engine_value::Marks::SENSITIVE) } else { value }))
        });
        Value::object(kept).mark(object.marks)
    };
    let marks = value.marks;
    let value = match (nesting, &value.data) {
        (Nesting::Single | Nesting::Group, _) => one(value),
        (_, Data::Map(_, members) | Data::Object(members)) => {
            Value::object(members.iter().map(|(key, value)| (key.clone(), one(value))))
        }
        (_, Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements)) => {
            Value::tuple(elements.iter().map(one))
        }
        _ => value.clone(),
    };
    value.mark(marks)
}

/// Members that are sensitive are left out; elements become null, since the others keep their places.
fn without_secrets(value: &Value, at: &mut String, left_out: &mut Vec<String>) -> Value {
    if !value.contains_sensitive() {
        return value.clone();
    }
    let mut inside = |step: String, part: &Value, left_out: &mut Vec<String>| {
        let length = at.len();
        at.push_str(&step);
        let kept = if part.marks.sensitive {
            left_out.push(at.clone());
            None
        } else {
            Some(without_secrets(part, at, left_out))
        };
        at.truncate(length);
        kept
    };
    match &value.data {
        Data::Object(members) | Data::Map(_, members) => {
            let kept: Vec<_> = members
                .iter()
                .filter_map(|(name, part)| Some((name.clone(), inside(format!(".{name}"), part, left_out)?)))
                .collect();
            Value::object(kept)
        }
        Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => {
            let kept = elements.iter().enumerate().map(|(at, part)| {
                inside(format!("[{at}]"), part, left_out).unwrap_or_else(|| Value::null(part.type_of()))
            });
            Value::tuple(kept.collect::<Vec<_>>())
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use engine_model::schema::NestedBlock;
    use engine_value::{Marks, Type};

    use super::*;

    #[test]
    fn a_block_says_what_is_configured_and_no_secrets() {
        let text = |usage: Usage| Attribute::new(Type::String, usage, "");
        let inner = [
            ("size", text(Usage::Required)),
            ("id", text(Usage::Computed)),
            ("key", text(Usage::Optional).sensitive()),
        ];
        let schema = Block::new(
            [
                ("name", text(Usage::Required)),
                ("id", text(Usage::Computed)),
                ("hint", text(Usage::OptionalComputed)),
                ("none", text(Usage::Optional)),
                ("password", text(Usage::Required).sensitive()),
                ("token", text(Usage::Optional).sensitive()),
                ("any", Attribute::new(Type::Dynamic, Usage::Optional, "")),
                ("disks", Attribute::nested(Nesting::Map, inner, Usage::Optional, "")),
            ],
            "",
        )
        .with_block(
            "meta",
            NestedBlock {
                nesting: Nesting::List,
                block: Block::new([("label", text(Usage::Optional)), ("uid", text(Usage::Computed))], ""),
                min_items: 0,
                max_items: 0,
            },
        );
        let disk = Value::object([("size", "1".into()), ("id", "i".into()), ("key", Value::from("canary"))]);
        let secret = Value::from("canary").mark(Marks::SENSITIVE);
        let any =
            Value::object([("a", Value::int(1)), ("b", secret.clone()), ("c", Value::tuple([secret, "d".into()]))]);
        let meta = Value::object([("label", Value::from("l")), ("uid", Value::from("u"))]);
        let config = Value::object([
            ("name", Value::from("n")),
            ("id", Value::from("i")),
            ("hint", Value::from("h")),
            ("none", Value::null(Type::String)),
            ("password", Value::from("canary")),
            ("token", Value::from("canary")),
            ("any", any),
            ("disks", Value::object([("a", disk)])),
            ("meta", Value::tuple([meta])),
        ]);
        let addr: ResourceAddr = "mock_thing.x".parse().unwrap();
        let notes = [(Path::root().attr("any").attr("z"), "z is left out.".to_owned())];
        let expected = r#"resource "mock_thing" "x" {
  # z is left out.
  # any.b is sensitive, and left out.
  # any.c[0] is sensitive, and left out.
  any = {
    a = 1
    c = [null, "d"]
  }
  # disks.a.key is sensitive, and left out.
  disks = {
    a = {
      size = "1"
    }
  }
  hint     = "h"
  name     = "n"
  password = var.mock_thing_x_password
  token    = var.mock_thing_x_token

  meta {
    label = "l"
  }
}

variable "mock_thing_x_password" {
  description = "password of mock_thing.x, which is sensitive."
  type        = string
  sensitive   = true
}

variable "mock_thing_x_token" {
  description = "token of mock_thing.x, which is sensitive."
  type        = string
  sensitive   = true
}
"#;
        assert_eq!(resource(&addr, &schema, &config, &notes).unwrap(), expected);
    }
}
