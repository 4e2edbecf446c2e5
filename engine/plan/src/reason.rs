//! Why an object changes: what the configuration says, what the state remembers and what was read, compared by path.

use engine_model::{
    reason::Reason,
    schema::{Block, Usage},
};
use engine_value::{Path, Value, diff::diff};

use crate::proposed::attribute_at;

/// Why an object changes in place, from the object as the state has it (`stored`), as it was read (`prior`) and as it
/// will be (`after`).
///
/// A path that drifted and goes back to what the state has is drift; a path that differs from what the state has is
/// configuration; a path that drifted and goes somewhere else is both. Computed attributes count only where nothing
/// else does: they follow the others.
pub(crate) fn of_update(block: &Block, stored: &Value, prior: &Value, after: &Value) -> Reason {
    let changed = diff(Some(prior), Some(after)).changed_paths();
    let (computed, given): (Vec<Path>, Vec<Path>) = changed.into_iter().partition(|path| {
        attribute_at(block, path).is_some_and(|attribute| matches!(attribute.usage, Usage::Computed))
    });
    let paths = if given.is_empty() { computed } else { given };
    let (mut configuration, mut drift) = (Vec::new(), Vec::new());
    for path in paths {
        let (was, is, will) = (path.get(stored), path.get(prior), path.get(after));
        if was != is {
            drift.push(path.clone());
        }
        if was != will {
            configuration.push(path);
        }
    }
    match (configuration.is_empty(), drift.is_empty()) {
        (_, true) => Reason::Configuration(configuration),
        (true, false) => Reason::Drift(drift),
        (false, false) => Reason::ConfigurationAndDrift { configuration, drift },
    }
}

#[cfg(test)]
mod tests {
    use engine_model::schema::Attribute;
    use engine_value::Type;

    use super::*;

    fn block() -> Block {
        let text = |usage| Attribute::new(Type::String, usage, "");
        Block::new([("a", text(Usage::Optional)), ("b", text(Usage::Optional)), ("id", text(Usage::Computed))], "")
    }

    fn object(a: &str, b: &str, id: &str) -> Value {
        Value::object([("a", a.into()), ("b", b.into()), ("id", id.into())])
    }

    #[test]
    fn configuration_drift_and_both_are_told_apart() {
        let path = |name: &str| Path::root().attr(name);
        let stored = object("1", "1", "x");
        for (prior, after, expected) in [
            (object("1", "1", "x"), object("2", "1", "y"), Reason::Configuration(vec![path("a")])),
            (object("3", "1", "x"), object("1", "1", "x"), Reason::Drift(vec![path("a")])),
            (
                object("3", "1", "x"),
                object("2", "1", "x"),
                Reason::ConfigurationAndDrift { configuration: vec![path("a")], drift: vec![path("a")] },
            ),
            (
                object("3", "1", "x"),
                object("1", "2", "x"),
                Reason::ConfigurationAndDrift { configuration: vec![path("b")], drift: vec![path("a")] },
            ),
            (object("1", "1", "x"), object("1", "1", "y"), Reason::Configuration(vec![path("id")])),
        ] {
            assert_eq!(of_update(&block(), &stored, &prior, &after), expected, "{prior:?} to {after:?}");
        }
    }
}
