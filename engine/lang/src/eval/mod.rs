//! Expressions and blocks to values: pure, synchronous, and one evaluator for plan and apply.
//!
//! It knows what a reference *means* only through a [`Scope`]. Where a value is not there yet, the scope answers
//! [`Stop::Blocked`] with the key that it waits for, evaluation ends at once, and the caller evaluates again when the key
//! is there: there is no recursion over the user's graph. References have their real width: `x["a"].id` asks the scope
//! for that instance alone, `x` and `x[*]` for all.

mod by_schema;
mod call;
mod constant;
mod decode;
mod defaults;
mod describe;
mod dynamic;
mod expression;
mod iterate;
mod operator;
mod place;
mod reference;
mod render;
mod scope;
mod suggest;
mod surroundings;
mod template;
mod traverse;
mod undeclared;

#[cfg(test)]
mod tests;

pub use by_schema::by_schema;
pub use call::check_call;
pub use constant::evaluate_constant;
pub use decode::decode;
pub use defaults::{ConstraintError, apply_constraint, check_defaults};
pub use describe::describe;
pub use expression::{evaluate, evaluate_as, failed_conversion};
pub use place::{expression_of, place_of};
pub use reference::{Subject, references, subject_of};
pub(crate) use render::{RenderError, render};
pub use scope::{Entry, Files, Repetition, Scope, Stop};
pub(crate) use suggest::did_you_mean;
pub use suggest::similar;
pub use surroundings::Surroundings;
pub use traverse::{index, is_absence, take_attribute};
pub use undeclared::undeclared;
