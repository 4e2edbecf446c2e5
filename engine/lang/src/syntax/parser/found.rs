//! What stands where something else was expected, in words.

use engine_diag::Diagnostic;

use super::{Abort, Parser, TokenKind};

impl Parser<'_> {
    /// Reports that the next token is not what must stand here: `expected` is a whole sentence. A character that the
    /// language does not know, an open string or an open comment is reported as that instead.
    fn explain(&mut self, summary: &str, expected: &str) -> &mut Diagnostic {
        let kind = self.peek();
        let (start, end) = self.here();
        match kind {
            TokenKind::Invalid => {
                let (summary, detail) = invalid_character(self.slice((start, end)));
                let braces = self.text[start as usize..].starts_with("${");
                let diagnostic = self.report((start, end), summary, detail);
                if braces {
                    let hint = "Outside of strings an expression is written as it is, without ${ }.";
                    diagnostic.hint = Some(hint.to_owned());
                }
                diagnostic
            }
            TokenKind::BrokenComment => {
                let detail = "This comment begins with /* and does not end.";
                self.report((start, start + 2), "Unterminated comment", detail)
            }
            TokenKind::BrokenQuote => {
                let open = self.opening_quote();
                let detail = "A quoted string must end on the line on which it begins. For text of several lines, \
                              write \\n for each line end, or use a heredoc (<<EOT).";
                self.report(open, "Invalid multi-line string", detail)
            }
            _ => {
                let found = self.found(kind, (start, end));
                let at =
                    if matches!(kind, TokenKind::Newline | TokenKind::End) { (start, start) } else { (start, end) };
                self.report(at, summary, format!("{expected} Found {found}."))
            }
        }
    }

    /// As [`Self::explain`], and gives up.
    pub(super) fn unexpected(&mut self, summary: &str, expected: &str) -> Abort {
        self.explain(summary, expected);
        Abort
    }

    /// As [`Self::unexpected`]; a line end that is found is the place, as HCL's specification has it.
    pub(super) fn unexpected_line_end(&mut self, summary: &str, expected: &str) -> Abort {
        let at_line_end = self.peek() == TokenKind::Newline;
        let end = at_line_end.then(|| self.tokens[self.position + 1].start);
        if let (Some(span), Some(end)) = (&mut self.explain(summary, expected).span, end) {
            span.end = end;
        }
        Abort
    }

    /// As [`Self::unexpected`], with the way out.
    pub(super) fn unexpected_hint(&mut self, summary: &str, expected: &str, hint: &str) -> Abort {
        self.explain(summary, expected).hint = Some(hint.to_owned());
        Abort
    }

    /// As [`Self::unexpected`], for something that was opened at `opener` and is not closed.
    pub(super) fn unclosed(&mut self, opener: (u32, u32), summary: &str, expected: &str) -> Abort {
        let span = self.tree.at(opener);
        let diagnostic = self.explain(summary, expected);
        if diagnostic.span != Some(span) {
            diagnostic.related.push(engine_diag::Label { span, text: "opened here".to_owned() });
        }
        Abort
    }

    fn found(&self, kind: TokenKind, range: (u32, u32)) -> String {
        match kind {
            TokenKind::Newline => "the end of the line".to_owned(),
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::QuoteOpen => "a quoted string".to_owned(),
            TokenKind::QuoteClose => "the end of the string".to_owned(),
            TokenKind::QuotedText | TokenKind::TemplateText => "text".to_owned(),
            TokenKind::HeredocOpen => "a heredoc".to_owned(),
            TokenKind::HeredocClose => "the end of the heredoc".to_owned(),
            TokenKind::TemplateClose => "the closing brace of the template sequence".to_owned(),
            _ => format!("\"{}\"", self.slice(range)),
        }
    }

    /// The quote that the [`TokenKind::BrokenQuote`] at the position leaves open.
    fn opening_quote(&self) -> (u32, u32) {
        let mut closed = 0usize;
        for token in (0..self.position).rev() {
            match self.tokens[token].kind {
                TokenKind::QuoteClose => closed += 1,
                TokenKind::QuoteOpen if closed == 0 => return self.range(token),
                TokenKind::QuoteOpen => closed -= 1,
                _ => {}
            }
        }
        self.range(self.position)
    }
}

/// Why a character is not allowed, and what to write instead.
fn invalid_character(text: &str) -> (&'static str, String) {
    let operator = |instead: &str| ("Unsupported operator", format!("Bitwise operators are not supported.{instead}"));
    match text {
        "&" => operator(" Did you mean boolean AND (\"&&\")?"),
        "|" => operator(" Did you mean boolean OR (\"||\")?"),
        "~" => operator(" Did you mean boolean NOT (\"!\")?"),
        "^" => operator(""),
        "'" => ("Invalid character", "Single quotes are not valid. Use double quotes (\") around strings.".to_owned()),
        "`" => (
            "Invalid character",
            "The \"`\" character is not valid. For a string of several lines, use a heredoc (<<EOT).".to_owned(),
        ),
        ";" => (
            "Invalid character",
            "The \";\" character is not valid. Arguments and blocks are separated by line ends, elements by commas."
                .to_owned(),
        ),
        "“" | "”" | "„" | "‘" | "’" => (
            "Invalid character",
            "Typographic quotes are not valid. Use straight double quotes (\") around strings.".to_owned(),
        ),
        _ => {
            let shown = text.chars().next().map_or(String::new(), |c| {
                if c.is_control() || c.is_whitespace() || c == '\u{feff}' {
                    format!("U+{:04X}, which cannot be seen,", u32::from(c))
                } else {
                    format!("\"{c}\" (U+{:04X})", u32::from(c))
                }
            });
            ("Invalid character", format!("The character {shown} is not used within the language."))
        }
    }
}
