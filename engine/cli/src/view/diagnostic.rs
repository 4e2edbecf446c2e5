//! Diagnostics: with the source that they are about, what was expected and found, and the way out.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use engine_diag::{Diagnostic, Diagnostics, Severity, Sources, Span};
use engine_model::finding::SourcePlace;

use super::style::Paint;

/// One diagnostic. `places` knows where objects are written, for those without a span of their own.
pub(crate) fn diagnostic(
    diagnostic: &Diagnostic,
    sources: &Sources,
    place: Option<&SourcePlace>,
    paint: Paint,
) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR.with_name("Error"),
        Severity::Warning => Level::WARNING.with_name("Warning"),
    };
    if diagnostic.span.is_none() && place.is_none() {
        return without_place(diagnostic, paint);
    }
    let mut groups = vec![group(level.primary_title(diagnostic.summary.as_str()), diagnostic, sources, place)];
    if let Some(hint) = &diagnostic.hint {
        groups.push(Group::with_title(Level::HELP.secondary_title(hint.as_str())));
    }
    let renderer = if paint.color { Renderer::styled() } else { Renderer::plain() };
    format!("{}\n", renderer.render(&groups))
}

/// Warnings in a line or two each: equal ones are told once.
pub(crate) fn compact(warnings: &Diagnostics, sources: &Sources) -> String {
    let mut by_summary: Vec<(&str, Vec<&Diagnostic>)> = Vec::new();
    for one in warnings.iter() {
        match by_summary.iter_mut().find(|(summary, _)| *summary == one.summary) {
            Some((_, same)) => same.push(one),
            None => by_summary.push((&one.summary, vec![one])),
        }
    }
    let mut out = "Warnings:\n\n".to_owned();
    for (summary, same) in by_summary {
        out.push_str(&format!("- {summary}\n"));
        if let Some(span) = same.iter().find_map(|one| one.span) {
            let more = if same.len() > 1 { format!(" (and {} more)", same.len() - 1) } else { String::new() };
            let (from, _) = sources.range(span);
            out.push_str(&format!("  on {} line {}{more}\n", sources.get(span.file).name, from.line));
        }
    }
    out.push_str("\nTo see the full warning notes, leave out -compact-warnings.\n\n");
    out
}

/// Nothing to point at: the sentences stand by themselves.
fn without_place(diagnostic: &Diagnostic, paint: Paint) -> String {
    let (name, color) = match diagnostic.severity {
        Severity::Error => ("Error:", anstyle::AnsiColor::Red),
        Severity::Warning => ("Warning:", anstyle::AnsiColor::Yellow),
    };
    let mut out = format!("{} {}\n", paint.color(color, name), paint.bold(&diagnostic.summary));
    let address = diagnostic.address.as_ref().filter(|address| !diagnostic.summary.contains(*address));
    let address = address.map(|address| format!("with {address}"));
    for line in [Some(diagnostic.detail.clone()), address].into_iter().flatten().filter(|line| !line.is_empty()) {
        out.push_str(&format!("  {line}\n"));
    }
    if let Some(hint) = &diagnostic.hint {
        out.push_str(&format!("  {hint}\n"));
    }
    out
}

fn group<'a>(
    title: annotate_snippets::Title<'a>,
    diagnostic: &'a Diagnostic,
    sources: &'a Sources,
    place: Option<&'a SourcePlace>,
) -> Group<'a> {
    let mut group = Group::with_title(title);
    match (diagnostic.span, place) {
        (Some(span), _) => {
            let first = snippet(span, sources).annotation(AnnotationKind::Primary.span(range(span, sources)));
            let same = diagnostic.related.iter().filter(|label| label.span.file == span.file);
            let first = same.fold(first, |snippet, label| {
                snippet.annotation(AnnotationKind::Context.span(range(label.span, sources)).label(label.text.as_str()))
            });
            group = group.element(first);
            for label in diagnostic.related.iter().filter(|label| label.span.file != span.file) {
                let kind = AnnotationKind::Context.span(range(label.span, sources)).label(label.text.as_str());
                group = group.element(snippet(label.span, sources).annotation(kind));
            }
        }
        (None, Some(place)) => {
            let origin = annotate_snippets::Origin::path(place.file.as_str());
            group = group.element(origin.line(place.line as usize).char_column(place.column as usize));
        }
        (None, None) => {}
    }
    if !diagnostic.detail.is_empty() {
        group = group.element(Level::NOTE.no_name().message(diagnostic.detail.as_str()));
    }
    for (name, value) in &diagnostic.values {
        group = group.element(Level::NOTE.no_name().message(format!("{name} {value}")));
    }
    if let Some(address) = diagnostic.address.as_ref().filter(|address| !diagnostic.summary.contains(*address)) {
        group = group.element(Level::NOTE.no_name().message(format!("with {address}")));
    }
    group
}

fn snippet<'a>(span: Span, sources: &'a Sources) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let source = sources.get(span.file);
    Snippet::source(&*source.text).path(&*source.name).fold(true)
}

/// An empty span is drawn at one place; a span of several lines at its first, since a whole block says less.
fn range(span: Span, sources: &Sources) -> std::ops::Range<usize> {
    let text = &sources.get(span.file).text;
    let (start, end) = (span.start as usize, (span.end as usize).min(text.len()));
    let line = text.get(start..end).and_then(|text| text.find('\n')).map_or(end, |newline| start + newline);
    start.min(text.len())..line.max(start.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_shows_where_what_and_the_way_out() {
        let mut sources = Sources::new();
        let file = sources.add("main.tf", "a = 1\nb = nope\nc = 2\n");
        let wrong = Diagnostic::error("Invalid reference", "There is no \"nope\".")
            .at(Span::new(file, 10, 14))
            .related(Span::new(file, 0, 5), "declared here")
            .hint("Did you mean \"a\"?")
            .about("gpu_pool.dev");
        let expected = "Error: Invalid reference
 --> main.tf:2:5
  |
1 | a = 1
  | ----- declared here
2 | b = nope
  |     ^^^^
  |
  = There is no \"nope\".
  = with gpu_pool.dev
help: Did you mean \"a\"?
";
        assert_eq!(diagnostic(&wrong, &sources, None, Paint { color: false }), expected);
    }
}
