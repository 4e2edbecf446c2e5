//! Tar: the POSIX, GNU and pax forms.

use std::{borrow::Cow, io::Read};

use tar::{Archive, Entry, EntryType};

use super::{broken, target::Target};
use crate::fetch::FetchError;

pub(super) fn unpack(from: impl Read, target: &mut Target) -> Result<(), FetchError> {
    let mut archive = Archive::new(from);
    for entry in archive.entries().map_err(broken)? {
        one(entry.map_err(broken)?, target)?;
    }
    Ok(())
}

fn one(mut entry: Entry<'_, impl Read>, target: &mut Target) -> Result<(), FetchError> {
    let kind = entry.header().entry_type();
    if kind == EntryType::XGlobalHeader {
        return Ok(());
    }
    let name = text(entry.path_bytes())?;
    let Some(path) = target.place(&name)? else { return Ok(()) };
    match kind {
        EntryType::Directory => target.directory(&path),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
            let executable = entry.header().mode().is_ok_and(|mode| mode & 0o111 != 0);
            target.file(&path, &mut entry, executable)
        }
        EntryType::Symlink | EntryType::Link => {
            let to = entry.link_name_bytes().ok_or_else(|| broken("a link without a goal"))?;
            let to = text(to)?;
            if kind == EntryType::Symlink {
                return target.link(path, &to);
            }
            match target.place(&to)? {
                Some(other) => target.same(&path, &other),
                None => Err(broken("a link to the whole")),
            }
        }
        _ => {
            let error = FetchError::new(format!("its entry {name:?} is a device, a pipe, or something unknown"));
            Err(error.hint("Nothing of it was used. No module needs such an entry."))
        }
    }
}

fn text(bytes: Cow<'_, [u8]>) -> Result<String, FetchError> {
    String::from_utf8(bytes.into_owned()).map_err(|_| broken("a name is not UTF-8 text"))
}
