//! The cases of `cases.txt`: what is written, and what `fmt` makes of it.
//!
//! What is expected was recorded from Terraform 1.11.4 but for cases whose name ends with `*`, where we mean to differ.
//! `SLICEFORM_RECORD=1 cargo test -p engine-lang --test format` records it again where `terraform` is there.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use crate::{
    deform::{Random, deform},
    formatted,
};

struct Case {
    name: String,
    written: String,
    /// `None`: it is refused.
    expected: Option<String>,
}

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/format/cases.txt");
const TITLE: &str = "#### ";
const ARROW: &str = "---->\n";
const REFUSED: &str = "refused\n";

/// Some bytes cannot be seen in a file of text, or would not survive an editor.
const SPELLED: [(&str, &str); 5] = [("␍", "\r"), ("␉", "\t"), ("␠", " "), ("␄\n", ""), ("⍰", "\u{feff}")];

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(FILE).unwrap();
    text.split(&format!("\n{TITLE}")).skip(1).map(case).collect()
}

fn case(text: &str) -> Case {
    let (name, rest) = text.split_once('\n').unwrap();
    let (written, expected) = rest.split_once(ARROW).unwrap_or_else(|| panic!("{name}: no arrow"));
    let plain =
        |text: &str| SPELLED.iter().fold(text.to_owned(), |text, (spelled, bytes)| text.replace(spelled, bytes));
    let expected = (expected != REFUSED).then(|| plain(expected));
    Case { name: name.to_owned(), written: plain(written), expected }
}

fn spelled(text: &str) -> String {
    let mut text = text.replace('\r', "␍").replace('\t', "␉").replace('\u{feff}', "⍰");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str("␄\n");
    }
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix(" \n") {
            Some(line) => format!("{line}␠\n"),
            None => line.to_owned(),
        })
        .collect()
}

#[test]
fn cases_are_formatted_as_recorded() {
    if std::env::var_os("SLICEFORM_RECORD").is_some() {
        record();
    }
    for Case { name, written, expected } in cases() {
        assert_eq!(formatted(&written).ok(), expected, "{name}");
    }
}

/// What is formatted stays as it is, but for `"${"${x}"}"`, which Terraform unwraps one layer at a time.
#[test]
fn formatting_again_changes_nothing() {
    for Case { name, expected, .. } in cases() {
        let Some(expected) = expected.filter(|_| !name.contains("layer")) else { continue };
        assert_eq!(formatted(&expected).as_ref(), Ok(&expected), "{name}");
    }
}

/// Space between tokens means nothing: whatever it was, the result is the same, as long as the lines are.
#[test]
fn space_between_tokens_does_not_matter() {
    for Case { name, written, expected } in cases() {
        let Some(expected) = expected.filter(|_| !name.contains("rest of the file")) else { continue };
        for seed in 1..50 {
            let deformed = deform(&written, &mut Random(seed));
            let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
            let same_lines =
                lines(&deformed) == lines(&written) && !deformed.contains("\n\n") && !written.contains("\n\n");
            if let Ok(formatted) = formatted(&deformed)
                && same_lines
            {
                assert_eq!(formatted, expected, "{name}: {deformed:?}");
            }
        }
    }
}

fn record() {
    let mut out = String::from(std::fs::read_to_string(FILE).unwrap().split(&format!("\n{TITLE}")).next().unwrap());
    for Case { name, written, expected } in cases() {
        let expected = if name.ends_with('*') { expected } else { terraform(&written) };
        let expected = expected.map_or_else(|| REFUSED.to_owned(), |text| spelled(&text));
        out.push_str(&format!("\n{TITLE}{name}\n{}{ARROW}{expected}", spelled(&written)));
    }
    std::fs::write(FILE, out).unwrap();
}

fn terraform(text: &str) -> Option<String> {
    let path = std::env::temp_dir().join(format!("sliceform-fmt-case-{}.tf", std::process::id()));
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    let ran = Command::new("terraform").args(["fmt", "-list=false"]).arg(&path).stderr(Stdio::null()).status();
    let formatted = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    ran.unwrap().success().then_some(formatted)
}
