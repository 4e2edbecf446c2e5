//! Text to addresses.

use std::sync::Arc;

use super::{AddressError, InstanceKey, Mode, ModuleAddr, ModuleStep, ResourceAddr};

/// A string in HCL's quotes. Template sequences are escaped, as it is no template.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '$' | '%' if chars.peek() == Some(&'{') => out.extend([c, c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) rest: &'a str,
    pub(super) what: &'static str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, what: &'static str) -> Self {
        Self { text, rest: text, what }
    }

    pub(super) fn error(&self, why: impl Into<String>) -> AddressError {
        AddressError { text: self.text.to_owned(), what: self.what, why: why.into() }
    }

    pub(super) fn eat(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn name(&mut self) -> Option<&'a str> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        let is_name = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
        is_name.then(|| {
            self.rest = rest;
            name
        })
    }

    pub(super) fn key(&mut self) -> Result<Option<InstanceKey>, AddressError> {
        if !self.eat("[") {
            return Ok(None);
        }
        let key = if self.eat("\"") { InstanceKey::String(self.string()?) } else { InstanceKey::Int(self.int()?) };
        if self.eat("]") { Ok(Some(key)) } else { Err(self.error(format!("\"]\" is missing after the key {key}"))) }
    }

    fn int(&mut self) -> Result<u64, AddressError> {
        let end = self.rest.find(']').unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        if digits.is_empty() {
            return Err(self.error("a key is missing after \"[\""));
        }
        let int = digits
            .parse()
            .map_err(|_| self.error(format!("a key is a number or a quoted string, found {digits:?}")))?;
        self.rest = rest;
        Ok(int)
    }

    pub(super) fn string(&mut self) -> Result<Arc<str>, AddressError> {
        let mut out = String::new();
        let mut chars = self.rest.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(out.into());
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => out.push('\n'),
                    Some('r') => out.push('\r'),
                    Some('t') => out.push('\t'),
                    Some(c @ ('"' | '\\')) => out.push(c),
                    Some('u') => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        out.push(code.ok_or_else(|| self.error(format!("unknown escape \"\\u{digits}\"")))?);
                    }
                    other => return Err(self.error(format!("unknown escape \"\\{}\"", other.unwrap_or(' ')))),
                },
                '$' | '%' if self.rest[at + 1..].starts_with(c) && self.rest[at + 2..].starts_with('{') => {
                    out.push(c);
                    chars.next();
                }
                c => out.push(c),
            }
        }
        Err(self.error("the closing quote is missing"))
    }

    pub(super) fn end(&self) -> Result<(), AddressError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        Err(self.error(format!("nothing may follow the address, found {:?}", self.rest)))
    }

    fn modules(&mut self) -> Result<ModuleAddr, AddressError> {
        let mut steps = Vec::new();
        loop {
            let dot = if steps.is_empty() { "module." } else { ".module." };
            if !self.eat(dot) {
                return Ok(ModuleAddr(steps.into()));
            }
            let name = self.name().ok_or_else(|| self.error("a module name is missing after \"module.\""))?;
            steps.push(ModuleStep { name: name.into(), key: self.key()? });
        }
    }
}

pub(super) fn module(text: &str) -> Result<ModuleAddr, AddressError> {
    let mut cursor = Cursor::new(text, "module address");
    let module = cursor.modules()?;
    cursor.end()?;
    Ok(module)
}

pub(super) fn resource(text: &str) -> Result<ResourceAddr, AddressError> {
    let mut cursor = Cursor::new(text, "resource address");
    let module = cursor.modules()?;
    if !module.is_root() && !cursor.eat(".") {
        return Err(cursor.error("a resource is missing after the module"));
    }
    let mode = if cursor.eat("data.") {
        Mode::Data
    } else if cursor.eat("ephemeral.") {
        Mode::Ephemeral
    } else {
        Mode::Managed
    };
    let ty = cursor.name().ok_or_else(|| cursor.error("a name is missing"))?;
    let name = if cursor.eat(".") { cursor.name() } else { None };
    let name = name.ok_or_else(|| cursor.error(format!("a resource name is missing after {ty:?}")))?;
    let key = cursor.key()?;
    cursor.end()?;
    Ok(ResourceAddr { module, mode, ty: ty.into(), name: name.into(), key })
}
