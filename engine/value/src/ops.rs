//! Operators on values: arithmetic, comparison and logic, with unknown operands, what is known of them, and marks.
//!
//! Operands must be of the operator's type already (or unknown); converting them is the language's work.

use crate::{Marks, Number, Refinements, Type, Unknown, Value};

/// An arithmetic operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

/// An order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

type Bound = Option<(Number, bool)>;

fn waits(ty: Type, refinements: Refinements, operands: [&Value; 2]) -> Value {
    let origin = operands.iter().find_map(|value| value.as_unknown()).and_then(|unknown| unknown.origin);
    Value::unknown_with(Unknown { ty, refinements, origin })
}

fn both_marks(a: &Value, b: &Value) -> Marks {
    a.marks.union(b.marks)
}

/// The result of an arithmetic operator. `None` where no number is the result: `0 / 0`, infinity minus infinity.
pub fn arithmetic(operator: Arithmetic, a: &Value, b: &Value) -> Option<Value> {
    let marks = both_marks(a, b);
    if let (Some(a), Some(b)) = (a.as_number(), b.as_number()) {
        let result = match operator {
            Arithmetic::Add => a.add(b),
            Arithmetic::Subtract => a.sub(b),
            Arithmetic::Multiply => a.mul(b),
            Arithmetic::Divide => a.div(b),
            Arithmetic::Modulo => a.modulo(b),
        }?;
        return Some(Value::number(result).mark(marks));
    }
    let (x, y) = (Refinements::of(a), Refinements::of(b));
    let (min, max) = match operator {
        Arithmetic::Add => (pair(&x.min, &y.min, Number::add), pair(&x.max, &y.max, Number::add)),
        Arithmetic::Subtract => (pair(&x.min, &y.max, Number::sub), pair(&x.max, &y.min, Number::sub)),
        Arithmetic::Multiply => product(&x, &y),
        Arithmetic::Divide | Arithmetic::Modulo => (None, None),
    };
    Some(waits(Type::Number, Refinements { min, max, ..Refinements::not_null() }, [a, b]).mark(marks))
}

fn pair(a: &Bound, b: &Bound, apply: impl Fn(&Number, &Number) -> Option<Number>) -> Bound {
    match (a, b) {
        (Some((a, a_in)), Some((b, b_in))) => apply(a, b).map(|bound| (bound, *a_in && *b_in)),
        _ => None,
    }
}

/// The bounds of a product are among the products of the bounds.
fn product(x: &Refinements, y: &Refinements) -> (Bound, Bound) {
    let corners: Option<Vec<(Number, bool)>> = [(&x.min, &y.min), (&x.min, &y.max), (&x.max, &y.min), (&x.max, &y.max)]
        .into_iter()
        .map(|(a, b)| pair(a, b, Number::mul))
        .collect();
    match corners {
        Some(corners) => {
            // Zero is reached even by an open bound if the other factor can be zero, so bounds are taken as closed.
            let min = corners.iter().map(|(n, _)| n).min().cloned().map(|n| (n, true));
            let max = corners.iter().map(|(n, _)| n).max().cloned().map(|n| (n, true));
            (min, max)
        }
        None => {
            let not_negative = |r: &Refinements| r.min.as_ref().is_some_and(|(n, _)| !n.is_negative());
            let floor = (not_negative(x) && not_negative(y)).then(|| pair(&x.min, &y.min, Number::mul)).flatten();
            (floor, None)
        }
    }
}

/// `-value`.
pub fn negate(value: &Value) -> Value {
    if let Some(number) = value.as_number() {
        return Value::number(number.neg()).mark(value.marks);
    }
    let old = Refinements::of(value);
    let flip = |bound: Bound| bound.map(|(number, inclusive)| (number.neg(), inclusive));
    let refinements = Refinements { min: flip(old.max), max: flip(old.min), ..Refinements::not_null() };
    waits(Type::Number, refinements, [value, value]).mark(value.marks)
}

/// The result of an order of two numbers; known already if their ranges tell.
pub fn order(operator: Order, a: &Value, b: &Value) -> Value {
    let marks = both_marks(a, b);
    if let (Some(a), Some(b)) = (a.as_number(), b.as_number()) {
        return Value::bool(match operator {
            Order::Less => a < b,
            Order::LessOrEqual => a <= b,
            Order::Greater => a > b,
            Order::GreaterOrEqual => a >= b,
        })
        .mark(marks);
    }
    let (x, y) = (Refinements::of(a), Refinements::of(b));
    // Every a below every b, and every a at most every b, in both directions.
    let (less, less_or_equal) = certainly(&x.max, &y.min);
    let (greater, greater_or_equal) = certainly(&y.max, &x.min);
    let answer = match operator {
        Order::Less => decide(less, greater_or_equal),
        Order::LessOrEqual => decide(less_or_equal, greater),
        Order::Greater => decide(greater, less_or_equal),
        Order::GreaterOrEqual => decide(greater_or_equal, less),
    };
    match answer {
        Some(answer) => Value::bool(answer),
        None => waits(Type::Bool, Refinements::not_null(), [a, b]),
    }
    .mark(marks)
}

fn decide(yes: bool, no: bool) -> Option<bool> {
    match (yes, no) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Is everything up to the first bound below, and at most, everything from the second?
fn certainly(max: &Bound, min: &Bound) -> (bool, bool) {
    match (max, min) {
        (Some((max, max_in)), Some((min, min_in))) => (max < min || max == min && !(*max_in && *min_in), max <= min),
        _ => (false, false),
    }
}

/// `!value`.
pub fn not(value: &Value) -> Value {
    match value.as_bool() {
        Some(known) => Value::bool(!known),
        None => waits(Type::Bool, Refinements::not_null(), [value, value]),
    }
    .mark(value.marks)
}

/// `a && b`: false already if one of the two is.
pub fn and(a: &Value, b: &Value) -> Value {
    logic(a, b, false)
}

/// `a || b`: true already if one of the two is.
pub fn or(a: &Value, b: &Value) -> Value {
    logic(a, b, true)
}

/// One operand that equals `decisive` decides.
fn logic(a: &Value, b: &Value, decisive: bool) -> Value {
    let value = match (a.as_bool(), b.as_bool()) {
        (Some(a), Some(b)) => Value::bool(if decisive { a || b } else { a && b }),
        (Some(known), _) | (_, Some(known)) if known == decisive => Value::bool(decisive),
        _ => waits(Type::Bool, Refinements::not_null(), [a, b]),
    };
    value.mark(both_marks(a, b))
}
