//! What a cluster says of itself and seldom changes, kept on disk from run to run.
//!
//! Nothing is believed because it lies there: each entry says which cluster it is of, by which tag the server knows it,
//! and the digest of what follows, and the server is asked whether the tag is still right. An entry that does not fit is
//! as none. Entries are replaced in one step, so that runs at the same time read either the old one or the new one.

use std::{
    fs::{self, DirBuilder},
    io::{Read, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::digest::hex;

/// The form of an entry: one that is changed gets another number.
const FORM: u32 = 1;

/// The most that is read of an entry. The largest OpenAPI document of Kubernetes itself has about 2 MiB.
const MOST: u64 = 64 << 20;

/// The entries of one cluster.
#[derive(Clone)]
pub(super) struct Cache {
    folder: PathBuf,
    cluster: String,
}

/// The first line of an entry.
#[derive(Serialize, Deserialize, PartialEq)]
struct Head {
    form: u32,
    cluster: String,
    name: String,
    tag: String,
    sha256: String,
}

impl Cache {
    /// The entries of the cluster with this digest, below a folder that many clusters share.
    pub(super) fn new(folder: &Path, cluster: &str) -> Self {
        Self { folder: folder.join(cluster), cluster: cluster.to_owned() }
    }

    /// An entry, with its tag.
    pub(super) fn get(&self, name: &str) -> Option<(String, Vec<u8>)> {
        let mut bytes = Vec::new();
        fs::File::open(self.path(name)).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let head: Head = serde_json::from_slice(&bytes[..end]).ok()?;
        let body = bytes.split_off(end + 1);
        let expected = self.head(name, &head.tag, &body);
        (head == expected).then_some((head.tag, body))
    }

    /// Keeps an entry. A folder that cannot be written costs time, and nothing else.
    pub(super) fn put(&self, name: &str, tag: &str, body: &[u8]) {
        let _ = self.try_put(name, tag, body);
    }

    fn try_put(&self, name: &str, tag: &str, body: &[u8]) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        let head = serde_json::to_vec(&self.head(name, tag, body)).map_err(std::io::Error::other)?;
        for part in [&head, &b"\n"[..], body] {
            file.write_all(part)?;
        }
        file.persist(self.path(name)).map_err(|error| error.error)?;
        Ok(())
    }

    fn head(&self, name: &str, tag: &str, body: &[u8]) -> Head {
        Head {
            form: FORM,
            cluster: self.cluster.clone(),
            name: name.to_owned(),
            tag: tag.to_owned(),
            sha256: hex(&Sha256::new().chain_update([name, "\0", tag, "\0"].concat()).chain_update(body).finalize()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}.json", name.replace('/', "~")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_does_not_fit_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::new(dir.path(), "a");
        assert_eq!(cache.get("apis/apps/v1"), None);
        cache.put("apis/apps/v1", "t", b"{}\n");
        assert_eq!(cache.get("apis/apps/v1"), Some(("t".to_owned(), b"{}\n".to_vec())));
        let path = dir.path().join("a/apis~apps~v1.json");
        let whole = fs::read(&path).unwrap();
        // Another cluster's, another name's.
        let other = Cache::new(dir.path(), "b");
        other.put("x", "t", b"{}");
        fs::copy(&path, dir.path().join("b/x.json")).unwrap();
        assert_eq!(other.get("x"), None);
        fs::copy(&path, dir.path().join("a/y.json")).unwrap();
        assert_eq!(cache.get("y"), None);
        // Cut off or changed anywhere.
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_eq!(cache.get("apis/apps/v1"), None, "{cut}");
            let mut changed = whole.clone();
            changed[cut] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert_eq!(cache.get("apis/apps/v1"), None, "{cut}");
        }
    }
}
