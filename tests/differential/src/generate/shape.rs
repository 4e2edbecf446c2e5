//! The types that expressions are made for.

use super::Maker;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text.
    String,
    /// A number.
    Number,
    /// A boolean.
    Bool,
    /// A list.
    List(Box<Shape>),
    /// A set.
    Set(Box<Shape>),
    /// A map.
    Map(Box<Shape>),
    /// A tuple.
    Tuple(Vec<Shape>),
    /// An object.
    Object(Vec<(&'static str, Shape)>),
}

impl Maker {
    /// A shape by chance.
    pub(crate) fn shape(&mut self, depth: usize) -> Shape {
        let scalar = depth == 0 || self.random.percent(40);
        if scalar {
            return match self.random.below(5) {
                0 | 1 => Shape::String,
                2 | 3 => Shape::Number,
                _ => Shape::Bool,
            };
        }
        let depth = depth - 1;
        match self.random.below(5) {
            0 => Shape::List(Box::new(self.shape(depth))),
            1 => Shape::Set(Box::new(self.shape(depth))),
            2 => Shape::Map(Box::new(self.shape(depth))),
            3 => {
                let many = self.many(0, 3);
                Shape::Tuple((0..many).map(|_| self.shape(depth)).collect())
            }
            _ => {
                let many = self.many(0, 3);
                Shape::Object(["a", "b", "c"].into_iter().take(many).map(|name| (name, self.shape(depth))).collect())
            }
        }
    }
}
