//! What belongs to objects of many kinds: scales, fields to select by, columns, published schemas.

use std::time::Duration;

use http::Request;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::cluster::{Cluster, create, json as to_json, refusal};
use crate::schemas::{define_all, gadget, undefine};

fn definition(cluster: &Cluster) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("gadgets.{}", cluster.group())},
        "spec": {
            "group": cluster.group(), "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": {
                        "replicas": {"type": "integer", "maximum": 9}, "color": {"type": "string"}, "on": {"type": "boolean"},
                        "tags": {"type": "array", "items": {"type": "string"}},
                    }},
                    "status": {"type": "object", "properties": {
                        "replicas": {"type": "integer"}, "selector": {"type": "string"},
                    }},
                }}},
                "subresources": {
                    "status": {},
                    "scale": {
                        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                        "labelSelectorPath": ".status.selector",
                    },
                },
                "selectableFields": [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.on"}],
                "additionalPrinterColumns": [
                    {"name": "Color", "type": "string", "jsonPath": ".spec.color"},
                    {"name": "Replicas", "type": "integer", "jsonPath": ".spec.replicas"},
                    {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
                    {"name": "First", "type": "string", "jsonPath": ".spec.tags[0]", "priority": 1},
                ],
            }],
        },
    })
}

async fn raw(cluster: &Cluster, path: &str, accept: &str) -> Value {
    let request = Request::get(path).header("accept", accept).body(Vec::new()).unwrap();
    cluster.client.request(request).await.unwrap()
}

pub(crate) async fn custom_objects_have_scales(cluster: &Cluster) {
    let api = define_all(cluster, definition(cluster)).await;
    create(&api, gadget(cluster, "g", json!({"replicas": 2}))).await;
    let status = Patch::Merge(json!({"status": {"replicas": 1, "selector": "app=g"}}));
    api.patch_status("g", &PatchParams::default(), &status).await.unwrap();
    let scale = api.get_scale("g").await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(2));
    let status = scale.status.unwrap();
    assert_eq!((status.replicas, status.selector.as_deref()), (1, Some("app=g")));
    let to = |replicas: i64| Patch::Merge(json!({"spec": {"replicas": replicas}}));
    api.patch_scale("g", &PatchParams::default(), &to(5)).await.unwrap();
    let scaled = to_json(&api.get("g").await.unwrap());
    assert_eq!((&scaled["spec"]["replicas"], &scaled["metadata"]["generation"]), (&json!(5), &json!(2)));
    let owner =
        scaled["metadata"]["managedFields"].as_array().unwrap().iter().find(|one| one["subresource"] == "scale");
    assert_eq!(owner.unwrap()["fieldsV1"], json!({"f:spec": {"f:replicas": {}}}));
    let negative = refusal(api.patch_scale("g", &PatchParams::default(), &to(-1)).await);
    assert_eq!(negative.0, 422);
    assert!(negative.2.contains("spec.replicas: Invalid value: -1"), "{}", negative.2);
    let above = refusal(api.patch_scale("g", &PatchParams::default(), &to(10)).await);
    assert!(above.2.contains("spec.replicas in body should be less than or equal to 9"), "{}", above.2);
    create(&api, gadget(cluster, "none", json!({}))).await;
    let missing = refusal(api.get_scale("none").await);
    assert_eq!(missing.0, 500);
    assert!(missing.2.contains("the spec replicas field \".spec.replicas\" does not exist"), "{}", missing.2);
    undefine(cluster).await;
}

pub(crate) async fn workloads_have_scales(cluster: &Cluster) {
    let api = cluster.api("apps", "v1", "ReplicaSet");
    let labels = json!({"app": "x"});
    let spec = json!({
        "replicas": 0, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    });
    create(&api, json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"}, "spec": spec})).await;
    let (scale, scaled) = loop {
        let mut scale = api.get_scale("r").await.unwrap();
        assert_eq!(scale.status.as_ref().unwrap().selector.as_deref(), Some("app=x"));
        assert_eq!(scale.spec.as_ref().unwrap().replicas.unwrap_or_default(), 0);
        scale.spec.as_mut().unwrap().replicas = Some(1);
        match api.replace_scale("r", &PostParams::default(), &scale).await {
            // A controller wrote its status in between.
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            scaled => break (scale, scaled.unwrap()),
        }
    };
    assert_eq!(scaled.spec.unwrap().replicas, Some(1));
    assert_eq!(
        refusal(api.replace_scale("r", &PostParams::default(), &scale).await).0,
        409,
        "the version is an old one"
    );
    api.delete("r", &Default::default()).await.unwrap();
}

pub(crate) async fn definitions_say_what_is_selected_and_shown(cluster: &Cluster) {
    let api = define_all(cluster, definition(cluster)).await;
    create(&api, gadget(cluster, "a", json!({"color": "red", "on": true, "tags": ["x", "y"], "replicas": 3}))).await;
    create(&api, gadget(cluster, "b", json!({"color": "blue", "on": false}))).await;
    create(&api, gadget(cluster, "c", json!({}))).await;
    for (fields, expected) in
        [("spec.color=red", "a"), ("spec.color!=red", "b c"), ("spec.on=false", "b"), ("spec.color=", "c")]
    {
        let list = api.list(&ListParams::default().fields(fields)).await.unwrap();
        let names: Vec<String> = list.items.into_iter().map(|one| one.metadata.name.unwrap()).collect();
        assert_eq!(names.join(" "), expected, "{fields}");
    }
    let (code, _, message) = refusal(api.list(&ListParams::default().fields("spec.replicas=3")).await);
    assert_eq!((code, message.contains("field label not supported: spec.replicas")), (400, true), "{message}");
    let path = format!("/apis/{}/v1/namespaces/{}/gadgets", cluster.group(), cluster.namespace);
    let table = raw(cluster, &path, "application/json;as=Table;v=v1;g=meta.k8s.io").await;
    let columns: Vec<_> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|one| (&one["name"], &one["priority"])).collect();
    let expected = [("Name", 0), ("Color", 0), ("Replicas", 0), ("On", 0), ("First", 1)];
    let expected: Vec<_> = expected.iter().map(|(name, priority)| (json!(name), json!(priority))).collect();
    assert_eq!(columns, expected.iter().map(|(name, priority)| (name, priority)).collect::<Vec<_>>());
    let cells: Vec<_> = table["rows"].as_array().unwrap().iter().map(|row| &row["cells"]).collect();
    assert_eq!(
        cells,
        [
            &json!(["a", "red", 3, true, "x"]),
            &json!(["b", "blue", null, false, null]),
            &json!(["c", null, null, null, null])
        ]
    );
    undefine(cluster).await;
}

pub(crate) async fn schemas_are_published_by_hash(cluster: &Cluster) {
    define_all(cluster, definition(cluster)).await;
    let place = async || loop {
        let index = raw(cluster, "/openapi/v3", "application/json").await;
        // The real server publishes a definition's schema a moment after it serves the resource.
        if let Some(place) = index["paths"][format!("apis/{}/v1", cluster.group())]["serverRelativeURL"].as_str() {
            return place.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let first = place().await;
    assert!(first.starts_with(&format!("/openapi/v3/apis/{}/v1?hash=", cluster.group())), "{first}");
    let document = raw(cluster, &first, "application/json").await;
    let schema = &document["components"]["schemas"][format!("com.example.{}.v1.Gadget", cluster.namespace)];
    assert_eq!(schema["properties"]["spec"]["properties"]["color"]["type"], "string");
    assert_eq!(
        schema["x-kubernetes-group-version-kind"],
        json!([{"group": cluster.group(), "version": "v1", "kind": "Gadget"}])
    );
    let definitions = cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let patch = json!([{
        "op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/more",
        "value": {"type": "string"},
    }]);
    let patch: Patch<Value> = Patch::Json(serde_json::from_value(patch).unwrap());
    definitions.patch(&format!("gadgets.{}", cluster.group()), &PatchParams::default(), &patch).await.unwrap();
    while place().await == first {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    undefine(cluster).await;
}
