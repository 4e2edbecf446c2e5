//! The provider block: how the cluster is reached, and how much of it may be disrupted.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use engine_model::{
    policy::{DisruptionPolicy, MaxUnavailable, OnHit, Protect},
    schema::{Attribute, Block, Nesting, Schema, Usage},
};
use engine_value::{Path, Type, Value};
use providers_api::Issue;
use providers_kubernetes::{connection_attributes, connection_blocks};

use crate::attributes::{known, list, text};

/// The schema of the provider block.
pub(crate) fn schema() -> Schema {
    let mut attributes: BTreeMap<Arc<str>, Attribute> = connection_attributes();
    attributes.insert(
        "disruption".into(),
        Attribute::nested(
            Nesting::Single,
            disruption(),
            Usage::Optional,
            "How much of the cluster may be disrupted at a time. One policy per cluster.",
        ),
    );
    let description = "GPUs of a Kubernetes cluster. The connection is configured as that of provider `kubernetes`.";
    let block = Block { attributes, blocks: connection_blocks(), description: description.to_owned() };
    Schema { version: 0, block }
}

fn disruption() -> [(&'static str, Attribute); 5] {
    let optional = |ty, description: &str| Attribute::new(ty, Usage::Optional, description);
    let protect = [
        (
            "namespaces",
            Attribute::new(
                Type::list(Type::String),
                Usage::Required,
                "Namespaces whose pods are never evicted; `*` stands for anything.",
            ),
        ),
        (
            "on_hit",
            optional(
                Type::String,
                "Where one would be: `fail` (the default) refuses the plan, `skip` leaves the node out, `wait` waits \
                 for the pod to end.",
            ),
        ),
    ];
    [
        (
            "max_unavailable",
            optional(
                Type::String,
                "Nodes that are unavailable at a time: a number, or a percentage of all nodes in pools (`\"10%\"`, \
                 rounded down, at least 1). The default is 1.",
            ),
        ),
        ("failure_domain", optional(Type::String, "A label: the nodes of a wave have the same value of it.")),
        ("unit", optional(Type::String, "A label: nodes with the same value of it change together.")),
        ("protect", Attribute::nested(Nesting::Single, protect, Usage::Optional, "Whose pods are never evicted.")),
        (
            "timeout",
            optional(Type::String, "How long one node may take: `\"15m\"` (the default), `\"90s\"`, `\"1h\"`."),
        ),
    ]
}

/// The policy of a provider block, and everything that is wrong with it. What is not known is the default.
pub(crate) fn policy(config: &Value, issues: &mut Vec<Issue>) -> DisruptionPolicy {
    let mut policy = DisruptionPolicy::default();
    let Some(disruption) = known(config, "disruption") else { return policy };
    let path = Path::root().attr("disruption");
    let mut wrong = |name: &str, detail: String| {
        issues.push(Issue::error(path.clone().attr(name), format!("Invalid {name}"), detail));
    };
    if let Some(value) = text(disruption, "max_unavailable") {
        match max_unavailable(value) {
            Some(max) => policy.max_unavailable = max,
            None => wrong(
                "max_unavailable",
                format!("It is a number of nodes from 1, or a percentage from \"1%\" to \"100%\", found {value:?}."),
            ),
        }
    }
    policy.failure_domain = text(disruption, "failure_domain").map(str::to_owned);
    policy.unit = text(disruption, "unit").map(str::to_owned);
    if let Some(value) = text(disruption, "timeout") {
        match duration(value) {
            Some(timeout) => policy.timeout = timeout,
            None => {
                wrong("timeout", format!("It is a duration such as \"15m\", \"90s\" or \"1h30m\", found {value:?}."))
            }
        }
    }
    if let Some(protect) = known(disruption, "protect") {
        let on_hit = match text(protect, "on_hit") {
            None | Some("fail") => OnHit::Fail,
            Some("skip") => OnHit::Skip,
            Some("wait") => OnHit::Wait,
            Some(other) => {
                wrong("protect", format!("`on_hit` is \"fail\", \"skip\" or \"wait\", found {other:?}."));
                OnHit::Fail
            }
        };
        policy.protect = Some(Protect { namespaces: list(protect, "namespaces"), on_hit });
    }
    policy
}

fn max_unavailable(text: &str) -> Option<MaxUnavailable> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| *number > 0);
    match text.strip_suffix('%') {
        Some(percent) => number(percent).filter(|percent| *percent <= 100).map(MaxUnavailable::Percent),
        None => number(text).map(MaxUnavailable::Nodes),
    }
}

/// A hold that may take no time would never be ready.
fn duration(text: &str) -> Option<Duration> {
    engine_model::duration::parse(text).filter(|duration| !duration.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(attributes: &[(&str, Value)]) -> (DisruptionPolicy, Vec<String>) {
        let object = Value::object(attributes.iter().map(|(name, value)| (*name, value.clone())));
        let mut issues = Vec::new();
        let policy = policy(&Value::object([("disruption", object)]), &mut issues);
        (policy, issues.into_iter().map(|issue| issue.summary).collect())
    }

    #[test]
    fn numbers_and_durations_are_read() {
        for (text, expected) in [
            ("1", Some(MaxUnavailable::Nodes(1))),
            ("10%", Some(MaxUnavailable::Percent(10))),
            ("0", None),
            ("0%", None),
            ("101%", None),
            ("-1", None),
            ("x", None),
        ] {
            assert_eq!(max_unavailable(text), expected, "{text}");
        }
        for (text, expected) in [
            ("15m", Some(900)),
            ("90s", Some(90)),
            ("1h30m", Some(5400)),
            ("0s", None),
            ("15", None),
            ("m", None),
            ("", None),
        ] {
            assert_eq!(duration(text), expected.map(Duration::from_secs), "{text}");
        }
    }

    #[test]
    fn everything_wrong_is_told() {
        let protect = Value::object([
            ("namespaces", Value::list(Type::String, vec![Value::string("training-*")])),
            ("on_hit", Value::string("panic")),
        ]);
        let (_, issues) = read(&[
            ("max_unavailable", Value::string("many")),
            ("timeout", Value::string("soon")),
            ("protect", protect),
        ]);
        assert_eq!(issues, ["Invalid max_unavailable", "Invalid timeout", "Invalid protect"]);
    }

    #[test]
    fn what_is_left_out_is_the_default() {
        assert_eq!(read(&[]), (DisruptionPolicy::default(), vec![]));
        let mut issues = Vec::new();
        assert_eq!(
            policy(&Value::object([("disruption", Value::unknown(Type::Dynamic))]), &mut issues),
            DisruptionPolicy::default()
        );
    }
}
