//! `validate`: checks the configuration without asking anybody.

use engine_diag::{Diagnostic, Diagnostics, Severity, Sources};
use engine_plan::validate;
use serde_json::{Value, json};

use crate::{
    args::ValidateArgs,
    compiled, configuration, planning,
    session::{Exit, Session},
};

pub(crate) fn run(session: &mut Session, args: &ValidateArgs) -> Exit {
    let diagnostics = checked(session);
    let valid = !diagnostics.has_errors();
    if args.json {
        session.print(&format!("{:#}\n", answer(&diagnostics, &session.sources)));
    } else {
        session.report(&diagnostics);
        if valid {
            session.print("Success! The configuration is valid.\n");
        }
    }
    if valid { Exit::Success } else { Exit::Failure }
}

fn checked(session: &mut Session) -> Diagnostics {
    let (configuration, mut diagnostics) = match configuration::load(session, &[]) {
        Ok(loaded) => loaded,
        Err(diagnostics) => return diagnostics,
    };
    let providers = compiled::providers(session, None);
    diagnostics.extend(validate(&planning::program(session, &configuration, &providers)));
    diagnostics
}

/// Terraform's shape (format 1.0).
fn answer(diagnostics: &Diagnostics, sources: &Sources) -> Value {
    let count = |severity: Severity| diagnostics.iter().filter(|d| d.severity == severity).count();
    json!({
        "format_version": "1.0",
        "valid": !diagnostics.has_errors(),
        "error_count": count(Severity::Error),
        "warning_count": count(Severity::Warning),
        "diagnostics": diagnostics.iter().map(|d| one(d, sources)).collect::<Vec<_>>(),
    })
}

fn one(diagnostic: &Diagnostic, sources: &Sources) -> Value {
    let severity = if diagnostic.is_error() { "error" } else { "warning" };
    let mut out = json!({ "severity": severity, "summary": diagnostic.summary, "detail": diagnostic.detail });
    if let Some(hint) = &diagnostic.hint {
        out["detail"] = json!(format!("{} {hint}", diagnostic.detail).trim());
    }
    if let Some(address) = &diagnostic.address {
        out["address"] = json!(address);
    }
    if let Some(span) = diagnostic.span {
        let (start, end) = sources.range(span);
        let position = |p: engine_diag::Position| json!({ "line": p.line, "column": p.column, "byte": p.byte });
        let source = sources.get(span.file);
        let code = source.line(start.line);
        let line = source.text[..span.start as usize].rfind('\n').map_or(0, |newline| newline + 1);
        let highlight = span.start as usize - line;
        out["range"] = json!({ "filename": &*source.name, "start": position(start), "end": position(end) });
        out["snippet"] = json!({
            "context": null,
            "code": code,
            "start_line": start.line,
            "highlight_start_offset": highlight,
            "highlight_end_offset": (highlight + (span.end - span.start) as usize).min(code.len().max(highlight)),
            "values": diagnostic
                .values
                .iter()
                .map(|(traversal, statement)| json!({ "traversal": traversal, "statement": statement }))
                .collect::<Vec<_>>(),
        });
    }
    out
}
