//! One diagnostic, and a list of them.

use crate::Span;

/// How bad it is. An error stops the command before anything is changed; a warning does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The command goes on.
    Warning,
    /// The command stops.
    Error,
}

/// A second place that helps to understand the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// Why it matters, as a lowercase fragment.
    pub text: String,
}

/// What is wrong, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// One line without a full stop: `Unsupported argument`.
    pub summary: String,
    /// Sentences: what was expected, what was found. May be empty.
    pub detail: String,
    /// The primary place. `None` only for what has no place in a source (a command-line flag, the network).
    pub span: Option<Span>,
    /// Secondary places, in the order in which they should be read.
    pub related: Vec<Label>,
    /// The way out, as a sentence.
    pub hint: Option<String>,
    /// The object that it is about, in its textual form (`module.a.gpu_pool.dev["x"]`).
    pub address: Option<String>,
    /// Values of the references in the failing expression, as (`var.count`, `is 3`). Never sensitive ones.
    pub values: Vec<(String, String)>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary, detail)
    }

    /// A warning without a place yet.
    pub fn warning(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary, detail)
    }

    /// A diagnostic of the given severity without a place yet.
    pub fn new(severity: Severity, summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            severity,
            summary: summary.into(),
            detail: detail.into(),
            span: None,
            related: Vec::new(),
            hint: None,
            address: None,
            values: Vec::new(),
        }
    }

    /// The same with its primary place.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// The same with its primary place, where there is one.
    #[must_use]
    pub fn at_opt(mut self, span: Option<Span>) -> Self {
        self.span = span.or(self.span);
        self
    }

    /// The same with one more secondary place.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push(Label { span, text: text.into() });
        self
    }

    /// The same with the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with the object that it is about.
    #[must_use]
    pub fn about(mut self, address: impl ToString) -> Self {
        self.address = Some(address.to_string());
        self
    }

    /// Is it an error?
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Diagnostics in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds many.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.0.extend(more);
    }

    /// Is at least one of them an error?
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Are there none at all?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Self {
        Self(vec![one])
    }
}

impl From<Box<Diagnostic>> for Diagnostics {
    fn from(one: Box<Diagnostic>) -> Self {
        Self(vec![*one])
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
