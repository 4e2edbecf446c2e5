//! Creating, changing and deleting objects.

use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy, ValidationDirective};
use serde_json::{Value, json};

use crate::cluster::{Cluster, config_map, create, get, json as to_json, object, refusal};

pub(crate) async fn names_are_generated_and_checked(cluster: &Cluster) {
    let api = cluster.config_maps();
    let generated = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "g-"}});
    let (first, second) = (create(&api, generated.clone()).await, create(&api, generated).await);
    for made in [&first, &second] {
        let name = made["metadata"]["name"].as_str().unwrap();
        assert!(name.starts_with("g-") && name.len() == 7, "{name}");
    }
    assert_ne!(first["metadata"]["name"], second["metadata"]["name"]);
    let wrong = api.create(&PostParams::default(), &object(config_map("Upper_Case", json!({})))).await;
    let (code, reason, message) = refusal(wrong);
    assert_eq!((code, reason.as_str()), (422, "Invalid"));
    assert!(
        message.starts_with("ConfigMap \"Upper_Case\" is invalid: metadata.name: Invalid value: \"Upper_Case\""),
        "{message}"
    );
    create(&api, config_map("m", json!({}))).await;
    let (code, reason, message) =
        refusal(api.create(&PostParams::default(), &object(config_map("m", json!({})))).await);
    assert_eq!((code, reason.as_str(), message.as_str()), (409, "AlreadyExists", "configmaps \"m\" already exists"));
}

pub(crate) async fn an_update_needs_the_current_version(cluster: &Cluster) {
    let api = cluster.config_maps();
    let made = create(&api, config_map("m", json!({"k": "1"}))).await;
    let mut next = made.clone();
    next["data"]["k"] = json!("2");
    let updated = to_json(&api.replace("m", &PostParams::default(), &object(next.clone())).await.unwrap());
    assert_eq!(updated["data"]["k"], "2");
    next["data"]["k"] = json!("3");
    let (code, reason, message) = refusal(api.replace("m", &PostParams::default(), &object(next)).await);
    assert_eq!((code, reason.as_str()), (409, "Conflict"));
    assert_eq!(
        message,
        "Operation cannot be fulfilled on configmaps \"m\": the object has been modified; please apply your changes to the \
         latest version and try again"
    );
    let same = to_json(&api.replace("m", &PostParams::default(), &object(updated.clone())).await.unwrap());
    assert_eq!(same, updated, "an update without a change is none");
}

pub(crate) async fn merge_and_strategic_patches(cluster: &Cluster) {
    let api = cluster.config_maps();
    create(&api, config_map("m", json!({"k": "1", "l": "1"}))).await;
    let merged =
        api.patch("m", &PatchParams::default(), &Patch::Merge(json!({"data": {"k": null, "n": "2"}}))).await.unwrap();
    assert_eq!(to_json(&merged)["data"], json!({"l": "1", "n": "2"}));

    let nodes = cluster.global("", "v1", "Node");
    create(&nodes, json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "patched"}})).await;
    let conditions = |kind: &str, status: &str| json!({"status": {"conditions": [{"type": kind, "status": status}]}});
    for (kind, status) in [("Ready", "False"), ("Other", "True"), ("Ready", "True")] {
        nodes
            .patch_status("patched", &PatchParams::default(), &Patch::Strategic(conditions(kind, status)))
            .await
            .unwrap();
    }
    // A real server also fills in the times that were not given, with null.
    let patched = get(&nodes, "patched").await;
    let conditions = patched["status"]["conditions"].as_array().unwrap().iter();
    let conditions: Vec<_> =
        conditions.map(|one| (one["type"].as_str().unwrap(), one["status"].as_str().unwrap())).collect();
    assert_eq!(conditions, [("Other", "True"), ("Ready", "True")], "what is new comes first");
    let cordon = Patch::Strategic(json!({"spec": {"unschedulable": true}}));
    let cordoned = to_json(&nodes.patch("patched", &PatchParams::default(), &cordon).await.unwrap());
    assert_eq!(cordoned["spec"]["unschedulable"], true);
    nodes.delete("patched", &DeleteParams::default()).await.unwrap();
}

fn deployment(replicas: u64) -> serde_json::Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    })
}

pub(crate) async fn generation_counts_changes_of_the_spec(cluster: &Cluster) {
    let api = cluster.api("apps", "v1", "Deployment");
    let made = create(&api, deployment(0)).await;
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["spec"]["strategy"]["rollingUpdate"], json!({"maxSurge": "25%", "maxUnavailable": "25%"}));
    let label = Patch::Merge(json!({"metadata": {"labels": {"x": "y"}}}));
    assert_eq!(api.patch("d", &Default::default(), &label).await.unwrap().metadata.generation, Some(1));
    let pause = Patch::Merge(json!({"spec": {"paused": true}}));
    assert_eq!(api.patch("d", &Default::default(), &pause).await.unwrap().metadata.generation, Some(2));
}

pub(crate) async fn what_is_immutable_stays(cluster: &Cluster) {
    let classes = cluster.global("scheduling.k8s.io", "v1", "PriorityClass");
    create(&classes, json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "case"}, "value": 5})).await;
    let change = Patch::Merge(json!({"value": 6}));
    let (code, _, message) = refusal(classes.patch("case", &Default::default(), &change).await);
    assert_eq!(code, 422);
    assert!(message.contains("value: Forbidden: may not be changed in an update."), "{message}");
    classes.delete("case", &DeleteParams::default()).await.unwrap();

    let deployments = cluster.api("apps", "v1", "Deployment");
    create(&deployments, deployment(0)).await;
    let change = json!({"spec": {"selector": {"matchLabels": {"app": "e"}}, "template": {"metadata": {"labels": {"app": "e"}}}}});
    let (code, _, message) = refusal(deployments.patch("d", &Default::default(), &Patch::Merge(change)).await);
    assert_eq!(code, 422);
    assert!(message.contains("field is immutable"), "{message}");
}

pub(crate) async fn strict_validation_names_the_field(cluster: &Cluster) {
    let api = cluster.config_maps();
    let wrong =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "labls": {}}, "dta": {"k": "1"}});
    let strict = PatchParams { field_validation: Some(ValidationDirective::Strict), ..PatchParams::apply("a") };
    let (code, _, message) = refusal(api.patch("m", &strict, &Patch::Apply(&wrong)).await);
    // An apply is refused for its unknown fields anyway, and before they are looked at strictly.
    assert_eq!(code, 500, "{message}");
    // A real server names one or both, as it comes upon them.
    assert!(message.contains(": field not declared in schema"), "{message}");
    let path = cluster.path("configmaps?fieldValidation=Strict");
    let request = http::Request::post(path).header("content-type", "application/json");
    let request = request.body(wrong.to_string().into_bytes()).unwrap();
    let (code, _, message) = refusal(cluster.client.request::<Value>(request).await);
    assert_eq!(code, 400, "{message}");
    assert_eq!(
        message,
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: \
         unknown field \"dta\", unknown field \"metadata.labls\""
    );
    create(&api, config_map("m", json!({}))).await;
    let params = PatchParams { field_validation: Some(ValidationDirective::Ignore), ..PatchParams::default() };
    let dropped = api.patch("m", &params, &Patch::Merge(json!({"dta": {"k": "1"}}))).await.unwrap();
    assert_eq!(to_json(&dropped).get("dta"), None, "otherwise it is dropped");
    let (code, _, message) = refusal(api.patch("m", &params, &Patch::Merge(json!({"data": {"k": 1}}))).await);
    assert_eq!(code, 422, "{message}");
    assert!(message.starts_with(" \"\" is invalid: patch: Invalid value: "), "{message}");
}

pub(crate) async fn finalizers_hold_a_deletion(cluster: &Cluster) {
    let api = cluster.config_maps();
    let mut held = config_map("m", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    create(&api, held).await;
    let deleted = api.delete("m", &DeleteParams::default()).await.unwrap();
    let still = deleted.left().expect("it is still there");
    assert!(still.metadata.deletion_timestamp.is_some());
    let add = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/hold", "example.com/new"]}}));
    let (code, _, message) = refusal(api.patch("m", &Default::default(), &add).await);
    assert_eq!(code, 422);
    assert!(message.contains("no new finalizers can be added"), "{message}");
    api.patch("m", &Default::default(), &Patch::Merge(json!({"metadata": {"finalizers": null}}))).await.unwrap();
    assert!(api.get_opt("m").await.unwrap().is_none());
}

pub(crate) async fn preconditions_of_a_deletion(cluster: &Cluster) {
    let api = cluster.config_maps();
    let made = create(&api, config_map("m", json!({}))).await;
    let with = |uid: &str, version: Option<&str>| {
        let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: version.map(str::to_owned) };
        DeleteParams { preconditions: Some(preconditions), ..Default::default() }
    };
    let other = "00000000-0000-0000-0000-000000000000";
    assert_eq!(refusal(api.delete("m", &with(other, None)).await).0, 409);
    let uid = made["metadata"]["uid"].as_str().unwrap();
    assert_eq!(refusal(api.delete("m", &with(uid, Some("1"))).await).0, 409);
    let dry = DeleteParams { dry_run: true, ..with(uid, None) };
    api.delete("m", &dry).await.unwrap();
    assert_eq!(get(&api, "m").await, made);
    api.delete("m", &with(uid, None)).await.unwrap();
    assert_eq!(refusal(api.delete("m", &DeleteParams::default()).await).0, 404);
}

pub(crate) async fn owners_take_their_dependants_along(cluster: &Cluster) {
    let api = cluster.config_maps();
    for (policy, stays) in [
        (PropagationPolicy::Background, false),
        (PropagationPolicy::Foreground, false),
        (PropagationPolicy::Orphan, true),
    ] {
        let owner = create(&api, config_map("owner", json!({}))).await;
        let mut owned = config_map("owned", json!({}));
        owned["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true,
        }]);
        let owned = create(&api, owned).await;
        let params = DeleteParams { propagation_policy: Some(policy), ..Default::default() };
        api.delete("owner", &params).await.unwrap();
        let owner_gone = kube::runtime::conditions::is_deleted(owner["metadata"]["uid"].as_str().unwrap());
        kube::runtime::wait::await_condition(api.clone(), "owner", owner_gone).await.unwrap();
        if stays {
            assert_eq!(get(&api, "owned").await["metadata"].get("ownerReferences"), None);
            api.delete("owned", &DeleteParams::default()).await.unwrap();
        } else {
            let gone = kube::runtime::conditions::is_deleted(owned["metadata"]["uid"].as_str().unwrap());
            kube::runtime::wait::await_condition(api.clone(), "owned", gone).await.unwrap();
        }
    }
}

pub(crate) async fn a_second_owner_keeps_a_dependant(cluster: &Cluster) {
    let api = cluster.config_maps();
    let mut references = Vec::new();
    for name in ["one", "two"] {
        let owner = create(&api, config_map(name, json!({}))).await;
        references
            .push(json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner["metadata"]["uid"]}));
    }
    let mut owned = config_map("owned", json!({}));
    owned["metadata"]["ownerReferences"] = json!(references);
    let owned = create(&api, owned).await;
    api.delete("one", &DeleteParams::default()).await.unwrap();
    let left = |object: Option<&kube::api::DynamicObject>| {
        object.and_then(|object| object.metadata.owner_references.as_ref()).is_some_and(|owners| owners.len() == 1)
    };
    kube::runtime::wait::await_condition(api.clone(), "owned", left).await.unwrap();
    api.delete("two", &DeleteParams::default()).await.unwrap();
    let gone = kube::runtime::conditions::is_deleted(owned["metadata"]["uid"].as_str().unwrap());
    kube::runtime::wait::await_condition(api.clone(), "owned", gone).await.unwrap();
}

pub(crate) async fn what_is_missing_is_not_found(cluster: &Cluster) {
    let (code, reason, message) = refusal(cluster.config_maps().get("nothing").await);
    assert_eq!((code, reason.as_str(), message.as_str()), (404, "NotFound", "configmaps \"nothing\" not found"));
    let widgets = cluster.api("example.com", "v1", "Widget");
    assert_eq!(refusal(widgets.list(&Default::default()).await).0, 404);
}
