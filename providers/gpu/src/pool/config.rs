//! The configuration of a pool: read and checked.

use std::collections::BTreeMap;

use engine_value::{Path, Value};
use providers_agent_api::GROUP;
use providers_api::Issue;

use super::{
    profile::{Profile, profile},
    profile_path,
};
use crate::attributes::{known, text, texts};

/// What a pool's configuration says.
#[derive(Clone, Debug)]
pub(crate) struct PoolConfig {
    /// Labels that its nodes have.
    pub(crate) selector: BTreeMap<String, String>,
    /// Its profiles by name.
    pub(crate) profiles: BTreeMap<String, Profile>,
}

/// What becomes of the cards of a pool that is destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDestroy {
    /// Nothing.
    Keep,
    /// The layout that was found first comes back.
    Restore,
    /// MIG is switched off.
    Whole,
}

impl OnDestroy {
    /// What an object says; what is left out is the default.
    pub(crate) fn of(object: &Value) -> Self {
        match text(object, "on_destroy") {
            Some("restore") => Self::Restore,
            Some("whole") => Self::Whole,
            _ => Self::Keep,
        }
    }
}

/// Attributes with a default: name, default, what else is allowed, what is not yet and why.
const CHOICES: [Choice; 3] = [
    Choice {
        name: "partitioned_by",
        default: "agent",
        allowed: &["agent"],
        refused: Some((
            "mig-manager",
            "NVIDIA's mig-manager destroys every slice of a card to change one, and evicts nobody: this version cuts \
             cards by its own agent only.",
        )),
    },
    Choice {
        name: "advertised_by",
        default: "device-plugin",
        allowed: &["device-plugin"],
        refused: Some((
            "agent",
            "The agent has no device plugin of its own in this version; NVIDIA's offers MIG slices.",
        )),
    },
    Choice { name: "on_destroy", default: "keep", allowed: &["keep", "restore", "whole"], refused: None },
];

struct Choice {
    name: &'static str,
    default: &'static str,
    allowed: &'static [&'static str],
    refused: Option<(&'static str, &'static str)>,
}

/// The attributes that have a default, with it.
pub(crate) fn defaults() -> impl Iterator<Item = (&'static str, &'static str)> {
    CHOICES.iter().map(|choice| (choice.name, choice.default))
}

/// Everything that is wrong with a configuration, as far as it is known.
pub(crate) fn check(config: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    read(config, &mut issues);
    issues
}

impl PoolConfig {
    /// Reads a configuration.
    ///
    /// # Errors
    /// Everything that is wrong with it. What is not known yet is an error too: operations on nodes are in the plan, or
    /// they do not happen.
    pub(crate) fn of(config: &Value) -> Result<Self, Vec<Issue>> {
        let mut issues = Vec::new();
        for name in ["selector", "profiles", "partitioned_by", "advertised_by", "on_destroy"] {
            if config.get(name).is_some_and(Value::has_unknown) {
                let detail = format!(
                    "`{name}` depends on values that are known only after apply, so the changes on nodes could not be \
                     shown in the plan."
                );
                let hint = "Use values that are known at plan, or apply what they depend on first, with -target.";
                issues.push(Issue::error(Path::root().attr(name), "Value not known at plan", detail).hint(hint));
            }
        }
        match read(config, &mut issues) {
            Some(config) if issues.is_empty() => Ok(config),
            _ => Err(issues),
        }
    }
}

fn read(config: &Value, issues: &mut Vec<Issue>) -> Option<PoolConfig> {
    for choice in &CHOICES {
        choice.check(config, issues);
    }
    check_selector(config, issues);
    let selector: BTreeMap<String, String> = texts(config, "selector").collect();
    let mut profiles = BTreeMap::new();
    let entries = known(config, "profiles").and_then(Value::as_map);
    for (name, value) in entries.into_iter().flatten().filter(|(_, value)| value.is_wholly_known()) {
        if let Some(profile) = profile(value, &profile_path(name), issues) {
            profiles.insert(name.to_string(), profile);
        }
    }
    if entries.is_some_and(BTreeMap::is_empty) {
        let detail = "A pool without profiles cuts nothing.";
        let hint = "Add a profile, such as { rest = { whole = true } }.";
        issues.push(Issue::error(Path::root().attr("profiles"), "No profiles", detail).hint(hint));
    }
    check_claims(&profiles, issues);
    Some(PoolConfig { selector, profiles })
}

impl Choice {
    fn check(&self, config: &Value, issues: &mut Vec<Issue>) {
        let Some(value) = text(config, self.name) else { return };
        let path = Path::root().attr(self.name);
        if self.allowed.contains(&value) {
            return;
        }
        if let Some((refused, why)) = self.refused.filter(|(refused, _)| *refused == value) {
            let issue = Issue::error(path, format!("{} = \"{refused}\" is not supported yet", self.name), why);
            issues.push(issue.hint(format!("Use \"{}\", or leave it out.", self.default)));
            return;
        }
        let allowed: Vec<String> = self.allowed.iter().map(|value| format!("\"{value}\"")).collect();
        let detail = format!("`{}` is {}, found {value:?}.", self.name, allowed.join(" or "));
        issues.push(Issue::error(path, format!("Invalid {}", self.name), detail));
    }
}

fn check_selector(config: &Value, issues: &mut Vec<Issue>) {
    let path = Path::root().attr("selector");
    let Some(selector) = known(config, "selector").and_then(Value::as_map) else { return };
    if selector.is_empty() {
        let detail = "An empty selector would take every node of the cluster.";
        let hint = "Select by a label that you give to the nodes, such as { \"example.com/pool\" = \"dev\" }.";
        issues.push(Issue::error(path.clone(), "Empty selector", detail).hint(hint));
    }
    for (key, value) in selector {
        let at = path.clone().key(key.clone());
        if value.is_null() {
            issues.push(Issue::error(at, "Invalid selector", "A label is selected by its value, found null."));
        } else if let Some(hint) = instead_of(key) {
            let detail = format!(
                "Nodes cannot be selected by `{key}`: such labels are rewritten when cards are cut, so the next plan \
                 would see other nodes than this one."
            );
            let summary = "The selector is on a label that slicing rewrites";
            issues.push(Issue::error(at, summary, detail).hint(hint));
        }
    }
}

// What to use instead of a label that slicing rewrites.
fn instead_of(key: &str) -> Option<String> {
    let prefix = key.split_once('/').map(|(prefix, _)| prefix)?;
    let own = "Label the nodes yourself, such as example.com/pool=dev";
    match (prefix, key) {
        (_, "nvidia.com/gpu.product") => Some(format!("{own}, and name the card model by `product` in the profiles.")),
        ("nvidia.com", _) => Some(format!("{own}.")),
        (GROUP, _) => Some(format!("{own}: labels of {GROUP} are ours.")),
        _ => None,
    }
}

// A profile without a count takes all that remain of its product; one without a product, all that remain at all. So
// two of the same kind would both claim the same cards, and order must not decide.
fn check_claims(profiles: &BTreeMap<String, Profile>, issues: &mut Vec<Issue>) {
    let mut takers: BTreeMap<Option<&str>, &String> = BTreeMap::new();
    for (name, profile) in profiles.iter().filter(|(_, profile)| profile.cards.is_none()) {
        let product = profile.product.map(|model| model.product.as_str());
        let Some(other) = takers.insert(product, name) else { continue };
        let which = product.map_or("every card that remains".to_owned(), |p| format!("every {p} that remains"));
        let detail = format!(
            "Profiles {other:?} and {name:?} both claim {which}, and the order of profiles means nothing, so nothing \
             tells which of them gets a card."
        );
        let hint = format!("Give one of them a count: profiles.{name}.cards, or profiles.{other}.cards.");
        issues.push(Issue::error(profile_path(name), "Two profiles claim the same cards", detail).hint(hint));
    }
}

#[cfg(test)]
mod tests {
    use engine_value::Type;

    use super::*;
    use crate::fixture::{ProfileSpec, pool_config as config};

    const POOL: &[(&str, &str)] = &[("example.com/pool", "dev")];
    const REST: ProfileSpec<'_> = ("rest", "", 0, &[]);

    #[test]
    fn selectors_that_slicing_would_move_are_refused() {
        for (labels, summary, hint) in [
            (&[][..], "Empty selector", "example.com/pool"),
            (
                &[("nvidia.com/gpu.product", "x")][..],
                "The selector is on a label that slicing rewrites",
                "`product` in the profiles",
            ),
            (
                &[("nvidia.com/gpu.present", "true")][..],
                "The selector is on a label that slicing rewrites",
                "Label the nodes yourself",
            ),
            (&[("sliceform.io/x", "y")][..], "The selector is on a label that slicing rewrites", "are ours"),
        ] {
            let issues = check(&config(labels, &[REST]));
            assert_eq!(issues.len(), 1, "{issues:?}");
            assert_eq!(issues[0].summary, summary);
            assert!(issues[0].hint.as_ref().unwrap().contains(hint), "{issues:?}");
        }
        assert_eq!(check(&config(POOL, &[REST])), []);
        assert_eq!(check(&config(&[("kubernetes.io/hostname", "gpu-01")], &[REST])), []);
    }

    #[test]
    fn two_profiles_may_not_claim_the_same_cards() {
        let slices: &[(&str, i64)] = &[("1g.10gb", 1)];
        let a100 = "A100-SXM4-80GB";
        for (profiles, expected) in [
            (vec![REST, ("also", "", 0, &[][..])], 1),
            (vec![("a", a100, 0, slices), ("b", a100, 0, slices)], 1),
            // Another spelling of the same card is the same card.
            (vec![("a", a100, 0, slices), ("b", "NVIDIA-A100-SXM4-80GB", 0, &[][..])], 1),
            (vec![("a", a100, 1, slices), ("b", a100, 0, slices), REST], 0),
            (vec![("a", a100, 1, slices), ("b", a100, 2, slices), REST], 0),
        ] {
            let issues = check(&config(POOL, &profiles));
            assert_eq!(issues.len(), expected, "{profiles:?}: {issues:?}");
        }
    }

    #[test]
    fn choices_are_checked() {
        for (name, value, summary) in [
            ("partitioned_by", "mig-manager", "partitioned_by = \"mig-manager\" is not supported yet"),
            ("advertised_by", "agent", "advertised_by = \"agent\" is not supported yet"),
            ("on_destroy", "burn", "Invalid on_destroy"),
        ] {
            let config = crate::attributes::with(&config(POOL, &[REST]), name, Value::string(value));
            let issues = check(&config);
            assert_eq!(issues.len(), 1);
            assert_eq!(issues[0].summary, summary);
        }
    }

    #[test]
    fn what_is_not_known_is_left_to_the_plan_which_refuses_it() {
        let unknown = Value::unknown(Type::map(Type::String));
        let config = crate::attributes::with(&config(POOL, &[REST]), "selector", unknown);
        assert_eq!(check(&config), []);
        let issues = PoolConfig::of(&config).unwrap_err();
        assert_eq!(issues[0].summary, "Value not known at plan");
    }
}
