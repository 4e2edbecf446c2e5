//! Random cases, in families. Expressions are made for a wanted type, so that most of them mean something; a mistake is
//! put in now and then.

mod collection;
mod conversion;
mod object;
mod scalar;
mod shape;
mod template;

use crate::{case::Case, random::Random, text, text::Text};

pub use shape::Shape;

/// A family of cases.
pub struct Family {
    /// Its name, and that of its file of facts.
    pub name: &'static str,
    make: fn(&mut Maker) -> Case,
}

/// All of them.
pub const FAMILIES: &[Family] = &[
    Family { name: "operators", make: |maker| Case::expression(maker.operator_case()) },
    Family { name: "numbers", make: |maker| Case::expression(maker.number_case()) },
    Family { name: "templates", make: |maker| Case::expression(maker.template_case()) },
    Family { name: "collections", make: |maker| Case::expression(maker.collection_case()) },
    Family { name: "conditionals", make: |maker| Case::expression(maker.conditional_case()) },
    Family { name: "calls", make: |maker| Case::expression(maker.call_case()) },
    Family { name: "objects", make: |maker| Case::expression(maker.object_case()) },
    Family { name: "conversions", make: Maker::conversion_case },
];

/// Cases of a family.
pub fn generate(family: &Family, seed: u64, many: usize) -> Vec<Case> {
    let salt = family.name.bytes().fold(seed, |salt, byte| salt.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut maker = Maker { random: Random::new(salt), bound: Vec::new() };
    (0..many).map(|_| (family.make)(&mut maker)).collect()
}

/// Makes texts by chance.
pub(crate) struct Maker {
    random: Random,
    /// Names that a `for` around binds.
    bound: Vec<&'static str>,
}

impl Maker {
    /// An expression that is, most of the time, of a shape.
    pub(crate) fn expr(&mut self, shape: &Shape, depth: usize) -> Text {
        if self.random.percent(3) {
            let other = self.shape(1);
            return self.expr(&other, depth.saturating_sub(1));
        }
        if self.random.percent(4) {
            return Text::plain("null");
        }
        if !self.bound.is_empty() && self.random.percent(30) {
            let at = self.random.below(self.bound.len());
            return Text::plain(self.bound[at]);
        }
        if depth == 0 || self.random.percent(20) {
            return self.leaf(shape);
        }
        let depth = depth - 1;
        match self.random.below(12) {
            0 => {
                let condition = self.expr(&Shape::Bool, depth);
                let then = self.expr(shape, depth);
                let otherwise = self.expr(shape, depth);
                text!["(", condition, " ? ", then, " : ", otherwise, ")"]
            }
            1 => {
                let inner = self.expr(shape, depth);
                text!["(", inner, ")"]
            }
            2 => self.taken_from_collection(shape, depth),
            3 => {
                let inner = self.expr(shape, depth);
                let other = self.expr(shape, depth);
                text!["try(", inner, ", ", other, ")"]
            }
            4 => {
                let inner = self.expr(shape, depth);
                text!["sensitive(", inner, ")"]
            }
            _ => self.made(shape, depth),
        }
    }

    /// An expression by the forms of a shape.
    pub(crate) fn made(&mut self, shape: &Shape, depth: usize) -> Text {
        match shape {
            Shape::String => self.string(depth),
            Shape::Number => self.number(depth),
            Shape::Bool => self.bool(depth),
            Shape::List(element) => self.list(element, depth),
            Shape::Set(element) => self.set(element, depth),
            Shape::Map(element) => self.map(element, depth),
            Shape::Tuple(elements) => self.tuple(elements, depth),
            Shape::Object(attributes) => self.object(attributes, depth),
        }
    }

    /// A literal or a name.
    pub(crate) fn leaf(&mut self, shape: &Shape) -> Text {
        let names: &[&str] = match shape {
            Shape::String => &["local.str", "local.us", "local.id", "local.ss", "local.nstr", "local.su", "local.any"],
            Shape::Number => &["local.num", "local.un", "local.sn", "local.any"],
            Shape::Bool => &["local.yes", "local.ub", "true", "false"],
            Shape::List(_) => {
                &["local.list", "local.nums", "local.ul", "local.sl", "local.objs", "local.elist", "local.nlist"]
            }
            Shape::Set(_) => &["local.set", "local.ut", "toset([])"],
            Shape::Map(_) => &["local.map", "local.um", "local.sm", "local.emap"],
            Shape::Tuple(_) => &["local.tup", "local.up", "[]", "local.any"],
            Shape::Object(_) => &["local.obj", "local.uo", "local.so", "{}"],
        };
        if self.random.percent(35) {
            return Text::plain(self.random.pick(names));
        }
        match shape {
            Shape::String => self.string_literal(),
            Shape::Number => self.number_literal(),
            Shape::Bool => Text::plain(self.random.pick(&["true", "false"])),
            Shape::Tuple(_) | Shape::Object(_) => self.made(shape, 0),
            _ => Text::plain(self.random.pick(names)),
        }
    }

    /// A part of a collection that has the shape.
    fn taken_from_collection(&mut self, shape: &Shape, depth: usize) -> Text {
        let whole = match self.random.below(4) {
            0 => {
                let shape = Shape::List(Box::new(shape.clone()));
                let list = self.expr(&shape, depth);
                let at = self.index();
                return text![list, "[", at, "]"];
            }
            1 => {
                let shape = Shape::Map(Box::new(shape.clone()));
                let map = self.expr(&shape, depth);
                let key = self.random.pick(&["\"a\"", "\"b\"", "\"zz\"", "local.str", "local.us", "1", "null"]);
                return text![map, "[", Text::plain(key), "]"];
            }
            2 => Shape::Tuple(vec![shape.clone(), Shape::Number]),
            _ => Shape::Object(vec![("a", shape.clone()), ("b", Shape::String)]),
        };
        let step = match whole {
            Shape::Tuple(_) => self.random.pick(&["[0]", "[1]", ".0", "[\"0\"]"]),
            _ => self.random.pick(&[".a", "[\"a\"]", ".b", ".zz"]),
        };
        let made = if depth == 0 { self.made(&whole, 0) } else { self.expr(&whole, depth - 1) };
        text!["(", made, ")", step]
    }

    fn index(&mut self) -> Text {
        let index = self.random.pick(&[
            "0",
            "1",
            "2",
            "5",
            "-1",
            "0.5",
            "\"1\"",
            "local.un",
            "local.sn",
            "true",
            "null",
            "local.any",
        ]);
        Text::plain(index)
    }

    fn many(&mut self, least: usize, most: usize) -> usize {
        least + self.random.below(most - least + 1)
    }
}
