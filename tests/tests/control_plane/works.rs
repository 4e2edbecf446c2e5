//! The parts do their work together.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod, ServiceAccount};
use kube::api::{Api, DeleteParams, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tests::control_plane::{ControlPlane, wait_until};

fn deployment() -> Deployment {
    let labels = json!({"app": "web"});
    let pod = json!({
        "metadata": {"labels": labels},
        "spec": {"containers": [{
            "name": "c", "image": "example.com/web:1", "resources": {"limits": {"nvidia.com/mig-1g.10gb": "1"}},
        }]},
    });
    let spec = json!({"replicas": 2, "selector": {"matchLabels": labels}, "template": pod});
    serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": spec})).unwrap()
}

#[tokio::test]
async fn a_deployment_becomes_pods_on_nodes_that_have_what_they_ask_for() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let namespace = "deployments";
    plane.namespace(namespace).await;
    let client = plane.client().await;
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    deployments.create(&PostParams::default(), &deployment()).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let unschedulable = |pod: &Pod| {
        let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
        conditions.is_some_and(|all| all.iter().any(|one| one.reason.as_deref() == Some("Unschedulable")))
    };
    wait_until("both pods are there and have no place", async || {
        let pods = pods.list(&ListParams::default()).await.unwrap().items;
        pods.len() == 2 && pods.iter().all(unschedulable)
    })
    .await;

    let nodes: Api<Node> = Api::all(client);
    let node = serde_json::from_value(json!({"metadata": {"name": "slices-1"}})).unwrap();
    nodes.create(&PostParams::default(), &node).await.unwrap();
    let amounts = json!({"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/mig-1g.10gb": "1"});
    let status = json!({"status": {
        "capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}],
    }});
    nodes.patch_status("slices-1", &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    let bound = |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).is_some();
    wait_until("one pod has the node's slice", async || {
        pods.list(&ListParams::default()).await.unwrap().iter().filter(|pod| bound(pod)).count() == 1
    })
    .await;
    deployments.delete("web", &DeleteParams::foreground()).await.unwrap();
    wait_until("the controllers have deleted deployment and pods", async || {
        // Nobody ends the pod that has a node, since no kubelet does.
        for pod in pods.list(&ListParams::default()).await.unwrap().iter().filter(|pod| bound(pod)) {
            let name = pod.metadata.name.as_deref().unwrap();
            let _ = pods.delete(name, &DeleteParams::default().grace_period(0)).await;
        }
        deployments.get_opt("web").await.unwrap().is_none()
            && pods.list(&ListParams::default()).await.unwrap().items.is_empty()
    })
    .await;
    nodes.delete("slices-1", &DeleteParams::default()).await.unwrap();
}

#[tokio::test]
async fn the_audit_log_tells_a_dry_run_from_a_write() {
    let Some(plane) = ControlPlane::shared().await else { return };
    plane.namespace("audited").await;
    let file = plane.user("auditee", &["system:masters"]).await;
    let config_maps: Api<ConfigMap> = Api::namespaced(plane.client_of(&file).await, "audited");
    let metadata = ObjectMeta { name: Some("m".into()), ..ObjectMeta::default() };
    let map = ConfigMap { metadata, data: Some([("k".into(), "1".into())].into()), ..ConfigMap::default() };
    let apply = |parameters: PatchParams| {
        let (config_maps, map) = (&config_maps, &map);
        async move { config_maps.patch("m", &parameters, &Patch::Apply(map)).await.unwrap() }
    };
    apply(PatchParams::apply("tests").dry_run()).await;
    assert!(config_maps.get_opt("m").await.unwrap().is_none());
    let before = plane.requests_of("auditee");
    let found: Vec<_> = before.iter().map(|one| (one.verb.as_str(), one.resource.as_str(), one.is_write())).collect();
    assert_eq!(found, [("patch", "configmaps", false), ("get", "configmaps", false)]);

    apply(PatchParams::apply("tests")).await;
    let after = plane.requests_of("auditee");
    assert!(after[2..].iter().all(|request| request.verb == "patch" && request.is_write()), "{after:?}");
    assert_eq!(after.len(), 3);
}

#[tokio::test]
async fn users_may_do_what_they_were_given() {
    let Some(plane) = ControlPlane::shared().await else { return };
    plane.namespace("users").await;
    let file = plane.user("reader", &["readers"]).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(plane.client_of(&file).await, "users");
    let refused = accounts.list(&ListParams::default()).await;
    assert!(matches!(&refused, Err(kube::Error::Api(status)) if status.code == 403), "{refused:?}");

    let admin = plane.client().await;
    let create = async |path: &str, body: Value| {
        let request = http::Request::post(format!("/apis/rbac.authorization.k8s.io/v1/namespaces/users/{path}"));
        let request = request.header("content-type", "application/json").body(body.to_string().into_bytes()).unwrap();
        admin.request::<Value>(request).await.unwrap()
    };
    let rules = json!([{"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["list"]}]);
    create("roles", json!({"metadata": {"name": "read"}, "rules": rules})).await;
    let subjects = json!([{"kind": "Group", "name": "readers", "apiGroup": "rbac.authorization.k8s.io"}]);
    let role = json!({"kind": "Role", "name": "read", "apiGroup": "rbac.authorization.k8s.io"});
    create("rolebindings", json!({"metadata": {"name": "read"}, "subjects": subjects, "roleRef": role})).await;
    wait_until("the server knows of the binding", async || accounts.list(&ListParams::default()).await.is_ok()).await;
}
