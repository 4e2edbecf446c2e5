//! Asks Terraform. `explore` looks for disagreements, `record` writes facts, `check` asks for the committed facts again.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a tool for a person")]

use std::{collections::BTreeSet, fs, path::PathBuf};

use tests_differential::{
    answer::Answer,
    case::Case,
    differences,
    facts::{self, Fact},
    generate::{FAMILIES, Family, generate},
    ours::{self, Names},
    shrink::{self, Disagreement},
    terraform,
};

const USAGE: &str = "explore [FAMILY|all] [SEED] [CASES]   look for disagreements, and make them small
record [FAMILY|all] [SEED] [CASES]    write the facts of a family
words [FAMILY|all]                    show where our errors say something else than Terraform's
check [FAMILY|all]                    ask Terraform for the committed facts again, and write what changed";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, default: &str| arguments.get(at).cloned().unwrap_or_else(|| default.to_owned());
    let number = |at: usize, default: usize| arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default);
    let Some(version) = terraform::version() else {
        println!("There is no terraform on the path.");
        return;
    };
    println!("{version}");
    let wanted = word(1, "all");
    let families: Vec<&Family> = FAMILIES.iter().filter(|family| wanted == "all" || family.name == wanted).collect();
    for family in families {
        match arguments.first().map(String::as_str) {
            Some("explore") => explore(family, number(2, 1), number(3, 250)),
            Some("record") => record(family, number(2, 1), number(3, 250)),
            Some("check") => check(family),
            Some("words") => words(family),
            _ => {
                println!("{USAGE}");
                return;
            }
        }
    }
}

/// Cases of a seed, each once.
fn cases(family: &Family, seed: usize, many: usize) -> Vec<Case> {
    let mut seen = BTreeSet::new();
    let mut cases = generate(family, seed as u64, many);
    cases.retain(|case| seen.insert((case.constraint.as_ref().map(|c| c.written()), case.expression.written())));
    cases
}

fn explained((case, theirs, ours): &Disagreement) -> bool {
    differences::of(&case.expression.written(), theirs, ours).is_some()
}

fn explore(family: &Family, seed: usize, many: usize) {
    let names = Names::default();
    let cases = cases(family, seed, many);
    let answers = shrink::ask(&cases, &names);
    let asked = cases.len();
    let failing = answers.iter().filter(|(theirs, _)| matches!(theirs, Answer::Fails { .. })).count();
    let found: Vec<Disagreement> = cases
        .into_iter()
        .zip(answers)
        .map(|(case, (theirs, ours))| (case, theirs, ours))
        .filter(|(_, theirs, ours)| !theirs.agrees(ours))
        .collect();
    let all = found.len();
    let mut meant: Vec<Disagreement> = found;
    let unexplained: Vec<Disagreement> = {
        let (explained, rest): (Vec<_>, Vec<_>) = meant.drain(..).partition(explained);
        meant = explained;
        rest
    };
    println!("{}: {asked} cases, {failing} fail, {all} disagreements, {} of them meant", family.name, meant.len());
    for (case, theirs, ours) in shrink::shrink(unexplained, &names, explained) {
        if let Some(constraint) = &case.constraint {
            println!(": {}", constraint.written());
        }
        for line in case.expression.written().split('\n') {
            println!("> {line}");
        }
        println!("  terraform {theirs}\n  sliceform {ours}\n");
    }
}

fn path(family: &Family) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("facts").join(format!("{}.facts", family.name))
}

fn fact((constraint, expression): terraform::Asked, theirs: Answer, names: &Names) -> Result<Fact, Box<Fact>> {
    let ours = ours::answer(constraint.as_deref(), &expression, names);
    let agrees = theirs.agrees(&ours);
    let key = if agrees { None } else { differences::of(&expression, &theirs, &ours) };
    let differs = if agrees { None } else { Some((key.unwrap_or("NOT MEANT").to_owned(), ours)) };
    let fact = Fact { constraint, expression, theirs, differs };
    if agrees || key.is_some() { Ok(fact) } else { Err(Box::new(fact)) }
}

/// Writes the facts of asked cases; what disagrees and is not meant is shown and left out.
fn write(family: &Family, asked: Vec<terraform::Asked>) {
    let names = Names::default();
    let answers = terraform::answers(&asked);
    let mut written = Vec::new();
    for (asked, theirs) in asked.into_iter().zip(answers) {
        if theirs == Answer::none() {
            continue;
        }
        match fact(asked, theirs, &names) {
            Ok(fact) => written.push(fact),
            Err(fact) => println!("left out, as it disagrees:\n{}", facts::write(&[*fact])),
        }
    }
    println!("{}: {} facts", family.name, written.len());
    fs::write(path(family), facts::write(&written)).expect("the file of facts can be written");
}

fn record(family: &Family, seed: usize, many: usize) {
    let asked = cases(family, seed, many)
        .into_iter()
        .map(|case| (case.constraint.map(|text| text.written()), case.expression.written()))
        .collect();
    write(family, asked);
}

fn committed(family: &Family) -> Vec<Fact> {
    facts::read(&fs::read_to_string(path(family)).expect("the file of facts can be read"))
}

/// Errors by their pair of texts, once each.
fn words(family: &Family) {
    let names = Names::default();
    let (mut same, mut summaries, mut all, mut seen) = (0, 0, 0, BTreeSet::new());
    for fact in committed(family) {
        let ours = ours::answer(fact.constraint.as_deref(), &fact.expression, &names);
        let (Answer::Fails { summary, .. }, Answer::Fails { summary: our_summary, .. }) = (&fact.theirs, &ours) else {
            continue;
        };
        all += 1;
        summaries += usize::from(summary == our_summary);
        same += usize::from(fact.theirs == ours);
        if fact.theirs != ours && seen.insert((fact.theirs.to_string(), ours.to_string())) {
            println!("> {}\n  terraform {}\n  sliceform {ours}", fact.expression, fact.theirs);
        }
    }
    println!("{}: {all} errors, {summaries} with Terraform's summary, {same} with its detail too", family.name);
}

fn check(family: &Family) {
    let old = committed(family);
    let asked: Vec<terraform::Asked> =
        old.iter().map(|fact| (fact.constraint.clone(), fact.expression.clone())).collect();
    let answers = terraform::answers(&asked);
    let mut changed = 0;
    for (fact, theirs) in old.iter().zip(answers) {
        if fact.theirs != theirs {
            changed += 1;
            println!("changed:\n{}now {theirs}\n", facts::write(std::slice::from_ref(fact)));
        }
    }
    println!("{}: {} facts, {changed} changed", family.name, old.len());
    if changed > 0 {
        write(family, asked);
    }
}
