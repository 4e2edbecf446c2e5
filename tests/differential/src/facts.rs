//! Facts: cases with Terraform's answers, as text.
//!
//! ```text
//! : list(string)            the constraint of the variable, if there is one
//! > ["a", 1]                the expression, a line each
//! = "type" content          Terraform's answer, or `! Summary: detail`
//! ~ key                     where we mean to differ: why (see `differences`), and then our answer
//! = "type" content
//! ```

use crate::answer::Answer;

/// A case and its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The constraint of the variable.
    pub constraint: Option<String>,
    /// The expression.
    pub expression: String,
    /// Terraform's answer.
    pub theirs: Answer,
    /// Why ours is meant to be another, and what it is.
    pub differs: Option<(String, Answer)>,
}

impl Fact {
    /// What our answer has to be.
    pub fn expected(&self) -> &Answer {
        self.differs.as_ref().map_or(&self.theirs, |(_, ours)| ours)
    }
}

/// Facts as text.
pub fn write(facts: &[Fact]) -> String {
    let mut out = String::new();
    for fact in facts {
        if let Some(constraint) = &fact.constraint {
            out.push_str(&format!(": {constraint}\n"));
        }
        for line in fact.expression.split('\n') {
            out.push_str(&format!("> {line}\n"));
        }
        out.push_str(&format!("{}\n", fact.theirs));
        if let Some((key, ours)) = &fact.differs {
            out.push_str(&format!("~ {key}\n{ours}\n"));
        }
        out.push('\n');
    }
    out
}

/// Text as facts.
///
/// # Panics
/// A line that nobody understands.
pub fn read(text: &str) -> Vec<Fact> {
    text.split("\n\n").filter(|block| !block.trim().is_empty()).map(read_one).collect()
}

#[expect(clippy::panic, reason = "facts are part of this crate")]
fn read_one(block: &str) -> Fact {
    let mut constraint = None;
    let mut expression: Vec<&str> = Vec::new();
    let mut answers = Vec::new();
    let mut key = None;
    for line in block.trim_start_matches('\n').split('\n').filter(|line| !line.is_empty()) {
        let (mark, rest) = line.split_at(2);
        match mark {
            ": " => constraint = Some(rest.to_owned()),
            "> " => expression.push(rest),
            "= " => {
                let (ty, content) = rest.split_once('\t').expect("a type and a content");
                answers.push(Answer::Value { ty: ty.to_owned(), content: content.to_owned() });
            }
            "! " => {
                let (summary, detail) = rest.split_once('\t').expect("a summary and a detail");
                answers.push(Answer::Fails { summary: summary.to_owned(), detail: detail.to_owned() });
            }
            "~ " => key = Some(rest.to_owned()),
            _ => panic!("no line of a fact: {line:?} in\n{block}"),
        }
    }
    let mut answers = answers.into_iter();
    let theirs = answers.next().expect("a fact has an answer");
    Fact {
        constraint,
        expression: expression.join("\n"),
        theirs,
        differs: key.map(|key| (key, answers.next().expect("a difference has our answer"))),
    }
}
