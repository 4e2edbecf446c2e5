//! Values given to variables of random types.

use super::{Maker, Shape};
use crate::{
    case::Case,
    text,
    text::{Piece, Text},
};

impl Maker {
    /// A constraint that values of a shape mostly fit.
    fn constraint(&mut self, shape: &Shape) -> Text {
        if self.random.percent(8) {
            return Text::plain("any");
        }
        match shape {
            Shape::String => Text::plain("string"),
            Shape::Number => Text::plain(self.random.pick(&["number", "number", "string"])),
            Shape::Bool => Text::plain(self.random.pick(&["bool", "bool", "string"])),
            Shape::List(element) => {
                let inner = self.constraint(element);
                let word = self.random.pick(&["list(", "list(", "set("]);
                text![word, inner, ")"]
            }
            Shape::Set(element) => {
                let inner = self.constraint(element);
                let word = self.random.pick(&["list(", "set(", "set("]);
                text![word, inner, ")"]
            }
            Shape::Map(element) => {
                let inner = self.constraint(element);
                if self.random.percent(25) { text!["object({ a = ", inner, " })"] } else { text!["map(", inner, ")"] }
            }
            Shape::Tuple(elements) => {
                if self.random.percent(40) && !elements.is_empty() {
                    let inner = self.constraint(&elements[0]);
                    let word = self.random.pick(&["list(", "set("]);
                    return text![word, inner, ")"];
                }
                let elements = elements.iter().map(|element| self.constraint(element)).collect();
                text!["tuple([", Piece::Many(", ", elements), "])"]
            }
            Shape::Object(attributes) => {
                if self.random.percent(20) && !attributes.is_empty() {
                    let inner = self.constraint(&attributes[0].1);
                    return text!["map(", inner, ")"];
                }
                let mut items = Vec::new();
                for (name, shape) in attributes {
                    if self.random.percent(12) {
                        continue;
                    }
                    let attribute = self.attribute(shape);
                    items.push(text![*name, " = ", attribute]);
                }
                if self.random.percent(30) {
                    let shape = self.shape(1);
                    let attribute = self.attribute(&shape);
                    items.push(text!["z = ", attribute]);
                }
                text!["object({ ", Piece::Many(", ", items), " })"]
            }
        }
    }

    fn attribute(&mut self, shape: &Shape) -> Text {
        let inner = self.constraint(shape);
        match self.random.below(6) {
            0 | 1 => text!["optional(", inner, ")"],
            2 | 3 => {
                let default = self.constant(shape);
                text!["optional(", inner, ", ", default, ")"]
            }
            _ => inner,
        }
    }

    /// A value without names.
    fn constant(&mut self, shape: &Shape) -> Text {
        if self.random.percent(6) {
            return Text::plain("null");
        }
        match shape {
            Shape::String => Text::plain(self.random.pick(&["\"a\"", "\"\"", "\"10\"", "\"true\""])),
            Shape::Number => Text::plain(self.random.pick(&["0", "1", "1.5", "\"7\"", "-2"])),
            Shape::Bool => Text::plain(self.random.pick(&["true", "false", "\"true\""])),
            Shape::List(element) | Shape::Set(element) => {
                let many = self.many(0, 2);
                let elements = (0..many).map(|_| self.constant(element)).collect();
                text!["[", Piece::Many(", ", elements), "]"]
            }
            Shape::Map(element) => {
                let many = self.many(0, 2);
                let items =
                    ["a", "b"].into_iter().take(many).map(|name| text![name, " = ", self.constant(element)]).collect();
                text!["{", Piece::Many(", ", items), "}"]
            }
            Shape::Tuple(elements) => {
                let elements = elements.iter().map(|element| self.constant(element)).collect();
                text!["[", Piece::Many(", ", elements), "]"]
            }
            Shape::Object(attributes) => {
                let mut items = Vec::new();
                for (name, shape) in attributes {
                    if !self.random.percent(25) {
                        items.push(text![*name, " = ", self.constant(shape)]);
                    }
                }
                text!["{", Piece::Many(", ", items), "}"]
            }
        }
    }

    pub(super) fn conversion_case(&mut self) -> Case {
        let shape = self.shape(3);
        let constraint = self.constraint(&shape);
        let expression = if self.random.percent(50) { self.constant(&shape) } else { self.expr(&shape, 2) };
        if self.random.percent(15) {
            let function = self.random.pick(&["tostring", "tonumber", "tobool", "tolist", "toset", "tomap"]);
            return Case::expression(text![function, "(", expression, ")"]);
        }
        Case { constraint: Some(constraint), expression }
    }
}
