//! Custom resource definitions and their objects.

use std::time::Duration;

use kube::api::{Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::cluster::{Cluster, apply, create, get, json as to_json, object, refusal};

fn definition(cluster: &Cluster) -> Value {
    let group = cluster.group();
    let schema = json!({
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["size"],
                "properties": {
                    "size": {"type": "integer", "minimum": 1},
                    "mode": {"type": "string", "enum": ["fast", "slow"], "default": "slow"},
                    "cards": {
                        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uuid"],
                        "items": {
                            "type": "object", "required": ["uuid"],
                            "properties": {"uuid": {"type": "string"}, "slices": {"type": "array", "items": {"type": "string"}}},
                        },
                    },
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                },
            },
            "status": {"type": "object", "properties": {"done": {"type": "boolean"}}},
        },
    });
    let version = |name: &str, storage: bool| {
        json!({
            "name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}},
            "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [version("v1beta1", false), version("v1", true)],
        },
    })
}

async fn define(cluster: &Cluster) -> kube::Api<kube::api::DynamicObject> {
    let definitions = cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    create(&definitions, definition(cluster)).await;
    let definitions: kube::Api<
        k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    > = kube::Api::all(cluster.client.clone());
    let established = kube::runtime::conditions::is_crd_established();
    kube::runtime::wait::await_condition(definitions, &format!("widgets.{}", cluster.group()), established)
        .await
        .unwrap();
    cluster.api(&cluster.group(), "v1", "Widget")
}

async fn undefine(cluster: &Cluster) {
    let definitions = cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    definitions.delete(&format!("widgets.{}", cluster.group()), &Default::default()).await.unwrap();
}

fn widget(cluster: &Cluster, name: &str, spec: Value) -> Value {
    json!({"apiVersion": format!("{}/v1", cluster.group()), "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

pub(crate) async fn definitions_make_resources(cluster: &Cluster) {
    let api = define(cluster).await;
    create(&api, widget(cluster, "w", json!({"size": 2}))).await;
    let discovery = kube::discovery::pinned_kind(
        &cluster.client,
        &kube::core::GroupVersionKind::gvk(&cluster.group(), "v1", "Widget"),
    )
    .await
    .unwrap();
    assert_eq!(discovery.0.plural, "widgets");
    assert!(discovery.1.supports_operation(kube::discovery::verbs::WATCH));
    let request = http::Request::get(format!("/apis/{}/v1/widgets", cluster.group()))
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
        .body(Vec::new())
        .unwrap();
    let table: Value = cluster.client.request(request).await.unwrap();
    assert_eq!(table["rows"][0]["cells"], json!(["w", 2]));
    undefine(cluster).await;
    // The objects go first, then the definition, then its paths.
    while api.list(&Default::default()).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(refusal(api.list(&Default::default()).await).0, 404);
    let wrong = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("other.{}", cluster.group())},
        "spec": definition(cluster)["spec"],
    });
    let definitions = cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    assert_eq!(refusal(definitions.create(&PostParams::default(), &object(wrong)).await).0, 422);
}

pub(crate) async fn custom_objects_are_pruned_defaulted_and_validated(cluster: &Cluster) {
    let api = define(cluster).await;
    let made =
        create(&api, widget(cluster, "w", json!({"size": 2, "unknown": 1, "free": {"any": {"thing": [1]}}}))).await;
    assert_eq!(made["spec"], json!({"size": 2, "mode": "slow", "free": {"any": {"thing": [1]}}}));
    for (spec, what) in [
        (json!({}), "spec.size: Required value"),
        (json!({"size": 0}), "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1"),
        (json!({"size": "x"}), "spec.size in body must be of type integer: \"string\""),
        (
            json!({"size": 1, "mode": "odd"}),
            "spec.mode: Unsupported value: \"odd\": supported values: \"fast\", \"slow\"",
        ),
        (json!({"size": 1, "cards": [{"uuid": "a"}, {"uuid": "a"}]}), "spec.cards[1]: Duplicate value"),
    ] {
        let (code, reason, message) =
            refusal(api.create(&PostParams::default(), &object(widget(cluster, "x", spec))).await);
        assert_eq!((code, reason.as_str()), (422, "Invalid"), "{message}");
        assert!(message.contains(what), "{message}");
    }
    undefine(cluster).await;
}

pub(crate) async fn status_is_a_subresource(cluster: &Cluster) {
    let api = define(cluster).await;
    let mut with_status = widget(cluster, "w", json!({"size": 2}));
    with_status["status"] = json!({"done": true});
    let made = create(&api, with_status).await;
    assert_eq!(made.get("status"), None);
    let both = Patch::Merge(json!({"status": {"done": true}, "spec": {"size": 9}}));
    let written = to_json(&api.patch_status("w", &PatchParams::default(), &both).await.unwrap());
    assert_eq!((&written["status"], &written["spec"]["size"]), (&json!({"done": true}), &json!(2)));
    assert_eq!(written["metadata"]["generation"], 1);
    let changed =
        to_json(&api.patch("w", &PatchParams::default(), &Patch::Merge(json!({"spec": {"size": 3}}))).await.unwrap());
    assert_eq!((&changed["metadata"]["generation"], &changed["status"]), (&json!(2), &json!({"done": true})));
    undefine(cluster).await;
}

pub(crate) async fn list_maps_of_definitions_are_merged(cluster: &Cluster) {
    let api = define(cluster).await;
    let card = |uuid: &str, slices: Value| json!({"uuid": uuid, "slices": slices});
    let first =
        widget(cluster, "w", json!({"size": 1, "cards": [card("a", json!(["1g", "1g"])), card("b", json!([]))]}));
    let made = apply(&api, "x", first.clone()).await.unwrap();
    assert_eq!(apply(&api, "x", first).await.unwrap(), made);
    let second =
        apply(&api, "y", widget(cluster, "w", json!({"size": 1, "cards": [card("c", json!(["2g"]))]}))).await.unwrap();
    let uuids: Vec<&Value> = second["spec"]["cards"].as_array().unwrap().iter().map(|card| &card["uuid"]).collect();
    assert_eq!(uuids, ["a", "b", "c"]);
    let less =
        apply(&api, "x", widget(cluster, "w", json!({"size": 1, "cards": [card("b", json!([]))]}))).await.unwrap();
    assert_eq!(less["spec"]["cards"], json!([card("b", json!([])), card("c", json!(["2g"]))]));
    let (code, _, message) =
        refusal(apply(&api, "x", widget(cluster, "w", json!({"size": 1, "cards": [card("c", json!(["3g"]))]}))).await);
    assert_eq!(code, 409);
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"y\": .spec.cards[uuid=\"c\"].slices");
    undefine(cluster).await;
}

pub(crate) async fn versions_share_objects(cluster: &Cluster) {
    let api = define(cluster).await;
    create(&api, widget(cluster, "w", json!({"size": 2}))).await;
    let beta = get(&cluster.api(&cluster.group(), "v1beta1", "Widget"), "w").await;
    assert_eq!(
        (&beta["apiVersion"], &beta["spec"]["size"]),
        (&json!(format!("{}/v1beta1", cluster.group())), &json!(2))
    );
    undefine(cluster).await;
}
