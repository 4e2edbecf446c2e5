//! Errors with everything that caused them, in one line.

use std::error::Error;

/// An error with everything that caused it: `a: b: c`. A cause that the text before it already tells is not told again.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let why = cause.to_string();
        if !tells(&text, &why) {
            text.push_str(": ");
            text.push_str(&why);
        }
        source = cause.source();
    }
    text
}

/// Is `part` in `text`, and not only as a part of other words?
fn tells(text: &str, part: &str) -> bool {
    let edge = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    text.match_indices(part)
        .any(|(at, _)| edge(text[..at].chars().next_back()) && edge(text[at + part.len()..].chars().next()))
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Failed(&'static str, Option<Box<Failed>>);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Failed {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn causes_are_told_once() {
        for (texts, expected) in [
            (&["a"][..], "a"),
            (&["cannot read", "connection refused"], "cannot read: connection refused"),
            (&["a", "b", "c"], "a: b: c"),
            (&["error: refused", "refused", "by the peer"], "error: refused: by the peer"),
            (&["lost (timed out)", "timed out"], "lost (timed out)"),
            (&["no node answers", "no"], "no node answers"),
            (&["node answers", "no"], "node answers: no"),
        ] {
            let error = texts.iter().rev().fold(None, |cause, text| Some(Box::new(Failed(text, cause))));
            assert_eq!(chain(&*error.expect("a text")), expected);
        }
    }
}
