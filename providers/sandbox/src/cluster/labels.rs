//! The labels of GPU feature discovery, under the strategy `mixed`.
//!
//! Names and values as in NVIDIA's k8s-device-plugin, `internal/lm`. Not here: the time stamp, and what depends on an image
//! (CUDA's version) or on a switch (cliques).

use std::collections::BTreeMap;

use providers_catalog::Architecture;
use providers_simulator::{Card, Condition, Node};
use serde_json::{Map, Value};

/// Prefix of all of them.
const PREFIX: &str = "nvidia.com/";

/// The labels that are written here and nowhere else: others below the prefix belong to people and to the operator.
const OWN: [&str; 5] = ["nvidia.com/gpu.", "nvidia.com/cuda.", "nvidia.com/mig-", "nvidia.com/mig.", "nvidia.com/mps."];

/// Labels below those prefixes that are nevertheless others'.
const FOREIGN: [&str; 4] =
    ["nvidia.com/gpu.deploy.", "nvidia.com/mig.config", "nvidia.com/gpu-driver-upgrade", "nvidia.com/gpu.clique"];

/// The labels of a node. Its first card stands for all of them, as it does for the real one.
pub(super) fn of(node: &Node) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    let healthy = || node.cards.iter().filter(|card| card.condition == Condition::Healthy);
    let Some(first) = healthy().next() else { return labels };
    let mut set = |name: &str, value: String| {
        labels.insert(format!("{PREFIX}{name}"), value);
    };
    let model = first.model();
    set("gpu.present", "true".to_owned());
    set("gpu.product", product(first));
    set("gpu.count", healthy().count().to_string());
    set("gpu.memory", first.memory_mib().to_string());
    set("gpu.replicas", "1".to_owned());
    set("gpu.sharing-strategy", "none".to_owned());
    set("gpu.mode", "compute".to_owned());
    set("gpu.family", family(model.architecture).to_owned());
    let (major, minor) = compute_capability(model.architecture, model.product.as_str());
    set("gpu.compute.major", major.to_string());
    set("gpu.compute.minor", minor.to_string());
    let driver: Vec<&str> = node.driver_version.splitn(3, '.').collect();
    for (part, value) in ["major", "minor", "revision"].into_iter().zip(&driver) {
        set(&format!("cuda.driver-version.{part}"), (*value).to_owned());
    }
    set("cuda.driver-version.full", node.driver_version.clone());
    set("mig.capable", model.is_mig_capable().to_string());
    set("mig.strategy", "mixed".to_owned());
    set("mps.capable", "false".to_owned());
    labels.extend(slices(healthy()));
    labels
}

fn slices<'a>(cards: impl Iterator<Item = &'a Card>) -> BTreeMap<String, String> {
    let mut labels: BTreeMap<String, String> = BTreeMap::new();
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for card in cards.filter(|card| card.mig) {
        for one in &card.instances {
            let profile = one.instance.profile;
            let resource = profile.resource_name();
            let short = resource.strip_prefix("nvidia.com/mig-").unwrap_or(&resource);
            *counts.entry(resource.clone()).or_default() += 1;
            let mut set = |name: &str, value: String| labels.insert(format!("{resource}.{name}"), value);
            set("product", format!("{}-MIG-{short}", product(card)));
            set("replicas", "1".to_owned());
            set("sharing-strategy", "none".to_owned());
            let Some(info) = card.geometry().and_then(|geometry| geometry.profile(profile)) else { continue };
            set("slices.gi", info.compute_slices.to_string());
            set("slices.ci", info.compute_slices.to_string());
            if let Some(memory) = info.memory_mib {
                set("memory", memory.to_string());
            }
            if let Some(multiprocessors) = info.multiprocessors {
                set("multiprocessors", multiprocessors.to_string());
            }
        }
    }
    labels.extend(counts.into_iter().map(|(resource, count)| (format!("{resource}.count"), count.to_string())));
    labels
}

/// The product as the label spells it.
fn product(card: &Card) -> String {
    card.model().name.replace(' ', "-")
}

fn family(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::Pascal => "pascal",
        Architecture::Volta => "volta",
        Architecture::Turing => "turing",
        Architecture::Ampere => "ampere",
        Architecture::Ada => "ada-lovelace",
        Architecture::Hopper => "hopper",
        Architecture::Blackwell => "blackwell",
    }
}

/// NVIDIA's table of compute capabilities, <https://developer.nvidia.com/cuda-gpus>.
fn compute_capability(architecture: Architecture, product: &str) -> (u8, u8) {
    match architecture {
        Architecture::Pascal => (6, 0),
        Architecture::Volta => (7, 0),
        Architecture::Turing => (7, 5),
        // The GA100 chip is 8.0, the smaller ones are 8.6.
        Architecture::Ampere if product.starts_with("A100") || product.starts_with("A30") => (8, 0),
        Architecture::Ampere if product.starts_with("A800") => (8, 0),
        Architecture::Ampere => (8, 6),
        Architecture::Ada => (8, 9),
        Architecture::Hopper => (9, 0),
        Architecture::Blackwell if product.starts_with("RTX") => (12, 0),
        Architecture::Blackwell if product.contains("300") => (10, 3),
        Architecture::Blackwell => (10, 0),
    }
}

/// What differs between a node's labels and those that it should have: values to set, and null for those to take away.
pub(super) fn changes(known: &Value, wanted: &BTreeMap<String, String>) -> Map<String, Value> {
    let is_own = |name: &str| {
        OWN.iter().any(|prefix| name.starts_with(prefix)) && !FOREIGN.iter().any(|prefix| name.starts_with(prefix))
    };
    let gone = known.as_object().into_iter().flatten().filter(|(name, _)| is_own(name) && !wanted.contains_key(*name));
    let mut changes: Map<String, Value> = gone.map(|(name, _)| (name.clone(), Value::Null)).collect();
    for (name, value) in wanted {
        if known.get(name).and_then(Value::as_str) != Some(value) {
            changes.insert(name.clone(), value.as_str().into());
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fleet;

    fn labels(card: &str) -> BTreeMap<String, String> {
        let fleet = fleet::read(engine_diag::FileId(0), &format!("node \"a\" {{\n{card}\n}}")).unwrap();
        of(&fleet::simulated(&fleet).unwrap().nodes["a"])
    }

    #[test]
    fn labels_follow_the_cards() {
        let found = labels("card \"A100-SXM4-80GB\" {\n count = 2\n instances = [\"1g.10gb\", \"1g.10gb+me\"]\n }");
        for (name, value) in [
            ("gpu.product", "NVIDIA-A100-SXM4-80GB"),
            ("gpu.count", "2"),
            ("gpu.family", "ampere"),
            ("gpu.compute.major", "8"),
            ("cuda.driver-version.major", "580"),
            ("mig.capable", "true"),
            ("mig-1g.10gb.count", "2"),
            ("mig-1g.10gb.slices.gi", "1"),
            ("mig-1g.10gb.me.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb.me"),
        ] {
            assert_eq!(found.get(&format!("nvidia.com/{name}")).map(String::as_str), Some(value), "{name}");
        }
        assert_eq!(labels("card \"L4\" {}")["nvidia.com/mig.capable"], "false");
        assert_eq!(labels(""), BTreeMap::new());
    }

    #[test]
    fn foreign_labels_stay() {
        let known = json!({
            "a": "b", "nvidia.com/mig-1g.10gb.count": "2", "nvidia.com/gpu.count": "1", "nvidia.com/mig.config": "x",
            "nvidia.com/gpu.deploy.mig-manager": "false",
        });
        let wanted = BTreeMap::from([("nvidia.com/gpu.count".to_owned(), "2".to_owned())]);
        let expected = json!({"nvidia.com/mig-1g.10gb.count": null, "nvidia.com/gpu.count": "2"});
        assert_eq!(Value::Object(changes(&known, &wanted)), expected);
    }
}
