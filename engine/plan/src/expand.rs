//! Which instances something with `count` or `for_each` has. Evaluated once per block and module instance, and shared.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::Diagnostic;
use engine_lang::eval::Repetition;
use engine_model::{address::InstanceKey, reason::Orphan};
use engine_value::{Data, Type, Value, convert};

/// The instances of a resource block or module call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expansion {
    /// One, without a key.
    Single,
    /// So many, by number.
    Count(u64),
    /// By key, with the value of each.
    ForEach(Arc<BTreeMap<Arc<str>, Value>>),
    /// Whichever there are: where only what is written is looked at. One stands for all.
    Any(Repetition),
}

/// What `count.index`, `each.key` and `each.value` are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Each {
    /// `count.index`.
    Index(u64),
    /// `each.key` and `each.value`.
    Element(Arc<str>, Value),
    /// Any of them.
    Any(Repetition),
}

impl Expansion {
    /// The keys of all instances, ascending.
    pub(crate) fn keys(&self) -> Vec<Option<InstanceKey>> {
        match self {
            Self::Single => vec![None],
            Self::Count(count) => (0..*count).map(|index| Some(InstanceKey::Int(index))).collect(),
            Self::ForEach(elements) => elements.keys().map(|key| Some(InstanceKey::String(key.clone()))).collect(),
            Self::Any(_) => vec![self.instance(None)],
        }
    }

    /// The key of the instance that a key means: itself, or the one that stands for all.
    pub(crate) fn instance(&self, key: Option<InstanceKey>) -> Option<InstanceKey> {
        match self {
            Self::Any(Repetition::Count) => Some(InstanceKey::Int(0)),
            Self::Any(Repetition::ForEach) => Some(InstanceKey::String("*".into())),
            _ => key,
        }
    }

    /// The same for modules, where the one that stands for all has no key.
    pub(crate) fn module(&self, key: Option<InstanceKey>) -> Option<InstanceKey> {
        if matches!(self, Self::Any(_)) { None } else { key }
    }

    /// What an instance knows of itself; `None`: it has neither, or there is no such instance.
    pub(crate) fn each(&self, key: Option<&InstanceKey>) -> Option<Each> {
        match (self, key) {
            (Self::Any(repetition), _) => Some(Each::Any(*repetition)),
            (Self::Count(count), Some(InstanceKey::Int(index))) if index < count => Some(Each::Index(*index)),
            (Self::ForEach(elements), Some(InstanceKey::String(key))) => {
                elements.get_key_value(key).map(|(key, value)| Each::Element(key.clone(), value.clone()))
            }
            _ => None,
        }
    }

    /// Why there is no such instance; `None`: there is one.
    pub(crate) fn orphan(&self, key: Option<&InstanceKey>) -> Option<Orphan> {
        match (self, key) {
            (Self::Single, None) | (Self::Any(_), _) => None,
            (Self::Count(count), Some(InstanceKey::Int(index))) => (index >= count).then_some(Orphan::CountIndex),
            (Self::ForEach(elements), Some(InstanceKey::String(key))) => {
                (!elements.contains_key(key)).then_some(Orphan::EachKey)
            }
            _ => Some(Orphan::WrongRepetition),
        }
    }
}

fn invalid_count(detail: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("Invalid count argument", detail))
}

fn invalid_for_each(detail: impl Into<String>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("Invalid for_each argument", detail))
}

/// The instances that the value of `count` means. `waits_for` says in words what an unknown value waits for.
pub(crate) fn count(value: &Value, waits_for: impl Fn(&Value) -> Option<String>) -> Result<Expansion, Box<Diagnostic>> {
    if value.marks.ephemeral {
        return Err(invalid_count("The value of count is ephemeral, so which instances there are would not be kept."));
    }
    if value.is_null() {
        return Err(invalid_count("The value of count is null. A whole number is required, 0 or more."));
    }
    let number = convert(value, &Type::Number)
        .map_err(|error| invalid_count(format!("The value of count is not a number: {error}.")))?;
    if !number.is_known() {
        return Err(unknown(invalid_count, "count", "how many instances there will be", value, waits_for));
    }
    match number.as_number().and_then(|n| n.is_whole().then(|| n.to_usize()).flatten()) {
        Some(count) => Ok(Expansion::Count(count as u64)),
        None => {
            let found = number.as_number().map(ToString::to_string).unwrap_or_default();
            Err(invalid_count(format!("A whole number is required, 0 or more; found {found}.")))
        }
    }
}

/// The instances that the value of `for_each` means.
pub(crate) fn for_each(
    value: &Value,
    waits_for: impl Fn(&Value) -> Option<String>,
) -> Result<Expansion, Box<Diagnostic>> {
    if value.marks.sensitive {
        let detail =
            "The value of for_each is sensitive, and its keys would be shown in the addresses of the instances.";
        let hint = "Take keys that are no secret, or mark them with nonsensitive().";
        return Err(Box::new(invalid_for_each(detail).hint(hint)));
    }
    if value.marks.ephemeral {
        return Err(invalid_for_each("The value of for_each is ephemeral, so its keys would not be kept."));
    }
    match &value.data {
        Data::Null(_) => {
            Err(invalid_for_each("The value of for_each is null. A map, or a set of strings, is required."))
        }
        Data::Map(_, elements) | Data::Object(elements) => Ok(Expansion::ForEach(elements.clone())),
        Data::Set(element, elements) => {
            if !matches!(element, Type::String) && !elements.is_empty() {
                let found = element.friendly();
                return Err(invalid_for_each(format!("A set must be of strings here; found a set of {found}.")));
            }
            let mut keys = BTreeMap::new();
            for element in elements.iter() {
                match &element.data {
                    Data::String(key) if element.marks.is_none() => keys.insert(key.clone(), element.clone()),
                    Data::Unknown(_) => return Err(keys_unknown(element, &waits_for)),
                    Data::Null(_) => {
                        return Err(invalid_for_each("The set holds null. Only strings can be keys of instances."));
                    }
                    _ => return Err(invalid_for_each("The set holds sensitive values, which cannot be keys.")),
                };
            }
            Ok(Expansion::ForEach(Arc::new(keys)))
        }
        Data::Unknown(_) => Err(keys_unknown(value, &waits_for)),
        _ => {
            let found = value.type_of().friendly();
            let error = invalid_for_each(format!("A map, or a set of strings, is required; found {found}."));
            let is_sequence = matches!(value.data, Data::List(..) | Data::Tuple(_));
            Err(if is_sequence {
                Box::new(error.hint("Convert it with toset() if its elements are distinct strings."))
            } else {
                error
            })
        }
    }
}

fn keys_unknown(value: &Value, waits_for: &impl Fn(&Value) -> Option<String>) -> Box<Diagnostic> {
    unknown(invalid_for_each, "for_each", "the keys that identify the instances", value, waits_for)
}

fn unknown(
    invalid: fn(String) -> Box<Diagnostic>,
    argument: &str,
    what: &str,
    value: &Value,
    waits_for: impl Fn(&Value) -> Option<String>,
) -> Box<Diagnostic> {
    let because = waits_for(value).map_or_else(
        || "it depends on something that is known only after apply".to_owned(),
        |waits_for| format!("it waits for {waits_for}"),
    );
    let detail = format!("The value of {argument} is not known yet, because {because}; so {what} cannot be told.");
    let hint = "Take keys from the configuration and let only the values be unknown, or apply what it waits for first, \
                with -target.";
    Box::new(invalid(detail).hint(hint))
}

#[cfg(test)]
mod tests {
    use engine_value::Marks;

    use super::*;

    fn keys(expansion: &Expansion) -> Vec<String> {
        expansion.keys().iter().map(|key| key.as_ref().map_or(String::new(), ToString::to_string)).collect()
    }

    fn strings(list: &[&str]) -> Value {
        Value::set(Type::String, list.iter().map(|text| Value::from(*text)).collect())
    }

    #[test]
    fn instances_come_in_the_order_of_their_keys() {
        let none = |_: &Value| None;
        assert_eq!(keys(&count(&Value::int(3), none).unwrap()), ["0", "1", "2"]);
        assert_eq!(keys(&count(&Value::from("2"), none).unwrap()), ["0", "1"]);
        assert_eq!(keys(&for_each(&strings(&["b", "a"]), none).unwrap()), ["\"a\"", "\"b\""]);
        let map = Value::map(Type::String, [("k", Value::unknown(Type::String))]);
        assert_eq!(keys(&for_each(&map, none).unwrap()), ["\"k\""]);
        assert_eq!(keys(&for_each(&Value::empty_object(), none).unwrap()), Vec::<String>::new());
    }

    #[test]
    fn what_gives_no_instances_says_why() {
        let waits = |_: &Value| Some("the creation of gpu_pool.dev".to_owned());
        let sensitive = strings(&["a"]).mark(Marks::SENSITIVE);
        for (result, expected) in [
            (count(&Value::int(-1), waits), "A whole number is required, 0 or more; found -1."),
            (count(&Value::null(Type::Number), waits), "The value of count is null."),
            (count(&Value::unknown(Type::Number), waits), "it waits for the creation of gpu_pool.dev; so how many"),
            (
                for_each(&Value::tuple([Value::from("a")]), waits),
                "A map, or a set of strings, is required; found tuple",
            ),
            (for_each(&sensitive, waits), "The value of for_each is sensitive"),
            (for_each(&Value::unknown(Type::set(Type::String)), waits), "waits for the creation of gpu_pool.dev"),
            (for_each(&Value::set(Type::Number, vec![Value::int(1)]), waits), "found a set of number"),
        ] {
            let detail = result.unwrap_err().detail;
            assert!(detail.contains(expected), "{detail}");
        }
    }

    #[test]
    fn every_orphan_has_its_reason() {
        let map = for_each(&strings(&["a"]), |_| None).unwrap();
        let (int, text) = (|n| Some(InstanceKey::Int(n)), |t: &str| Some(InstanceKey::String(t.into())));
        for (expansion, key, expected) in [
            (&Expansion::Single, None, None),
            (&Expansion::Single, int(0), Some(Orphan::WrongRepetition)),
            (&Expansion::Count(2), int(1), None),
            (&Expansion::Count(2), int(2), Some(Orphan::CountIndex)),
            (&Expansion::Count(2), None, Some(Orphan::WrongRepetition)),
            (&map, text("a"), None),
            (&map, text("b"), Some(Orphan::EachKey)),
            (&map, int(0), Some(Orphan::WrongRepetition)),
        ] {
            assert_eq!(expansion.orphan(key.as_ref()), expected, "{expansion:?} {key:?}");
        }
    }
}
