//! Lists, sets, maps and tuples: literals, conversions, `for`, splats, indices.

use super::{Maker, Shape};
use crate::{
    text,
    text::{Piece, Text},
};

impl Maker {
    fn elements(&mut self, element: &Shape, depth: usize) -> Piece {
        let many = self.many(0, 3);
        Piece::Many(", ", (0..many).map(|_| self.expr(element, depth)).collect())
    }

    pub(super) fn list(&mut self, element: &Shape, depth: usize) -> Text {
        match self.random.below(10) {
            0..=2 => {
                let elements = self.elements(element, depth);
                text!["tolist([", elements, "])"]
            }
            3 => {
                let elements = self.elements(element, depth);
                text!["[", elements, "]"]
            }
            4 | 5 => self.for_list(element, depth),
            6 => {
                let shape = Shape::List(Box::new(element.clone()));
                let (left, right) = (self.expr(&shape, depth), self.expr(&shape, depth));
                text!["concat(", left, ", ", right, ")"]
            }
            7 => {
                let set = self.expr(&Shape::Set(Box::new(element.clone())), depth);
                text!["tolist(", set, ")"]
            }
            8 => self.splat(element, depth),
            _ => {
                let map = self.expr(&Shape::Map(Box::new(element.clone())), depth);
                let function = self.random.pick(&["values", "keys"]);
                text![function, "(", map, ")"]
            }
        }
    }

    pub(super) fn set(&mut self, element: &Shape, depth: usize) -> Text {
        let elements = self.elements(element, depth);
        if self.random.percent(70) {
            text!["toset([", elements, "])"]
        } else {
            let list = self.expr(&Shape::List(Box::new(element.clone())), depth);
            text!["toset(", list, ")"]
        }
    }

    pub(super) fn map(&mut self, element: &Shape, depth: usize) -> Text {
        match self.random.below(5) {
            0 | 1 => {
                let items = self.items(element, depth);
                text!["tomap({", items, "})"]
            }
            2 => {
                let items = self.items(element, depth);
                text!["{", items, "}"]
            }
            3 => self.for_object(element, depth),
            _ => {
                let shape = Shape::Map(Box::new(element.clone()));
                let (left, right) = (self.expr(&shape, depth), self.expr(&shape, depth));
                text!["merge(", left, ", ", right, ")"]
            }
        }
    }

    fn items(&mut self, element: &Shape, depth: usize) -> Piece {
        let many = self.many(0, 3);
        let mut items = Vec::new();
        for name in ["a", "b", "c"].into_iter().take(many) {
            let value = self.expr(element, depth);
            items.push(text![name, " = ", value]);
        }
        Piece::Many(", ", items)
    }

    pub(super) fn tuple(&mut self, elements: &[Shape], depth: usize) -> Text {
        let elements = elements.iter().map(|element| self.expr(element, depth)).collect();
        text!["[", Piece::Many(", ", elements), "]"]
    }

    fn iterated(&mut self, depth: usize) -> Text {
        let shape = match self.random.below(5) {
            0 => Shape::List(Box::new(Shape::String)),
            1 => Shape::Map(Box::new(Shape::Number)),
            2 => Shape::Set(Box::new(Shape::String)),
            3 => Shape::Tuple(vec![Shape::String, Shape::Number]),
            _ => Shape::Object(vec![("a", Shape::String), ("b", Shape::Number)]),
        };
        self.expr(&shape, depth)
    }

    fn condition(&mut self, depth: usize) -> Piece {
        if self.random.percent(30) {
            let condition = match self.random.below(3) {
                0 => text!["v != ", self.string_literal()],
                1 => text!["k != ", self.string_literal()],
                _ => self.expr(&Shape::Bool, depth),
            };
            text![" if ", condition].into()
        } else {
            "".into()
        }
    }

    fn for_list(&mut self, element: &Shape, depth: usize) -> Text {
        let collection = self.iterated(depth);
        let names = self.random.pick(&["k, v", "v"]);
        self.bound.extend(if names == "v" { vec!["v"] } else { vec!["k", "v"] });
        let value = self.expr(element, depth);
        let condition = self.condition(depth);
        self.bound.clear();
        text!["[for ", names, " in ", collection, " : ", value, condition, "]"]
    }

    fn for_object(&mut self, element: &Shape, depth: usize) -> Text {
        let collection = self.iterated(depth);
        self.bound.extend(["k", "v"]);
        let key = match self.random.below(6) {
            0 => self.expr(&Shape::String, depth),
            1 => Text::plain("v"),
            2 => Text::plain("\"x${k}\""),
            3 => Text::plain("\"same\""),
            _ => Text::plain("k"),
        };
        let value = self.expr(element, depth);
        let group = if self.random.percent(40) { "..." } else { "" };
        let condition = self.condition(depth);
        self.bound.clear();
        text!["{for k, v in ", collection, " : ", key, " => ", value, group, condition, "}"]
    }

    fn splat(&mut self, element: &Shape, depth: usize) -> Text {
        let object = Shape::Object(vec![("a", element.clone()), ("b", Shape::Number)]);
        let shape = match self.random.below(6) {
            0 => Shape::Set(Box::new(object)),
            1 => object,
            2 => Shape::Tuple(vec![object.clone(), object]),
            3 => element.clone(),
            _ => Shape::List(Box::new(object)),
        };
        let of = self.expr(&shape, depth);
        let steps = self.random.pick(&[
            "[*].a",
            ".*.a",
            "[*]",
            ".*",
            "[*].b",
            "[*].a[0]",
            ".*.a[0]",
            "[*][\"a\"]",
            "[*].zz",
            "[*][0]",
            ".*.0",
            "[*][*]",
        ]);
        text!["(", of, ")", steps]
    }

    pub(super) fn collection_case(&mut self) -> Text {
        let element = self.shape(1);
        match self.random.below(12) {
            0..=2 => self.for_list(&element, 2),
            3..=5 => self.for_object(&element, 2),
            6 | 7 => self.splat(&element, 2),
            8 => self.taken_from_collection(&element, 3),
            9 => self.set(&element, 2),
            10 => {
                let text = self.random.pick(&[
                    "local.list.0",
                    "local.tup.1",
                    "local.objs.0.k",
                    "local.objs[*].k[0]",
                    "local.objs.*.k[0]",
                    "local.list.5",
                    "local.map.a",
                    "local.map.zz",
                    "local.map[\"a\"]",
                    "local.obj[\"c\"][1]",
                    "local.obj.c.1",
                    "local.nul[*]",
                    "local.nlist[*]",
                    "local.nstr[*]",
                    "local.uo[*]",
                    "local.us[*]",
                    "local.id[*]",
                    "local.any[*]",
                    "local.ul[*].a",
                    "local.sl[0]",
                    "local.sm.a",
                    "local.so.a",
                    "local.sm[\"zz\"]",
                    "local.ul[0]",
                    "local.ul[-1]",
                    "local.um.a",
                    "local.up[0]",
                    "local.up[2]",
                    "local.up.1",
                    "local.uo.zz",
                    "local.ut[0]",
                    "local.set[0]",
                    "local.set.*",
                    "local.objs.0",
                    "local.objs.*.0",
                    "local.tup[*]",
                    "local.tup.*.a",
                    "local.map[*]",
                    "local.map.*.a",
                ]);
                Text::plain(text)
            }
            _ => {
                let shape = self.shape(2);
                self.made(&shape, 2)
            }
        }
    }
}
