//! Equality in the language's sense: types count, marks are passed on, and the answer may be unknown.

use std::sync::Arc;

use crate::{Data, Refinements, Type, Unknown, Value};

/// Three answers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Unknown,
}

impl From<bool> for Answer {
    fn from(value: bool) -> Self {
        if value { Self::Yes } else { Self::No }
    }
}

/// `a == b`: a boolean with the marks of both, unknown where an unknown part decides.
pub fn equals(a: &Value, b: &Value) -> Value {
    let marks = a.marks_deep().union(b.marks_deep());
    let value = match compare(a, b) {
        Answer::Yes => Value::bool(true),
        Answer::No => Value::bool(false),
        Answer::Unknown => {
            let origin = a.first_unknown().or_else(|| b.first_unknown()).and_then(|unknown| unknown.origin);
            Value::unknown_with(Unknown::never_null(Type::Bool).from_origin(origin))
        }
    };
    value.mark(marks)
}

fn compare(a: &Value, b: &Value) -> Answer {
    match (&a.data, &b.data) {
        (Data::Unknown(_), _) | (_, Data::Unknown(_)) => compare_unknown(a, b),
        (Data::Null(_), Data::Null(_)) => Answer::Yes,
        (Data::Null(_), _) | (_, Data::Null(_)) => Answer::No,
        _ => {
            let (ty_a, ty_b) = (a.type_of(), b.type_of());
            if !has_decided_type(a) || !has_decided_type(b) {
                // Only what is certain already counts.
                return if could_match(&ty_a, &ty_b) { Answer::Unknown } else { Answer::No };
            }
            if ty_a != ty_b { Answer::No } else { compare_known(a, b) }
        }
    }
}

/// Will it keep its type whatever becomes of its unknown parts? A null or an empty collection of no certain type stays what
/// it is: nothing is to come that could decide it.
fn has_decided_type(value: &Value) -> bool {
    match &value.data {
        Data::Unknown(unknown) => !unknown.ty.has_dynamic(),
        _ => value.parts().all(has_decided_type),
    }
}

fn could_match(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Dynamic, _) | (_, Type::Dynamic) => true,
        (Type::List(a), Type::List(b)) | (Type::Set(a), Type::Set(b)) | (Type::Map(a), Type::Map(b)) => {
            could_match(a, b)
        }
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| could_match(a, b))
        }
        (Type::Object(a), Type::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|((x, a), (y, b))| x == y && could_match(&a.ty, &b.ty))
        }
        _ => a == b,
    }
}

/// At least one of the two is unknown.
fn compare_unknown(a: &Value, b: &Value) -> Answer {
    if (a.is_null() && b.is_never_null()) || (b.is_null() && a.is_never_null()) {
        return Answer::No;
    }
    if a.is_null() || b.is_null() {
        return Answer::Unknown;
    }
    let (ty_a, ty_b) = (a.type_of(), b.type_of());
    let both_unknown = !a.is_known() && !b.is_known();
    let decided = has_decided_type(a) && has_decided_type(b);
    if !both_unknown && ty_a != ty_b && (decided || !could_match(&ty_a, &ty_b)) {
        return Answer::No;
    }
    let (x, y) = (Refinements::of(a), Refinements::of(b));
    let disjoint = x.not_null
        && y.not_null
        && (prefixes_differ(&x, &y, a.is_known(), b.is_known())
            || below(&x, &y)
            || below(&y, &x)
            || shorter(&x, &y)
            || shorter(&y, &x));
    if disjoint { Answer::No } else { Answer::Unknown }
}

fn prefixes_differ(x: &Refinements, y: &Refinements, x_whole: bool, y_whole: bool) -> bool {
    match (&x.prefix, &y.prefix) {
        (Some(x), Some(y)) => {
            let (x, y): (&Arc<str>, &Arc<str>) = (x, y);
            (y_whole || !x.starts_with(y.as_ref())) && (x_whole || !y.starts_with(x.as_ref()))
        }
        _ => false,
    }
}

fn below(x: &Refinements, y: &Refinements) -> bool {
    match (&x.max, &y.min) {
        (Some((max, max_in)), Some((min, min_in))) => max < min || max == min && !(*max_in && *min_in),
        _ => false,
    }
}

fn shorter(x: &Refinements, y: &Refinements) -> bool {
    matches!((x.max_length, y.min_length), (Some(max), Some(min)) if max < min)
}

/// Both known, not null, and of one type.
fn compare_known(a: &Value, b: &Value) -> Answer {
    match (&a.data, &b.data) {
        (Data::Bool(a), Data::Bool(b)) => (a == b).into(),
        (Data::Number(a), Data::Number(b)) => (a == b).into(),
        (Data::String(a), Data::String(b)) => (a == b).into(),
        (Data::List(_, a), Data::List(_, b)) => {
            if a.len() != b.len() {
                Answer::No
            } else {
                all(a.iter().zip(b.iter()))
            }
        }
        (Data::Tuple(a), Data::Tuple(b)) => all(a.iter().zip(b.iter())),
        (Data::Object(a), Data::Object(b)) => all(a.values().zip(b.values())),
        (Data::Map(_, a), Data::Map(_, b)) => {
            if a.len() == b.len() && a.keys().eq(b.keys()) {
                all(a.values().zip(b.values()))
            } else {
                Answer::No
            }
        }
        (Data::Set(_, x), Data::Set(_, y)) => {
            if a.is_wholly_known() && b.is_wholly_known() {
                (x.len() == y.len() && all(x.iter().zip(y.iter())) == Answer::Yes).into()
            } else {
                Answer::Unknown
            }
        }
        _ => Answer::No,
    }
}

/// No as soon as one pair differs for certain, else unknown if one may.
fn all<'a>(pairs: impl Iterator<Item = (&'a Value, &'a Value)>) -> Answer {
    let mut answer = Answer::Yes;
    for (a, b) in pairs {
        match compare(a, b) {
            Answer::Yes => {}
            Answer::No => return Answer::No,
            Answer::Unknown => answer = Answer::Unknown,
        }
    }
    answer
}
