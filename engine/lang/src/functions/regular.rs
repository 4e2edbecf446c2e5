//! Regular expressions, in RE2's syntax.

mod translate;

use engine_value::{Refinements, Type, Value};
use regex::{Captures, Regex};

use crate::functions::{CallError, Function, Parameter, call::unknown_from};

const PATTERN: Parameter = Parameter::string("pattern").unknown();
const TEXT: Parameter = Parameter::string("string").unknown();

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "regex",
        description: "What a regular expression finds first in a text: the match, or its groups.",
        parameters: &[PATTERN, TEXT],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| {
            let Some(pattern) = pattern(args)? else { return waits(Type::Dynamic, args) };
            let Some(text) = args[1].as_str() else { return waits(pattern.result_type(), args) };
            match pattern.regex.captures(text) {
                Some(found) => Ok(pattern.result(&found)),
                None => Err(CallError::new("pattern did not match any part of the given string")),
            }
        },
    },
    Function {
        name: "regexall",
        description: "Everything that a regular expression finds in a text, as a list.",
        parameters: &[PATTERN, TEXT],
        variadic: None,
        returns: |_| Ok(Type::list(Type::Dynamic)),
        run: |args, _| {
            let Some(pattern) = pattern(args)? else { return waits(Type::list(Type::Dynamic), args) };
            let ty = pattern.result_type();
            let Some(text) = args[1].as_str() else { return waits(Type::list(ty), args) };
            let found = pattern.regex.captures_iter(text).map(|found| pattern.result(&found));
            Ok(Value::list(ty, found.collect()))
        },
    },
];

/// A regular expression with the names of its groups.
pub(super) struct Pattern {
    regex: Regex,
    names: Vec<Option<String>>,
}

fn pattern(args: &[Value]) -> Result<Option<Pattern>, CallError> {
    let Some(text) = args[0].as_str() else { return Ok(None) };
    let invalid = |why: &str| CallError::argument(0, format!("invalid regular expression pattern: {why}"));
    let pattern = Pattern::new(text).map_err(|why| invalid(&why))?;
    if pattern.names.iter().any(Option::is_some) && pattern.names.iter().any(Option::is_none) {
        return Err(invalid("cannot mix both named and unnamed capture groups"));
    }
    Ok(Some(pattern))
}

fn waits(ty: Type, args: &[Value]) -> Result<Value, CallError> {
    Ok(unknown_from(ty, Refinements::not_null(), args))
}

impl Pattern {
    /// # Errors
    /// One line of why it is none.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let translated = translate::translate(text)?;
        let regex = Regex::new(&translated.pattern).map_err(|error| {
            // The whole message draws the pattern, too.
            let text = error.to_string();
            text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
        })?;
        Ok(Self { regex, names: translated.names })
    }

    /// A string without groups, a tuple of plain groups, an object of named ones.
    fn result_type(&self) -> Type {
        if self.names.is_empty() {
            return Type::String;
        }
        match self.names.iter().map(|name| name.as_deref()).collect::<Option<Vec<&str>>>() {
            Some(names) => Type::object(names.into_iter().map(|name| (name, Type::String))),
            None => Type::tuple(self.names.iter().map(|_| Type::String)),
        }
    }

    fn result(&self, found: &Captures<'_>) -> Value {
        let group = |at: usize| found.get(at).map_or(Value::null(Type::String), |group| Value::string(group.as_str()));
        match self.result_type() {
            Type::String => group(0),
            Type::Tuple(types) => Value::tuple((1..=types.len()).map(group)),
            _ => Value::object(
                self.names.iter().enumerate().filter_map(|(at, name)| Some((name.as_deref()?, group(at + 1)))),
            ),
        }
    }

    /// The text with every match replaced. In the replacement, `$1` and `${name}` are groups.
    pub(super) fn replace(&self, text: &str, replacement: &str) -> String {
        let replaced = self.regex.replace_all(text, |found: &Captures<'_>| self.expand(found, replacement));
        replaced.into_owned()
    }

    /// As Go: a name is as long as it can be, and what is no group is nothing.
    fn expand(&self, found: &Captures<'_>, replacement: &str) -> String {
        let mut out = String::new();
        let mut rest = replacement;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            if let Some(after) = after.strip_prefix('$') {
                out.push('$');
                rest = after;
                continue;
            }
            let braced = after.strip_prefix('{');
            let name = braced.unwrap_or(after);
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            let (name, after_name) = name.split_at(end);
            let after_name = if braced.is_some() { after_name.strip_prefix('}') } else { Some(after_name) };
            match after_name.filter(|_| !name.is_empty()) {
                Some(after_name) => {
                    out.push_str(self.group(found, name));
                    rest = after_name;
                }
                None => {
                    out.push('$');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }

    /// What a group found, by its number or name; of several with one name, the last that found something.
    fn group<'t>(&self, found: &Captures<'t>, name: &str) -> &'t str {
        let is_number = name.bytes().all(|byte| byte.is_ascii_digit()) && (name == "0" || !name.starts_with('0'));
        let mut at: Vec<usize> = Vec::new();
        if is_number {
            at.extend(name.parse::<usize>().ok());
        } else {
            at.extend((1..).zip(&self.names).filter(|(_, known)| known.as_deref() == Some(name)).map(|(at, _)| at));
        }
        at.into_iter().rev().find_map(|at| found.get(at)).map_or("", |group| group.as_str())
    }
}
