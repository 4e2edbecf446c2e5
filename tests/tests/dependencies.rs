//! Licences and bans, over everything that the lock file brings.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

/// Every package of the lock file, whatever platform it is for.
fn packages() -> Vec<Value> {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: Value = serde_json::from_slice(&out.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Is an SPDX expression satisfied by these licences? `OR` binds weaker than `AND`; `/` is an old `OR`.
fn satisfied(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let mut depth = 0usize;
    for (separator, any) in [(" OR ", true), ("/", true), (" AND ", false)] {
        let mut parts = Vec::new();
        let mut start = 0;
        for (i, c) in expression.char_indices() {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ if depth == 0 && expression[i..].starts_with(separator) => {
                    parts.push(&expression[start..i]);
                    start = i + separator.len();
                }
                _ => {}
            }
        }
        if !parts.is_empty() {
            parts.push(&expression[start..]);
            let mut results = parts.into_iter().map(|part| satisfied(part.trim(), allowed));
            return if any { results.any(|ok| ok) } else { results.all(|ok| ok) };
        }
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => satisfied(inner, allowed),
        None => allowed.contains(expression),
    }
}

#[test]
fn licences_are_allowed() {
    let allowed: BTreeSet<&str> = lines(include_str!("../licences.txt")).collect();
    let mut wrong = Vec::new();
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or("none");
        if !satisfied(licence, &allowed) {
            wrong.push(format!("{} {}: {licence}", package["name"], package["version"]));
        }
    }
    assert!(wrong.is_empty(), "not in licences.txt: {wrong:#?}");
}

#[test]
fn banned_crates_are_absent() {
    // What is in the lock file only for a feature that nobody asks for is not in the tree.
    let names = |more: &[&str]| -> BTreeSet<String> {
        let out = Command::new(env!("CARGO"))
            .args(["tree", "--workspace", "--target=all", "--prefix=none", "--format={p}", "--locked"])
            .args(more)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let tree = String::from_utf8(out.stdout).unwrap();
        tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
    };
    let (all, without_cel) = (names(&[]), names(&["--prune=kube-cel"]));
    assert!(all.contains("kube"), "the tree is not what was expected: {all:?}");
    for line in lines(include_str!("../banned.txt")) {
        let (name, instead) = line.split_once(' ').unwrap();
        let names = if instead.contains(OF_CEL) { &without_cel } else { &all };
        assert!(!names.contains(name), "{name} is in the tree; use {}", instead.trim());
    }
}

/// Marks what only the interpreter of CEL may bring: there is no other one, and it is not ours to change.
const OF_CEL: &str = "(but of kube-cel)";

#[test]
fn everything_comes_from_the_registry() {
    for package in packages() {
        let source = package["source"].as_str();
        let is_ours = source.is_none() && package["manifest_path"].as_str().unwrap().contains("Cargo.toml");
        assert!(
            is_ours || source.is_some_and(|s| s.starts_with("registry+")),
            "{} is from {source:?}",
            package["name"]
        );
    }
}

#[test]
fn licence_expressions_are_read_right() {
    let allowed: BTreeSet<&str> = ["MIT", "Apache-2.0", "Unicode-3.0"].into_iter().collect();
    for (expression, expected) in [
        ("MIT", true),
        ("MIT OR GPL-3.0", true),
        ("MIT/GPL-3.0", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND GPL-3.0", false),
        ("MPL-2.0", false),
        ("GPL-3.0 AND MIT OR LGPL-2.1", false),
    ] {
        assert_eq!(satisfied(expression, &allowed), expected, "{expression}");
    }
}
