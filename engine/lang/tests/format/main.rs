//! `fmt`: small cases as data, random layouts of them, and every file of a folder beside Terraform.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, its helpers too")]
#![expect(clippy::print_stderr, reason = "what was compared, and what was skipped, is told")]

mod cases;
mod deform;
mod folder;

use engine_diag::FileId;
use engine_lang::format::format;

/// What a person would see: the text, or that it is refused.
fn formatted(text: &str) -> Result<String, String> {
    format(FileId(0), text)
        .map_err(|diagnostics| diagnostics.iter().map(|d| d.summary.clone()).collect::<Vec<_>>().join("; "))
}
