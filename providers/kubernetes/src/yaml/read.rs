//! From text to documents.

use std::{collections::BTreeMap, fmt};

use base64::Engine as _;
use granit_parser::{Event, Parser, ScalarStyle, Span, Tag, options};
use serde_json::{Map, Value as Json};

use super::scalar::resolve;

/// How much aliases may add to a text, as bytes of text and nodes together: a bomb of a few lines would become gigabytes,
/// and an API server takes 3 MiB.
const MAX_EXPANDED: usize = 16 << 20;
/// As deep as the language's own values may safely be, with what stands around a manifest.
const MAX_DEPTH: usize = 200;

/// One document of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    /// From 1, empty ones counted.
    pub(crate) number: usize,
    /// Where its content begins, from 1.
    pub(crate) line: usize,
    /// What it says; null where it is empty.
    pub(crate) body: Json,
}

impl Document {
    /// The same place with what is wrong there.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> YamlError {
        YamlError { document: self.number, line: self.line, what: what.into() }
    }
}

/// What is wrong with a text. Never repeats a value: it may be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct YamlError {
    document: usize,
    line: usize,
    what: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "document {}, line {}: {}", self.document, self.line, self.what)
    }
}

/// The documents of a text in their order, empty ones too.
///
/// # Errors
/// It is no YAML, or means nothing in JSON.
pub(crate) fn documents(text: &str) -> Result<Vec<Document>, YamlError> {
    let mut reader = Reader::default();
    for next in Parser::new_from_str_with_options(text, options! { emit_comments: false }) {
        match next {
            Ok((event, span)) => reader.event(event, span)?,
            Err(error) => return Err(reader.wrong(error.marker().line(), error.info())),
        }
    }
    Ok(reader.documents)
}

#[derive(Default)]
struct Reader {
    documents: Vec<Document>,
    number: usize,
    line: Option<usize>,
    stack: Vec<Frame>,
    anchors: BTreeMap<usize, Node>,
    expanded: usize,
}

/// A value, with how much it holds and how deep it is.
#[derive(Clone)]
struct Node {
    value: Json,
    weight: usize,
    depth: usize,
}

/// A collection that is not at its end.
struct Frame {
    anchor: usize,
    weight: usize,
    depth: usize,
    kind: Collection,
}

enum Collection {
    Sequence(Vec<Json>),
    Mapping {
        members: Map<String, Json>,
        /// Where each key stands.
        lines: BTreeMap<String, usize>,
        /// What `<<` brings in, the strongest first.
        merged: Vec<Map<String, Json>>,
        key: Option<Key>,
    },
}

enum Key {
    Name(String),
    Merge,
}

impl Reader {
    fn wrong(&self, line: usize, what: impl Into<String>) -> YamlError {
        YamlError { document: self.number.max(1), line, what: what.into() }
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        let line = span.start.line();
        match event {
            Event::DocumentStart(..) => {
                self.number += 1;
                self.line = None;
                self.anchors.clear();
                self.expanded = 0;
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain;
                if is_plain && tag.is_none() && text == "<<" && self.takes_key() {
                    self.key(Key::Merge);
                    return Ok(());
                }
                let value = self.scalar(&text, is_plain, tag.as_deref(), line)?;
                let weight = text.len() + 1;
                self.place(Node { value, weight, depth: 0 }, anchor, line)?;
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err(self.wrong(line, "an alias stands inside what it names"));
                };
                self.expanded += node.weight;
                if self.expanded > MAX_EXPANDED {
                    let what = format!("its aliases stand for more than {} MiB", MAX_EXPANDED >> 20);
                    return Err(self.wrong(line, what));
                }
                self.place(node, 0, line)?;
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", line)?;
                self.open(anchor, Collection::Sequence(Vec::new()), line)?;
            }
            Event::MappingStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", line)?;
                let (members, lines, merged) = (Map::new(), BTreeMap::new(), Vec::new());
                self.open(anchor, Collection::Mapping { members, lines, merged, key: None }, line)?;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(frame) = self.stack.pop() else { return Ok(()) };
                let (anchor, weight, depth) = (frame.anchor, frame.weight, frame.depth);
                let value = match frame.kind {
                    Collection::Sequence(items) => Json::Array(items),
                    Collection::Mapping { mut members, merged, .. } => {
                        for (name, value) in merged.into_iter().flatten() {
                            members.entry(name).or_insert(value);
                        }
                        Json::Object(members)
                    }
                };
                self.place(Node { value, weight, depth }, anchor, line)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, anchor: usize, kind: Collection, line: usize) -> Result<(), YamlError> {
        self.line.get_or_insert(line);
        if self.takes_key() {
            return Err(self.wrong(line, "a key must be text, not a collection"));
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.wrong(line, format!("it is nested more than {MAX_DEPTH} levels deep")));
        }
        self.stack.push(Frame { anchor, weight: 1, depth: 1, kind });
        Ok(())
    }

    /// Is the next node a key of a mapping?
    fn takes_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { kind: Collection::Mapping { key: None, .. }, .. }))
    }

    fn key(&mut self, found: Key) {
        if let Some(Frame { kind: Collection::Mapping { key, .. }, .. }) = self.stack.last_mut() {
            *key = Some(found);
        }
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, node: Node, anchor: usize, line: usize) -> Result<(), YamlError> {
        self.line.get_or_insert(line);
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        if self.takes_key() {
            let name = key_name(&node.value).map_err(|what| self.wrong(line, what))?;
            self.key(Key::Name(name));
            return Ok(());
        }
        let (number, depth) = (self.number, self.stack.len() + node.depth);
        if depth > MAX_DEPTH {
            return Err(self.wrong(line, format!("it is nested more than {MAX_DEPTH} levels deep")));
        }
        let Some(frame) = self.stack.last_mut() else {
            self.documents.push(Document { number, line: self.line.unwrap_or(line), body: node.value });
            return Ok(());
        };
        frame.weight += node.weight;
        frame.depth = frame.depth.max(node.depth + 1);
        match &mut frame.kind {
            Collection::Sequence(items) => items.push(node.value),
            Collection::Mapping { members, lines, merged, key } => match key.take() {
                Some(Key::Merge) => match mappings(node.value) {
                    Some(found) => merged.extend(found),
                    None => return Err(self.wrong(line, "what `<<` brings in must be a mapping, or a list of them")),
                },
                Some(Key::Name(name)) => {
                    if let Some(first) = lines.insert(name.clone(), line) {
                        let what = format!("the key {name:?} is there twice; the first is on line {first}");
                        return Err(self.wrong(line, what));
                    }
                    members.insert(name, node.value);
                }
                None => {}
            },
        }
        Ok(())
    }

    fn scalar(&self, text: &str, is_plain: bool, tag: Option<&Tag>, line: usize) -> Result<Json, YamlError> {
        let no_json = || self.wrong(line, "JSON has no such number, and so the API has none");
        let Some(tag) = tag else {
            return if is_plain { resolve(text).ok_or_else(no_json) } else { Ok(Json::String(text.to_owned())) };
        };
        let name = core_tag(tag);
        let resolved = resolve(text);
        let fits = match name {
            Some("str" | "timestamp" | "") => return Ok(Json::String(text.to_owned())),
            Some("binary") => {
                let packed: String = text.split_whitespace().collect();
                let bytes = base64::engine::general_purpose::STANDARD.decode(packed).ok();
                let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                let what = "`!!binary` must be the base64 of UTF-8 text: the API knows no other";
                return text.map(Json::String).ok_or_else(|| self.wrong(line, what));
            }
            Some("int") => matches!(&resolved, Some(Json::Number(number)) if !number.is_f64()),
            Some("float") => matches!(resolved, Some(Json::Number(_)) | None),
            Some("bool") => matches!(resolved, Some(Json::Bool(_))),
            Some("null") => matches!(resolved, Some(Json::Null)),
            _ => return Err(self.wrong(line, format!("the tag {} means nothing here", written(tag)))),
        };
        if fits { resolved.ok_or_else(no_json) } else { Err(self.wrong(line, format!("this is no {}", written(tag)))) }
    }

    fn collection_tag(&self, tag: Option<&Tag>, own: &str, line: usize) -> Result<(), YamlError> {
        match tag {
            Some(tag) if !core_tag(tag).is_some_and(|name| name == own || name.is_empty()) => {
                Err(self.wrong(line, format!("the tag {} means nothing here", written(tag))))
            }
            _ => Ok(()),
        }
    }
}

/// The name of a tag of YAML's own; empty for `!`, which only says that nothing is to be guessed.
fn core_tag(tag: &Tag) -> Option<&str> {
    match (tag.handle(), tag.suffix()) {
        ("!", "") | ("", "!") => Some(""),
        ("tag:yaml.org,2002:" | "!!", name) => Some(name),
        (_, name) => name.strip_prefix("tag:yaml.org,2002:"),
    }
}

fn written(tag: &Tag) -> String {
    match core_tag(tag) {
        Some(name) => format!("!!{name}"),
        None => format!("{}{}", tag.handle(), tag.suffix()),
    }
}

/// Keys of the API are text: what looks like a number or a boolean is its text.
fn key_name(value: &Json) -> Result<String, String> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Bool(_) | Json::Number(_) => Ok(value.to_string()),
        Json::Null => Err("a key must be text, not null".to_owned()),
        Json::Array(_) | Json::Object(_) => Err("a key must be text, not a collection".to_owned()),
    }
}

/// What a merge key brings in, the strongest first.
fn mappings(value: Json) -> Option<Vec<Map<String, Json>>> {
    match value {
        Json::Object(members) => Some(vec![members]),
        Json::Array(items) => items
            .into_iter()
            .map(|item| match item {
                Json::Object(members) => Some(members),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}
