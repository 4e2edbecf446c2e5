//! Findings of a plan's review, as diagnostics with the places that they are about.

use engine_diag::{Diagnostic, Diagnostics, FileId, Sources, Span};
use engine_model::finding::{Finding, Place};

/// All of them. A place in a file that is not at hand (a saved plan) is named in the text instead.
pub(crate) fn diagnostics(findings: &[Finding], sources: &Sources) -> Diagnostics {
    Diagnostics(findings.iter().map(|finding| diagnostic(finding, sources)).collect())
}

fn diagnostic(finding: &Finding, sources: &Sources) -> Diagnostic {
    let mut out = Diagnostic::new(finding.severity, finding.summary.clone(), finding.detail.clone());
    out.hint.clone_from(&finding.hint);
    let mut places = finding.places.iter();
    if let Some((_, first)) = places.next() {
        out.span = span(first, sources);
        out.address = Some(first.addr.to_string());
    }
    for (what, place) in places {
        match (span(place, sources), &place.source) {
            (Some(span), _) if out.span.is_some() => out = out.related(span, what.clone()),
            (_, Some(source)) => out.detail.push_str(&format!(" ({what}: {}:{})", source.file, source.line)),
            (_, None) => out.detail.push_str(&format!(" ({what}: {})", place.addr)),
        }
    }
    out
}

fn span(place: &Place, sources: &Sources) -> Option<Span> {
    let source = place.source.as_ref()?;
    let (file, _) = sources.iter().find(|(_, candidate)| *candidate.name == *source.file)?;
    Some(Span::new(FileId(file.0), source.bytes.0, source.bytes.1))
}
