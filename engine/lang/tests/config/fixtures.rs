//! OpenTofu's configuration fixtures: what loads there loads here, what fails there fails here, and where it says so.
//!
//! They are not part of this repository. Set `OPENTOFU_CONFIGS` to the folder `internal/configs/testdata` of OpenTofu's
//! sources; without it this test says that it was skipped.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use engine_diag::{Diagnostic, Sources};
use engine_lang::config::{SourceTree, load};

/// Fixtures that are about what only OpenTofu has, or that mean to differ, with the reason.
const APART: [(&str, &str); 34] = [
    ("data-count-and-for_each-and-enabled.tf", "lifecycle.enabled is OpenTofu's"),
    ("ephemeral-count-and-for_each-and-enabled.tf", "lifecycle.enabled is OpenTofu's"),
    ("resource-count-and-for_each-and-enabled.tf", "lifecycle.enabled is OpenTofu's"),
    ("empty-deprecated-output-attr.tf", "deprecated is OpenTofu's"),
    ("required-version-legacy.tofu", "files of OpenTofu alone are not read"),
    ("unsupported_version_legacy.tofu", "files of OpenTofu alone are not read"),
    ("version-variable.tf", "variables in settings are OpenTofu's"),
    ("modules-with-version.tf", "variables in settings are OpenTofu's"),
    ("module-calls.tf", "variables in settings are OpenTofu's"),
    ("variable-bad-sensitive.tf", "see the table of facts"),
    ("unsupported_version.tf", "versions of OpenTofu"),
    ("required-version-ignored.tf", "versions of OpenTofu"),
    ("ineffective-version-constraint.tf", "versions of OpenTofu"),
    ("unused_variable_default_attrs.tf", "a lint of OpenTofu"),
    ("module-invalid-registry-source-with-module.tf", "reported at another line"),
    ("module-local-source-with-version.tf", "reported at the version"),
    ("unsupported-version-and-other-error", "versions of OpenTofu"),
    ("predecessor-version-constraints-ignored", "versions of OpenTofu"),
    ("removed-blocks", "lifecycle of removed blocks is OpenTofu's"),
    ("provider-source-prefix.tf", "see the table of facts"),
    ("invalid_language_edition.tf", "see the table of facts"),
    ("zerolen.tf.json", "see the table of facts"),
    ("language.tf", "the block is OpenTofu's"),
    ("valid-language-edition.tf", "the block is OpenTofu's"),
    ("unsupported_experiment.tf", "the block is OpenTofu's"),
    ("unsupported_language_edition.tf", "the block is OpenTofu's"),
    ("outputs.tf", "deprecated is OpenTofu's"),
    ("override-output", "deprecated is OpenTofu's"),
    ("override-variable", "deprecated is OpenTofu's"),
    ("provider-configs.tf", "for_each of providers is OpenTofu's"),
    ("module-sensitive.tf", "functions in settings are OpenTofu's"),
    ("moved-blocks", "it moves data sources, which is told early"),
    ("override-cloud-duplicates", "there is no cloud block"),
    ("destroy-provisioners.tf", "of two blocks of one name only the first is looked at"),
];

/// Errors about what is not in the fixture, or is not here: no question of the language.
const ELSEWHERE: [&str; 15] = [
    "Reference to undeclared",
    "Reference to \"count\"",
    "Module not found",
    "Module not installed",
    "Unsupported module source",
    "Invalid module source",
    "Provider configuration not present",
    "Unsupported backend type",
    "Missing required provider configuration",
    "Missing required argument of",
    "No configuration files",
    "Unsupported language version",
    "Call to unknown function",
    "Unsupported function",
    "Reference to scoped",
];

fn is_of_the_language(diagnostic: &Diagnostic) -> bool {
    let cloud = diagnostic.detail.starts_with("HCP Terraform");
    !cloud
        && diagnostic.summary != "Invalid reference"
        && !ELSEWHERE.iter().any(|known| diagnostic.summary.starts_with(known))
}

fn insert(tree: &mut SourceTree, directory: &Path, prefix: &str) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            insert(tree, &path, &format!("{name}/"));
        } else {
            tree.insert(&name, fs::read(&path).unwrap());
        }
    }
}

/// The diagnostics of a fixture, a file or a directory, as `severity line summary`, and whether any is an error of the
/// language.
fn diagnose(path: &Path) -> (Vec<(bool, u32, String)>, bool) {
    let mut tree = SourceTree::new();
    if path.is_dir() {
        insert(&mut tree, path, "");
    } else {
        tree.insert(&path.file_name().unwrap().to_string_lossy(), fs::read(path).unwrap());
    }
    let mut sources = Sources::new();
    let (_, diagnostics) = load(&tree, &mut sources);
    let found = diagnostics.iter().filter(|d| is_of_the_language(d));
    let lines: Vec<_> =
        found.map(|d| (d.is_error(), d.span.map_or(0, |span| sources.range(span).0.line), d.summary.clone())).collect();
    let failed = lines.iter().any(|(error, ..)| *error);
    (lines, failed)
}

fn fixtures(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        !APART.iter().any(|(apart, _)| *apart == name)
    });
    found.sort();
    found
}

/// Lines that say what is reported there: `# ERROR: summary`.
fn marked(path: &Path, word: &str) -> Vec<u32> {
    let text = fs::read_to_string(path).unwrap();
    let marker = format!("# {word}:");
    (1..).zip(text.lines()).filter(|(_, line)| line.contains(&marker)).map(|(number, _)| number).collect()
}

#[test]
fn fixtures_of_opentofu() {
    let Ok(root) = std::env::var("OPENTOFU_CONFIGS") else {
        eprintln!("SKIPPED: OPENTOFU_CONFIGS names no folder with OpenTofu's configuration fixtures");
        return;
    };
    let root = Path::new(&root);
    let mut wrong = Vec::new();
    let mut count = 0;
    for (folder, fails) in
        [("valid-files", false), ("valid-modules", false), ("invalid-files", true), ("invalid-modules", true)]
    {
        for path in fixtures(&root.join(folder)) {
            count += 1;
            let (found, failed) = diagnose(&path);
            if failed != fails {
                wrong.push(format!("{}: {found:?}", path.display()));
            }
        }
    }
    for (folder, word, error) in [("error-files", "ERROR", true), ("warning-files", "WARNING", false)] {
        for path in fixtures(&root.join(folder)) {
            count += 1;
            let (found, _) = diagnose(&path);
            for line in marked(&path, word) {
                if !found.iter().any(|(is_error, at, _)| *is_error == error && *at == line) {
                    wrong.push(format!("{}:{line} ({word}): {found:?}", path.display()));
                }
            }
        }
    }
    assert!(count > 80, "{count} fixtures in {}", root.display());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
