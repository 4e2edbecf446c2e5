//! Configurations from literals.

use engine_diag::{Diagnostics, Sources};
use engine_lang::config::{Config, SourceTree, load};

/// The configuration in the given files, and its diagnostics as `file:line:column summary`.
pub(crate) fn read(files: &[(&str, &str)]) -> (Config, Vec<String>) {
    let mut tree = SourceTree::new();
    for (path, text) in files {
        tree.insert(path, text.as_bytes());
    }
    let mut sources = Sources::new();
    let (config, diagnostics) = load(&tree, &mut sources);
    let lines = places(&sources, &diagnostics);
    (config, lines)
}

fn places(sources: &Sources, diagnostics: &Diagnostics) -> Vec<String> {
    let place = |d: &engine_diag::Diagnostic| match d.span {
        Some(span) => {
            let start = sources.range(span).0;
            format!("{}:{}:{} {}", sources.get(span.file).name, start.line, start.column, d.summary)
        }
        None => d.summary.clone(),
    };
    diagnostics.iter().map(place).collect()
}

/// A root module of one file without errors.
#[track_caller]
pub(crate) fn valid(text: &str) -> Config {
    let (config, diagnostics) = read(&[("main.tf", text)]);
    assert_eq!(diagnostics, Vec::<String>::new(), "for {text}");
    config
}
