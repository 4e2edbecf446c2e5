//! Paths into a value: reading, changing, walking.

use std::{borrow::Cow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Data, Value, json};

/// One step into a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Step {
    /// Attribute of an object.
    Attr(Arc<str>),
    /// Element of a list or tuple.
    Index(usize),
    /// Element of a map.
    Key(Arc<str>),
    /// Element of a set, by the element itself.
    Element(Box<Value>),
}

/// A path into a value; empty is the value itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The value itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of an attribute of this.
    #[must_use]
    pub fn attr(mut self, name: impl Into<Arc<str>>) -> Self {
        self.0.push(Step::Attr(name.into()));
        self
    }

    /// The path of an element of this list or tuple.
    #[must_use]
    pub fn index(mut self, index: usize) -> Self {
        self.0.push(Step::Index(index));
        self
    }

    /// The path of an element of this map.
    #[must_use]
    pub fn key(mut self, key: impl Into<Arc<str>>) -> Self {
        self.0.push(Step::Key(key.into()));
        self
    }

    /// Does this path lie at or under the other?
    pub fn starts_with(&self, other: &Path) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The path of an element of this set.
    #[must_use]
    pub fn element(mut self, element: Value) -> Self {
        self.0.push(Step::Element(Box::new(element)));
        self
    }

    /// The path of a part of this.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }

    /// Is it the value itself?
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path around the last step; `None` for the value itself.
    pub fn parent(&self) -> Option<Path> {
        self.0.split_last().map(|(_, rest)| Path(rest.to_vec()))
    }

    /// The part that it leads to, if every step exists and is known. Marks of what is around it are added to it.
    pub fn get(&self, root: &Value) -> Option<Value> {
        let mut at = Cow::Borrowed(root);
        for step in &self.0 {
            let part = at.step(step)?.clone().mark(at.marks);
            at = Cow::Owned(part);
        }
        Some(at.into_owned())
    }

    /// The value with the part at this path replaced; `None` where a step but the last does not exist. A last step that
    /// names a new attribute or map element adds it.
    pub fn set(&self, root: &Value, part: Value) -> Option<Value> {
        let Some((step, rest)) = self.0.split_first() else { return Some(part) };
        let rest = Path(rest.to_vec());
        let inner = match root.step(step) {
            Some(old) => rest.set(old, part)?,
            None if rest.is_root() => part,
            None => return None,
        };
        root.with_part(step, inner)
    }
}

impl fmt::Display for Path {
    /// As Terraform writes it: `a.b["c"][0]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Attr(name) if at == 0 => f.write_str(name)?,
                Step::Attr(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => write!(f, "[{}]", json::Json::from(key.as_ref()))?,
                Step::Element(element) => match json::encode(element) {
                    Ok(text) => write!(f, "[{text}]")?,
                    Err(_) => f.write_str("[...]")?,
                },
            }
        }
        Ok(())
    }
}

impl Value {
    /// The part that a step leads to, without the marks of the whole. Attribute and key steps both find elements of maps
    /// and objects.
    pub fn step(&self, step: &Step) -> Option<&Value> {
        match (step, &self.data) {
            (Step::Attr(name) | Step::Key(name), _) => self.get(name),
            (Step::Index(index), Data::List(_, elements) | Data::Tuple(elements)) => elements.get(*index),
            (Step::Element(element), Data::Set(_, elements)) => elements.iter().find(|e| *e == element.as_ref()),
            _ => None,
        }
    }

    /// The steps to its parts, in order.
    pub fn steps(&self) -> Vec<Step> {
        match &self.data {
            Data::List(_, elements) | Data::Tuple(elements) => (0..elements.len()).map(Step::Index).collect(),
            Data::Set(_, elements) => elements.iter().map(|e| Step::Element(Box::new(e.clone()))).collect(),
            Data::Map(_, elements) => elements.keys().map(|key| Step::Key(Arc::clone(key))).collect(),
            Data::Object(attributes) => attributes.keys().map(|name| Step::Attr(Arc::clone(name))).collect(),
            _ => Vec::new(),
        }
    }

    /// The same with each part replaced by what the function makes of it. Types of collections stay: a part must keep
    /// its type.
    #[must_use]
    pub fn map_parts(&self, mut change: impl FnMut(Step, &Value) -> Value) -> Value {
        let data = match &self.data {
            Data::List(ty, elements) => Data::List(
                ty.clone(),
                elements.iter().enumerate().map(|(index, part)| change(Step::Index(index), part)).collect(),
            ),
            Data::Tuple(elements) => {
                Data::Tuple(elements.iter().enumerate().map(|(index, part)| change(Step::Index(index), part)).collect())
            }
            Data::Set(ty, elements) => {
                let changed = elements.iter().map(|part| change(Step::Element(Box::new(part.clone())), part)).collect();
                return Value::set(ty.clone(), changed).mark(self.marks);
            }
            Data::Map(ty, elements) => {
                let changed = elements
                    .iter()
                    .map(|(key, part)| (Arc::clone(key), change(Step::Key(Arc::clone(key)), part)))
                    .collect();
                Data::Map(ty.clone(), Arc::new(changed))
            }
            Data::Object(attributes) => {
                let changed = attributes
                    .iter()
                    .map(|(name, part)| (Arc::clone(name), change(Step::Attr(Arc::clone(name)), part)))
                    .collect();
                Data::Object(Arc::new(changed))
            }
            other => other.clone(),
        };
        Value { data, marks: self.marks }
    }

    fn with_part(&self, step: &Step, part: Value) -> Option<Value> {
        let data = match (step, &self.data) {
            (Step::Attr(name) | Step::Key(name), Data::Map(ty, elements)) => {
                let mut elements = elements.as_ref().clone();
                elements.insert(Arc::clone(name), part);
                Data::Map(ty.clone(), Arc::new(elements))
            }
            (Step::Attr(name) | Step::Key(name), Data::Object(attributes)) => {
                let mut attributes = attributes.as_ref().clone();
                attributes.insert(Arc::clone(name), part);
                Data::Object(Arc::new(attributes))
            }
            (Step::Index(index), Data::List(ty, elements)) => {
                let mut elements = elements.to_vec();
                *elements.get_mut(*index)? = part;
                Data::List(ty.clone(), elements.into())
            }
            (Step::Index(index), Data::Tuple(elements)) => {
                let mut elements = elements.to_vec();
                *elements.get_mut(*index)? = part;
                Data::Tuple(elements.into())
            }
            (Step::Element(old), Data::Set(ty, elements)) => {
                let mut elements: Vec<Value> = elements.iter().filter(|e| *e != old.as_ref()).cloned().collect();
                elements.push(part);
                return Some(Value::set(ty.clone(), elements).mark(self.marks));
            }
            _ => return None,
        };
        Some(Value { data, marks: self.marks })
    }

    /// Calls the function for the value and every part of it, each before its own parts. The function says whether to go
    /// on into that part.
    pub fn walk(&self, visit: &mut impl FnMut(&Path, &Value) -> bool) {
        fn go(value: &Value, at: &mut Path, visit: &mut impl FnMut(&Path, &Value) -> bool) {
            if !visit(at, value) {
                return;
            }
            for (step, part) in value.steps().into_iter().zip(value.parts()) {
                at.0.push(step);
                go(part, at, visit);
                at.0.pop();
            }
        }
        go(self, &mut Path::root(), visit);
    }

    /// The same with every part, and then the whole, replaced by what the function makes of it. A part must keep its
    /// type.
    #[must_use]
    pub fn transform(&self, change: &mut impl FnMut(&Path, Value) -> Value) -> Value {
        fn go(value: &Value, at: &mut Path, change: &mut impl FnMut(&Path, Value) -> Value) -> Value {
            let inner = value.map_parts(|step, part| {
                at.0.push(step);
                let part = go(part, at, change);
                at.0.pop();
                part
            });
            change(at, inner)
        }
        go(self, &mut Path::root(), change)
    }
}
