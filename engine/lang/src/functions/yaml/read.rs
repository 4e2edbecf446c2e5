//! One document to a value.

use std::{collections::BTreeMap, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use engine_value::{Type, Value, convert};
use granit_parser::{Event, Parser, ScalarStyle, Tag, options};

use super::scalar::{Kind, resolve};

/// How many nodes aliases may add to a text: a few lines could stand for more than there is memory.
const MAX_EXPANDED: usize = 1 << 20;
/// As deep as the language's own values may safely be.
const MAX_DEPTH: usize = 200;

/// The value of a text that is one document.
///
/// # Errors
/// A fragment with the line.
pub(super) fn document(text: &str) -> Result<Value, String> {
    let mut reader = Reader::default();
    for next in Parser::new_from_str_with_options(text, options! { emit_comments: false }) {
        match next {
            Ok((event, span)) => {
                reader.event(event).map_err(|why| format!("on line {}: {why}", span.start.line()))?;
            }
            Err(error) => return Err(format!("on line {}: {}", error.marker().line(), error.info())),
        }
    }
    reader.document.map(|node| node.value).ok_or_else(|| "missing start of document".to_owned())
}

#[derive(Default)]
struct Reader {
    document: Option<Node>,
    stack: Vec<Frame>,
    anchors: BTreeMap<usize, Node>,
    expanded: usize,
}

/// A value, with how many nodes it has and how deep it is.
#[derive(Clone)]
struct Node {
    value: Value,
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
    Sequence(Vec<Value>),
    Mapping { members: BTreeMap<Arc<str>, Value>, key: Option<Key> },
}

enum Key {
    Name(Arc<str>),
    Merge,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::DocumentStart(..) if self.document.is_some() => {
                Err("there is a second document, and only one is read".to_owned())
            }
            Event::Scalar(text, style, anchor, tag) => {
                if text == "<<" && tag.is_none() && self.takes_key() {
                    self.key(Key::Merge);
                    return Ok(());
                }
                let value = scalar(&text, style == ScalarStyle::Plain, tag.as_deref())?;
                self.place(Node { value, weight: 1, depth: 0 }, anchor)
            }
            Event::Alias(anchor) => {
                let Some(node) = self.anchors.get(&anchor).cloned() else {
                    return Err("cannot refer to an anchor from inside its own definition".to_owned());
                };
                self.expanded += node.weight;
                if self.expanded > MAX_EXPANDED {
                    return Err(format!("its aliases stand for more than {MAX_EXPANDED} values"));
                }
                self.place(node, 0)
            }
            Event::SequenceStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), "seq", "sequence")?;
                self.open(anchor, Collection::Sequence(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                check_tag(tag.as_deref(), "map", "mapping")?;
                self.open(anchor, Collection::Mapping { members: BTreeMap::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(frame) = self.stack.pop() else { return Ok(()) };
                let value = match frame.kind {
                    Collection::Sequence(elements) => Value::tuple(elements),
                    Collection::Mapping { members, .. } => Value::object(members),
                };
                self.place(Node { value, weight: frame.weight, depth: frame.depth }, frame.anchor)
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, anchor: usize, kind: Collection) -> Result<(), String> {
        if self.takes_key() {
            return Err("only strings are allowed as mapping keys".to_owned());
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(too_deep());
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

    /// Puts a finished node where it belongs. Of equal keys the last one counts, also where one is brought in by `<<`.
    fn place(&mut self, node: Node, anchor: usize) -> Result<(), String> {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        if self.takes_key() {
            self.key(Key::Name(name_of(&node.value)?));
            return Ok(());
        }
        if self.stack.len() + node.depth > MAX_DEPTH {
            return Err(too_deep());
        }
        let Some(frame) = self.stack.last_mut() else {
            self.document = Some(node);
            return Ok(());
        };
        frame.weight += node.weight;
        frame.depth = frame.depth.max(node.depth + 1);
        match &mut frame.kind {
            Collection::Sequence(elements) => elements.push(node.value),
            Collection::Mapping { members, key } => match key.take() {
                Some(Key::Name(name)) => {
                    members.insert(name, node.value);
                }
                Some(Key::Merge) => match node.value.as_map() {
                    Some(more) => members.extend(more.iter().map(|(name, value)| (Arc::clone(name), value.clone()))),
                    None => return Err(format!("cannot merge {} into mapping", node.value.type_of().friendly())),
                },
                None => {}
            },
        }
        Ok(())
    }
}

fn too_deep() -> String {
    format!("it is nested more than {MAX_DEPTH} levels deep")
}

/// A key is text, or what has one form as text.
fn name_of(value: &Value) -> Result<Arc<str>, String> {
    if value.is_null() {
        return Err("mapping key cannot be null".to_owned());
    }
    match convert(value, &Type::String) {
        Ok(text) => Ok(Arc::from(text.as_str().unwrap_or_default())),
        Err(_) => Err("only strings are allowed as mapping keys".to_owned()),
    }
}

fn scalar(text: &str, is_plain: bool, tag: Option<&Tag>) -> Result<Value, String> {
    let Some(tag) = tag else {
        return if is_plain { resolve(text).map(|(_, value)| value) } else { Ok(Value::string(text)) };
    };
    let Some(name) = core_tag(tag) else { return Err(format!("unsupported tag {}", written(tag))) };
    let wrong = || format!("cannot parse {text:?} as {}", written(tag));
    let wanted: &[Kind] = match name {
        "str" => return Ok(Value::string(text)),
        "binary" => {
            let packed: String = text.split_whitespace().collect();
            return if STANDARD.decode(packed).is_ok() { Ok(Value::string(text)) } else { Err(wrong()) };
        }
        "null" => &[Kind::Null],
        "bool" => &[Kind::Bool],
        "int" => &[Kind::Int],
        "float" => &[Kind::Float, Kind::Int],
        "timestamp" => &[Kind::Timestamp],
        _ => return Err(format!("unsupported tag {}", written(tag))),
    };
    // Quotes say more than a tag: this is text.
    if !is_plain {
        return Ok(Value::string(text));
    }
    if name == "null" {
        return Ok(Value::null(Type::Dynamic));
    }
    let (kind, value) = resolve(text)?;
    if wanted.contains(&kind) { Ok(value) } else { Err(wrong()) }
}

fn check_tag(tag: Option<&Tag>, own: &str, what: &str) -> Result<(), String> {
    match tag {
        Some(tag) if core_tag(tag) != Some(own) => Err(format!("can't interpret {what} as {}", written(tag))),
        _ => Ok(()),
    }
}

/// The name of a tag of YAML's own.
fn core_tag(tag: &Tag) -> Option<&str> {
    match (tag.handle(), tag.suffix()) {
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
