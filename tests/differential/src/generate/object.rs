//! Objects with keys of every form, conditionals whose arms differ, calls with expansion.

use super::{Maker, Shape};
use crate::{
    text,
    text::{Piece, Text},
};

impl Maker {
    pub(super) fn object(&mut self, attributes: &[(&'static str, Shape)], depth: usize) -> Text {
        let mut items = Vec::new();
        for (name, shape) in attributes {
            let value = self.expr(shape, depth);
            let mark = self.random.pick(&[" = ", " : "]);
            items.push(text![*name, mark, value]);
        }
        text!["{", Piece::Many(", ", items), "}"]
    }

    fn key(&mut self) -> Text {
        match self.random.below(8) {
            0 => Text::plain("a"),
            1 => Text::plain("\"b c\""),
            2 => {
                let key = self.expr(&Shape::String, 1);
                text!["(", key, ")"]
            }
            3 => self.template(1),
            4 => Text::plain(
                self.random.pick(&["1", "1.50", "true", "null", "a-b", "é", "1e3", "for", "in", "if", "_x"]),
            ),
            5 => Text::plain(self.random.pick(&[
                "(local.str)",
                "(local.us)",
                "(local.ss)",
                "(local.num)",
                "(local.nul)",
                "(local.any)",
                "(local.list)",
            ])),
            6 => Text::plain(self.random.pick(&[
                "local.str",
                "\"${local.str}\"",
                "-1",
                "(1)",
                "(true)",
                "upper(\"a\")",
                "\"\"",
            ])),
            _ => Text::plain(self.random.pick(&["a", "b", "c"])),
        }
    }

    pub(super) fn object_case(&mut self) -> Text {
        let many = self.many(1, 3);
        let mut items = Vec::new();
        for _ in 0..many {
            let key = self.key();
            let shape = self.shape(1);
            let value = self.expr(&shape, 1);
            let mark = self.random.pick(&[" = ", " : ", "=", ": "]);
            items.push(text![key, mark, value]);
        }
        let separator = self.random.pick(&[", ", "\n", ",\n"]);
        let separator: &'static str = match separator {
            "\n" => "\n",
            ",\n" => ",\n",
            _ => ", ",
        };
        let object = text!["{", Piece::Many(separator, items), "}"];
        match self.random.below(6) {
            0 => text![object, ".a"],
            1 => text!["keys(", object, ")"],
            2 => text![object, "[\"1\"]"],
            _ => object,
        }
    }

    pub(super) fn conditional_case(&mut self) -> Text {
        let condition = if self.random.percent(60) {
            Text::plain(self.random.pick(&[
                "true",
                "false",
                "local.ub",
                "local.yes",
                "local.any",
                "local.us == \"a\"",
                "\"true\"",
                "local.sn > 1",
            ]))
        } else {
            self.expr(&Shape::Bool, 1)
        };
        let shape = self.shape(2);
        let other = if self.random.percent(55) { shape.clone() } else { self.near(&shape) };
        let then = self.expr(&shape, 2);
        let otherwise = self.expr(&other, 2);
        let whole = text![condition, " ? ", then, " : ", otherwise];
        match self.random.below(8) {
            0 => text!["length(", whole, ")"],
            1 => text!["(", whole, ") == null"],
            2 => text!["[", whole, "]"],
            _ => whole,
        }
    }

    /// A shape that is like another, but not the same.
    fn near(&mut self, shape: &Shape) -> Shape {
        if self.random.percent(15) {
            return self.shape(2);
        }
        match shape {
            Shape::String => Shape::Number,
            Shape::Number => Shape::String,
            Shape::Bool => Shape::String,
            Shape::List(element) => match self.random.below(4) {
                0 => Shape::List(Box::new(self.near(element))),
                1 => Shape::Set(element.clone()),
                2 => Shape::Tuple(vec![element.as_ref().clone(), self.near(element)]),
                _ => Shape::Tuple(vec![]),
            },
            Shape::Set(element) => match self.random.below(3) {
                0 => Shape::Set(Box::new(self.near(element))),
                1 => Shape::List(element.clone()),
                _ => Shape::Tuple(vec![element.as_ref().clone()]),
            },
            Shape::Map(element) => match self.random.below(3) {
                0 => Shape::Map(Box::new(self.near(element))),
                1 => Shape::Object(vec![("a", element.as_ref().clone())]),
                _ => Shape::Object(vec![("a", element.as_ref().clone()), ("b", self.near(element))]),
            },
            Shape::Tuple(elements) => {
                let mut elements = elements.clone();
                match elements.pop() {
                    Some(last) if self.random.percent(50) => elements.push(self.near(&last)),
                    Some(_) => {}
                    None => elements.push(Shape::Number),
                }
                Shape::Tuple(elements)
            }
            Shape::Object(attributes) => {
                let mut attributes = attributes.clone();
                match attributes.pop() {
                    Some((name, last)) if self.random.percent(50) => attributes.push((name, self.near(&last))),
                    Some(_) => {}
                    None => attributes.push(("a", Shape::String)),
                }
                Shape::Object(attributes)
            }
        }
    }

    /// Calls: expansion, the wrong number of arguments, `try` and `can`.
    pub(super) fn call_case(&mut self) -> Text {
        let last = match self.random.below(5) {
            0 => self.expr(&Shape::List(Box::new(Shape::Number)), 2),
            1 => self.expr(&Shape::Tuple(vec![Shape::Number, Shape::String]), 2),
            2 => self.expr(&Shape::Set(Box::new(Shape::Number)), 2),
            3 => Text::plain(self.random.pick(&[
                "local.ul",
                "local.any",
                "local.up",
                "local.nums",
                "local.nlist",
                "local.sl",
                "[]",
                "null",
                "\"a\"",
                "local.map",
                "local.ut",
            ])),
            _ => {
                let shape = self.shape(2);
                self.expr(&shape, 2)
            }
        };
        let function = self.random.pick(&[
            "max",
            "min",
            "format",
            "concat",
            "merge",
            "coalesce",
            "join",
            "upper",
            "range",
            "try",
            "can",
            "nosuch",
            "core::max",
            "tolist",
            "toset",
            "lookup",
            "setunion",
            "formatlist",
            "zipmap",
            "length",
            "flatten",
            "distinct",
            "compact",
            "contains",
            "element",
            "slice",
        ]);
        let expand = if self.random.percent(60) { "..." } else { "" };
        if self.random.percent(50) {
            let shape = self.shape(1);
            let first = self.expr(&shape, 1);
            text![function, "(", first, ", ", last, expand, ")"]
        } else {
            text![function, "(", last, expand, ")"]
        }
    }
}
