//! Zip, with what is stored or deflated.

use std::io::{Read, Seek};

use zip::ZipArchive;

use super::{
    broken,
    target::{MAX_LINK, Target},
};
use crate::fetch::FetchError;

pub(super) fn unpack(from: impl Read + Seek, target: &mut Target) -> Result<(), FetchError> {
    let mut archive = ZipArchive::new(from).map_err(broken)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(broken)?;
        let name = entry.name().map_err(broken)?.into_owned();
        let Some(path) = target.place(&name)? else { continue };
        if entry.is_dir() {
            target.directory(&path)?;
        } else if entry.is_symlink() {
            let mut to = String::new();
            (&mut entry).take(MAX_LINK + 1).read_to_string(&mut to).map_err(broken)?;
            target.link(path, &to)?;
        } else {
            let executable = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
            target.file(&path, &mut entry, executable)?;
        }
    }
    Ok(())
}
