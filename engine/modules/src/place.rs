//! Directories of packages on this machine: finding one within, looking for links that lead out, copying, and putting
//! them in their places all at once.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use crate::fetch::FetchError;

/// How many links one path may go through: what Linux allows.
const MAX_LINKS: usize = 40;

/// The directory within a package that a text names, and the text with its patterns replaced. `*` stands for one name,
/// and must fit exactly one directory.
pub(crate) fn subdirectory(package: &Path, text: &str) -> Result<(PathBuf, String), FetchError> {
    let mut found = package.to_owned();
    let mut names = Vec::new();
    for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
        let name = if part.contains('*') { only(&found, part)? } else { part.to_owned() };
        found.push(&name);
        names.push(name);
    }
    let text = names.join("/");
    if !found.is_dir() {
        let error = FetchError::new(format!("the package has no directory \"{text}\""));
        return Err(error.hint("Check what stands behind // in the source."));
    }
    check_within(package, &found)?;
    Ok((found, text))
}

/// The one directory whose name fits a pattern.
fn only(directory: &Path, pattern: &str) -> Result<String, FetchError> {
    let entries = fs::read_dir(directory).map_err(|error| FetchError::io("cannot read", directory, &error))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir())?.file_name().into_string().ok())
        .filter(|name| fits(name, pattern))
        .collect();
    names.sort_unstable();
    match &mut names[..] {
        [name] => Ok(std::mem::take(name)),
        [] => Err(FetchError::new(format!("no directory of the package fits \"{pattern}\""))),
        [first, second, ..] => Err(FetchError::new(format!(
            "several directories of the package fit \"{pattern}\": \"{first}\" and \"{second}\""
        ))),
    }
}

fn fits(name: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn check_within(package: &Path, path: &Path) -> Result<(), FetchError> {
    let failed = |error| FetchError::io("cannot read", path, &error);
    let (inner, outer) = (path.canonicalize().map_err(failed)?, package.canonicalize().map_err(failed)?);
    if inner.starts_with(&outer) { Ok(()) } else { Err(leads_out(package, path)) }
}

fn leads_out(package: &Path, path: &Path) -> FetchError {
    let shown = path.strip_prefix(package).unwrap_or(path);
    FetchError::new(format!("its link {} leads out of the package", shown.display()))
        .hint("A package must be whole in itself. Nothing of it was used.")
}

/// Looks for links that lead out of a directory.
pub(crate) fn check_links(root: &Path) -> Result<(), FetchError> {
    let mut todo = vec![root.to_owned()];
    while let Some(directory) = todo.pop() {
        let failed = |error| FetchError::io("cannot read", &directory, &error);
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                todo.push(entry.path());
            } else if kind.is_symlink() {
                check_link(root, &entry.path())?;
            }
        }
    }
    Ok(())
}

/// Does the link lead to a place within the directory, even if there is nothing?
pub(crate) fn check_link(root: &Path, link: &Path) -> Result<(), FetchError> {
    let out = || leads_out(root, link);
    let root = root.canonicalize().map_err(|error| FetchError::io("cannot read", root, &error))?;
    let start = link.parent().unwrap_or(&root).canonicalize();
    let mut at = start.map_err(|error| FetchError::io("cannot read", link, &error))?;
    if !at.starts_with(&root) {
        return Err(out());
    }
    let mut todo = vec![PathBuf::from(link.file_name().unwrap_or_default())];
    let mut links = 0;
    // By hand, and not by what the system finds at the end: the end may be missing, or be made later.
    while let Some(path) = todo.pop() {
        let mut parts = path.components();
        let Some(part) = parts.next() else { continue };
        todo.push(parts.as_path().to_owned());
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                at.pop();
            }
            std::path::Component::Normal(name) => {
                let next = at.join(name);
                match fs::read_link(&next) {
                    Ok(to) => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(out());
                        }
                        todo.push(to);
                    }
                    Err(_) => at = next,
                }
            }
            _ => return Err(out()),
        }
        if !at.starts_with(&root) {
            return Err(out());
        }
    }
    Ok(())
}

/// Removes what git keeps for itself, in a working tree and in its submodules.
pub(crate) fn forget_git(root: &Path) -> io::Result<()> {
    let mut todo = vec![root.to_owned()];
    while let Some(directory) = todo.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            match (entry.file_name() == ".git", kind.is_dir()) {
                (true, true) => fs::remove_dir_all(entry.path())?,
                (true, false) => fs::remove_file(entry.path())?,
                (false, true) => todo.push(entry.path()),
                (false, false) => {}
            }
        }
    }
    Ok(())
}

/// Copies a directory, links as links.
pub(crate) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut todo = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = todo.pop() {
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let target = to.join(entry.file_name());
            if kind.is_dir() {
                fs::create_dir(&target)?;
                todo.push((entry.path(), target));
            } else if kind.is_symlink() {
                symlink(fs::read_link(entry.path())?, target)?;
            } else {
                fs::copy(entry.path(), target)?;
            }
        }
    }
    Ok(())
}

/// Directories that take the places of others. Until [`Exchange::keep`], all of it is undone when this is dropped.
pub(crate) struct Exchange {
    /// What was put where.
    placed: Vec<PathBuf>,
    /// Where what was in whose place is now.
    aside: Vec<(PathBuf, PathBuf)>,
    /// A directory on the same file system, for what is in the way.
    attic: PathBuf,
}

impl Exchange {
    pub(crate) fn new(attic: &Path) -> io::Result<Self> {
        fs::create_dir_all(attic)?;
        Ok(Self { placed: Vec::new(), aside: Vec::new(), attic: attic.to_owned() })
    }

    /// Puts `new` into the place `at`.
    pub(crate) fn put(&mut self, new: &Path, at: &Path) -> io::Result<()> {
        self.clear(at)?;
        fs::rename(new, at)?;
        self.placed.push(at.to_owned());
        Ok(())
    }

    /// Takes away what is in a place.
    pub(crate) fn clear(&mut self, at: &Path) -> io::Result<()> {
        if fs::symlink_metadata(at).is_ok() {
            let aside = self.attic.join(self.aside.len().to_string());
            fs::rename(at, &aside)?;
            self.aside.push((aside, at.to_owned()));
        }
        Ok(())
    }

    /// It is done: what was taken away may go with the attic.
    pub(crate) fn keep(mut self) {
        self.placed.clear();
        self.aside.clear();
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        for at in self.placed.drain(..).rev() {
            let is_directory = fs::symlink_metadata(&at).is_ok_and(|metadata| metadata.is_dir());
            let _ = if is_directory { fs::remove_dir_all(&at) } else { fs::remove_file(&at) };
        }
        for (aside, at) in self.aside.drain(..).rev() {
            let _ = fs::rename(aside, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_names() {
        for (name, pattern, expected) in [
            ("a", "*", true),
            ("o-r-1a2b", "o-*", true),
            ("o-r-1a2b", "*-r-*", true),
            ("o-r", "x*", false),
            ("ab", "a*b*c", false),
            ("abc", "a*b*c", true),
        ] {
            assert_eq!(fits(name, pattern), expected, "{name} {pattern}");
        }
    }

    #[test]
    fn an_exchange_that_is_not_kept_is_undone() {
        let temporary = tempfile::tempdir().unwrap();
        let path = |name: &str| temporary.path().join(name);
        for name in ["old", "new", "other"] {
            fs::create_dir(path(name)).unwrap();
            fs::write(path(name).join("is"), name).unwrap();
        }
        let is = |name: &str| fs::read_to_string(path(name).join("is")).ok();
        let mut exchange = Exchange::new(&path("attic")).unwrap();
        exchange.put(&path("new"), &path("old")).unwrap();
        exchange.clear(&path("other")).unwrap();
        assert_eq!((is("old").as_deref(), is("other")), (Some("new"), None));
        drop(exchange);
        assert_eq!((is("old").as_deref(), is("other").as_deref()), (Some("old"), Some("other")));
    }

    #[test]
    fn links_may_not_lead_out_by_any_way() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("package");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("x"), "").unwrap();
        for (name, to, allowed) in [
            ("a/b/up", "../../x", true),
            ("a/dangling", "b/nothing", true),
            ("a/out", "../../x", false),
            ("a/back", "../../package/x", false),
            ("absolute", "/etc/passwd", false),
            ("loop", "loop", false),
            ("deep", "a/b/../..", true),
        ] {
            let link = root.join(name);
            symlink(to, &link).unwrap();
            assert_eq!(check_link(&root, &link).is_ok(), allowed, "{name} → {to}");
            if !allowed {
                fs::remove_file(link).unwrap();
            }
        }
        fs::remove_file(root.join("deep")).unwrap();
        check_links(&root).unwrap();
        symlink("a/b", root.join("in")).unwrap();
        symlink("in/../../..", root.join("through")).unwrap();
        assert!(check_links(&root).is_err());
    }
}
