//! What definitions demand of their objects: schemas, rules in CEL, defaults; and what is demanded of definitions.

use std::time::Duration;

use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::cluster::{Cluster, create, json as to_json, object, refusal};

/// The name of the case's definition.
fn name(cluster: &Cluster) -> String {
    format!("gadgets.{}", cluster.group())
}

fn definition(cluster: &Cluster, spec: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name(cluster)},
        "spec": {
            "group": cluster.group(), "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            }],
        },
    })
}

/// Makes a definition with this schema of `spec`, and waits until it is served.
async fn define(cluster: &Cluster, spec: Value) -> kube::Api<DynamicObject> {
    define_all(cluster, definition(cluster, spec)).await
}

pub(crate) async fn define_all(cluster: &Cluster, definition: Value) -> kube::Api<DynamicObject> {
    create(&cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), definition).await;
    let definitions: kube::Api<
        k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    > = kube::Api::all(cluster.client.clone());
    let established = kube::runtime::conditions::is_crd_established();
    kube::runtime::wait::await_condition(definitions, &name(cluster), established).await.unwrap();
    let api = cluster.api(&cluster.group(), "v1", "Gadget");
    // A server with several workers may serve it a moment after it says so.
    while api.list(&Default::default()).await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    api
}

pub(crate) async fn undefine(cluster: &Cluster) {
    let definitions = cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    definitions.delete(&name(cluster), &Default::default()).await.unwrap();
    while definitions.get_opt(&name(cluster)).await.unwrap().is_some() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) fn gadget(cluster: &Cluster, name: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("{}/v1", cluster.group()), "kind": "Gadget", "metadata": {"name": name}, "spec": spec})
}

/// The part of a refusal after the object's name.
fn what_is_wrong(message: &str) -> String {
    message.split_once(" is invalid: ").map_or(message, |(_, why)| why).to_owned()
}

/// What is said about an object with this spec; nothing when it would be taken.
async fn verdict(cluster: &Cluster, api: &kube::Api<DynamicObject>, spec: Value) -> String {
    let params = PostParams { dry_run: true, ..Default::default() };
    match api.create(&params, &object(gadget(cluster, "g", spec))).await {
        Ok(_) => String::new(),
        result => what_is_wrong(&refusal(result).2),
    }
}

pub(crate) async fn values_are_checked_against_the_schema(cluster: &Cluster) {
    let text = |more: Value| {
        let mut schema = json!({"type": "string"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let schema = json!({"type": "object", "properties": {
        "number": {"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2},
        "ratio": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
        "pattern": text(json!({"pattern": "^a+$"})),
        "length": text(json!({"minLength": 2, "maxLength": 3})),
        "choice": text(json!({"enum": ["x", "y"]})),
        "time": text(json!({"format": "date-time"})),
        "address": text(json!({"format": "ipv4"})),
        "unknown": text(json!({"format": "made-up"})),
        "nullable": {"type": "string", "nullable": true},
        "either": {"x-kubernetes-int-or-string": true},
        "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "minLength": 1}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer", "maximum": 3}},
        "one": {
            "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        "any": {
            "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
            "anyOf": [{"properties": {"a": {"minimum": 5}}, "required": ["a"]}, {"required": ["b"]}],
        },
        "all": {"type": "string", "allOf": [{"minLength": 2}, {"pattern": "^x"}]},
        "not": {"type": "string", "not": {"pattern": "^bad"}},
        "embedded": {
            "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
        },
        "needs": {"type": "object", "required": ["it"], "properties": {"it": {"type": "boolean"}}},
    }});
    let api = define(cluster, schema).await;
    for (spec, expected) in [
        (json!({"number": 2, "ratio": 0.5, "pattern": "aa", "length": "ab", "choice": "y"}), ""),
        (json!({"time": "2026-01-02T03:04:05Z", "address": "10.0.0.1", "unknown": "?", "nullable": null}), ""),
        (json!({"either": "50%", "list": ["a"], "set": ["a", "b"], "map": {"k": 3}, "one": {"a": "x"}}), ""),
        (json!({"any": {"b": "x"}, "all": "xy", "not": "good", "needs": {"it": true}}), ""),
        (json!({"embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"any": 1}}}), ""),
        (
            json!({"number": 0}),
            "spec.number: Invalid value: 0: spec.number in body should be greater than or equal to 1",
        ),
        (
            json!({"number": 10}),
            "spec.number: Invalid value: 10: spec.number in body should be less than or equal to 9",
        ),
        (json!({"number": 3}), "spec.number: Invalid value: 3: spec.number in body should be a multiple of 2"),
        (json!({"ratio": 0}), "spec.ratio: Invalid value: 0: spec.ratio in body should be greater than 0"),
        (json!({"pattern": "b"}), "spec.pattern: Invalid value: \"b\": spec.pattern in body should match '^a+$'"),
        (
            json!({"length": "a"}),
            "spec.length: Invalid value: \"a\": spec.length in body should be at least 2 chars long",
        ),
        (json!({"length": "abcd"}), "spec.length: Too long: may not be more than 3 bytes"),
        (json!({"choice": "z"}), "spec.choice: Unsupported value: \"z\": supported values: \"x\", \"y\""),
        (
            json!({"time": "now"}),
            "spec.time: Invalid value: \"now\": spec.time in body must be of type date-time: \"now\"",
        ),
        (
            json!({"address": "::1"}),
            "spec.address: Invalid value: \"::1\": spec.address in body must be of type ipv4: \"::1\"",
        ),
        (
            json!({"either": true}),
            "spec.either: Invalid value: \"boolean\": spec.either in body must be of type integer,string: \"boolean\"",
        ),
        (json!({"list": []}), "spec.list: Invalid value: 0: spec.list in body should have at least 1 items"),
        (json!({"list": ["a", "b", "c"]}), "spec.list: Too many: 3: must have at most 2 items"),
        (
            json!({"list": ["a", ""]}),
            "spec.list[1]: Invalid value: \"\": spec.list[1] in body should be at least 1 chars long",
        ),
        (json!({"set": ["a", "a"]}), "spec.set[1]: Duplicate value: \"a\""),
        (json!({"map": {"a": 1, "b": 2}}), "spec.map: Too many: 2: must have at most 1 item"),
        (
            json!({"map": {"a": 4}}),
            "spec.map.a: Invalid value: 4: spec.map.a in body should be less than or equal to 3",
        ),
        (
            json!({"one": {"a": "1", "b": "2"}}),
            "<nil>: Invalid value: \"\": \"spec.one\" must validate one and only one schema (oneOf). Found 2 valid \
             alternatives",
        ),
        (json!({"not": "bad one"}), "<nil>: Invalid value: \"\": \"spec.not\" must not validate the schema (not)"),
        (json!({"needs": {}}), "spec.needs.it: Required value"),
        (
            json!({"needs": {"it": "x"}}),
            "spec.needs.it: Invalid value: \"string\": spec.needs.it in body must be of type boolean: \"string\"",
        ),
    ] {
        assert_eq!(verdict(cluster, &api, spec.clone()).await, expected, "{spec}");
    }
    for (spec, part) in [
        (json!({"any": {"a": 1}}), "\"spec.any\" must validate at least one schema (anyOf)"),
        (json!({"one": {}}), "\"spec.one\" must validate one and only one schema (oneOf). Found none valid"),
        (json!({"all": "ab"}), "\"spec.all\" must validate all the schemas (allOf)"),
        (json!({"all": "ab"}), "spec.all: Invalid value: \"ab\": spec.all in body should match '^x'"),
        (json!({"embedded": {"metadata": {}}}), "spec.embedded.apiVersion: Required value"),
        (json!({"number": 0, "choice": "z"}), "[spec."),
    ] {
        let found = verdict(cluster, &api, spec.clone()).await;
        assert!(found.contains(part), "{spec}: {found}");
    }
    undefine(cluster).await;
}

pub(crate) async fn rules_are_evaluated(cluster: &Cluster) {
    let rule = |rule: &str, message: &str| json!([{"rule": rule, "message": message}]);
    let schema = json!({
        "type": "object",
        "x-kubernetes-validations": [
            {"rule": "!has(self.low) || !has(self.high) || self.low <= self.high", "message": "low is above high"},
            {"rule": "self.mode == oldSelf.mode", "message": "mode stays"},
            {
                "rule": "!has(self.count) || self.count < 3", "fieldPath": ".count", "reason": "FieldValueForbidden",
                "messageExpression": "self.count > 4 ? 'far too many' : 'too many'",
            },
            {
                "rule": "oldSelf.hasValue() || !has(self.later)", "optionalOldSelf": true,
                "message": "later is not there at first",
            },
        ],
        "properties": {
            "low": {"type": "integer"}, "high": {"type": "integer"}, "count": {"type": "integer"},
            "mode": {"type": "string", "default": "a"}, "later": {"type": "string"},
            "size": {"type": "string", "maxLength": 20, "x-kubernetes-validations": [{"rule": "quantity(self).isGreaterThan(quantity('1Gi'))"}]},
            "until": {"type": "string", "format": "date-time", "x-kubernetes-validations": rule("self > timestamp('2026-01-01T00:00:00Z')", "is over")},
            "name-with_dash": {"type": "string"},
            "names": {
                "type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 10},
                "x-kubernetes-validations": rule("self.all(x, self.exists_one(y, x == y))", "names are unique"),
            },
            "parts": {
                "type": "array", "maxItems": 10, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"],
                "items": {
                    "type": "object", "required": ["id"],
                    "properties": {
                        "id": {"type": "string"},
                        "amount": {"type": "integer", "x-kubernetes-validations": rule("self >= oldSelf", "amounts grow")},
                    },
                },
            },
        },
    });
    let api = define(cluster, schema).await;
    for (spec, expected) in [
        (json!({"low": 1, "high": 2, "size": "2Gi", "until": "2026-02-01T00:00:00Z", "names": ["a", "b"]}), ""),
        (json!({"low": 3, "high": 2}), "spec: Invalid value: low is above high"),
        (json!({"count": 5}), "spec.count: Forbidden: far too many"),
        (json!({"later": "x"}), "spec: Invalid value: later is not there at first"),
        (
            json!({"size": "1Mi"}),
            "spec.size: Invalid value: \"1Mi\": failed rule: quantity(self).isGreaterThan(quantity('1Gi'))",
        ),
        (json!({"until": "2025-01-01T00:00:00Z"}), "spec.until: Invalid value: \"2025-01-01T00:00:00Z\": is over"),
        (json!({"names": ["a", "a"]}), "spec.names: Invalid value: names are unique"),
        (
            json!({"low": 3, "high": 2, "mode": 1}),
            "[spec.mode: Invalid value: \"integer\": spec.mode in body must be of type string: \"integer\", <nil>: Invalid \
             value: null: some validation rules were not checked because the object was invalid; correct the existing \
             errors to complete validation]",
        ),
    ] {
        let found = verdict(cluster, &api, spec.clone()).await;
        assert_eq!(found, expected, "{spec}");
    }
    create(&api, gadget(cluster, "g", json!({"parts": [{"id": "x", "amount": 5}, {"id": "y", "amount": 1}]}))).await;
    let change =
        async |spec: Value| match api.patch("g", &PatchParams::default(), &Patch::Merge(json!({"spec": spec}))).await {
            Ok(_) => String::new(),
            result => what_is_wrong(&refusal(result).2),
        };
    assert_eq!(change(json!({"mode": "b"})).await, "spec: Invalid value: mode stays");
    assert_eq!(change(json!({"later": "x"})).await, "");
    let moved = json!({"parts": [{"id": "y", "amount": 2}, {"id": "z", "amount": 0}, {"id": "x", "amount": 5}]});
    assert_eq!(change(moved).await, "", "items are compared with those of the same key");
    let less = json!({"parts": [{"id": "x", "amount": 4}]});
    assert_eq!(change(less).await, "spec.parts[0].amount: Invalid value: 4: amounts grow");
    undefine(cluster).await;
}

pub(crate) async fn an_update_is_not_blamed_for_what_it_leaves(cluster: &Cluster) {
    let loose = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let api = define(cluster, loose).await;
    create(&api, gadget(cluster, "g", json!({"a": "too long", "b": "x"}))).await;
    let strict = json!({"type": "object", "properties": {
        "a": {"type": "string", "maxLength": 3, "x-kubernetes-validations": [{"rule": "self != 'too long'"}]},
        "b": {"type": "string", "enum": ["x", "y"]},
    }});
    let definitions = cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let patch = Patch::Merge(json!({"spec": {"versions": definition(cluster, strict)["spec"]["versions"]}}));
    definitions.patch(&name(cluster), &PatchParams::default(), &patch).await.unwrap();
    // It is in force when a new object is refused.
    while verdict(cluster, &api, json!({"b": "z"})).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let change = |spec: Value| Patch::Merge(json!({"spec": spec}));
    let changed = api.patch("g", &PatchParams::default(), &change(json!({"b": "y"}))).await.unwrap();
    assert_eq!(to_json(&changed)["spec"], json!({"a": "too long", "b": "y"}));
    let refused = refusal(api.patch("g", &PatchParams::default(), &change(json!({"a": "still long"}))).await);
    assert!(refused.2.contains("spec.a: Too long: may not be more than 3 bytes"), "{}", refused.2);
    undefine(cluster).await;
}

pub(crate) async fn defaults_reach_everywhere(cluster: &Cluster) {
    let schema = json!({"type": "object", "default": {}, "properties": {
        "mode": {"type": "string", "default": "slow"},
        "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}, "m": {"type": "string"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {"on": {"type": "boolean", "default": true}}}},
        "null": {"type": "string", "nullable": true, "default": "x"},
        "deep": {"type": "object", "default": {"a": {}}, "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer", "default": 7}}}}},
    }});
    let api = define(cluster, schema).await;
    let mut bare = gadget(cluster, "bare", json!({}));
    bare.as_object_mut().unwrap().remove("spec");
    let made = create(&api, bare).await;
    assert_eq!(made["spec"], json!({"mode": "slow", "null": "x", "deep": {"a": {"b": 7}}}));
    let made = create(
        &api,
        gadget(
            cluster,
            "g",
            json!({"mode": null, "list": [{"m": "x"}, {"n": 2}], "map": {"k": {}}, "null": null, "deep": {}}),
        ),
    )
    .await;
    let expected = json!({
        "mode": "slow", "list": [{"m": "x", "n": 1}, {"n": 2}], "map": {"k": {"on": true}}, "null": null, "deep": {},
    });
    assert_eq!(made["spec"], expected);
    undefine(cluster).await;
}

pub(crate) async fn definitions_are_checked(cluster: &Cluster) {
    let definitions = cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    for (spec, part) in [
        (
            json!({}),
            "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields",
        ),
        (
            json!({"type": "array"}),
            "spec.validation.openAPIV3Schema.properties[spec].items: Required value: must be specified",
        ),
        (
            json!({"type": "string", "pattern": "("}),
            "spec.validation.openAPIV3Schema.properties[spec].pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: ",
        ),
        (
            json!({"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "map"}),
            "x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
            "additionalProperties and properties are mutual exclusive",
        ),
        (
            json!({"type": "string", "x-kubernetes-validations": [{"rule": "self =="}]}),
            "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Invalid value: ",
        ),
        (json!({"type": "string", "x-kubernetes-validations": [{"rule": "self =="}]}), "compilation failed: "),
        (
            json!({"type": "string", "x-kubernetes-validations": [{"rule": ""}]}),
            "rule: Required value: rule is not specified",
        ),
    ] {
        let params = PostParams { dry_run: true, ..Default::default() };
        let (code, reason, message) =
            refusal(definitions.create(&params, &object(definition(cluster, spec.clone()))).await);
        assert_eq!((code, reason.as_str()), (422, "Invalid"), "{message}");
        assert!(message.contains(part), "{spec}: {message}");
    }
}
