//! `csvdecode`: RFC 4180, as strict as Go's reader.

use std::sync::Arc;

use engine_value::{Type, Value, normalize};

use crate::functions::{CallError, Function, Parameter};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "csvdecode",
    description: "The rows of a text in the CSV format of RFC 4180 as objects, with the names that the first row gives.",
    parameters: &[Parameter::string("str")],
    variadic: None,
    returns: |_| Ok(Type::Dynamic),
    run: |args, _| decode(args[0].as_str().unwrap_or_default()).map_err(|why| CallError::argument(0, why)),
}];

fn decode(text: &str) -> Result<Value, String> {
    let mut reader = Reader { rest: text, line: 0 };
    let Some(header) = reader.record()? else { return Err("missing header line".to_owned()) };
    let names: Vec<Arc<str>> = header.iter().map(|name| normalize(name)).collect();
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(format!("duplicate column name \"{name}\""));
        }
    }
    let mut rows = Vec::new();
    while let Some(record) = reader.record()? {
        if record.len() != names.len() {
            let (line, found, wanted) = (reader.line, record.len(), names.len());
            return Err(format!("line {line} has {found} columns, and the first line has {wanted}"));
        }
        rows.push(Value::object(names.iter().zip(record.iter().map(Value::string))));
    }
    let ty = Type::object(names.iter().map(|name| (Arc::clone(name), Type::String)));
    Ok(Value::list(ty, rows))
}

struct Reader<'a> {
    rest: &'a str,
    /// Of the record that was read last: its last line.
    line: usize,
}

impl<'a> Reader<'a> {
    /// The next line with its end; a carriage return before that does not count.
    fn line(&mut self) -> Option<(&'a str, bool)> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        match self.rest.split_once('\n') {
            Some((line, rest)) => {
                self.rest = rest;
                Some((line.strip_suffix('\r').unwrap_or(line), true))
            }
            None => {
                let line = std::mem::take(&mut self.rest);
                Some((line.strip_suffix('\r').unwrap_or(line), false))
            }
        }
    }

    /// The fields of the next record. Empty lines are none.
    fn record(&mut self) -> Result<Option<Vec<String>>, String> {
        let (mut line, mut ended) = loop {
            match self.line() {
                None => return Ok(None),
                Some(("", _)) => {}
                Some(line) => break line,
            }
        };
        let mut fields = Vec::new();
        loop {
            let Some(mut quoted) = line.strip_prefix('"') else {
                let (field, rest) = match line.split_once(',') {
                    Some((field, rest)) => (field, Some(rest)),
                    None => (line, None),
                };
                if field.contains('"') {
                    return Err(format!("line {}: a quote stands inside of a field without quotes", self.line));
                }
                fields.push(field.to_owned());
                match rest {
                    Some(rest) => line = rest,
                    None => return Ok(Some(fields)),
                }
                continue;
            };
            let mut field = String::new();
            loop {
                let Some((before, after)) = quoted.split_once('"') else {
                    field.push_str(quoted);
                    if ended {
                        field.push('\n');
                    }
                    let Some(next) = self.line() else {
                        return Err(format!("line {}: the closing quote of a field is missing", self.line));
                    };
                    (quoted, ended) = next;
                    continue;
                };
                field.push_str(before);
                if let Some(after) = after.strip_prefix('"') {
                    field.push('"');
                    quoted = after;
                    continue;
                }
                fields.push(std::mem::take(&mut field));
                match after.strip_prefix(',') {
                    Some(rest) => line = rest,
                    None if after.is_empty() => return Ok(Some(fields)),
                    None => return Err(format!("line {}: a quoted field goes on after its closing quote", self.line)),
                }
                break;
            }
        }
    }
}
