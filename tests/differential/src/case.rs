//! One case: an expression, perhaps with the type of the variable that it is given to.

use crate::text::Text;

/// What both are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The type constraint of a variable that takes the value; without one the value counts as it is.
    pub constraint: Option<Text>,
    /// The expression.
    pub expression: Text,
}

impl Case {
    /// An expression alone.
    pub fn expression(expression: Text) -> Self {
        Self { constraint: None, expression }
    }

    /// The case with one thing taken away, in every way that there is.
    pub fn smaller(&self) -> Vec<Case> {
        let mut found: Vec<Case> =
            self.expression.smaller().into_iter().map(|expression| Case { expression, ..self.clone() }).collect();
        if let Some(constraint) = &self.constraint {
            found.push(Case { constraint: None, ..self.clone() });
            let simple = |text: &Text| !["null", "1", "\"a\"", "[]", "{}"].contains(&text.written().as_str());
            found.extend(
                constraint
                    .smaller()
                    .into_iter()
                    .filter(simple)
                    .map(|constraint| Case { constraint: Some(constraint), ..self.clone() }),
            );
        }
        found.sort_by_key(Case::size);
        found
    }

    /// How much there is to read.
    pub fn size(&self) -> usize {
        self.expression.written().len() + self.constraint.as_ref().map_or(0, |text| text.written().len())
    }
}
