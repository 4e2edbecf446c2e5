//! One profile of a pool: read, checked, and what would fit where it does not.

use engine_value::{Path, Value};
use providers_api::Issue;
use providers_catalog::{
    CardModel, Current, MigProfile, Product, ProfileCounts, Request, Suggestion, Wanted, catalog, solve,
};

use crate::{
    attributes::{known, text},
    resource::nearest,
};

/// How one card is cut.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cut {
    /// Not at all.
    Whole,
    /// In these MIG slices.
    Mig(ProfileCounts),
}

impl Cut {
    /// As the solver asks for it.
    pub(crate) fn wanted(&self) -> Wanted {
        match self {
            Self::Whole => Wanted::Whole,
            Self::Mig(counts) => Wanted::Mig(counts.clone()),
        }
    }
}

/// A profile.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// The card model that it is for; `None`: any that remains (only without cutting).
    pub(crate) product: Option<&'static CardModel>,
    /// How many cards; `None`: all that remain.
    pub(crate) cards: Option<usize>,
    /// How each is cut.
    pub(crate) cut: Cut,
}

/// Reads a profile whose value is wholly known. Says everything that is wrong with it.
pub(crate) fn profile(value: &Value, path: &Path, issues: &mut Vec<Issue>) -> Option<Profile> {
    let before = issues.len();
    refuse_what_is_not_managed(value, path, issues);
    let product = text(value, "product").map(|name| model(name, path, issues));
    let cards = known(value, "cards").map(|cards| count(cards, 1, "cards", &path.clone().attr("cards"), issues));
    let cut = cut(value, path, issues);
    if let (Some(Some(model)), Some(Cut::Mig(counts))) = (product, &cut) {
        feasible(model, counts, &path.clone().attr("mig"), issues);
    }
    if product.is_none() && (cards.is_some() || matches!(cut, Some(Cut::Mig(_)))) {
        let detail = "A profile with `cards` or `mig` is for one card model: a name such as 1g.10gb is another slice on \
                      another card.";
        let hint = "Set `product`, such as product = \"A100-SXM4-80GB\".";
        issues.push(Issue::error(path.clone(), "Missing product", detail).hint(hint));
    }
    if issues.len() > before {
        return None;
    }
    Some(Profile { product: product.flatten(), cards: cards.flatten(), cut: cut? })
}

fn refuse_what_is_not_managed(value: &Value, path: &Path, issues: &mut Vec<Issue>) {
    for (name, why) in [
        ("mps", "Shares of a card under MPS need the agent's own device plugin, which this version does not have."),
        (
            "time_slicing",
            "Time-slicing is set for all cards of a node at once in the device plugin's ConfigMap, which \
                          this version does not write.",
        ),
    ] {
        if known(value, name).is_some() {
            let issue = Issue::error(path.clone().attr(name), format!("{name} is not supported yet"), why);
            issues.push(issue.hint("Use `mig`, or leave the card whole with whole = true."));
        }
    }
}

fn model(name: &str, path: &Path, issues: &mut Vec<Issue>) -> Option<&'static CardModel> {
    let product = Product::new(name);
    let found = catalog().find(&product);
    if found.is_none() {
        let known = catalog().cards().iter().map(|card| card.product.as_str());
        let hint = match nearest(product.as_str(), known.clone()) {
            Some(near) => format!("Did you mean {near:?}?"),
            None => format!("Known are {}.", known.collect::<Vec<_>>().join(", ")),
        };
        let detail = format!("There is no card model {name:?} in the catalog.");
        issues.push(Issue::error(path.clone().attr("product"), "Unknown card model", detail).hint(hint));
    }
    found
}

fn count(value: &Value, least: i64, what: &str, path: &Path, issues: &mut Vec<Issue>) -> Option<usize> {
    let count = value.as_i64().filter(|count| *count >= least).and_then(|count| usize::try_from(count).ok());
    // No node has a million cards, no card a million slices: more is a slip, and would only overflow sums.
    let count = count.filter(|count| *count <= 1_000_000);
    if count.is_none() {
        let detail = format!("The number of {what} is a whole number from {least} to 1000000.");
        issues.push(Issue::error(path.clone(), format!("Invalid number of {what}"), detail));
    }
    count
}

fn cut(value: &Value, path: &Path, issues: &mut Vec<Issue>) -> Option<Cut> {
    let whole = known(value, "whole").and_then(Value::as_bool).unwrap_or(false);
    let mig = known(value, "mig").and_then(Value::as_map);
    match (whole, mig) {
        (true, None) => Some(Cut::Whole),
        (false, Some(slices)) => {
            let path = path.clone().attr("mig");
            let mut counts = ProfileCounts::default();
            for (name, number) in slices {
                let path = path.clone().key(name.clone());
                match name.parse::<MigProfile>() {
                    Ok(profile) => {
                        counts.add(profile, count(number, 0, "slices", &path, issues).unwrap_or(0) as u32);
                    }
                    Err(error) => {
                        let detail = format!("{error}.");
                        issues.push(Issue::error(path, "Invalid MIG profile", detail));
                    }
                }
            }
            Some(Cut::Mig(counts))
        }
        (true, Some(_)) => {
            let detail = "A card is either whole or cut: the profile has both `whole` and `mig`.";
            issues.push(Issue::error(path.clone(), "Contradicting profile", detail).hint("Remove one of the two."));
            None
        }
        (false, None) => {
            // What is refused above has been told already.
            if known(value, "mps").is_none() && known(value, "time_slicing").is_none() {
                let detail = "The profile does not say how a card is cut.";
                let hint = "Set `mig`, such as mig = { \"1g.10gb\" = 7 }, or whole = true.";
                issues.push(Issue::error(path.clone(), "Empty profile", detail).hint(hint));
            }
            None
        }
    }
}

// Does it fit an empty card at all, whatever the driver?
fn feasible(model: &'static CardModel, counts: &ProfileCounts, path: &Path, issues: &mut Vec<Issue>) {
    let (current, wanted) = (Current::Mig(Vec::new()), Wanted::Mig(counts.clone()));
    let request = Request { card: model, driver: None, current: &current, wanted: &wanted };
    if let Err(infeasible) = solve(&request) {
        let detail = format!("{infeasible}.");
        let issue = Issue::error(path.clone(), "The profile does not fit the card", detail);
        issues.push(issue.hint(what_fits(&infeasible.suggestions)));
    }
}

/// What would fit, as a sentence, each suggestion spelled as the configuration spells it.
pub(crate) fn what_fits(suggestions: &[Suggestion]) -> String {
    let spelled: Vec<String> = suggestions.iter().map(|suggestion| spell(&suggestion.wanted)).collect();
    match spelled.as_slice() {
        [] => "Nothing would fit.".to_owned(),
        [one] => format!("This would fit: {one}."),
        several => format!("Each of these would fit: {}.", several.join("; ")),
    }
}

fn spell(wanted: &Wanted) -> String {
    match wanted {
        Wanted::Whole => "whole = true".to_owned(),
        Wanted::Mig(counts) => {
            let slices: Vec<String> =
                counts.iter().map(|(profile, count)| format!("\"{profile}\" = {count}")).collect();
            format!("mig = {{ {} }}", slices.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use engine_value::Type;
    use proptest::prelude::*;

    use super::*;

    pub(super) fn value(
        product: Option<&str>,
        cards: Option<i64>,
        mig: Option<&[(String, i64)]>,
        whole: bool,
    ) -> Value {
        let text = |text: Option<&str>| text.map_or(Value::null(Type::String), Value::string);
        let slices = |slices: &[(String, i64)]| {
            Value::map(Type::Number, slices.iter().map(|(name, count)| (name.clone(), Value::int(*count))))
        };
        Value::object([
            ("product", text(product)),
            ("cards", cards.map_or(Value::null(Type::Number), Value::int)),
            ("mig", mig.map_or(Value::null(Type::map(Type::Number)), slices)),
            ("mps", Value::null(Type::Dynamic)),
            ("time_slicing", Value::null(Type::Number)),
            ("whole", if whole { Value::bool(true) } else { Value::null(Type::Bool) }),
        ])
    }

    fn slices(list: &[(&str, i64)]) -> Vec<(String, i64)> {
        list.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    fn issues(value: &Value) -> Vec<Issue> {
        let mut issues = Vec::new();
        profile(value, &Path::root(), &mut issues);
        issues
    }

    #[test]
    fn what_is_wrong_is_said_with_the_way_out() {
        let a100 = Some("A100-SXM4-80GB");
        let one = slices(&[("1g.10gb", 1)]);
        for (value, summary, hint) in [
            (
                value(Some("A100-SXM4-80GG"), None, Some(&one), false),
                "Unknown card model",
                "Did you mean \"A100-SXM4-80GB\"?",
            ),
            (value(None, None, Some(&one), false), "Missing product", "Set `product`"),
            (value(None, Some(1), None, true), "Missing product", "Set `product`"),
            (value(a100, Some(0), Some(&one), false), "Invalid number of cards", ""),
            (value(a100, None, Some(&one), true), "Contradicting profile", "Remove one"),
            (value(a100, None, None, false), "Empty profile", "Set `mig`"),
            (value(a100, None, Some(&slices(&[("1g", 1)])), false), "Invalid MIG profile", ""),
            (value(a100, None, Some(&slices(&[("1g.10gb", -1)])), false), "Invalid number of slices", ""),
            (
                value(a100, None, Some(&slices(&[("7g.80gb", 2)])), false),
                "The profile does not fit the card",
                "would fit: ",
            ),
            (
                value(a100, None, Some(&slices(&[("3g.20gb", 1)])), false),
                "The profile does not fit the card",
                "\"3g.40gb\" = 1",
            ),
            (value(Some("L4"), None, Some(&one), false), "The profile does not fit the card", "whole = true"),
        ] {
            let found = issues(&value);
            assert_eq!(found.len(), 1, "{summary}: {found:?}");
            assert_eq!(found[0].summary, summary);
            assert!(found[0].hint.as_deref().unwrap_or_default().contains(hint), "{found:?}");
        }
        assert_eq!(issues(&value(a100, Some(4), Some(&one), false)), []);
        assert_eq!(issues(&value(None, None, None, true)), []);
    }

    // What a person would type after reading the hint.
    fn suggested(hint: &str) -> Vec<Option<Vec<(String, i64)>>> {
        let list = hint.split_once("fit: ").unwrap().1.strip_suffix('.').unwrap();
        let one = |text: &str| {
            let inner = text.strip_prefix("mig = { ")?.strip_suffix(" }")?;
            let entry = |entry: &str| {
                let (name, count) = entry.split_once(" = ").unwrap();
                (name.trim_matches('"').to_owned(), count.parse().unwrap())
            };
            Some(inner.split(", ").map(entry).collect())
        };
        list.split("; ").map(one).collect()
    }

    proptest! {
        #[test]
        fn every_suggestion_is_accepted(
            card in prop::sample::select(catalog().cards().iter().map(|c| c.product.as_str().to_owned()).collect::<Vec<_>>()),
            wanted in prop::collection::btree_map(
                prop::sample::select(catalog().mig_profiles().iter().map(ToString::to_string).collect::<Vec<_>>()),
                0_i64..9,
                1..4,
            ),
        ) {
            let wanted: Vec<(String, i64)> = wanted.into_iter().collect();
            let found = issues(&value(Some(&card), None, Some(&wanted), false));
            for issue in &found {
                for suggestion in suggested(issue.hint.as_deref().unwrap()) {
                    let again = issues(&value(Some(&card), None, suggestion.as_deref(), suggestion.is_none()));
                    prop_assert!(again.is_empty(), "{card}: {suggestion:?} was suggested and is refused: {again:?}");
                }
            }
        }
    }
}
