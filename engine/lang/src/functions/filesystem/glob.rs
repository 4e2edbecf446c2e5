//! `fileset`: files whose paths match a pattern.
//!
//! In one part of a path, `*` is any text, `?` one character, `[a-z]` one of several, `[^a-z]` one of all others, `{a,b}`
//! one of several texts; a backslash takes its meaning from a sign. `**` as a part is any number of directories.

use std::{iter::Peekable, str::Chars};

use engine_value::{Type, Value};
use regex::Regex;

use crate::{
    eval::Files,
    functions::{CallError, filesystem::clean},
};

/// The paths of the files, relative to the directory.
pub(super) fn files(directory: &str, pattern: &str, files: &dyn Files) -> Result<Value, CallError> {
    let directory = clean(directory);
    let whole = clean(&format!("{directory}/{pattern}"));
    let (start, parts) = match whole.strip_prefix('/') {
        Some(rest) => ("/", rest),
        None => (".", whole.as_str()),
    };
    let parts: Vec<Part> = parts.split('/').map(Part::parse).collect::<Option<_>>().ok_or_else(|| {
        CallError::argument(1, format!("{pattern:?} is no pattern: a bracket or brace is not closed, or empty"))
    })?;
    let mut search = Search { files, found: Vec::new(), seen: 0 };
    search.walk(start, &parts).map_err(CallError::new)?;
    let relative = search.found.iter().map(|path| Value::string(relative_to(&directory, path)));
    Ok(Value::set(Type::String, relative.collect()))
}

/// A clean path as it is seen from a clean directory.
fn relative_to(directory: &str, path: &str) -> String {
    let from: Vec<&str> = directory.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let to: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| "..");
    up.chain(to[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// More directories than any configuration has: links lead in a circle.
const MOST: usize = 100_000;

struct Search<'a> {
    files: &'a dyn Files,
    found: Vec<String>,
    /// How many directories have been looked into.
    seen: usize,
}

impl Search<'_> {
    fn walk(&mut self, directory: &str, parts: &[Part]) -> Result<(), String> {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        let below = |name: &str| match directory {
            "." => name.to_owned(),
            "/" => format!("/{name}"),
            directory => format!("{directory}/{name}"),
        };
        if let Part::Name(name) = part {
            let path = below(name);
            if !rest.is_empty() {
                return self.walk(&path, rest);
            }
            // A directory is no file, and no mistake either.
            if self.files.exists(&path).unwrap_or(false) {
                self.found.push(path);
            }
            return Ok(());
        }
        let is_any = matches!(part, Part::Directories);
        if is_any && !rest.is_empty() {
            self.walk(directory, rest)?;
        }
        self.seen += 1;
        if self.seen > MOST {
            return Err(format!("there are more than {MOST} directories to look into"));
        }
        for entry in self.files.list(directory)?.unwrap_or_default().iter() {
            let path = below(&entry.name);
            let matches = match part {
                Part::Pattern(pattern) => pattern.is_match(&entry.name),
                Part::Directories | Part::Name(_) => true,
            };
            match (matches, entry.is_directory) {
                (true, true) if is_any => self.walk(&path, parts)?,
                (true, true) if !is_any && !rest.is_empty() => self.walk(&path, rest)?,
                (true, false) if rest.is_empty() => self.found.push(path),
                _ => {}
            }
        }
        Ok(())
    }
}

/// One part of a path.
enum Part {
    /// Just this.
    Name(String),
    /// `**`
    Directories,
    Pattern(Regex),
}

impl Part {
    fn parse(text: &str) -> Option<Self> {
        if text == "**" {
            return Some(Self::Directories);
        }
        let mut pattern =
            Pattern { rest: text.chars().peekable(), expression: "(?s)^".to_owned(), name: Some(String::new()) };
        pattern.pieces(0)?;
        if let Some(name) = pattern.name {
            return Some(Self::Name(name));
        }
        pattern.expression.push('$');
        Regex::new(&pattern.expression).ok().map(Self::Pattern)
    }
}

/// A pattern on its way to a regular expression, which matches in linear time.
struct Pattern<'a> {
    rest: Peekable<Chars<'a>>,
    expression: String,
    /// The name that it is, as long as it has no sign with a meaning.
    name: Option<String>,
}

impl Pattern<'_> {
    /// Pieces up to the end or, inside of braces, to what ends an alternative.
    fn pieces(&mut self, depth: usize) -> Option<()> {
        /// Deeper than anybody writes.
        const DEEPEST: usize = 16;
        while let Some(c) = self.rest.next_if(|c| depth == 0 || !matches!(c, '}' | ',')) {
            let meaning = match c {
                '?' => ".",
                '*' => ".*",
                '[' => {
                    self.class()?;
                    ""
                }
                '{' if depth < DEEPEST => {
                    self.expression.push_str("(?:");
                    while self.rest.peek()? != &'}' {
                        self.pieces(depth + 1)?;
                        if self.rest.next_if_eq(&',').is_some() {
                            self.expression.push('|');
                        }
                    }
                    self.rest.next();
                    ")"
                }
                '{' => return None,
                c => {
                    let plain = if c == '\\' { self.rest.next()? } else { c };
                    self.char(plain);
                    if let Some(name) = &mut self.name {
                        name.push(plain);
                    }
                    continue;
                }
            };
            self.expression.push_str(meaning);
            self.name = None;
        }
        Some(())
    }

    fn char(&mut self, c: char) {
        self.expression.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    /// The rest of `[a-z]`.
    fn class(&mut self) -> Option<()> {
        let is_negated = self.rest.next_if_eq(&'^').is_some();
        let mut ranges = Vec::new();
        loop {
            let low = self.class_char()?;
            let high = if self.rest.next_if_eq(&'-').is_some() { self.class_char()? } else { low };
            // A range from a later character to an earlier one has none.
            if low <= high {
                ranges.push((low, high));
            }
            if self.rest.next_if_eq(&']').is_some() {
                break;
            }
        }
        match (ranges.is_empty(), is_negated) {
            (true, true) => self.expression.push('.'),
            (true, false) => self.expression.push_str("[^\\x00-\\x{10FFFF}]"),
            (false, _) => {
                self.expression.push_str(if is_negated { "[^" } else { "[" });
                for (low, high) in ranges {
                    self.expression.push_str(&format!("\\x{{{:x}}}-\\x{{{:x}}}", u32::from(low), u32::from(high)));
                }
                self.expression.push(']');
            }
        }
        Some(())
    }

    fn class_char(&mut self) -> Option<char> {
        match self.rest.next()? {
            ']' | '-' => None,
            '\\' => self.rest.next(),
            c => Some(c),
        }
    }
}
