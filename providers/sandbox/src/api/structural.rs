//! What Kubernetes demands of the schema in a custom resource definition: that it is structural (every value has a type,
//! lists say how their items are told apart), and that its regular expressions and rules can be compiled.

use serde_json::Value;

use super::cel::Expression;
use super::object::{entries, items, text};
use super::status::Cause;

/// What is wrong with a schema; `field` is where it stands.
pub(super) fn validate(schema: &Value, field: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    node(schema, field, Place { is_root: true, ..Place::default() }, &mut causes);
    causes
}

/// Where a schema stands.
#[derive(Clone, Copy, Default)]
struct Place<'a> {
    is_root: bool,
    /// Below `allOf` and its kin, which say nothing of types.
    is_logical: bool,
    /// What it describes, if that must have a type.
    of: &'a str,
    /// The list or map whose parts have no past that rules could look at.
    uncorrelatable: Option<&'a str>,
}

fn node(schema: &Value, field: &str, place: Place<'_>, causes: &mut Vec<Cause>) {
    let known = causes.len();
    let flag = |name: &str| schema.get(name).and_then(Value::as_bool) == Some(true);
    let kind = text(schema, "/type");
    type_of(schema, field, place, causes);
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
        && let Err(error) = regex::Regex::new(pattern)
    {
        let why = format!("must be a valid regular expression, but isn't: {error}");
        causes.push(Cause::invalid(format!("{field}.pattern"), &pattern.into(), &why));
    }
    if flag("uniqueItems") {
        let why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(Cause::forbidden(format!("{field}.uniqueItems"), why));
    }
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_some_and(|more| *more != false) {
        let why = "additionalProperties and properties are mutual exclusive";
        causes.push(Cause::forbidden(format!("{field}.additionalProperties"), why));
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let at = format!("{field}.x-kubernetes-preserve-unknown-fields");
        causes.push(Cause::invalid(at, &false.into(), "must be true or undefined"));
    }
    lists(schema, field, causes);

    let atomic_map = text(schema, "/x-kubernetes-map-type") == "atomic";
    let map = if atomic_map { Some(field) } else { place.uncorrelatable };
    let is_map_list = text(schema, "/x-kubernetes-list-type") == "map";
    let list = if is_map_list { place.uncorrelatable } else { Some(field) };
    let child = |of, uncorrelatable| Place { of, uncorrelatable, is_root: false, is_logical: place.is_logical };
    for (name, property) in entries(schema, "/properties") {
        node(property, &format!("{field}.properties[{name}]"), child("object fields", map), causes);
    }
    if let Some(more) = schema.get("additionalProperties").filter(|more| more.is_object()) {
        node(more, &format!("{field}.additionalProperties"), child("object fields", map), causes);
    }
    match schema.get("items") {
        Some(items) => node(items, &format!("{field}.items"), child("array items", list), causes),
        None if kind == "array" && !place.is_logical => {
            causes.push(because(format!("{field}.items"), "must be specified"))
        }
        None => {}
    }
    let logical = Place { is_logical: true, is_root: false, of: "", ..place };
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for (index, schema) in items(schema, &format!("/{keyword}")).enumerate() {
            node(schema, &format!("{field}.{keyword}[{index}]"), logical, causes);
        }
    }
    if let Some(not) = schema.get("not") {
        node(not, &format!("{field}.not"), logical, causes);
    }
    // Rules are looked at when the schema is sound.
    if causes.len() == known {
        rules(schema, field, place, causes);
    }
}

fn because(field: String, why: &str) -> Cause {
    Cause { message: format!("Required value: {why}"), ..Cause::required(field) }
}

fn type_of(schema: &Value, field: &str, place: Place<'_>, causes: &mut Vec<Cause>) {
    let kind = text(schema, "/type");
    let is = |name: &str| schema.get(name).and_then(Value::as_bool) == Some(true);
    if place.is_root && kind != "object" {
        causes.push(match kind {
            "" => because(format!("{field}.type"), "must not be empty at the root"),
            kind => Cause::invalid(format!("{field}.type"), &kind.into(), "must be object at the root"),
        });
    }
    let known = ["array", "boolean", "integer", "number", "object", "string"];
    if !kind.is_empty() && !known.contains(&kind) {
        causes.push(Cause::unsupported(format!("{field}.type"), &kind.into(), &known.map(Value::from)));
    }
    let is_free = is("x-kubernetes-int-or-string") || is("x-kubernetes-preserve-unknown-fields");
    if kind.is_empty() && !place.of.is_empty() && !place.is_logical && !is_free {
        causes.push(because(format!("{field}.type"), &format!("must not be empty for specified {}", place.of)));
    }
    if is("x-kubernetes-int-or-string") && !kind.is_empty() {
        let why = "must be empty if x-kubernetes-int-or-string is true";
        causes.push(Cause::invalid(format!("{field}.type"), &kind.into(), why));
    }
}

/// How the items of lists are told apart.
fn lists(schema: &Value, field: &str, causes: &mut Vec<Cause>) {
    let kind = text(schema, "/x-kubernetes-list-type");
    let keys: Vec<&str> = items(schema, "/x-kubernetes-list-map-keys").filter_map(Value::as_str).collect();
    let keys_field = format!("{field}.x-kubernetes-list-map-keys");
    if !kind.is_empty() && !["atomic", "set", "map"].contains(&kind) {
        let allowed = ["atomic", "set", "map"].map(Value::from);
        causes.push(Cause::unsupported(format!("{field}.x-kubernetes-list-type"), &kind.into(), &allowed));
    }
    if !keys.is_empty() && kind != "map" {
        let why = "must be map if x-kubernetes-list-map-keys is non-empty";
        let at = format!("{field}.x-kubernetes-list-type");
        causes.push(if kind.is_empty() { because(at, why) } else { Cause::invalid(at, &kind.into(), why) });
    }
    match kind {
        "map" if keys.is_empty() => {
            causes.push(because(keys_field, "must not be empty if x-kubernetes-list-type is map"));
        }
        "map" => {
            let properties = schema.pointer("/items/properties");
            if keys.iter().any(|key| properties.is_none_or(|properties| properties.get(*key).is_none())) {
                let why = "entries must all be names of item properties";
                causes.push(Cause::invalid(keys_field, &schema["x-kubernetes-list-map-keys"], why));
            }
        }
        "set"
            if text(schema, "/items/type") == "object" && text(schema, "/items/x-kubernetes-map-type") != "atomic" =>
        {
            let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
            let found = schema.pointer("/items/x-kubernetes-map-type").cloned().unwrap_or_default();
            causes.push(Cause::invalid(format!("{field}.items.x-kubernetes-map-type"), &found, why));
        }
        _ => {}
    }
}

fn rules(schema: &Value, field: &str, place: Place<'_>, causes: &mut Vec<Cause>) {
    for (index, rule) in items(schema, "/x-kubernetes-validations").enumerate() {
        let field = format!("{field}.x-kubernetes-validations[{index}]");
        if text(rule, "/rule").trim().is_empty() {
            causes.push(because(format!("{field}.rule"), "rule is not specified"));
            continue;
        }
        if text(rule, "/rule").trim().contains('\n') && text(rule, "/message").trim().is_empty() {
            causes.push(because(format!("{field}.message"), "message must be specified if rule contains line breaks"));
        }
        let reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
        if let Some(reason) = rule.get("reason").filter(|reason| !reasons.iter().any(|known| *reason == known)) {
            causes.push(Cause::unsupported(format!("{field}.reason"), reason, &reasons.map(Value::from)));
        }
        let expression = Expression::compile(rule);
        if let Some((part, source, why)) = expression.problem() {
            causes.push(Cause::invalid(
                format!("{field}.{part}"),
                &source.into(),
                &format!("compilation failed: {why}"),
            ));
        }
        if let Some(place) = place.uncorrelatable.filter(|_| expression.uses_old()) {
            let why = format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {place}");
            causes.push(Cause::invalid(format!("{field}.rule"), &rule["rule"], &why));
        }
        if let Some(optional) = rule.get("optionalOldSelf").filter(|_| !expression.uses_old()) {
            let why = "may not be set if oldSelf is not used in rule";
            causes.push(Cause::invalid(format!("{field}.optionalOldSelf"), optional, why));
        }
    }
}
