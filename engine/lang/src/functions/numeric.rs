//! Functions of numbers.

use engine_value::{Number, Refinements, Type, Value};

use crate::functions::{CallError, Function, Parameter, Run, call::unknown_from};

const NUM: Parameter = Parameter::number("num");
const NUMBERS: Parameter = Parameter::number("numbers");

pub(super) const FUNCTIONS: &[Function] = &[
    of_one("abs", "The distance of a number from zero: the number itself, or without its minus sign.", |args, _| {
        Ok(Value::number(number(&args[0]).abs()))
    }),
    of_one("ceil", "The smallest whole number that is not below a number.", |args, _| {
        Ok(Value::number(number(&args[0]).ceil()))
    }),
    of_one("floor", "The largest whole number that is not above a number.", |args, _| {
        Ok(Value::number(number(&args[0]).floor()))
    }),
    of_one("signum", "The sign of a number: -1, 0 or 1.", |args, _| {
        let number = number(&args[0]);
        if number.to_i64().is_none() {
            let message = "value must be a whole number, between -9223372036854775808 and 9223372036854775807";
            return Err(CallError::new(message));
        }
        Ok(Value::int(if number.is_zero() {
            0
        } else if number.is_negative() {
            -1
        } else {
            1
        }))
    }),
    Function {
        name: "max",
        description: "The largest of the given numbers.",
        parameters: &[],
        variadic: Some(NUMBERS),
        returns: |_| Ok(Type::Number),
        run: |args, _| extreme(args, |best, next| next > best),
    },
    Function {
        name: "min",
        description: "The smallest of the given numbers.",
        parameters: &[],
        variadic: Some(NUMBERS),
        returns: |_| Ok(Type::Number),
        run: |args, _| extreme(args, |best, next| next < best),
    },
    Function {
        name: "log",
        description: "The logarithm of a number to a base.",
        parameters: &[NUM, Parameter::number("base")],
        variadic: None,
        returns: |_| Ok(Type::Number),
        run: |args, _| float(float_of(&args[0]).ln() / float_of(&args[1]).ln()),
    },
    Function {
        name: "pow",
        description: "A number raised to a power.",
        parameters: &[NUM, Parameter::number("power")],
        variadic: None,
        returns: |_| Ok(Type::Number),
        run: |args, _| float(power(float_of(&args[0]), float_of(&args[1]))),
    },
    Function {
        name: "parseint",
        description: "The whole number that a text writes in a base from 2 to 62.",
        parameters: &[Parameter::any("number"), Parameter::number("base")],
        variadic: None,
        returns: |_| Ok(Type::Number),
        run: |args, _| parse_int(&args[0], &args[1]),
    },
    Function {
        name: "sum",
        description: "The numbers of a list added up.",
        parameters: &[Parameter::any("list")],
        variadic: None,
        returns: |_| Ok(Type::Number),
        run: |args, _| sum(&args[0]),
    },
];

const fn of_one(name: &'static str, description: &'static str, run: Run) -> Function {
    Function { name, description, parameters: &[NUM], variadic: None, returns: |_| Ok(Type::Number), run }
}

fn number(value: &Value) -> Number {
    value.as_number().cloned().unwrap_or_else(|| Number::from(0))
}

/// Logarithms and powers are those of 64-bit floats, as in Terraform.
fn float_of(value: &Value) -> f64 {
    value.as_number().map_or(0.0, Number::to_f64)
}

fn float(result: f64) -> Result<Value, CallError> {
    Number::from_f64(result).map(Value::number).ok_or_else(|| CallError::new("the result is not a number"))
}

/// `x` to the power of `y`, by squaring, so that the last digits are those of Go: the best result may differ in them.
fn power(x: f64, y: f64) -> f64 {
    let whole = y.abs().trunc();
    // Everything special has one right answer.
    if x == 0.0 || x == 1.0 || y == 0.0 || !x.is_finite() || !y.is_finite() || whole >= 9.2e18 {
        return x.powf(y);
    }
    if y.abs() == 0.5 {
        return if y > 0.0 { x.sqrt() } else { 1.0 / x.sqrt() };
    }
    let mut fraction = y.abs() - whole;
    if fraction != 0.0 && x < 0.0 {
        return f64::NAN;
    }
    let mut count = whole as i64;
    let mut result = 1.0;
    if fraction != 0.0 {
        if fraction > 0.5 {
            fraction -= 1.0;
            count += 1;
        }
        result = (fraction * x.ln()).exp();
    }
    // The number is `mantissa * 2^exponent`, with the mantissa from a half to one, so that squares do not overflow.
    let mut exponent: i64 = 0;
    let (mut mantissa, mut binary) = parts(x);
    while count != 0 {
        if binary.abs() > 1 << 12 {
            exponent += binary;
            break;
        }
        if count & 1 == 1 {
            result *= mantissa;
            exponent += binary;
        }
        mantissa *= mantissa;
        binary *= 2;
        if mantissa < 0.5 {
            mantissa *= 2.0;
            binary -= 1;
        }
        count >>= 1;
    }
    if y < 0.0 {
        result = 1.0 / result;
        exponent = -exponent;
    }
    scaled(result, exponent)
}

/// Mantissa, from a half to one, and exponent of a finite number other than zero.
fn parts(x: f64) -> (f64, i64) {
    const FRACTION: u64 = (1 << 52) - 1;
    // Numbers that have lost digits for their smallness get them back first.
    let (x, moved) = if x.abs() < f64::MIN_POSITIVE { (x * (1u64 << 52) as f64, 52) } else { (x, 0) };
    let bits = x.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i64 - 1022 - moved;
    (f64::from_bits(bits & (1 << 63 | FRACTION) | 1022 << 52), exponent)
}

/// `x * 2^exponent`, rounded once.
fn scaled(x: f64, exponent: i64) -> f64 {
    let exponent = exponent.clamp(-4_000, 4_000) as i32;
    // In two steps, the second of which rounds: one power alone may be infinite or zero.
    let first = exponent.clamp(-1_000, 1_000);
    let mut result = x * 2f64.powi(first);
    let mut rest = exponent - first;
    while rest != 0 {
        let step = rest.clamp(-1_000, 1_000);
        result *= 2f64.powi(step);
        rest -= step;
    }
    result
}

fn extreme(args: &[Value], better: fn(&Number, &Number) -> bool) -> Result<Value, CallError> {
    let mut numbers = args.iter().filter_map(Value::as_number);
    let Some(first) = numbers.next() else { return Err(CallError::new("must pass at least one number")) };
    let best = numbers.fold(first, |best, next| if better(best, next) { next } else { best });
    Ok(Value::number(best.clone()))
}

fn parse_int(text: &Value, base: &Value) -> Result<Value, CallError> {
    let Some(digits) = text.as_str() else {
        return Err(CallError::argument(0, "first argument must be a string"));
    };
    let Some(base) = base.as_i64().and_then(|base| u32::try_from(base).ok()).filter(|base| (2..=62).contains(base))
    else {
        return Err(CallError::argument(1, "base must be a whole number between 2 and 62 inclusive"));
    };
    let refused = || CallError::argument(0, format!("cannot parse \"{digits}\" as a base {base} integer"));
    let (negative, unsigned) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.strip_prefix('+').unwrap_or(digits)),
    };
    if unsigned.is_empty() {
        return Err(refused());
    }
    let base_number = Number::from(i64::from(base));
    let mut total = Number::from(0);
    for c in unsigned.chars() {
        let digit = digit_value(c, base).ok_or_else(refused)?;
        let shifted = total.mul(&base_number).ok_or_else(refused)?;
        total = shifted.add(&Number::from(i64::from(digit))).ok_or_else(refused)?;
    }
    Ok(Value::number(if negative { total.neg().without_negative_zero() } else { total }))
}

/// Up to base 36 the case of letters does not count; above, capitals are the digits from 36.
fn digit_value(c: char, base: u32) -> Option<u32> {
    let value = match c {
        '0'..='9' => c as u32 - '0' as u32,
        'a'..='z' => c as u32 - 'a' as u32 + 10,
        'A'..='Z' if base <= 36 => c as u32 - 'A' as u32 + 10,
        'A'..='Z' => c as u32 - 'A' as u32 + 36,
        _ => return None,
    };
    (value < base).then_some(value)
}

fn sum(list: &Value) -> Result<Value, CallError> {
    let Some(elements) = list.as_sequence() else {
        return Err(CallError::argument(0, "cannot sum noniterable"));
    };
    if elements.is_empty() {
        return Err(CallError::argument(0, "cannot sum an empty list"));
    }
    if list.has_unknown() {
        return Ok(unknown_from(Type::Number, Refinements::not_null(), std::slice::from_ref(list)));
    }
    // Begins with the first number: only so the sum of `-0` is that.
    let mut total: Option<Number> = None;
    for element in elements {
        let number = engine_value::convert(element, &Type::Number).ok().filter(|number| !number.is_null());
        let Some(number) = number.as_ref().and_then(Value::as_number) else {
            return Err(CallError::argument(0, "argument must be list, set, or tuple of number values"));
        };
        total = Some(match total {
            None => number.clone(),
            Some(total) => {
                total.add(number).ok_or_else(|| CallError::new("can't compute sum of opposing infinities"))?
            }
        });
    }
    Ok(Value::number(total.unwrap_or_else(|| Number::from(0))))
}
