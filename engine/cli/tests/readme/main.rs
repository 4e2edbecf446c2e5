//! Runs the README on the sandbox. `UPDATE_GOLDEN=1 cargo test -p engine-cli --test readme` writes the outputs again.
//! On a real control plane it is run by `tests/fleet` of the package `tests`.

mod tour;

use std::path::Path;

#[test]
fn the_readme_says_what_happens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let directory = tempfile::tempdir().unwrap();
    tour::prepare(&root, directory.path());
    let (wrong, text) =
        tour::tell(&root, directory.path(), Path::new(env!("CARGO_BIN_EXE_sliceform")).parent().unwrap());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(root.join("README.md"), text).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "README.md is stale (UPDATE_GOLDEN=1 writes it again):\n{}", wrong.join("\n"));
}

#[test]
fn what_differs_from_run_to_run_has_a_name() {
    for (text, expected) in [
        ("a: Creation complete after 1m05s [id=x]", "a: Creation complete after <time> [id=x]"),
        ("id = \"0f8fad5b-d9cb-469f-a165-70867728950e\"", "id = \"<uuid>\""),
        ("[id=0f8fad5b-d9cb-469f-a165-70867728950e]", "[id=<uuid>]"),
        ("Evicting pod a/b, 40s", "Evicting pod a/b, <time>"),
        ("at 2026-01-01T00:00:00Z,", "at <timestamp>,"),
        ("pods and ms stay", "pods and ms stay"),
        ("https://127.0.0.1:4711", "https://127.0.0.1:<port>"),
    ] {
        assert_eq!(tour::normal(text), format!("{expected}\n"));
    }
}
