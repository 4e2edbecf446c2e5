//! The name of a card as users and labels write it. Whether the catalog knows it is the catalog's affair.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A card's product name in the spelling of GPU Feature Discovery's label `nvidia.com/gpu.product`, without the prefix
/// `NVIDIA-` and without the suffixes that slicing adds: `A100-SXM4-80GB`.
///
/// The suffixes change with every change of slicing, so they are cut off at the edge: a product never has them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Product(String);

impl Product {
    /// Reads a label's value, NVML's device name or what a user wrote; never fails, since any name may be a card that
    /// the catalog does not know yet.
    pub fn new(text: &str) -> Self {
        let dashed = text.trim().replace(' ', "-");
        let name = dashed.strip_prefix("NVIDIA-").unwrap_or(&dashed);
        let name = name.split_once("-MIG-").map_or(name, |(before, _)| before);
        let name = name.strip_suffix("-SHARED").unwrap_or(name);
        Self(name.to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Product {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl From<Product> for String {
    fn from(product: Product) -> Self {
        product.0
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slicing_leaves_no_trace_in_a_product() {
        for (text, expected) in [
            ("A100-SXM4-80GB", "A100-SXM4-80GB"),
            ("NVIDIA-A100-SXM4-80GB", "A100-SXM4-80GB"),
            ("NVIDIA A100 80GB PCIe", "A100-80GB-PCIe"),
            ("NVIDIA-A100-SXM4-80GB-SHARED", "A100-SXM4-80GB"),
            ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "A100-SXM4-80GB"),
            ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb.me-SHARED", "A100-SXM4-80GB"),
            ("NVIDIA-H100-80GB-HBM3-MIG-INVALID", "H100-80GB-HBM3"),
            ("Tesla T4", "Tesla-T4"),
        ] {
            assert_eq!(Product::new(text).as_str(), expected, "{text}");
        }
    }
}
