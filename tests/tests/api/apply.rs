//! Server-side apply.

use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use crate::cluster::{Cluster, apply, config_map, create, get, json as to_json, refusal};

fn owner<'a>(object: &'a Value, manager: &str) -> &'a Value {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    entries.iter().find(|entry| entry["manager"] == manager).unwrap_or(&Value::Null)
}

/// A scheduler that is not there. The real one would write into the status that there is no place, at any time.
const NOBODY: &str = "nobody";

fn pod(name: &str, containers: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, "schedulerName": NOBODY, "automountServiceAccountToken": false}})
}

pub(crate) async fn creates_updates_and_does_nothing_twice(cluster: &Cluster) {
    let api = cluster.config_maps();
    let first = apply(&api, "a", config_map("m", json!({"k": "1"}))).await.unwrap();
    assert_eq!(
        *owner(&first, "a"),
        json!({
            "manager": "a", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:k": {}}}, "time": owner(&first, "a")["time"],
        })
    );
    assert_eq!(
        apply(&api, "a", config_map("m", json!({"k": "1"}))).await.unwrap(),
        first,
        "nothing changes, nothing is written"
    );
    let second = apply(&api, "a", config_map("m", json!({"k": "2", "l": "3"}))).await.unwrap();
    assert_eq!(second["data"], json!({"k": "2", "l": "3"}));
    assert_eq!(owner(&second, "a")["fieldsV1"], json!({"f:data": {"f:k": {}, "f:l": {}}}));
    assert_ne!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    assert_eq!(second["metadata"]["uid"], first["metadata"]["uid"]);

    // The same for a kind with defaults.
    let pods = cluster.api("", "v1", "Pod");
    let wanted = pod("p", json!([{"name": "c", "image": "i:1"}]));
    let first = apply(&pods, "a", wanted.clone()).await.unwrap();
    assert_eq!(apply(&pods, "a", wanted).await.unwrap(), first);
}

pub(crate) async fn conflicts_name_the_other_manager(cluster: &Cluster) {
    let api = cluster.config_maps();
    apply(&api, "a", config_map("m", json!({"k": "1", "l": "1"}))).await.unwrap();
    let conflict = apply(&api, "b", config_map("m", json!({"k": "2"}))).await;
    let Err(kube::Error::Api(status)) = &conflict else { panic!("{conflict:?}") };
    assert_eq!((status.code, status.reason.as_str()), (409, "Conflict"));
    assert_eq!(status.message, "Apply failed with 1 conflict: conflict with \"a\": .data.k");
    let causes = &status.details.as_ref().unwrap().causes;
    assert_eq!((causes[0].reason.as_str(), causes[0].field.as_str()), ("FieldManagerConflict", ".data.k"));
    assert_eq!(causes[0].message, "conflict with \"a\"");

    let (_, _, message) = refusal(apply(&api, "b", config_map("m", json!({"k": "2", "l": "2"}))).await);
    assert_eq!(message, "Apply failed with 2 conflicts: conflicts with \"a\":\n- .data.k\n- .data.l");

    // An updater owns what it wrote, too.
    create(&api, config_map("n", json!({"k": "1"}))).await;
    let (_, _, message) = refusal(apply(&api, "b", config_map("n", json!({"k": "2"}))).await);
    assert_eq!(message, "Apply failed with 1 conflict: conflict with \"unknown\" using v1: .data.k");
}

pub(crate) async fn force_takes_fields_away(cluster: &Cluster) {
    let api = cluster.config_maps();
    apply(&api, "a", config_map("m", json!({"k": "1", "l": "1"}))).await.unwrap();
    let forced = PatchParams::apply("b").force();
    let taken = to_json(&api.patch("m", &forced, &Patch::Apply(config_map("m", json!({"k": "2"})))).await.unwrap());
    assert_eq!(taken["data"], json!({"k": "2", "l": "1"}));
    assert_eq!(owner(&taken, "a")["fieldsV1"], json!({"f:data": {"f:l": {}}}));
    assert_eq!(owner(&taken, "b")["fieldsV1"], json!({"f:data": {"f:k": {}}}));
}

pub(crate) async fn an_update_takes_over_what_it_changes(cluster: &Cluster) {
    let api = cluster.config_maps();
    let wanted = config_map("m", json!({"k": "1", "l": "1"}));
    apply(&api, "a", wanted.clone()).await.unwrap();
    let hand = PatchParams { field_manager: Some("hand".into()), ..Default::default() };
    let same = api.patch("m", &hand, &Patch::Merge(json!({"data": {"k": "1"}}))).await.unwrap();
    assert_eq!(owner(&to_json(&same), "hand"), &Value::Null, "who changes nothing owns nothing");
    let drifted = to_json(&api.patch("m", &hand, &Patch::Merge(json!({"data": {"k": "2"}}))).await.unwrap());
    assert_eq!(owner(&drifted, "a")["fieldsV1"], json!({"f:data": {"f:l": {}}}));
    assert_eq!(owner(&drifted, "hand")["fieldsV1"], json!({"f:data": {"f:k": {}}}));
    assert_eq!(owner(&drifted, "hand")["operation"], "Update");

    let (code, _, message) = refusal(apply(&api, "a", wanted.clone()).await);
    assert_eq!(code, 409);
    assert!(message.ends_with("conflict with \"hand\" using v1: .data.k"), "{message}");
    let forced = PatchParams::apply("a").force();
    let repaired = to_json(&api.patch("m", &forced, &Patch::Apply(&wanted)).await.unwrap());
    assert_eq!(repaired["data"], json!({"k": "1", "l": "1"}));
    assert_eq!(owner(&repaired, "hand"), &Value::Null);
    let again = to_json(&api.patch("m", &forced, &Patch::Apply(&wanted)).await.unwrap());
    assert_eq!(again, repaired, "force is no change, either");

    // What an update removes is gone from its owner's fields, and comes back with the next apply, without a conflict.
    api.patch("m", &hand, &Patch::Merge(json!({"data": {"l": null}}))).await.unwrap();
    assert_eq!(apply(&api, "a", wanted).await.unwrap()["data"], json!({"k": "1", "l": "1"}));
}

pub(crate) async fn giving_up_a_field_removes_it(cluster: &Cluster) {
    let api = cluster.config_maps();
    apply(&api, "a", config_map("m", json!({"k": "1", "l": "1"}))).await.unwrap();
    let less = apply(&api, "a", config_map("m", json!({"l": "1"}))).await.unwrap();
    assert_eq!(less["data"], json!({"l": "1"}));
    let none = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    let none = apply(&api, "a", none).await.unwrap();
    assert_eq!(none.get("data"), None);

    // What an updater wrote beside it stays.
    apply(&api, "a", config_map("n", json!({"k": "1"}))).await.unwrap();
    let other = Patch::Merge(json!({"data": {"other": "x"}}));
    api.patch("n", &PatchParams { field_manager: Some("u".into()), ..Default::default() }, &other).await.unwrap();
    let rest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "n"}});
    assert_eq!(apply(&api, "a", rest).await.unwrap()["data"], json!({"other": "x"}));
}

pub(crate) async fn shared_fields_stay_until_the_last_owner_leaves(cluster: &Cluster) {
    let api = cluster.config_maps();
    apply(&api, "a", config_map("m", json!({"k": "1", "a": "1"}))).await.unwrap();
    let shared = apply(&api, "b", config_map("m", json!({"k": "1"}))).await.unwrap();
    assert_eq!(owner(&shared, "a")["fieldsV1"]["f:data"]["f:k"], json!({}));
    assert_eq!(owner(&shared, "b")["fieldsV1"]["f:data"]["f:k"], json!({}));
    let left = apply(&api, "a", config_map("m", json!({"a": "1"}))).await.unwrap();
    assert_eq!(left["data"]["k"], "1", "b still owns it");
    let gone = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}});
    assert_eq!(apply(&api, "b", gone).await.unwrap()["data"], json!({"a": "1"}));
}

pub(crate) async fn list_maps_are_merged_by_key(cluster: &Cluster) {
    let pods = cluster.api("", "v1", "Pod");
    let first = json!([
        {"name": "a", "image": "i:1", "env": [{"name": "X", "value": "1"}], "ports": [{"containerPort": 80, "name": "web"}]},
        {"name": "b", "image": "i:2"},
    ]);
    let made = apply(&pods, "a", pod("p", first)).await.unwrap();
    assert_eq!(
        owner(&made, "a")["fieldsV1"]["f:spec"]["f:containers"]["k:{\"name\":\"a\"}"],
        json!({
            ".": {}, "f:name": {}, "f:image": {},
            "f:env": {"k:{\"name\":\"X\"}": {".": {}, "f:name": {}, "f:value": {}}},
            "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:name": {}}},
        })
    );
    // Another manager speaks of one container only, and may change what nobody owns.
    let second = apply(&pods, "b", pod("p", json!([{"name": "b", "image": "i:2"}]))).await.unwrap();
    let images: Vec<&Value> = second["spec"]["containers"].as_array().unwrap().iter().map(|c| &c["image"]).collect();
    assert_eq!(images, ["i:1", "i:2"]);

    // Labels, finalizers (a set) and conditions (a list map in the status).
    let labelled = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "finalizers": ["x.io/a"], "labels": {"l": "1"}}});
    let labelled = apply(&pods, "c", labelled).await.unwrap();
    assert_eq!(
        owner(&labelled, "c")["fieldsV1"],
        json!({"f:metadata": {"f:finalizers": {"v:\"x.io/a\"": {}}, "f:labels": {"f:l": {}}}})
    );
    let without = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
    let without = apply(&pods, "c", without).await.unwrap();
    assert_eq!((without["metadata"].get("finalizers"), without["metadata"].get("labels")), (None, None));
    assert_eq!(owner(&without, "c"), &Value::Null, "who owns nothing is not listed");
}

pub(crate) async fn status_has_owners_of_its_own(cluster: &Cluster) {
    let nodes = cluster.global("", "v1", "Node");
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "case-node", "labels": {"a": "1"}}});
    apply(&nodes, "cli", node).await.unwrap();
    let status = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "case-node", "labels": {"b": "1"}},
        "status": {"allocatable": {"nvidia.com/gpu": 2}, "conditions": [{"type": "Ready", "status": "True"}]},
    });
    let written =
        nodes.patch_status("case-node", &PatchParams::apply("kubelet"), &Patch::Apply(&status)).await.unwrap();
    let written = to_json(&written);
    // Of most built-in kinds, only the spec stays as it is.
    assert_eq!(written["metadata"]["labels"], json!({"a": "1", "b": "1"}));
    assert_eq!(written["status"]["allocatable"], json!({"nvidia.com/gpu": "2"}));
    assert_eq!(owner(&written, "kubelet")["subresource"], "status");
    let again = nodes.patch_status("case-node", &PatchParams::apply("kubelet"), &Patch::Apply(&status)).await.unwrap();
    // The controllers of a real cluster write to a node, too.
    let again = to_json(&again);
    assert_eq!((&again["status"], owner(&again, "kubelet")), (&written["status"], owner(&written, "kubelet")));

    // Through the object itself, the status is not touched.
    let both = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "case-node", "labels": {"a": "2"}}, "status": {"phase": "x"}});
    let both = apply(&nodes, "cli", both).await.unwrap();
    assert_eq!(both["status"], written["status"]);
    assert_eq!(both["metadata"]["labels"], json!({"a": "2", "b": "1"}));
    nodes.delete("case-node", &Default::default()).await.unwrap();
}

pub(crate) async fn unknown_fields_are_refused(cluster: &Cluster) {
    let api = cluster.config_maps();
    let wrong = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "dta": {"k": "1"}});
    let (_, _, message) = refusal(apply(&api, "a", wrong).await);
    assert!(message.contains(".dta: field not declared in schema"), "{message}");
    let twice = pod("p", json!([{"name": "a", "image": "i"}, {"name": "a", "image": "j"}]));
    let error = apply(&cluster.api("", "v1", "Pod"), "a", twice).await.unwrap_err();
    assert!(error.to_string().to_lowercase().contains("duplicate"), "{error}");
    assert!(api.get_opt("m").await.unwrap().is_none());
}

pub(crate) async fn a_dry_run_shows_defaults_and_writes_nothing(cluster: &Cluster) {
    let pods = cluster.api("", "v1", "Pod");
    let dry = PatchParams::apply("a").dry_run();
    let wanted = pod("p", json!([{"name": "c", "image": "i:1"}]));
    let shown = to_json(&pods.patch("p", &dry, &Patch::Apply(&wanted)).await.unwrap());
    assert_eq!(shown["spec"]["restartPolicy"], "Always");
    assert!(pods.get_opt("p").await.unwrap().is_none());

    let made = apply(&pods, "a", wanted.clone()).await.unwrap();
    assert_eq!(made["spec"], shown["spec"], "what the dry run showed is what comes");
    let labelled = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"l": "1"}},
        "spec": wanted["spec"],
    });
    let shown = to_json(&pods.patch("p", &dry, &Patch::Apply(&labelled)).await.unwrap());
    assert_eq!(shown["metadata"]["labels"], json!({"l": "1"}));
    assert_eq!(shown["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"]);
    assert_eq!(get(&pods, "p").await, made);
}

pub(crate) async fn quantities_are_canonical(cluster: &Cluster) {
    let quotas = cluster.api("", "v1", "ResourceQuota");
    let quota = |cpu: Value, memory: &str| {
        json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
            "spec": {"hard": {"requests.cpu": cpu, "requests.memory": memory}},
        })
    };
    let made = apply(&quotas, "a", quota(json!("1000m"), "1024Mi")).await.unwrap();
    assert_eq!(made["spec"]["hard"], json!({"requests.cpu": "1", "requests.memory": "1Gi"}));
    let again = apply(&quotas, "a", quota(json!(1), "1Gi")).await.unwrap();
    assert_eq!(again["metadata"]["generation"], made["metadata"]["generation"]);
    assert_eq!(again["spec"], made["spec"]);
}

pub(crate) async fn yaml_is_applied(cluster: &Cluster) {
    let yaml =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  k: \"1\"\n  text: |\n    two\n    lines\n";
    let request = |yaml: &str| {
        http::Request::patch(cluster.path("configmaps/m?fieldManager=a"))
            .header("content-type", "application/apply-patch+yaml")
            .body(yaml.as_bytes().to_vec())
            .unwrap()
    };
    let made: Value = cluster.client.request(request(yaml)).await.unwrap();
    assert_eq!(made["data"], json!({"k": "1", "text": "two\nlines\n"}));
    let broken = cluster.client.request::<Value>(request("apiVersion: [")).await;
    assert_eq!(refusal(broken).0, 400);
}
