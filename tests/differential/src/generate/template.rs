//! Templates: between quotes and as heredocs, with interpolations, directives, escapes and strip markers.

use super::{Maker, Shape};
use crate::{
    text,
    text::{Piece, Text},
};

impl Maker {
    pub(super) fn template(&mut self, depth: usize) -> Text {
        let many = self.many(1, 4);
        let parts = (0..many).map(|_| self.template_part(depth, false)).collect();
        text!["\"", Piece::Many("", parts), "\""]
    }

    fn literal_part(&mut self, heredoc: bool) -> Text {
        Text::plain(if heredoc {
            self.random.pick(&[
                "a",
                " b ",
                "\\n",
                "$${x}",
                "%%{y}",
                "\"q\"",
                "$",
                "%",
                "é",
                "\n",
                "\n  ",
                "\n\n",
                "\t",
                "\n    deep",
                " \n",
                "  \n",
            ])
        } else {
            self.random.pick(&[
                "a",
                " b ",
                "\\n",
                "$${x}",
                "%%{y}",
                "\\\"q\\\"",
                "$",
                "%",
                "é",
                "\\u0301",
                "  ",
                "\\t",
                " \\n ",
                "pre-",
            ])
        })
    }

    fn marks(&mut self) -> (&'static str, &'static str) {
        let open = if self.random.percent(25) { "~" } else { "" };
        let close = if self.random.percent(25) { "~" } else { "" };
        (open, close)
    }

    fn template_part(&mut self, depth: usize, heredoc: bool) -> Text {
        let inner = depth.saturating_sub(1);
        match self.random.below(10) {
            0..=3 => self.literal_part(heredoc),
            4..=7 => {
                let shape = if self.random.percent(85) { self.shape(0) } else { self.shape(1) };
                let value = self.expr(&shape, inner);
                let (open, close) = self.marks();
                text!["$", "{", open, " ", value, " ", close, "}"]
            }
            8 => {
                let condition = self.expr(&Shape::Bool, inner);
                let then = self.literal_part(heredoc);
                let more = self.template_part(inner, heredoc);
                let otherwise = self.literal_part(heredoc);
                let ((a, b), (c, d), (e, f)) = (self.marks(), self.marks(), self.marks());
                if self.random.percent(50) {
                    text![
                        "%", "{", a, " if ", condition, " ", b, "}", then, more, "%{", c, " else ", d, "}", otherwise,
                        "%{", e, " endif ", f, "}"
                    ]
                } else {
                    text!["%", "{", a, " if ", condition, " ", b, "}", then, more, "%{", e, " endif ", f, "}"]
                }
            }
            _ => {
                let shape = if self.random.percent(70) {
                    Shape::List(Box::new(Shape::String))
                } else {
                    Shape::Map(Box::new(Shape::Number))
                };
                let collection = self.expr(&shape, inner);
                let names = self.random.pick(&["v", "k, v"]);
                self.bound.push("v");
                let before = self.literal_part(heredoc);
                let body = self.template_part(inner, heredoc);
                self.bound.pop();
                let ((a, b), (c, d)) = (self.marks(), self.marks());
                text![
                    "%", "{", a, " for ", names, " in ", collection, " ", b, "}", before, body, "%{", c, " endfor ", d,
                    "}"
                ]
            }
        }
    }

    fn heredoc(&mut self, depth: usize) -> Text {
        let indented = self.random.percent(60);
        let lines = self.many(1, 4);
        let mut pieces: Vec<Piece> = vec![if indented { "<<-EOT\n" } else { "<<EOT\n" }.into()];
        let mut all = Vec::new();
        for _ in 0..lines {
            let indent = self.random.pick(&["", "  ", "    ", "\t", " "]);
            let many = self.many(0, 3);
            let parts: Vec<Text> = (0..many).map(|_| self.template_part(depth, true)).collect();
            all.push(text![indent, Piece::Many("", parts), "\n"]);
        }
        pieces.push(Piece::Many("", all));
        pieces.push(self.random.pick(&["EOT", "  EOT", "    EOT"]).into());
        Text(pieces)
    }

    pub(super) fn template_case(&mut self) -> Text {
        if self.random.percent(50) { self.heredoc(2) } else { self.template(3) }
    }
}
