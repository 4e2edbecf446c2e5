//! Makes cases on which the two disagree small: again and again one thing is taken away, as long as they disagree in the
//! same way. All disagreements are made smaller together, so that Terraform is asked once for each round.

use crate::{
    answer::Answer,
    case::Case,
    ours::{self, Names},
    terraform,
};

/// A case, Terraform's answer, ours.
pub type Disagreement = (Case, Answer, Answer);

/// Asks both.
pub fn ask(cases: &[Case], names: &Names) -> Vec<(Answer, Answer)> {
    let asked: Vec<terraform::Asked> = cases
        .iter()
        .map(|case| (case.constraint.as_ref().map(crate::text::Text::written), case.expression.written()))
        .collect();
    let theirs = terraform::answers(&asked);
    let ours = asked.iter().map(|(constraint, text)| ours::answer(constraint.as_deref(), text, names));
    theirs.into_iter().zip(ours).collect()
}

/// Smaller cases of the same disagreements.
pub fn shrink(
    mut found: Vec<Disagreement>,
    names: &Names,
    explained: impl Fn(&Disagreement) -> bool,
) -> Vec<Disagreement> {
    const ROUNDS: usize = 12;
    const CANDIDATES: usize = 40;
    let mut done = Vec::new();
    for _ in 0..ROUNDS {
        let candidates: Vec<(usize, Case)> = found
            .iter()
            .enumerate()
            .flat_map(|(at, (case, ..))| case.smaller().into_iter().take(CANDIDATES).map(move |case| (at, case)))
            .collect();
        if candidates.is_empty() {
            break;
        }
        let cases: Vec<Case> = candidates.iter().map(|(_, case)| case.clone()).collect();
        let answers = ask(&cases, names);
        let mut next: Vec<Option<Disagreement>> = vec![None; found.len()];
        for ((at, case), (theirs, ours)) in candidates.into_iter().zip(answers) {
            let (_, was_theirs, was_ours) = &found[at];
            let smaller = (case, theirs, ours);
            let same = !smaller.1.agrees(&smaller.2)
                && smaller.1.kind(&smaller.2) == was_theirs.kind(was_ours)
                && !explained(&smaller);
            if same && next[at].as_ref().is_none_or(|(best, ..)| smaller.0.size() < best.size()) {
                next[at] = Some(smaller);
            }
        }
        let mut going = Vec::new();
        for (old, new) in found.into_iter().zip(next) {
            match new {
                Some(new) => going.push(new),
                None => done.push(old),
            }
        }
        found = going;
        found.sort_by_key(|(case, ..)| case.size());
        found.dedup_by(|a, b| a.0 == b.0);
        if found.is_empty() {
            break;
        }
    }
    done.extend(found);
    done.sort_by_key(|(case, ..)| case.size());
    done.dedup_by(|a, b| a.0 == b.0);
    done
}
