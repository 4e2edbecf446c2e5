//! Valid texts, damaged by chance: parser, template parser, `fmt`, evaluator and conversions always answer, and never panic.
//!
//! The corpus is this repository: its configurations, and the expressions of the facts. `FUZZ_ITERATIONS=1000000 cargo test
//! -p tests-differential --test mutation` looks for longer, `FUZZ_SEED` elsewhere; a failure names the text.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use engine_diag::{Diagnostics, FileId};
use engine_lang::{
    format::format,
    syntax::{parse, parse_template, tokens},
};
use tests_differential::{
    facts,
    generate::FAMILIES,
    ours::{self, Names},
    random::Random,
};

/// Few enough for every run of the tests.
const ITERATIONS: usize = 1500;

/// What mistakes are made of.
const PIECES: &[&str] = &[
    "\"",
    "${",
    "%{",
    "}",
    "~}",
    "{",
    "[",
    "]",
    "(",
    ")",
    "=",
    "==",
    "=>",
    "<<EOT\n",
    "<<-EOT\n",
    "EOT\n",
    "&&",
    "?",
    ":",
    "::",
    ",",
    ".",
    "...",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\t",
    "#",
    "//",
    "/*",
    "*/",
    "\\",
    "\\u",
    "$${",
    "é",
    "e\u{301}",
    "\u{feff}",
    "\u{a0}",
    "\0",
    "for ",
    "if ",
    "in ",
    "null",
    "[*]",
    ".*",
    "1e999999999",
    "0x",
    "-",
    "!",
    "optional(",
    "any",
    "object({",
    "local.any",
    "local.ss",
    "sensitive(",
];

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "tf") {
            found.push(path);
        }
    }
}

fn configurations() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    files(&root.join("examples"), &mut found);
    files(&root.join("modules"), &mut found);
    found.sort();
    found.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Constraints and expressions of the facts.
fn cases() -> Vec<(Option<String>, String)> {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("facts");
    let read = |name: &str| fs::read_to_string(facts.join(format!("{name}.facts"))).unwrap();
    let all = FAMILIES.iter().flat_map(|family| facts::read(&read(family.name)));
    all.map(|fact| (fact.constraint, fact.expression)).collect()
}

/// A text with some mistakes: bytes and tokens left out, doubled, moved, replaced, or taken from another text.
fn damaged(text: &str, other: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(3) {
        let starts: Vec<usize> = tokens(&text).iter().map(|token| token.start as usize).collect();
        let at = |random: &mut Random, text: &str| match random.percent(50) {
            true => starts[random.below(starts.len())].min(text.len()),
            false => text.floor_char_boundary(random.below(text.len() + 1)),
        };
        let (a, b) = (at(random, &text), at(random, &text));
        let (from, to) = (a.min(b), a.max(b));
        // Long cuts leave nothing to be wrong.
        let to = if random.percent(80) { text.floor_char_boundary(to.min(from + 12)).max(from) } else { to };
        let part = match random.below(5) {
            0 => String::new(),
            1 => text[from..to].repeat(2),
            2 => format!("{}{}", &text[from..to], random.pick(PIECES)),
            3 => random.pick(PIECES).to_owned(),
            _ => {
                let begin = other.floor_char_boundary(random.below(other.len() + 1));
                other[begin..other.floor_char_boundary((begin + random.below(40)).min(other.len()))].to_owned()
            }
        };
        text.replace_range(from..to, &part);
    }
    text
}

/// Runs, and names the text if it panics.
fn survives(text: &str, run: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(run)).is_err() {
        panic_with(text);
    }
}

#[expect(clippy::panic, reason = "a test fails by panicking")]
fn panic_with(text: &str) -> ! {
    panic!("it panics for this text:\n{text}\n{text:?}");
}

fn places_are_inside(text: &str, diagnostics: &Diagnostics) {
    for span in diagnostics.iter().filter_map(|diagnostic| diagnostic.span) {
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?}");
    }
}

#[test]
fn damaged_configurations_are_parsed_and_formatted() {
    let corpus = configurations();
    assert!(corpus.len() >= 3, "{} configurations", corpus.len());
    let mut random = Random::new(number("FUZZ_SEED", 1) as u64);
    let mut well_formed = 0;
    for _ in 0..number("FUZZ_ITERATIONS", ITERATIONS) {
        let (one, other) = (random.below(corpus.len()), random.below(corpus.len()));
        let text = damaged(&corpus[one], &corpus[other], &mut random);
        survives(&text, || {
            let (_, diagnostics) = parse(FileId(0), &text);
            places_are_inside(&text, &diagnostics);
            places_are_inside(&text, &parse_template(FileId(0), &text).1);
            match format(FileId(0), &text) {
                Err(diagnostics) => places_are_inside(&text, &diagnostics),
                Ok(formatted) => {
                    // What is laid out is laid out for good, and no less right than before.
                    assert_eq!(format(FileId(0), &formatted).as_ref(), Ok(&formatted));
                    let again = parse(FileId(0), &formatted).1;
                    assert_eq!(diagnostics.has_errors(), again.has_errors(), "{again:?}\n{formatted}");
                    well_formed += usize::from(!diagnostics.has_errors());
                }
            }
        });
    }
    assert!(well_formed > 0, "every text was damaged beyond reading, so that nothing was formatted");
}

#[test]
fn damaged_expressions_are_evaluated_and_converted() {
    let corpus = cases();
    let names = Names::default();
    let mut random = Random::new(number("FUZZ_SEED", 1) as u64);
    for _ in 0..number("FUZZ_ITERATIONS", ITERATIONS) {
        let (constraint, expression) = &corpus[random.below(corpus.len())];
        let (other, more) = &corpus[random.below(corpus.len())];
        let expression = damaged(expression, more, &mut random);
        let constraint = constraint.as_ref().or(other.as_ref());
        let constraint = constraint.map(|text| match random.percent(50) {
            true => damaged(text, "optional(list(any), [])", &mut random),
            false => text.clone(),
        });
        let text = format!("{}\n{expression}", constraint.as_deref().unwrap_or_default());
        survives(&text, || drop(ours::answer(constraint.as_deref(), &expression, &names)));
    }
}

/// Any depth and any length gives an answer.
#[test]
fn the_size_of_a_text_is_no_danger() {
    for open in [
        "[",
        "(",
        "{a=",
        "\"${",
        "a[",
        "-",
        "!",
        "f(",
        "1?",
        "[for a in ",
        "%{if ",
        "{",
        "a {\n",
        "object({a=",
        "list(",
    ] {
        let deep = open.repeat(50_000);
        for text in [deep.clone(), format!("a = {deep}"), format!("a = <<EOT\n{deep}")] {
            let (_, diagnostics) = parse(FileId(0), &text);
            assert!(open == "-" && !text.contains("a =") || diagnostics.has_errors(), "{open}");
            drop(parse_template(FileId(0), &text));
            drop(format(FileId(0), &text));
        }
        drop(ours::answer(Some(&deep), "1", &Names::default()));
        drop(ours::answer(None, &deep, &Names::default()));
    }
}
