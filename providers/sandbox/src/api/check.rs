//! Whether a custom object satisfies its schema beyond types: value validations, embedded objects, duplicates, and then
//! the CEL rules. Messages are those of Kubernetes.
//!
//! What an update leaves as it was is not held against it ("ratcheting"): a schema may have become stricter since.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cel;
use super::compare::item_element;
use super::formats;
use super::rules::{Limit, Rules};
use super::schema::{ListKind, Scalar, Shape, Type};
use super::status::Cause;

/// Everything that is wrong with an object; `old` is what an update replaces, `found` what is already known to be wrong.
pub(super) fn check(value: &Value, old: Option<&Value>, schema: Type<'_>, found: Vec<Cause>) -> Vec<Cause> {
    let mut walk = Walk { path: String::new(), causes: found };
    walk.value(value, old, schema);
    if old.is_none_or(|old| duplicates(old, schema).is_empty()) {
        walk.causes.extend(duplicates(value, schema));
    }
    if !schema.has_expressions() {
        return walk.causes;
    }
    if walk.causes.iter().any(blocks) {
        walk.causes.push(Cause {
            reason: "FieldValueInvalid",
            message: "Invalid value: null: some validation rules were not checked because the object was invalid; \
                      correct the existing errors to complete validation"
                .to_owned(),
            field: "<nil>".to_owned(),
        });
    } else {
        walk.causes.extend(cel::check(value, old, schema));
    }
    walk.causes
}

/// CEL rules rely on these.
fn blocks(cause: &Cause) -> bool {
    let reasons = [
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    ];
    reasons.contains(&cause.reason)
}

/// Items of list maps and sets that are there twice.
pub(super) fn duplicates(value: &Value, schema: Type<'_>) -> Vec<Cause> {
    let mut walk = Walk { path: String::new(), causes: Vec::new() };
    walk.duplicates(value, schema);
    walk.causes
}

/// The old value that a part of an object is compared with.
pub(super) fn old_part<'v>(old: Option<&'v Value>, name: &str, schema: Type<'_>) -> Option<&'v Value> {
    let is_atomic = matches!(schema.shape(), Shape::Map { atomic: true, .. });
    old.filter(|_| !is_atomic)?.get(name)
}

/// The old items of a list, by what tells them apart; nothing for lists that are not maps.
pub(super) struct OldItems<'v>(Vec<(super::fields::Element, &'v Value)>);

impl<'v> OldItems<'v> {
    pub(super) fn of(old: Option<&'v Value>, list: Type<'_>) -> Self {
        let is_map = matches!(list.shape(), Shape::List { kind: ListKind::Map(_), .. });
        let items = old.filter(|_| is_map).and_then(Value::as_array).into_iter().flatten();
        let mut items: Vec<_> = items.filter_map(|item| Some((item_element(list, item)?, item))).collect();
        items.sort_by(|a, b| a.0.cmp(&b.0));
        Self(items)
    }

    pub(super) fn get(&self, item: &Value, list: Type<'_>) -> Option<&'v Value> {
        if self.0.is_empty() {
            return None;
        }
        let element = item_element(list, item)?;
        let index = self.0.binary_search_by(|(known, _)| known.cmp(&element)).ok()?;
        Some(self.0[index].1)
    }
}

struct Walk {
    path: String,
    causes: Vec<Cause>,
}

impl Walk {
    fn field(&self) -> String {
        shown(&self.path)
    }

    fn add(&mut self, reason: &'static str, message: String) {
        let field = self.field();
        self.causes.push(Cause { reason, message, field });
    }

    /// A value that is not valid, as Kubernetes words it: `spec.size in body should be …`.
    fn invalid(&mut self, value: &Value, should: &str) {
        let message = format!("Invalid value: {value}: {} in body should {should}", self.field());
        self.add("FieldValueInvalid", message);
    }

    /// A part of a schema that the value must (not) satisfy; such messages have no field.
    fn composite(&mut self, must: &str) {
        let message = format!("Invalid value: \"\": \"{}\" must {must}", self.field());
        self.causes.push(Cause { reason: "FieldValueInvalid", message, field: "<nil>".to_owned() });
    }

    fn below<R>(&mut self, step: &str, work: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        self.path.push_str(step);
        let result = work(self);
        self.path.truncate(length);
        result
    }

    fn value(&mut self, value: &Value, old: Option<&Value>, schema: Type<'_>) {
        if value.is_null() {
            return;
        }
        let known = self.causes.len();
        let rules = schema.rules();
        self.alternatives(value, schema);
        match value {
            Value::String(text) => self.string(value, text, rules),
            Value::Number(number) => self.number(value, number.as_f64().unwrap_or_default(), rules),
            Value::Array(list) => self.list(list, old, schema),
            Value::Object(map) => self.map(map, old, schema),
            Value::Bool(_) | Value::Null => {}
        }
        if !rules.allowed.is_empty() && !rules.allowed.contains(value) {
            let cause = Cause::unsupported(self.field(), value, &rules.allowed);
            self.causes.push(cause);
        }
        if self.causes.len() > known && old == Some(value) {
            self.causes.truncate(known);
        }
    }

    /// `allOf`, `anyOf`, `oneOf`, `not`.
    fn alternatives(&mut self, value: &Value, schema: Type<'_>) {
        let rules = schema.rules();
        // `anyOf` of the two types is what makes an integer or string; its type says it already.
        let any_of = if *schema.shape() == Shape::Scalar(Scalar::IntOrString) { &[][..] } else { &rules.any_of };
        let mut attempt = |id| {
            let mut walk = Walk { path: self.path.clone(), causes: Vec::new() };
            walk.value(value, None, schema.sibling(id));
            walk.causes
        };
        let any: Vec<Vec<Cause>> = any_of.iter().map(|id| attempt(*id)).collect();
        let one: Vec<Vec<Cause>> = rules.one_of.iter().map(|id| attempt(*id)).collect();
        let all: Vec<Vec<Cause>> = rules.all_of.iter().map(|id| attempt(*id)).collect();
        let not = rules.not.map(&mut attempt);
        let valid = |results: &[Vec<Cause>]| results.iter().filter(|causes| causes.is_empty()).count();
        // Of several that fail, the one that comes closest is told.
        let closest = |results: Vec<Vec<Cause>>| results.into_iter().min_by_key(Vec::len).unwrap_or_default();
        if !any.is_empty() && valid(&any) == 0 {
            self.composite("validate at least one schema (anyOf)");
            self.causes.extend(closest(any));
        }
        match valid(&one) {
            _ if one.is_empty() => {}
            1 => {}
            0 => {
                self.composite("validate one and only one schema (oneOf). Found none valid");
                self.causes.extend(closest(one));
            }
            several => {
                self.composite(&format!(
                    "validate one and only one schema (oneOf). Found {several} valid alternatives"
                ));
            }
        }
        if valid(&all) < all.len() {
            let none = if valid(&all) == 0 { ". None validated" } else { "" };
            self.causes.extend(all.into_iter().flatten());
            self.composite(&format!("validate all the schemas (allOf){none}"));
        }
        if not.is_some_and(|causes| causes.is_empty()) {
            self.composite("not validate the schema (not)");
        }
    }

    fn string(&mut self, value: &Value, text: &str, rules: &Rules) {
        let length = if rules.lengths == super::rules::Sizes::default() { 0 } else { text.chars().count() as u64 };
        if let Some(most) = rules.lengths.most.filter(|most| length > *most) {
            let unit = if most == 1 { "byte" } else { "bytes" };
            self.add("FieldValueTooLong", format!("Too long: may not be more than {most} {unit}"));
        }
        if let Some(least) = rules.lengths.least.filter(|least| length < *least) {
            self.invalid(value, &format!("be at least {least} chars long"));
        }
        if let Some(pattern) = &rules.pattern
            && pattern.regex.as_ref().is_some_and(|regex| !regex.is_match(text))
        {
            self.invalid(value, &format!("match '{}'", pattern.text));
        }
        if let Some(format) = &rules.format
            && formats::has_format(text, format) == Some(false)
        {
            let field = self.field();
            self.add(
                "FieldValueTypeInvalid",
                format!("Invalid value: {value}: {field} in body must be of type {format}: {value}"),
            );
        }
    }

    fn number(&mut self, value: &Value, number: f64, rules: &Rules) {
        if let Some(multiple) = rules.multiple_of.filter(|multiple| number % multiple != 0.0) {
            self.invalid(value, &format!("be a multiple of {multiple}"));
        }
        if let Some(Limit { number: most, is_exclusive }) = rules.maximum
            && (number > most || (is_exclusive && number >= most))
        {
            let or_equal = if is_exclusive { "" } else { " or equal to" };
            self.invalid(value, &format!("be less than{or_equal} {most}"));
        }
        if let Some(Limit { number: least, is_exclusive }) = rules.minimum
            && (number < least || (is_exclusive && number <= least))
        {
            let or_equal = if is_exclusive { "" } else { " or equal to" };
            self.invalid(value, &format!("be greater than{or_equal} {least}"));
        }
    }

    fn list(&mut self, list: &[Value], old: Option<&Value>, schema: Type<'_>) {
        if let (Some(items), Shape::List { .. }) = (schema.items(), schema.shape()) {
            let old = OldItems::of(old, schema);
            for (index, item) in list.iter().enumerate() {
                let old = old.get(item, schema);
                self.below(&format!("[{index}]"), |walk| walk.value(item, old, items));
            }
        }
        self.size(list.len() as u64, schema.rules().items, "items");
    }

    fn map(&mut self, map: &serde_json::Map<String, Value>, old: Option<&Value>, schema: Type<'_>) {
        self.size(map.len() as u64, schema.rules().properties, "properties");
        if schema.rules().embedded {
            for name in ["apiVersion", "kind"] {
                if !map.contains_key(name) {
                    self.below(&format!(".{name}"), |walk| walk.add("FieldValueRequired", "Required value".to_owned()));
                }
            }
        }
        if matches!(schema.shape(), Shape::Map { .. }) {
            for (name, value) in map {
                let Some(field) = schema.field(name) else { continue };
                let old = old_part(old, name, schema);
                self.below(&format!(".{name}"), |walk| walk.value(value, old, field));
            }
        }
        for name in schema.rules().required.iter().filter(|name| !map.contains_key(*name)) {
            self.below(&format!(".{name}"), |walk| walk.add("FieldValueRequired", "Required value".to_owned()));
        }
    }

    fn size(&mut self, size: u64, bounds: super::rules::Sizes, what: &str) {
        if let Some(least) = bounds.least.filter(|least| size < *least) {
            self.invalid(&size.into(), &format!("have at least {least} {what}"));
        }
        if let Some(most) = bounds.most.filter(|most| size > *most) {
            let items = if most == 1 { "item" } else { "items" };
            self.add("FieldValueTooMany", format!("Too many: {size}: must have at most {most} {items}"));
        }
    }

    fn duplicates(&mut self, value: &Value, schema: Type<'_>) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let Some(field) = schema.field(name).filter(|field| *field.shape() != Shape::Any) else { continue };
                    let step = if schema.declares(name) { format!(".{name}") } else { format!("[{name}]") };
                    self.below(&step, |walk| walk.duplicates(value, field));
                }
            }
            Value::Array(list) => {
                let Some(items) = schema.items().filter(|items| *items.shape() != Shape::Any) else { return };
                let mut seen = BTreeSet::new();
                for (index, item) in list.iter().enumerate() {
                    self.below(&format!("[{index}]"), |walk| {
                        if item_element(schema, item).is_some_and(|element| !seen.insert(element)) {
                            let message = format!("Duplicate value: {}", keys(item, schema));
                            walk.add("FieldValueDuplicate", message);
                        }
                        walk.duplicates(item, items);
                    });
                }
            }
            _ => {}
        }
    }
}

/// What of an item tells it from others.
fn keys(item: &Value, list: Type<'_>) -> Value {
    match list.shape() {
        Shape::List { kind: ListKind::Map(names), .. } => {
            let pairs = names.iter().filter_map(|name| Some((name.clone(), item.get(name)?.clone())));
            Value::Object(pairs.collect())
        }
        _ => item.clone(),
    }
}

pub(super) fn shown(path: &str) -> String {
    path.strip_prefix('.').unwrap_or(path).to_owned()
}
