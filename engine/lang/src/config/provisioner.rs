//! `provisioner` and `connection` blocks: what is run where an object is. Only what they say is checked.

use engine_diag::{Diagnostic, Diagnostics};

use super::shape::{Shape, labels};
use crate::syntax::{BlockRef, Body, Expr};

const META: [&str; 2] = ["when", "on_failure"];

const LOCAL_EXEC: Shape = Shape {
    required: &["command"],
    optional: &["interpreter", "working_dir", "environment", "quiet", META[0], META[1]],
    blocks: &[],
    single_blocks: &["connection"],
};

const FILE: Shape = Shape {
    required: &["destination"],
    optional: &["source", "content", META[0], META[1]],
    blocks: &[],
    single_blocks: &["connection"],
};

const REMOTE_EXEC: Shape = Shape {
    required: &[],
    optional: &["inline", "script", "scripts", META[0], META[1]],
    blocks: &[],
    single_blocks: &["connection"],
};

/// Provisioners that Terraform once had.
const REMOVED: [&str; 4] = ["chef", "habitat", "puppet", "salt-masterless"];

/// Reports what is wrong with the provisioners and connections in a body.
pub(super) fn check(body: &Body, diagnostics: &mut Diagnostics) {
    let mut connections = body.blocks().filter(|block| &**block.kind() == "connection");
    if let (Some(first), Some(again)) = (connections.next(), connections.next()) {
        let detail = "A resource has only one connection block.";
        let diagnostic = Diagnostic::error("Duplicate connection block", detail).at(again.header());
        diagnostics.push(diagnostic.related(first.header(), "the first one"));
    }
    for block in body.blocks().filter(|block| &**block.kind() == "provisioner") {
        one(block, diagnostics);
    }
}

fn one(block: BlockRef<'_>, diagnostics: &mut Diagnostics) {
    let Some([(kind, span)]) = labels(block, ["type"], diagnostics) else { return };
    let body = block.body();
    match &**kind {
        "local-exec" => LOCAL_EXEC.check(&body, diagnostics),
        "file" => FILE.check(&body, diagnostics),
        "remote-exec" => REMOTE_EXEC.check(&body, diagnostics),
        removed if REMOVED.contains(&removed) => {
            let detail = "Terraform 0.15 dropped it, and so is it not part of the language.";
            let summary = format!("The \"{removed}\" provisioner has been removed");
            diagnostics.push(Diagnostic::error(summary, detail).at(span));
        }
        other => {
            let detail = format!("There is no provisioner \"{other}\". There are local-exec, remote-exec and file.");
            diagnostics.push(Diagnostic::error("Unknown provisioner", detail).at(span));
        }
    }
    keyword(&body, "when", ["create", "destroy"], diagnostics);
    keyword(&body, "on_failure", ["continue", "fail"], diagnostics);
}

fn keyword(body: &Body, name: &str, known: [&str; 2], diagnostics: &mut Diagnostics) {
    let Some(argument) = body.attribute(name) else { return };
    let value = argument.value();
    let is_known = |word: &str| known.contains(&word);
    if value.as_keyword().is_some_and(|word| is_known(word)) {
        return;
    }
    if value.as_text().is_some_and(|word| is_known(word)) {
        let detail = "Keywords stand here as they are; in quotes they are accepted for old configurations only.";
        let diagnostic = Diagnostic::warning("Quoted keywords are deprecated", detail).at(value.span());
        diagnostics.push(diagnostic.hint("Remove the quotes."));
        return;
    }
    let [a, b] = known;
    let detail = format!("The argument \"{name}\" requires one of the keywords {a} and {b}.");
    diagnostics.push(Diagnostic::error(format!("Invalid \"{name}\" keyword"), detail).at(value.span()));
}

/// Is it run before an object is destroyed?
pub(super) fn is_on_destroy(block: BlockRef<'_>) -> bool {
    let when = block.body().attribute("when").map(|when| when.value());
    let is_destroy = |word: &std::sync::Arc<str>| &**word == "destroy";
    when.as_ref()
        .is_some_and(|when| when.as_keyword().is_some_and(is_destroy) || Expr::as_text(when).is_some_and(is_destroy))
}
