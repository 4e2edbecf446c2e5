//! The layer table is data; a crate that uses one below itself, or beside itself further down, fails here.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

/// Row of each crate by name (`engine/plan` is `engine-plan`).
fn rows() -> BTreeMap<String, usize> {
    let table = include_str!("../layers.txt");
    let lines = table.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.enumerate().map(|(row, line)| (line.split_once(' ').unwrap().1.replace('/', "-"), row)).collect()
}

fn metadata() -> Value {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn crates_use_only_rows_above_their_own() {
    let rows = rows();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let Some(row) = rows.get(name) else {
            wrong.push(format!("{name} is not in layers.txt"));
            continue;
        };
        let path = package["manifest_path"].as_str().unwrap();
        assert!(
            path.ends_with(&format!("{}/Cargo.toml", folder(name))),
            "{name} is the name of another folder: {path}"
        );
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            match rows.get(used) {
                Some(other) if other >= row => wrong.push(format!("{name} uses {used}, which is not above it")),
                _ => {}
            }
        }
    }
    assert_eq!(packages.len(), rows.len(), "layers.txt lists a crate that is gone");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The folder of a crate, as the table has it.
fn folder(name: &str) -> String {
    let table = include_str!("../layers.txt");
    let folders = table.lines().filter_map(|line| line.split_once(' ')).map(|(_, folder)| folder);
    folders.into_iter().find(|folder| folder.replace('/', "-") == name).unwrap_or(name).to_owned()
}

#[test]
fn members_add_no_features_to_third_party_crates() {
    let metadata = metadata();
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().unwrap() {
        let manifest = std::fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        for line in manifest.lines().filter(|line| line.contains("workspace = true") && line.contains("features")) {
            wrong.push(format!("{}: {line}", package["name"]));
        }
        assert_eq!(package["features"], serde_json::json!({}), "{} has features", package["name"]);
    }
    assert!(wrong.is_empty(), "features belong into [workspace.dependencies]: {wrong:#?}");
}

/// `unsafe` is forbidden everywhere but where NVML is spoken.
#[test]
fn unsafe_code_is_where_nvml_is() {
    let allowed = ["providers-node-agent", "providers-simulator-nvml"];
    for package in metadata()["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        for target in package["targets"].as_array().unwrap() {
            let kinds = target["kind"].as_array().unwrap();
            if !kinds.iter().any(|kind| kind == "lib" || kind == "bin" || kind == "cdylib") {
                continue;
            }
            let source = std::fs::read_to_string(target["src_path"].as_str().unwrap()).unwrap();
            let forbids = source.contains("#![forbid(unsafe_code)]");
            assert!(forbids || allowed.contains(&name), "{} does not forbid unsafe code", target["src_path"]);
        }
    }
}
