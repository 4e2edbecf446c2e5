//! Pods and what governs them: defaults, binding, quotas, disruption budgets, priority.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{EvictParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::{Value, json};

use crate::cluster::{Cluster, create, get, object, refusal};

fn pod(name: &str, resources: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "registry.example.com:5000/i", "resources": resources}]},
    })
}

pub(crate) async fn defaults_are_filled_in(cluster: &Cluster) {
    let pods = cluster.api("", "v1", "Pod");
    let made = create(&pods, pod("p", json!({"limits": {"nvidia.com/mig-1g.10gb": 1}}))).await;
    let spec = &made["spec"];
    assert_eq!(spec["containers"][0]["resources"]["requests"], json!({"nvidia.com/mig-1g.10gb": "1"}));
    assert_eq!(spec["containers"][0]["imagePullPolicy"], "Always");
    assert_eq!((&spec["restartPolicy"], &spec["schedulerName"]), (&json!("Always"), &json!("default-scheduler")));
    assert_eq!((&spec["serviceAccountName"], &spec["priority"]), (&json!("default"), &json!(0)));
    assert_eq!(made["status"]["phase"], "Pending");
    let owned = &made["metadata"]["managedFields"][0]["fieldsV1"];
    assert_eq!(owned["f:spec"]["f:restartPolicy"], json!({}), "who creates owns the defaults, too");
    assert_eq!(owned.get("f:status"), None);
    let missing = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "q"}, "spec": {"containers": []}});
    let (code, _, message) = refusal(pods.create(&PostParams::default(), &object(missing)).await);
    assert_eq!(code, 422);
    assert!(message.contains("spec.containers: Required value"), "{message}");
}

pub(crate) async fn binding_is_for_once(cluster: &Cluster) {
    let pods = cluster.api("", "v1", "Pod");
    create(&pods, pod("p", json!({}))).await;
    let bind = || {
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}});
        http::Request::post(cluster.path("pods/p/binding"))
            .header("content-type", "application/json")
            .body(binding.to_string().into_bytes())
            .unwrap()
    };
    cluster.client.request::<Value>(bind()).await.unwrap();
    assert_eq!(get(&pods, "p").await["spec"]["nodeName"], "n1");
    let on_node = pods.list(&ListParams::default().fields("spec.nodeName=n1")).await.unwrap();
    assert_eq!(on_node.items.len(), 1);
    let (code, _, message) = refusal(cluster.client.request::<Value>(bind()).await);
    assert_eq!(code, 409, "{message}");
}

pub(crate) async fn quotas_refuse_what_exceeds_them(cluster: &Cluster) {
    let quotas = cluster.api("", "v1", "ResourceQuota");
    let hard = json!({"requests.nvidia.com/mig-1g.10gb": 2, "requests.nvidia.com/gpu": 0});
    create(
        &quotas,
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team"}, "spec": {"hard": hard}}),
    )
    .await;
    let counted = |hard: &str| {
        let hard = hard.to_owned();
        move |quota: Option<&kube::api::DynamicObject>| {
            quota.is_some_and(|quota| {
                quota.data.pointer("/status/used/requests.nvidia.com~1mig-1g.10gb") == Some(&json!(hard))
            })
        }
    };
    kube::runtime::wait::await_condition(quotas.clone(), "team", counted("0")).await.unwrap();
    let pods = cluster.api("", "v1", "Pod");
    let slice = |count: u64| json!({"limits": {"nvidia.com/mig-1g.10gb": count}});
    create(&pods, pod("a", slice(1))).await;
    kube::runtime::wait::await_condition(quotas.clone(), "team", counted("1")).await.unwrap();
    let (code, reason, message) = refusal(pods.create(&PostParams::default(), &object(pod("b", slice(2)))).await);
    assert_eq!((code, reason.as_str()), (403, "Forbidden"));
    assert_eq!(
        message,
        "pods \"b\" is forbidden: exceeded quota: team, requested: requests.nvidia.com/mig-1g.10gb=2, \
         used: requests.nvidia.com/mig-1g.10gb=1, limited: requests.nvidia.com/mig-1g.10gb=2"
    );
    let whole = pods.create(&PostParams::default(), &object(pod("c", json!({"limits": {"nvidia.com/gpu": 1}})))).await;
    assert_eq!(refusal(whole).0, 403, "a zero quota refuses");
    let other =
        pods.create(&PostParams::default(), &object(pod("d", json!({"limits": {"nvidia.com/mig-2g.20gb": 1}})))).await;
    assert!(other.is_ok(), "a name that no quota has is not limited");
    let over = Patch::Merge(json!({"status": {"phase": "Succeeded"}}));
    pods.patch_status("a", &PatchParams::default(), &over).await.unwrap();
    kube::runtime::wait::await_condition(quotas.clone(), "team", counted("0")).await.unwrap();
    // Who admits pods learns of it a moment later.
    while let Err(error) = pods.create(&PostParams::default(), &object(pod("b", slice(2)))).await {
        assert_eq!(refusal::<()>(Err(error)).0, 403);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let wrong =
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "w"}, "spec": {"hard": {"gpus": 1}}});
    let (code, _, message) = refusal(quotas.create(&PostParams::default(), &object(wrong)).await);
    assert_eq!(code, 422);
    assert!(message.contains("must be a standard resource for quota"), "{message}");
}

pub(crate) async fn disruption_budgets_hold_evictions(cluster: &Cluster) {
    let pods = cluster.api("", "v1", "Pod");
    for name in ["a", "b"] {
        create(&pods, pod(name, json!({}))).await;
        let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
        pods.patch_status(name, &PatchParams::default(), &Patch::Merge(ready)).await.unwrap();
    }
    let budgets = cluster.api("policy", "v1", "PodDisruptionBudget");
    create(
        &budgets,
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "keep-one"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
        }),
    )
    .await;
    let allows = |count: u64| {
        move |budget: Option<&kube::api::DynamicObject>| {
            budget.is_some_and(|budget| budget.data.pointer("/status/disruptionsAllowed") == Some(&json!(count)))
        }
    };
    kube::runtime::wait::await_condition(budgets.clone(), "keep-one", allows(1)).await.unwrap();
    let typed: Api<Pod> = Api::namespaced(cluster.client.clone(), &cluster.namespace);
    let dry = EvictParams { post_options: PostParams { dry_run: true, ..Default::default() }, ..Default::default() };
    typed.evict("a", &dry).await.unwrap();
    assert!(pods.get_opt("a").await.unwrap().is_some());
    typed.evict("a", &EvictParams::default()).await.unwrap();
    kube::runtime::wait::await_condition(budgets.clone(), "keep-one", allows(0)).await.unwrap();
    let error = typed.evict("b", &EvictParams::default()).await;
    let Err(kube::Error::Api(status)) = error else { panic!("{error:?}") };
    assert_eq!((status.code, status.reason.as_str()), (429, "TooManyRequests"));
    assert_eq!(status.message, "Cannot evict pod as it would violate the pod's disruption budget.");
    let cause = &status.details.unwrap().causes[0];
    assert_eq!(cause.message, "The disruption budget keep-one needs 1 healthy pods and has 1 currently");
}

pub(crate) async fn priority_comes_from_the_class(cluster: &Cluster) {
    let classes = cluster.global("scheduling.k8s.io", "v1", "PriorityClass");
    create(&classes, json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000})).await;
    let pods = cluster.api("", "v1", "Pod");
    let with = |name: &str, class: &str| {
        let mut pod = pod(name, json!({}));
        pod["spec"]["priorityClassName"] = class.into();
        pod
    };
    assert_eq!(create(&pods, with("p", "high")).await["spec"]["priority"], 1000);
    let (code, _, message) = refusal(pods.create(&PostParams::default(), &object(with("q", "none"))).await);
    assert_eq!((code, message.as_str()), (403, "pods \"q\" is forbidden: no PriorityClass with name none was found"));
    classes.delete("high", &Default::default()).await.unwrap();
}

pub(crate) async fn pods_change_in_little(cluster: &Cluster) {
    let pods = cluster.api("", "v1", "Pod");
    let mut made = pod("p", json!({}));
    made["spec"]["tolerations"] = json!([{"key": "a", "operator": "Exists"}]);
    made["spec"]["nodeName"] = "none".into();
    let all = |added: &[Value]| {
        let defaults = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
            .map(|key| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        json!([added, &defaults].concat())
    };
    let (a, b) = (json!({"key": "a", "operator": "Exists"}), json!({"key": "b", "operator": "Exists"}));
    let applied = crate::cluster::apply(&pods, "x", made.clone()).await.unwrap();
    assert_eq!(applied["spec"]["tolerations"], all(std::slice::from_ref(&a)));
    let again = crate::cluster::apply(&pods, "x", made.clone()).await.unwrap();
    assert_eq!(again, applied, "what is completed when it is made is completed when it changes, too");
    made["spec"]["tolerations"] = json!([a, b]);
    let more = crate::cluster::apply(&pods, "x", made).await.unwrap();
    assert_eq!(more["spec"]["tolerations"], all(&[a, b.clone()]));
    for (patch, field) in [
        (json!({"spec": {"tolerations": [b]}}), "spec.tolerations"),
        (json!({"spec": {"hostNetwork": true}}), "spec"),
        (json!({"spec": {"containers": [{"name": "c", "image": "i", "args": ["x"]}]}}), "spec"),
        (
            json!({"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}}),
            "spec.containers",
        ),
    ] {
        let refused = pods.patch("p", &PatchParams::default(), &Patch::Merge(&patch)).await;
        let Err(kube::Error::Api(status)) = refused else { panic!("{patch}: {refused:?}") };
        assert_eq!(status.code, 422, "{patch}: {}", status.message);
        let causes = &status.details.as_ref().unwrap().causes;
        assert_eq!(causes[0].field, field, "{patch}: {}", status.message);
    }
    let image = json!({"spec": {"containers": [{"name": "c", "image": "j"}]}});
    let changed = pods.patch("p", &PatchParams::default(), &Patch::Strategic(image)).await.unwrap();
    assert_eq!(changed.data["spec"]["containers"][0]["image"], "j");
}
