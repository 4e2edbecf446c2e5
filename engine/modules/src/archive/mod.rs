//! Archives to files. Whatever an archive says, nothing is written outside of its directory, no more than the limits
//! allow, and no links that lead out are left.

mod tar;
mod target;
mod zip;

use std::{
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use crate::fetch::{FetchError, Limits};
use target::Target;

/// The kinds, for people.
pub(crate) const KINDS: &str = "Archives are zip, tar.gz (tgz), tar.bz2 (tbz2) and tar.xz (txz).";

/// A kind of archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Zip,
    TarGz,
    TarBz2,
    TarXz,
}

/// By the ends of names.
const NAMES: [(&str, Kind); 7] = [
    ("zip", Kind::Zip),
    ("tar.gz", Kind::TarGz),
    ("tgz", Kind::TarGz),
    ("tar.bz2", Kind::TarBz2),
    ("tbz2", Kind::TarBz2),
    ("tar.xz", Kind::TarXz),
    ("txz", Kind::TarXz),
];

impl Kind {
    /// As `?archive=` names it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// By the end of a path.
    pub(crate) fn of_path(path: &str) -> Option<Self> {
        let ends = |name: &str| path.strip_suffix(name).is_some_and(|front| front.ends_with('.'));
        NAMES.iter().find(|(name, _)| ends(name)).map(|(_, kind)| *kind)
    }
}

/// Unpacks a file into a directory that does not exist yet.
pub(crate) fn unpack(file: &Path, kind: Kind, into: &Path, limits: Limits) -> Result<(), FetchError> {
    let opened = File::open(file).map_err(|error| FetchError::io("cannot read", file, &error))?;
    let mut target = Target::new(into, limits)?;
    let buffered = BufReader::new(opened);
    match kind {
        Kind::Zip => zip::unpack(buffered, &mut target)?,
        Kind::TarGz => tar::unpack(flate2::bufread::MultiGzDecoder::new(buffered), &mut target)?,
        Kind::TarBz2 => tar::unpack(bzip2::bufread::MultiBzDecoder::new(buffered), &mut target)?,
        Kind::TarXz => tar::unpack(xz(buffered), &mut target)?,
    }
    target.finish()
}

/// The dictionary of xz is as large as the file says: `xz -9` says 64 MiB.
const XZ_MEMORY_KIB: u32 = 80 << 10;

fn xz(file: impl Read) -> impl Read {
    lzma_rust2::XzReader::new_mem_limit(file, true, XZ_MEMORY_KIB)
}

/// The error of an archive that is none, or is broken.
fn broken(error: impl std::fmt::Display) -> FetchError {
    FetchError::new(format!("it is broken, or of another kind: {error}")).hint(KINDS)
}
