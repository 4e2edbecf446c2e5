//! Texts, numbers and booleans.

use super::{Maker, Shape};
use crate::{
    text,
    text::{Piece, Text},
};

/// Literals of numbers, from the plain to the far end.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "10",
    "0.1",
    "0.2",
    "1.5",
    "2.50",
    "1e3",
    "1E-7",
    "12345678901234567890123",
    "0.30000000000000004",
    "1e21",
    "1e-21",
    "123456789.123456789",
    "9007199254740993",
    "18446744073709551616",
    "1e400",
    "3.14159265358979323846264338327950288",
    "0.1e1",
    "100",
    "255",
    "7",
    "1e100",
    "2e-400",
    "99999999999999999999.5",
    "4.9e-324",
    "1.7976931348623157e308",
];

impl Maker {
    pub(super) fn string_literal(&mut self) -> Text {
        Text::plain(self.random.pick(&[
            "\"\"",
            "\"a\"",
            "\"b\"",
            "\"abc\"",
            "\"10\"",
            "\"1.50\"",
            "\"true\"",
            "\"1e2\"",
            "\" 1\"",
            "\"False\"",
            "\"héllo\"",
            "\"e\\u0301\"",
            "\"\\u0301x\"",
            "\"a\\nb\"",
            "\"t\\tq\\\"\\\\\"",
            "\"$${x}\"",
            "\"%%{x}\"",
            "\"$x %y\"",
            "\"\\U0001F600\"",
            "\"-\"",
            "\"pre-\"",
            "\"0x10\"",
            "\"<&>\"",
            "\"ǆ\"",
            "\"Å\"",
        ]))
    }

    pub(super) fn number_literal(&mut self) -> Text {
        let literal = self.random.pick(NUMBERS);
        if self.random.percent(15) { text!["-", Text::plain(literal)] } else { Text::plain(literal) }
    }

    pub(super) fn string(&mut self, depth: usize) -> Text {
        match self.random.below(8) {
            0..=3 => self.template(depth),
            4 => {
                let shape = self.shape(1);
                let value = self.expr(&shape, depth);
                text!["jsonencode(", value, ")"]
            }
            5 => {
                let shape = self.shape(0);
                let value = self.expr(&shape, depth);
                text!["tostring(", value, ")"]
            }
            6 => {
                let separator = self.string_literal();
                let list = self.expr(&Shape::List(Box::new(Shape::String)), depth);
                text!["join(", separator, ", ", list, ")"]
            }
            _ => {
                let function = self.random.pick(&["upper", "lower", "trimspace", "title", "chomp"]);
                let value = self.expr(&Shape::String, depth);
                text![function, "(", value, ")"]
            }
        }
    }

    pub(super) fn number(&mut self, depth: usize) -> Text {
        match self.random.below(10) {
            0..=5 => {
                let left = self.expr(&Shape::Number, depth);
                let right = self.expr(&Shape::Number, depth);
                let operator = self.random.pick(&[" + ", " - ", " * ", " / ", " % "]);
                text!["(", left, operator, right, ")"]
            }
            6 => {
                let value = self.expr(&Shape::Number, depth);
                text!["-(", value, ")"]
            }
            7 => {
                let shape = if self.random.percent(50) { Shape::String } else { self.shape(2) };
                let value = self.expr(&shape, depth);
                text!["length(", value, ")"]
            }
            8 => {
                let function = self.random.pick(&["abs", "ceil", "floor", "signum", "tonumber"]);
                let value = self.expr(&Shape::Number, depth);
                text![function, "(", value, ")"]
            }
            _ => {
                let function = self.random.pick(&["max", "min"]);
                let many = self.many(1, 3);
                let arguments = (0..many).map(|_| self.expr(&Shape::Number, depth)).collect();
                text![function, "(", Piece::Many(", ", arguments), ")"]
            }
        }
    }

    pub(super) fn bool(&mut self, depth: usize) -> Text {
        match self.random.below(10) {
            0 | 1 => {
                let left = self.expr(&Shape::Number, depth);
                let right = self.expr(&Shape::Number, depth);
                let operator = self.random.pick(&[" < ", " <= ", " > ", " >= "]);
                text!["(", left, operator, right, ")"]
            }
            2..=4 => {
                let shape = self.shape(2);
                let left = self.expr(&shape, depth);
                let right = self.expr(&shape, depth);
                let operator = self.random.pick(&[" == ", " != "]);
                text!["(", left, operator, right, ")"]
            }
            5 => {
                let left = self.expr(&Shape::Bool, depth);
                let right = self.expr(&Shape::Bool, depth);
                let operator = self.random.pick(&[" && ", " || "]);
                text!["(", left, operator, right, ")"]
            }
            6 => {
                let value = self.expr(&Shape::Bool, depth);
                text!["!", "(", value, ")"]
            }
            7 => {
                let shape = self.shape(1);
                let value = self.expr(&shape, depth);
                text!["can(", value, ")"]
            }
            8 => {
                let value = self.expr(&Shape::String, depth);
                let prefix = self.string_literal();
                text!["startswith(", value, ", ", prefix, ")"]
            }
            _ => {
                let shape = self.shape(1);
                let value = self.expr(&shape, depth);
                text!["(", value, " == null)"]
            }
        }
    }

    /// Operators on values of every kind.
    pub(super) fn operator_case(&mut self) -> Text {
        if self.random.percent(15) {
            // Without brackets, precedence decides.
            let many = self.many(2, 4);
            let mut pieces: Vec<Piece> = vec![self.expr(&Shape::Number, 1).into()];
            for _ in 0..many {
                let operator = self
                    .random
                    .pick(&[" + ", " - ", " * ", " / ", " % ", " < ", " >= ", " == ", " != ", " && ", " || "]);
                pieces.push(operator.into());
                let operand = if self.random.percent(30) { self.leaf(&Shape::Bool) } else { self.leaf(&Shape::Number) };
                pieces.push(operand.into());
            }
            return Text(pieces);
        }
        if self.random.percent(50) { self.bool(2) } else { self.number(2) }
    }

    /// Numbers to their last digit.
    pub(super) fn number_case(&mut self) -> Text {
        let number = match self.random.below(4) {
            0 => self.number_literal(),
            1 => {
                let left = self.number_literal();
                let right = self.number_literal();
                let operator = self.random.pick(&[" + ", " - ", " * ", " / ", " % "]);
                text![left, operator, right]
            }
            2 => {
                let function = self
                    .random
                    .pick(&["floor", "ceil", "abs", "signum", "log", "pow", "tonumber", "parseint", "tostring"]);
                let value = self.number_literal();
                match function {
                    "log" | "pow" => {
                        let other = self.random.pick(&["2", "10", "0.5", "3"]);
                        text![function, "(", value, ", ", other, ")"]
                    }
                    "parseint" => text!["parseint(\"", value, "\", 10)"],
                    "tonumber" => text!["tonumber(\"", value, "\")"],
                    _ => text![function, "(", value, ")"],
                }
            }
            _ => {
                let left = self.number_literal();
                let right = self.number_literal();
                let other = self.number_literal();
                text!["(", left, " / ", right, ") * ", other]
            }
        };
        match self.random.below(5) {
            0 => text!["\"", "${", number, "}\""],
            1 => text!["jsonencode(", number, ")"],
            2 => {
                let other = self.number_literal();
                text![number, " == ", other]
            }
            _ => number,
        }
    }
}
