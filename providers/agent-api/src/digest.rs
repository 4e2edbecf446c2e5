//! The digest of a card's layout: what a plan saw must still be so when its operation begins.

use engine_model::name::LayoutDigest;
use sha2::{Digest, Sha256};

use crate::Layout;

/// The digest of a layout: the first 16 bytes of the SHA-256 of its canonical JSON, in hexadecimal. Engine and agent
/// compute it from the same type, so they agree as long as they speak the same version of the resource.
pub fn layout_digest(layout: &Layout) -> LayoutDigest {
    let mut canonical = layout.clone();
    canonical.instances.sort();
    let bytes = serde_json::to_vec(&canonical).expect("a layout has only text keys, so it is always JSON");
    let hash = Sha256::digest(&bytes);
    LayoutDigest(hash[..16].iter().map(|byte| format!("{byte:02x}")).collect::<String>().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InstanceSpec;

    #[test]
    fn order_does_not_count_and_content_does() {
        let at = |start| InstanceSpec { start, size: 1, profile: "1g.10gb".to_owned() };
        let layout = |instances| Layout { mig: true, instances, sharing: None };
        assert_eq!(layout_digest(&layout(vec![at(0), at(1)])), layout_digest(&layout(vec![at(1), at(0)])));
        assert_ne!(layout_digest(&layout(vec![at(0)])), layout_digest(&layout(vec![at(1)])));
        assert_eq!(layout_digest(&Layout::default()).as_str().len(), 32);
    }
}
