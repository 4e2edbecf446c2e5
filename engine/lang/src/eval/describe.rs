//! Values in words, for the values of references beside an error. Sensitive ones are never shown.

use engine_value::{Data, Type, Value};

/// `is 3`, `is list of string with 2 elements`, `has a sensitive value`.
pub fn describe(value: &Value) -> String {
    if value.marks.sensitive {
        return "has a sensitive value".to_owned();
    }
    if value.marks.ephemeral {
        return "has an ephemeral value".to_owned();
    }
    let count = |length: usize, noun: &str| match length {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    };
    match &value.data {
        Data::Null(_) => "is null".to_owned(),
        Data::Unknown(unknown) if unknown.ty == Type::Dynamic => "will be known only after apply".to_owned(),
        Data::Unknown(unknown) => format!("is a {}, known only after apply", unknown.ty.friendly()),
        Data::Bool(value) => format!("is {value}"),
        Data::Number(number) => format!("is {number}"),
        Data::String(text) => format!("is {}", shown(text)),
        Data::List(..) | Data::Set(..) | Data::Tuple(_) => {
            let length = value.parts().count();
            match (&value.data, length) {
                (Data::Tuple(_), _) => format!("is tuple with {}", count(length, "element")),
                (_, 0) => format!("is empty {}", value.type_of().friendly()),
                _ => format!("is {} with {}", value.type_of().friendly(), count(length, "element")),
            }
        }
        Data::Map(_, elements) if elements.is_empty() => format!("is empty {}", value.type_of().friendly()),
        Data::Map(_, elements) => {
            format!("is {} with {}", value.type_of().friendly(), count(elements.len(), "element"))
        }
        Data::Object(attributes) => format!("is object with {}", count(attributes.len(), "attribute")),
    }
}

/// In quotes; a long text is cut.
fn shown(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?} and {} more characters", &text[..end], text[end..].chars().count()),
        None => format!("{text:?}"),
    }
}
