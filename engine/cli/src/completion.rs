//! Completion in shells, as Terraform does it: `-install-autocomplete` has the shell ask this program, which answers with what
//! can stand where the cursor is (`COMP_LINE`, `COMP_POINT`).

use std::{ffi::OsString, fs, io::Write, path::Path};

use clap::{ArgAction, Command};
use engine_diag::{chain, sentence};

use crate::{
    args,
    environment::{Environment, Out},
    session::Exit,
};

/// What is written into a file that a shell reads at its start. None is made: who has none does not use that shell.
const SHELLS: [(&str, &str); 3] = [
    (".bashrc", "complete -C sliceform sliceform"),
    (".zshrc", "autoload -U +X bashcompinit && bashcompinit && complete -o nospace -C sliceform sliceform"),
    (".config/fish/config.fish", "complete -f -c sliceform -a '(env COMP_LINE=(commandline -cp) sliceform)'"),
];

/// Answers a shell that asks, and the two options; `None`: this run is about something else.
pub(crate) fn answered(args: &[OsString], env: &Environment, out: &mut Out) -> Option<Exit> {
    if let Some(line) = env.variables.get("COMP_LINE") {
        let point = env.variables.get("COMP_POINT").and_then(|point| point.parse().ok()).unwrap_or(line.len());
        let line = line.get(..point).unwrap_or(line);
        let all: String = candidates(&args::command(), line).iter().map(|one| format!("{one}\n")).collect();
        let _ = out.stdout.write_all(all.as_bytes());
        return Some(Exit::Success);
    }
    let install = match args.get(1)?.to_str()?.trim_start_matches('-') {
        "install-autocomplete" => true,
        "uninstall-autocomplete" => false,
        _ => return None,
    };
    let home = env.variables.get("HOME").map(String::as_str).unwrap_or_default();
    let (told, exit) = match installed(Path::new(home), install) {
        Ok(changed) if changed.is_empty() && install => {
            ("There is no .bashrc, .zshrc or fish configuration that does not have it.\n".to_owned(), Exit::Failure)
        }
        Ok(changed) => (changed.iter().map(|file| format!("Changed {file}.\n")).collect(), Exit::Success),
        Err(error) => (sentence(&chain(&error)) + "\n", Exit::Failure),
    };
    let to = if exit == Exit::Success { &mut out.stdout } else { &mut out.stderr };
    let _ = to.write_all(told.as_bytes());
    Some(exit)
}

/// Adds the lines, or takes them away, and tells the files that changed.
fn installed(home: &Path, install: bool) -> std::io::Result<Vec<&'static str>> {
    let mut changed = Vec::new();
    for (file, line) in SHELLS {
        let path = home.join(file);
        if !path.is_file() {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let has = text.lines().any(|one| one == line);
        if has == install {
            continue;
        }
        let new = if install {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}{line}\n")
        } else {
            text.split_inclusive('\n').filter(|one| one.trim_end_matches('\n') != line).collect()
        };
        fs::write(&path, new)?;
        changed.push(file);
    }
    Ok(changed)
}

/// What can stand at the end of a line: commands, or options of the command that is there.
fn candidates(root: &Command, line: &str) -> Vec<String> {
    let mut words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let last = if line.ends_with(char::is_whitespace) { "" } else { words.pop().unwrap_or_default() };
    let mut level = root;
    for word in words.iter().filter(|word| !word.starts_with('-')) {
        match level.find_subcommand(word) {
            Some(found) => level = found,
            None => break,
        }
    }
    let mut all: Vec<String> = Vec::new();
    if last.starts_with('-') {
        let options = level.get_arguments().chain(root.get_arguments().filter(|arg| arg.is_global_set()));
        for option in options {
            let Some(name) = option.get_long() else { continue };
            let takes = !matches!(option.get_action(), ArgAction::Help | ArgAction::HelpLong | ArgAction::HelpShort)
                && option.get_num_args().is_none_or(|count| count.min_values() != 0);
            all.push(format!("-{name}{}", if takes { "=" } else { "" }));
        }
    } else {
        all.extend(level.get_subcommands().map(|command| command.get_name().to_owned()));
    }
    let wanted = last.trim_start_matches('-');
    all.retain(|one| one.trim_start_matches('-').starts_with(wanted));
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_stand_there_is_told() {
        for (line, expected) in [
            ("sliceform val", &["validate"][..]),
            ("sliceform state ", &["list", "show"]),
            ("sliceform state l", &["list"]),
            ("sliceform validate -js", &["-json"]),
            ("sliceform -chdir=a validate -sch", &["-schemas="]),
            ("sliceform plan -o", &["-out="]),
            ("sliceform plan -no", &["-no-color"]),
            ("sliceform plan -out=p nothing", &[]),
        ] {
            assert_eq!(candidates(&args::command(), line), expected, "{line}");
        }
    }

    #[test]
    fn lines_are_added_once_and_taken_away() {
        let home = tempfile::tempdir().unwrap();
        let bashrc = home.path().join(".bashrc");
        fs::write(&bashrc, "alias a=b").unwrap();
        assert_eq!(installed(home.path(), true).unwrap(), [".bashrc"]);
        assert_eq!(installed(home.path(), true).unwrap(), [""; 0]);
        assert_eq!(fs::read_to_string(&bashrc).unwrap(), "alias a=b\ncomplete -C sliceform sliceform\n");
        assert_eq!(installed(home.path(), false).unwrap(), [".bashrc"]);
        assert_eq!(fs::read_to_string(&bashrc).unwrap(), "alias a=b\n");
        assert!(!home.path().join(".zshrc").exists());
    }
}
