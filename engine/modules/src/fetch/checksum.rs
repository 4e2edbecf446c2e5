//! `?checksum=…` of an archive: `sha256:HEX` and the like, just the digits, or `file:URL` of a list of checksums.

use std::{fs::File, io::Read, path::Path};

use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::{FetchError, Fetcher, Url, percent_decoded};

/// The longest list of checksums that is read.
const MOST: usize = 1 << 20;

impl Fetcher {
    /// Is the file what the checksum says? `name` is what lists call it.
    pub(super) async fn verify(&self, file: &Path, name: &str, checksum: &str) -> Result<(), FetchError> {
        let checksum = percent_decoded(checksum);
        let (kind, expected) = match checksum.strip_prefix("file:") {
            Some(url) => self.listed(url, name).await?,
            None => read(&checksum)?,
        };
        let found = kind.of(file).map_err(|error| FetchError::io("cannot read", file, &error))?;
        if found == expected {
            return Ok(());
        }
        let error = FetchError::new(format!("the checksum of {name} is {found}, and {expected} is expected"));
        Err(error.hint("The archive was changed, or the checksum is that of another one. Nothing of it was used."))
    }

    async fn listed(&self, url: &str, name: &str) -> Result<(Kind, String), FetchError> {
        let url = Url::parse(url)?;
        let list = self.client.get(&url, None).await?.successful()?.text(MOST).await?;
        let lines: Vec<&str> = list.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let found = match lines[..] {
            // A file of one checksum needs no name.
            [only] if !only.contains([' ', '=']) => Some(only),
            _ => lines.iter().find_map(|line| of_line(line, name)),
        };
        let found = found.ok_or_else(|| FetchError::new(format!("{url} has no checksum of {name}")))?;
        read(found)
    }
}

/// `HEX  NAME`, `HEX *NAME`, or `SHA256 (NAME) = HEX`.
fn of_line<'a>(line: &'a str, wanted: &str) -> Option<&'a str> {
    let is_wanted = |name: &str| name.rsplit('/').next() == Some(wanted);
    if let Some((front, sum)) = line.split_once(" = ") {
        let name = front.split_once('(')?.1.strip_suffix(')')?;
        return is_wanted(name).then_some(sum);
    }
    let (sum, name) = line.split_once(char::is_whitespace)?;
    is_wanted(name.trim_start().trim_start_matches('*')).then_some(sum)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Md5,
    Sha1,
    Sha256,
    Sha512,
}

fn read(text: &str) -> Result<(Kind, String), FetchError> {
    let bad = |why: String| FetchError::new(why).hint("Write ?checksum=sha256: and 64 hexadecimal digits.");
    let (name, digits) = text.split_once(':').map_or((None, text), |(name, digits)| (Some(name), digits));
    let kind = match (name, digits.len()) {
        (Some("md5"), _) | (None, 32) => Kind::Md5,
        (Some("sha1"), _) | (None, 40) => Kind::Sha1,
        (Some("sha256"), _) | (None, 64) => Kind::Sha256,
        (Some("sha512"), _) | (None, 128) => Kind::Sha512,
        (Some(name), _) => return Err(bad(format!("there is no kind of checksum \"{name}\""))),
        (None, length) => return Err(bad(format!("no kind of checksum has {length} digits"))),
    };
    if digits.len() != kind.digits() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(bad(format!("the checksum must have {} hexadecimal digits", kind.digits())));
    }
    Ok((kind, digits.to_ascii_lowercase()))
}

impl Kind {
    fn digits(self) -> usize {
        match self {
            Self::Md5 => 32,
            Self::Sha1 => 40,
            Self::Sha256 => 64,
            Self::Sha512 => 128,
        }
    }

    fn of(self, file: &Path) -> std::io::Result<String> {
        match self {
            Self::Md5 => digest::<Md5>(file),
            Self::Sha1 => digest::<Sha1>(file),
            Self::Sha256 => digest::<Sha256>(file),
            Self::Sha512 => digest::<Sha512>(file),
        }
    }
}

fn digest<D: Digest>(file: &Path) -> std::io::Result<String> {
    let mut file = File::open(file)?;
    let mut digest = D::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        }
        digest.update(&buffer[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_read() {
        let digits = "AB".repeat(32);
        assert_eq!(read(&digits).unwrap(), (Kind::Sha256, "ab".repeat(32)));
        assert_eq!(read(&format!("sha256:{digits}")).unwrap().0, Kind::Sha256);
        for wrong in ["", "sha256:", "sha256:ab", "crc:00", "zz", &"xy".repeat(32)] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        for (line, expected) in [
            ("aa  x.zip", Some("aa")),
            ("aa *dir/x.zip", Some("aa")),
            ("SHA256 (x.zip) = aa", Some("aa")),
            ("aa  y.zip", None),
            ("aa  xx.zip", None),
        ] {
            assert_eq!(of_line(line, "x.zip"), expected, "{line}");
        }
    }

    #[test]
    fn digests_are_the_known_ones() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        // RFC 1321, RFC 3174 and FIPS 180-4 give these for "abc".
        for (kind, expected) in [
            (Kind::Md5, "900150983cd24fb0d6963f7d28e17f72"),
            (Kind::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (Kind::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ] {
            assert_eq!(kind.of(file.path()).unwrap(), expected);
        }
    }
}
