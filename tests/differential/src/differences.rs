//! Where we mean to differ from Terraform: the rows of `docs/differences.md` that show in expressions.

use crate::answer::Answer;

/// A difference that is meant.
pub struct Difference {
    /// Its name in the facts.
    pub key: &'static str,
    /// Is it this one?
    pub explains: fn(expression: &str, theirs: &Answer, ours: &Answer) -> bool,
}

/// All of them, with their reasons in `docs/differences.md`.
pub const ALL: &[Difference] = &[
    Difference {
        key: "short circuit",
        explains: |text, theirs, ours| (text.contains("&&") || text.contains("||")) && fails(theirs) && !fails(ours),
    },
    Difference {
        key: "unknown results stay sensitive",
        explains: |_, theirs, ours| match (theirs, ours) {
            (Answer::Value { ty, content }, Answer::Value { ty: our_type, content: our_content }) => {
                ty == our_type
                    && content.contains('?')
                    && our_content.contains("!?")
                    && *content == our_content.replace('!', "")
            }
            _ => false,
        },
    },
    Difference {
        key: "more is known",
        explains: |_, theirs, ours| match (theirs, ours) {
            (Answer::Value { ty, content }, Answer::Value { ty: our_type, content: our_content }) => {
                let whole = content.trim_start_matches('!') == "?";
                let keeps = our_content.contains('!') || !content.contains('!');
                let same = content.contains('?') && *content == *our_content;
                (same || whole && keeps) && is_narrower(our_type, ty)
            }
            _ => false,
        },
    },
];

fn fails(answer: &Answer) -> bool {
    matches!(answer, Answer::Fails { .. })
}

/// Is a type another one, or one where that says `dynamic`?
fn is_narrower(ours: &str, theirs: &str) -> bool {
    match theirs.split_once("\"dynamic\"") {
        None => ours == theirs,
        Some((before, after)) => ours.starts_with(before) && ours.ends_with(after),
    }
}

/// The difference that explains these answers.
pub fn of(expression: &str, theirs: &Answer, ours: &Answer) -> Option<&'static str> {
    ALL.iter().find(|difference| (difference.explains)(expression, theirs, ours)).map(|difference| difference.key)
}
