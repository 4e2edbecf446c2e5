//! Replays every story in `tests/stories` and compares it with what is written there, byte for byte.
//! `UPDATE_GOLDEN=1 cargo test -p tests --test stories` writes them again.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking, its helpers too")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use tests::story::replay;

fn stories(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(stories(&path));
        } else if path.extension().is_some_and(|extension| extension == "story") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The first line that differs, with what was expected before it.
fn difference(expected: &str, found: &str) -> String {
    let pairs = expected.lines().map(Some).chain(std::iter::repeat(None));
    let found: Vec<Option<&str>> = found.lines().map(Some).chain([None]).collect();
    let at = pairs.zip(&found).position(|(expected, found)| expected != *found).unwrap_or(found.len() - 1);
    let expected = expected.lines().nth(at).unwrap_or("(the end)");
    format!("line {}\n  expected {expected}\n  found    {}", at + 1, found[at].unwrap_or("(the end)"))
}

#[tokio::test]
async fn every_story_goes_as_it_is_written() {
    let all = stories(&Path::new(env!("CARGO_MANIFEST_DIR")).join("stories"));
    assert!(all.len() > 10, "{} stories", all.len());
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for path in all {
        let expected = fs::read_to_string(&path).unwrap();
        let found = replay(&expected).await;
        if update {
            fs::write(&path, found).unwrap();
        } else if found != expected {
            wrong.push(format!("{}: {}", path.display(), difference(&expected, &found)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
