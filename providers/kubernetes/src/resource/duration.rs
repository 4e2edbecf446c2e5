//! The entries of Terraform's `timeouts` blocks.

use std::time::Duration;

use engine_model::duration::parse;
use engine_value::{Path, Value};
use providers_api::Issue;

/// An entry of a `timeouts` block, or its default where it is not set.
pub(crate) fn timeout(block: Option<&Value>, name: &str, default: Duration) -> Duration {
    block.and_then(|block| block.get(name)).and_then(Value::as_str).and_then(parse).unwrap_or(default)
}

/// What is wrong with the entries of a `timeouts` block.
pub(crate) fn check(block: &Value, path: &Path) -> Vec<Issue> {
    let Some(entries) = block.as_map() else { return Vec::new() };
    let texts = entries.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
    texts
        .filter(|(_, text)| parse(text).is_none())
        .map(|(name, text)| {
            let detail = format!("{text:?} is no duration.");
            Issue::error(path.clone().attr(name.clone()), "Invalid timeout", detail)
                .hint("Write it as numbers with units: \"90s\", \"10m\", \"1h30m\".")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, expected) in [
            ("90s", Some(90.0)),
            ("1h30m", Some(5400.0)),
            ("1.5m", Some(90.0)),
            ("250ms", Some(0.25)),
            ("", None),
            ("10", None),
            ("10 m", None),
            ("m", None),
        ] {
            assert_eq!(parse(text).map(|duration| duration.as_secs_f64()), expected, "{text:?}");
        }
    }
}
