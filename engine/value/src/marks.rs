//! Marks: what must not happen to a value, wherever it goes.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Data, Path, Step, Value};

/// What must not happen to a value. Two flags; marks of parts are on the parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Marks {
    /// Never shown.
    pub sensitive: bool,
    /// Never stored.
    pub ephemeral: bool,
}

impl Marks {
    /// No mark.
    pub const NONE: Self = Self { sensitive: false, ephemeral: false };
    /// Never shown.
    pub const SENSITIVE: Self = Self { sensitive: true, ephemeral: false };
    /// Never stored.
    pub const EPHEMERAL: Self = Self { sensitive: false, ephemeral: true };

    /// Both sets of marks.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { sensitive: self.sensitive | other.sensitive, ephemeral: self.ephemeral | other.ephemeral }
    }

    /// No mark at all?
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

impl Value {
    /// The same with marks added.
    #[must_use]
    pub fn mark(mut self, marks: Marks) -> Self {
        self.marks = self.marks.union(marks);
        self
    }

    /// The value without its own marks, and those. Parts keep theirs.
    pub fn unmark(mut self) -> (Self, Marks) {
        let marks = std::mem::take(&mut self.marks);
        (self, marks)
    }

    /// The marks of the value and of all its parts together.
    pub fn marks_deep(&self) -> Marks {
        self.parts().fold(self.marks, |marks, part| marks.union(part.marks_deep()))
    }

    /// Is it, or any of its parts, sensitive?
    pub fn contains_sensitive(&self) -> bool {
        self.marks.sensitive || self.parts().any(Self::contains_sensitive)
    }

    /// Is it, or any of its parts, ephemeral?
    pub fn contains_ephemeral(&self) -> bool {
        self.marks.ephemeral || self.parts().any(Self::contains_ephemeral)
    }

    fn contains_marks(&self) -> bool {
        !self.marks.is_none() || self.parts().any(Self::contains_marks)
    }

    /// The value without any mark, and where the marks were. [`Value::mark_paths`] puts them back.
    pub fn unmark_deep(self) -> (Self, Vec<(Path, Marks)>) {
        let mut found = Vec::new();
        if !self.contains_marks() {
            return (self, found);
        }
        let bare = strip(self, &mut Path::root(), &mut found);
        (bare, found)
    }

    /// The value with marks at these places; a place that does not exist marks the nearest part around it that does.
    #[must_use]
    pub fn mark_paths(self, places: &[(Path, Marks)]) -> Self {
        if places.is_empty() {
            return self;
        }
        let mut tree = Tree::default();
        for (path, marks) in places {
            let mut node = &mut tree;
            for step in &path.0 {
                node = node.parts.entry(step).or_default();
            }
            node.marks = node.marks.union(*marks);
        }
        tree.apply(self)
    }
}

fn strip(value: Value, at: &mut Path, found: &mut Vec<(Path, Marks)>) -> Value {
    let (value, marks) = value.unmark();
    if !marks.is_none() {
        found.push((at.clone(), marks));
    }
    if !value.parts().any(Value::contains_marks) {
        return value;
    }
    value.map_parts(|step, part| {
        at.0.push(step);
        let part = strip(part.clone(), at, found);
        at.0.pop();
        part
    })
}

#[derive(Default)]
struct Tree<'a> {
    marks: Marks,
    parts: BTreeMap<&'a Step, Tree<'a>>,
}

impl Tree<'_> {
    fn all(&self) -> Marks {
        self.parts.values().fold(self.marks, |marks, part| marks.union(part.all()))
    }

    fn apply(&self, value: Value) -> Value {
        if self.parts.is_empty() {
            return value.mark(self.marks);
        }
        // Elements of a set cannot carry marks, and what is not there cannot either.
        let mut own = self.marks;
        let is_set = matches!(value.data, Data::Set(..));
        for (step, part) in &self.parts {
            if is_set || value.step(step).is_none() {
                own = own.union(part.all());
            }
        }
        if is_set {
            return value.mark(own);
        }
        value
            .map_parts(|step, part| match self.lookup(&step) {
                Some(tree) => tree.apply(part.clone()),
                None => part.clone(),
            })
            .mark(own)
    }

    fn lookup(&self, step: &Step) -> Option<&Self> {
        self.parts.get(step).or_else(|| {
            // An attribute step finds a map element too, and the other way round, as [`Value::step`] does.
            let other: Option<Step> = match step {
                Step::Attr(name) => Some(Step::Key(Arc::clone(name))),
                Step::Key(name) => Some(Step::Attr(Arc::clone(name))),
                Step::Index(_) | Step::Element(_) => None,
            };
            other.and_then(|other| self.parts.get(&other))
        })
    }
}
