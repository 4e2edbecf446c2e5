//! Identities out of names and counters, so that the same world is made the same way twice.

use sha2::{Digest, Sha256};

/// A UUID that depends on all parts and on nothing else.
pub(crate) fn uuid(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        // A separator that no name contains: ("a", "bc") and ("ab", "c") differ.
        hash.update([0]);
    }
    let hex: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn depends_on_every_part() {
        assert_eq!(uuid(&["gpu", "gpu-01"]), uuid(&["gpu", "gpu-01"]));
        assert_ne!(uuid(&["a", "bc"]), uuid(&["ab", "c"]));
        let text = uuid(&["gpu"]);
        let lengths: Vec<usize> = text.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
    }
}
