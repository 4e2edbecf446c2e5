//! The catalog: every card model that we know, looked up by name or PCI device.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::{CardModel, MigProfile, MigSupport, Product, load};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let cards = load::cards(include_str!("../data/mig-geometry.json"));
    Catalog::new(cards.expect("the catalog's own data is valid, which its tests check"))
});

/// Every card model that we know.
#[derive(Debug)]
pub struct Catalog {
    cards: Vec<CardModel>,
    // Keys in lower case: labels spell `PCIe` and `PCIE`.
    by_name: BTreeMap<String, usize>,
}

/// The catalog, parsed once.
pub fn catalog() -> &'static Catalog {
    &CATALOG
}

impl Catalog {
    fn new(cards: Vec<CardModel>) -> Self {
        let mut by_name = BTreeMap::new();
        for (index, card) in cards.iter().enumerate() {
            for product in std::iter::once(&card.product).chain(&card.other_spellings) {
                let previous = by_name.insert(product.as_str().to_lowercase(), index);
                assert!(previous.is_none(), "product {product} is in the catalog twice");
            }
        }
        Self { cards, by_name }
    }

    /// All card models, in the order of the catalog's data.
    pub fn cards(&self) -> &[CardModel] {
        &self.cards
    }

    /// The card model of a product, in any known spelling and case.
    pub fn find(&self, product: &Product) -> Option<&CardModel> {
        let index = self.by_name.get(&product.as_str().to_lowercase())?;
        self.cards.get(*index)
    }

    /// The card model with a PCI device id (the upper half of NVML's `pciDeviceId`).
    pub fn find_device(&self, device_id: u16) -> Option<&CardModel> {
        self.cards.iter().find(|card| card.device_id == Some(device_id))
    }

    /// Every MIG profile name that any card has.
    pub fn mig_profiles(&self) -> BTreeSet<MigProfile> {
        let mut names = BTreeSet::new();
        for card in &self.cards {
            match &card.mig {
                MigSupport::Known(geometry) => names.extend(geometry.profiles.iter().map(|info| info.profile)),
                MigSupport::Unpublished(profiles) => names.extend(profiles),
                MigSupport::No => {}
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Architecture;

    #[test]
    fn finds_cards_in_every_spelling() {
        for (text, product) in [
            ("A100-SXM4-80GB", "A100-SXM4-80GB"),
            ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "A100-SXM4-80GB"),
            ("NVIDIA A100 80GB PCIe", "A100-80GB-PCIe"),
            ("A100-PCIE-80GB", "A100-80GB-PCIe"),
            ("h100-pcie", "H100-PCIe"),
            ("Tesla-T4", "Tesla-T4"),
            ("T4", "Tesla-T4"),
        ] {
            let card = catalog().find(&Product::new(text)).unwrap_or_else(|| panic!("{text} is unknown"));
            assert_eq!(card.product.as_str(), product, "{text}");
            assert_eq!(Product::new(&card.name), card.product, "NVML's name of {product} gives its product");
        }
        assert!(catalog().find(&Product::new("GTX-9999")).is_none());
    }

    #[test]
    fn nvml_names_and_devices_lead_back_to_the_card() {
        for card in catalog().cards() {
            assert_eq!(Product::new(&card.name), card.product);
            if let Some(device) = card.device_id {
                assert_eq!(catalog().find_device(device).map(|found| &found.product), Some(&card.product));
            }
        }
        assert!(catalog().find_device(0).is_none());
    }

    #[test]
    fn tells_what_kind_of_card_it_is() {
        let find = |text: &str| catalog().find(&Product::new(text)).unwrap();
        for product in ["A100-SXM4-40GB", "H100-80GB-HBM3", "H200", "B200", "GB200", "B300-SXM6-AC", "GB300", "A30"] {
            assert!(find(product).geometry().is_some(), "{product}");
        }
        for product in ["RTX-PRO-5000-Blackwell", "Thor"] {
            assert!(find(product).geometry().is_none() && find(product).is_mig_capable(), "{product}");
        }
        for (product, mib) in [("L4", 23034), ("Tesla-T4", 15360), ("L40S", 46068)] {
            assert!(!find(product).is_mig_capable(), "{product}");
            assert_eq!(find(product).memory_mib, Some(mib));
        }
        // Ampere is reset by a change of mode and remembers it; Hopper and later are neither.
        for card in catalog().cards() {
            let Some(geometry) = card.geometry() else { continue };
            let ampere = card.architecture == Architecture::Ampere;
            assert_eq!(
                (geometry.mode_needs_reset, geometry.mode_survives_reboot),
                (ampere, ampere),
                "{}",
                card.product
            );
        }
    }

    #[test]
    fn drivers_that_only_some_cards_of_a_geometry_need() {
        let driver = |text: &str| catalog().find(&Product::new(text)).unwrap().min_driver.clone().unwrap().to_string();
        assert_eq!(driver("GH200-480GB"), "525.85.12");
        assert_eq!(driver("H20"), "535.161.07");
        assert_eq!(driver("B200"), "570.133.20");
    }

    #[test]
    fn one_name_means_different_slices() {
        let size = |product: &str, name: &str| {
            let geometry = catalog().find(&Product::new(product)).unwrap().geometry().unwrap();
            let info = geometry.profile(name.parse().unwrap()).unwrap();
            (info.size, info.max_instances)
        };
        assert_eq!(size("A100-SXM4-80GB", "1g.10gb"), (1, 7));
        assert_eq!(size("A100-SXM4-40GB", "1g.10gb"), (2, 4));
        assert_eq!(size("H200", "1g.35gb"), (2, 4));
        assert_eq!(size("GB300", "1g.35gb"), (1, 7));
    }

    #[test]
    fn profile_names_of_all_cards() {
        let names = catalog().mig_profiles();
        for name in ["1g.5gb", "7g.278gb", "1g.24gb+me.all", "2g.48gb-me", "1g.0gb+gfx"] {
            assert!(names.contains(&name.parse().unwrap()), "{name}");
        }
        assert!(!names.contains(&"1g.1gb".parse().unwrap()));
    }
}
