//! UIDs and name suffixes: they follow from a seed and the store's clock, so the same commands on the same world give the
//! same ids, and a restarted sandbox never gives one twice.

use sha2::{Digest, Sha256};

use crate::names::LETTERS;
use crate::store::Revision;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    pub(super) seed: u64,
}

impl Ids {
    fn digest(self, what: &str, revision: Revision, text: &str) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.seed.to_be_bytes());
        digest.update(revision.0.to_be_bytes());
        digest.update(what.as_bytes());
        digest.update(text.as_bytes());
        digest.finalize().into()
    }

    /// The UID of an object that is created now.
    pub(super) fn uid(self, revision: Revision, key: &str) -> String {
        let digest = self.digest("uid", revision, key);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// The suffix of a generated name; `attempt` counts names that were taken.
    pub(super) fn suffix(self, revision: Revision, prefix: &str, attempt: u32) -> String {
        let digest = self.digest("name", revision, &format!("{prefix}{attempt}"));
        digest[..5].iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect()
    }
}
