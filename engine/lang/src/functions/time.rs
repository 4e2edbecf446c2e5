//! Points in time, as RFC 3339 writes them.

mod duration;
mod pattern;
mod stamp;

use engine_value::{Type, Value};

pub(super) use stamp::Stamp;
pub use stamp::rfc3339;

use crate::functions::{CallError, Function, Parameter, identity::later};

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "formatdate",
        description: "A timestamp in another form, which is given by letters such as `YYYY-MM-DD`.",
        parameters: &[Parameter::string("format"), Parameter::string("time")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| {
            let stamp = stamp(args, 1)?;
            pattern::write(text(args, 0), &stamp).map(Value::string).map_err(|why| CallError::argument(0, why))
        },
    },
    Function {
        name: "plantimestamp",
        description: "The time of the plan, in RFC 3339 form. It is the same when the plan is applied.",
        parameters: &[],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |_, outside| Ok(outside.surroundings.plan_timestamp.as_deref().map_or_else(later, Value::string)),
    },
    Function {
        name: "timeadd",
        description: "A timestamp moved by a duration such as `1h30m` or `-5m`.",
        parameters: &[Parameter::string("timestamp"), Parameter::string("duration")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| {
            let stamp = stamp(args, 0)?;
            let duration = duration::parse(text(args, 1)).map_err(|why| CallError::argument(1, why))?;
            Ok(Value::string(stamp.plus(duration).rfc3339()))
        },
    },
    Function {
        name: "timecmp",
        description: "Which of two timestamps is earlier: -1 the first, 1 the second, 0 neither.",
        parameters: &[Parameter::string("timestamp_a"), Parameter::string("timestamp_b")],
        variadic: None,
        returns: |_| Ok(Type::Number),
        run: |args, _| {
            let (a, b) = (stamp(args, 0)?, stamp(args, 1)?);
            Ok(Value::int(a.instant().cmp(&b.instant()) as i64))
        },
    },
    Function {
        name: "timestamp",
        description: "The time at which the configuration is applied, in RFC 3339 form. A plan does not know it.",
        parameters: &[],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |_, outside| {
            let host = outside.surroundings.host.as_ref();
            Ok(host.map_or_else(later, |host| Value::string(Stamp::of(host.now()).rfc3339())))
        },
    },
];

fn text(args: &[Value], at: usize) -> &str {
    args[at].as_str().unwrap_or_default()
}

fn stamp(args: &[Value], at: usize) -> Result<Stamp, CallError> {
    let text = text(args, at);
    Stamp::parse(text).map_err(|why| {
        CallError::argument(
            at,
            format!("\"{text}\" is no valid RFC 3339 timestamp such as 2026-01-31T09:30:00Z: {why}"),
        )
    })
}
