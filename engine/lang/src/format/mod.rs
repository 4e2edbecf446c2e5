//! The canonical layout of a source text: what `fmt` writes, byte for byte what `terraform fmt` writes.
//!
//! Works on tokens, so that everything that is written stays: comments, empty lines, heredocs, the order of arguments. What
//! changes is the space between tokens, and a few spellings that Terraform has outgrown (`rewrite.rs`). Knows no block types
//! but `variable`, and so formats what is wrong in every way but its syntax.

mod align;
mod line;
mod piece;
mod rewrite;
mod space;

use engine_diag::{Diagnostics, FileId};

use crate::syntax;

/// The text in canonical layout.
///
/// # Errors
/// What is wrong with its syntax: the layout of what cannot be parsed is somebody's guess.
pub fn format(file: FileId, text: &str) -> Result<String, Diagnostics> {
    let (body, diagnostics) = syntax::parse(file, text);
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let edits = rewrite::edits(&body);
    let mut pieces = piece::Pieces::new(text, edits);
    let lines = line::lines(&pieces);
    space::apply(&mut pieces, &lines);
    align::indent(&mut pieces, &lines);
    align::cells(&mut pieces, &lines);
    Ok(pieces.text())
}
