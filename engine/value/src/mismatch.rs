//! Why one type cannot become another, in words.

use std::sync::Arc;

use crate::{Step, Type, convert::ConvertError, unify::convertible};

/// The reason why a value of the first type does not convert to the second, with the path of the part to blame.
pub(crate) fn mismatch(got: &Type, want: &Type) -> ConvertError {
    match (got, want) {
        (Type::Object(got), Type::Object(attributes)) => {
            let missing: Vec<&Arc<str>> = attributes
                .iter()
                .filter(|(name, attr)| !attr.optional && !got.contains_key(*name))
                .map(|(name, _)| name)
                .collect();
            if !missing.is_empty() {
                return ConvertError::new(required(&missing));
            }
            let wrong = attributes.iter().find_map(|(name, attr)| {
                let got = &got.get(name)?.ty;
                (!convertible(got, &attr.ty)).then(|| mismatch(got, &attr.ty).under(Step::Attr(Arc::clone(name))))
            });
            wrong.unwrap_or_else(|| ConvertError::new("incorrect object attributes"))
        }
        (Type::Tuple(_), Type::List(element)) if **element == Type::Dynamic => {
            ConvertError::new("all list elements must have the same type")
        }
        (Type::Tuple(_), Type::Set(element)) if **element == Type::Dynamic => {
            ConvertError::new("all set elements must have the same type")
        }
        (Type::Object(_), Type::Map(element)) if **element == Type::Dynamic => {
            ConvertError::new("all map elements must have the same type")
        }
        (Type::Tuple(elements), Type::List(element) | Type::Set(element)) => {
            let wrong = elements.iter().enumerate().find(|(_, got)| !convertible(got, element));
            wrong.map_or_else(
                || ConvertError::new(format!("all elements must be {}", element.friendly_constraint())),
                |(index, got)| mismatch(got, element).under(Step::Index(index)),
            )
        }
        (Type::Object(attributes), Type::Map(element)) => {
            let wrong = attributes.iter().find(|(_, attr)| !convertible(&attr.ty, element));
            wrong.map_or_else(
                || ConvertError::new(format!("all elements must be {}", element.friendly_constraint())),
                |(name, attr)| mismatch(&attr.ty, element).under(Step::Key(Arc::clone(name))),
            )
        }
        (Type::List(from) | Type::Set(from), Type::List(to)) => inner("list element type", from, to),
        (Type::List(from) | Type::Set(from), Type::Set(to)) => inner("set element type", from, to),
        (Type::Map(from), Type::Map(to)) => inner("map element type", from, to),
        (Type::Tuple(_) | Type::Object(_), want) if want.is_collection() => {
            ConvertError::new(format!("{} required", want.friendly_constraint()))
        }
        (got, want) if got.is_collection() && want.is_collection() => {
            ConvertError::new(format!("{} required", want.friendly_constraint()))
        }
        (got, want) if is_told_plainly(got, want) => {
            ConvertError::new(format!("{} required, but have {}", want.friendly(), got.friendly()))
        }
        (_, want) => ConvertError::new(format!("{} required", want.friendly_constraint())),
    }
}

fn inner(noun: &str, from: &Type, to: &Type) -> ConvertError {
    ConvertError::new(format!("incorrect {noun}: {}", mismatch(from, to)))
}

/// Naming both types helps only where neither could be mistaken for the other.
fn is_told_plainly(got: &Type, want: &Type) -> bool {
    *got != Type::Dynamic
        && (got.is_primitive() != want.is_primitive()
            || *want == Type::String
            || matches!((got, want), (Type::Number, Type::Bool) | (Type::Bool, Type::Number))
            || matches!((got, want), (Type::Tuple(_), Type::Object(_)) | (Type::Object(_), Type::Tuple(_))))
}

/// `attributes "a", "b", and "c" are required`.
pub(crate) fn required(names: &[&Arc<str>]) -> String {
    match names {
        [one] => format!("attribute \"{one}\" is required"),
        [one, two] => format!("attributes \"{one}\" and \"{two}\" are required"),
        [first @ .., last] => {
            let first: String = first.iter().map(|name| format!("\"{name}\", ")).collect();
            format!("attributes {first}and \"{last}\" are required")
        }
        [] => String::new(),
    }
}
