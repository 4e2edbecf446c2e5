//! The README as a script: every `console` block, in order, in a copy of the files that it speaks of, and what it says beside
//! what comes out.
//!
//! Identifiers, times and ages are compared by name only: see [`normal`].

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, its helpers too")]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// One `console` block: its lines, and where they stand in the README.
struct Block {
    first: usize,
    lines: Vec<String>,
}

/// A command of a block with the output that the README shows.
struct Step {
    command: String,
    expected: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (i, line) in text.lines().enumerate() {
        match &mut open {
            None if line == "```console" => open = Some(Block { first: i + 1, lines: Vec::new() }),
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(block) => block.lines.push(line.to_owned()),
            None => {}
        }
    }
    blocks
}

/// A line that begins with `$ ` is a command; a here-document belongs to it.
fn steps(block: &Block) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut until: Option<String> = None;
    for line in &block.lines {
        match (&until, line.strip_prefix("$ "), steps.last_mut()) {
            (Some(end), _, Some(step)) => {
                step.command.push_str(&format!("\n{line}"));
                if line == end {
                    until = None;
                }
            }
            (_, Some(command), _) => {
                until = command.split_once("<<'").map(|(_, end)| end.trim_end_matches('\'').to_owned());
                steps.push(Step { command: command.to_owned(), expected: Vec::new() });
            }
            (_, None, Some(step)) => step.expected.push(line.clone()),
            (_, None, None) => panic!("line {}: output without a command", block.first),
        }
    }
    steps
}

/// What the README speaks of, and nothing that a run leaves behind.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name.to_string_lossy().starts_with('.') || name.to_string_lossy().contains("tfstate") {
            continue;
        }
        let target = to.join(&name);
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// All commands run in one shell, as a reader's would: directories and variables stay. After each, a mark with its exit
/// code.
fn run(steps: &[&Step], directory: &Path, programs: &Path) -> Vec<String> {
    const MARK: &str = "\u{1}end of command ";
    let mut script = String::from("exec 2>&1\n");
    for step in steps {
        let command = step.command.replace("cargo run --", "sliceform");
        script.push_str(&format!("{command}\nprintf '{MARK}%s\\n' $?\n"));
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let out = Command::new("bash")
        .args(["-c", &script])
        .current_dir(directory)
        .env_clear()
        .envs([("PATH", path.as_str()), ("HOME", directory.to_str().unwrap()), ("USER", "reader")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let outputs: Vec<String> = text.split(MARK).map(str::to_owned).collect();
    // The exit code stands at the head of the next piece.
    let mut found = Vec::new();
    for (i, piece) in outputs.iter().enumerate() {
        found.push(if i == 0 { piece.clone() } else { piece.split_once('\n').map_or("", |(_, rest)| rest).to_owned() });
    }
    assert_eq!(found.len(), steps.len() + 1, "the shell ended early:\n{text}");
    found.pop();
    found
}

/// Text with everything that differs from run to run by name: `<uuid>`, `<time>`, `<timestamp>`, `<port>`. What was waited
/// for is left out: on a slow machine more waits are long enough to be told.
pub(crate) fn normal(text: &str) -> String {
    let mut out = String::new();
    for line in text.trim_end_matches('\n').split('\n').filter(|line| !line.contains(": waiting for: ")) {
        let words: Vec<String> = line.split(' ').map(word).collect();
        out.push_str(words.join(" ").trim_end());
        out.push('\n');
    }
    out
}

fn word(word: &str) -> String {
    let inner = word.trim_matches(|c: char| "[](),;:\"'".contains(c));
    let plain = |replacement: &str| word.replacen(inner, replacement, 1);
    if is_time(inner) {
        return plain("<time>");
    }
    if let Some((before, _)) = inner.split_once("127.0.0.1:") {
        return plain(&format!("{before}127.0.0.1:<port>"));
    }
    let bytes = inner.as_bytes();
    if bytes.len() >= 20 && bytes[4] == b'-' && bytes[7] == b'-' && bytes[10] == b'T' && bytes[0].is_ascii_digit() {
        return plain("<timestamp>");
    }
    word.split('=')
        .map(
            |part| {
                if is_uuid(part.trim_matches(|c: char| "[]\"".contains(c))) { uuid_in(part) } else { part.to_owned() }
            },
        )
        .collect::<Vec<_>>()
        .join("=")
}

fn uuid_in(part: &str) -> String {
    let inner = part.trim_matches(|c: char| "[]\"".contains(c));
    part.replacen(inner, "<uuid>", 1)
}

/// `0s`, `40s`, `1m05s`.
fn is_time(text: &str) -> bool {
    let Some(rest) = text.strip_suffix('s') else { return false };
    !rest.is_empty() && rest.split('m').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.iter().all(|part| part.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Copies what the README speaks of.
pub(crate) fn prepare(root: &Path, directory: &Path) {
    for folder in ["examples", "modules"] {
        copy(&root.join(folder), &directory.join(folder));
    }
}

/// Does what the README says, in a directory that was prepared, with the programs of a folder. Gives where it says something
/// else than what happens, and the README as it should be.
pub(crate) fn tell(root: &Path, directory: &Path, programs: &Path) -> (Vec<String>, String) {
    let text = fs::read_to_string(root.join("README.md")).unwrap();
    let blocks = blocks(&text);
    let all: Vec<(usize, Step)> =
        blocks.iter().enumerate().flat_map(|(i, block)| steps(block).into_iter().map(move |step| (i, step))).collect();
    // What builds and tests Sliceform itself is run by CI, not from within its tests.
    let ours = |step: &Step| !step.command.starts_with("git clone") && !step.command.starts_with("cargo test");
    let run_steps: Vec<&Step> = all.iter().map(|(_, step)| step).filter(|step| ours(step)).collect();
    let outputs = run(&run_steps, directory, programs);
    let mut outputs = outputs.iter();
    let mut rendered: Vec<String> = vec![String::new(); blocks.len()];
    let mut wrong = Vec::new();
    for (block, step) in &all {
        let expected = normal(&step.expected.join("\n"));
        let found = if ours(step) { normal(outputs.next().unwrap()) } else { expected.clone() };
        if found != expected {
            wrong.push(format!("$ {}\n--- README\n{expected}--- found\n{found}", step.command));
        }
        rendered[*block].push_str(&format!("$ {}\n{}", step.command, if found == "\n" { "" } else { &found }));
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (block, new) in blocks.iter().zip(&rendered).rev() {
        lines.splice(block.first..block.first + block.lines.len(), new.lines().map(str::to_owned));
    }
    (wrong, lines.join("\n") + "\n")
}
