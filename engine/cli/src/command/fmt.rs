//! `fmt`: brings configuration files into the canonical layout, and changes nothing else about them. A file whose syntax is
//! wrong is told and left as it is; what is wrong in other ways does not matter.

use std::{
    fs,
    io::{self, Read, Write},
    path::{Component, Path, PathBuf},
};

use engine_diag::{Diagnostic, Diagnostics};
use engine_lang::format::format;
use similar::TextDiff;

use crate::{
    args::FmtArgs,
    session::{Exit, Session, failed},
};

/// What files are called that are formatted.
const ENDINGS: [&str; 3] = [".tf", ".tfvars", ".tftest.hcl"];

pub(crate) fn run(session: &mut Session, args: &FmtArgs) -> Exit {
    let mut run = Run { args, diagnostics: Diagnostics::new(), told: String::new(), changed: false };
    match args.targets.first().map(String::as_str) {
        Some("-") => run.standard_input(session),
        Some(_) => args.targets.iter().for_each(|target| run.target(session, target)),
        None => run.target(session, "."),
    }
    let Run { diagnostics, told, changed, .. } = run;
    let failed = diagnostics.has_errors();
    if !(args.check && failed) {
        session.print(&told);
    }
    session.report(&diagnostics);
    match failed {
        true => Exit::Refused,
        false if args.check && changed => Exit::Unformatted,
        false => Exit::Success,
    }
}

struct Run<'a> {
    args: &'a FmtArgs,
    diagnostics: Diagnostics,
    /// What goes to standard output.
    told: String,
    changed: bool,
}

impl Run<'_> {
    fn standard_input(&mut self, session: &mut Session) {
        const NAME: &str = "<stdin>";
        let mut bytes = Vec::new();
        if let Err(error) = session.env.input.read_to_end(&mut bytes) {
            self.diagnostics.push(failed("Cannot read standard input", &error));
            return;
        }
        let Some((old, new)) = self.formatted(session, NAME, bytes) else { return };
        self.changed |= old != new;
        if self.args.diff {
            self.diff(NAME, &old, &new);
        } else if !self.args.check {
            // As in Terraform: what is piped ends its last line.
            self.told.push_str(new.strip_suffix('\n').unwrap_or(&new));
            self.told.push('\n');
        }
    }

    fn target(&mut self, session: &mut Session, target: &str) {
        let path = clean(&session.directory.join(target));
        if path.is_dir() {
            self.directory(session, &path);
        } else if !path.exists() {
            let detail = format!("There is no file or directory {target}.");
            self.diagnostics.push(Diagnostic::error("No such file or directory", detail));
        } else if is_formatted(target) {
            self.file(session, &path);
        } else {
            let detail = format!(
                "{target} does not end in .tf, .tfvars or .tftest.hcl. JSON and other files have no layout of ours."
            );
            self.diagnostics.push(Diagnostic::error("Not a configuration file", detail));
        }
    }

    fn directory(&mut self, session: &mut Session, path: &Path) {
        let names = fs::read_dir(path).and_then(|entries| {
            let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
            names.collect::<io::Result<Vec<String>>>()
        });
        let mut names = match names {
            Ok(names) => names,
            Err(error) => {
                let name = relative(&session.directory, path);
                return self.diagnostics.push(failed(&format!("Cannot read the directory {name}"), &error));
            }
        };
        names.sort();
        for name in names.iter().filter(|name| !is_ignored(name)) {
            let path = path.join(name);
            // A directory behind a link may hold the one that it is in.
            if path.is_dir() {
                if self.args.recursive && !path.is_symlink() {
                    self.directory(session, &path);
                }
            } else if is_formatted(name) {
                self.file(session, &path);
            }
        }
    }

    fn file(&mut self, session: &mut Session, path: &Path) {
        let name = relative(&session.directory, path);
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => return self.diagnostics.push(failed(&format!("Cannot read {name}"), &error)),
        };
        let Some((old, new)) = self.formatted(session, &name, bytes) else { return };
        if old == new {
            return;
        }
        self.changed = true;
        if self.args.write
            && !self.args.check
            && let Err(error) = replace(path, new.as_bytes())
        {
            return self.diagnostics.push(failed(&format!("Cannot write {name}"), &error));
        }
        if self.args.list {
            self.told.push_str(&format!("{name}\n"));
        }
        if self.args.diff {
            self.diff(&name, &old, &new);
        } else if !self.args.list && !self.args.write && !self.args.check {
            self.told.push_str(&new);
        }
    }

    /// The text as it is and as it should be.
    fn formatted(&mut self, session: &mut Session, name: &str, bytes: Vec<u8>) -> Option<(String, String)> {
        let old = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let detail = format!("{name} is not UTF-8 text: byte {at} begins no character.");
                self.diagnostics.push(Diagnostic::error("Invalid character encoding", detail));
                return None;
            }
        };
        let file = session.sources.add(name, old.as_str());
        match format(file, &old) {
            Ok(new) => Some((old, new)),
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                None
            }
        }
    }

    fn diff(&mut self, name: &str, old: &str, new: &str) {
        if old != new {
            let diff = TextDiff::from_lines(old, new);
            let diff = diff.unified_diff().header(&format!("old/{name}"), &format!("new/{name}")).to_string();
            self.told.push_str(&diff);
        }
    }
}

fn is_formatted(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Hidden files, and what editors leave behind.
fn is_ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

/// Puts the bytes there in one step: whoever reads the file, or cuts this off, finds the old text or the new one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Behind a link, it is the file that is replaced and not the link.
    let path = fs::canonicalize(path)?;
    let found = fs::metadata(&path)?;
    if found.permissions().readonly() {
        return Err(io::Error::other("the file is read-only"));
    }
    let directory = path.parent().unwrap_or(Path::new("/"));
    let mut new = tempfile::Builder::new().prefix(".fmt-").tempfile_in(directory)?;
    new.write_all(bytes)?;
    new.as_file().set_permissions(found.permissions())?;
    keep_owner(new.as_file(), &found);
    new.as_file().sync_all()?;
    new.persist(&path)?;
    Ok(())
}

/// As far as we may: who formats the files of others as root leaves them theirs.
#[cfg(unix)]
fn keep_owner(file: &fs::File, found: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let _ = fchown(file, Some(found.uid()), Some(found.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &fs::File, _: &fs::Metadata) {}

/// Without `.` and `..`.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            component => clean.push(component),
        }
    }
    clean
}

/// The path from the working directory.
fn relative(directory: &Path, path: &Path) -> String {
    let directory = clean(directory);
    let shared = directory.components().zip(path.components()).take_while(|(a, b)| a == b).count();
    let up = directory.components().skip(shared).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(shared)).collect();
    relative.to_string_lossy().into_owned()
}
