//! Limit ranges, and what quotas ask of pods.

use kube::api::PostParams;
use serde_json::{Value, json};

use crate::cluster::{Cluster, create, object, refusal};

fn pod(name: &str, resources: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "image": "example.com/i:1", "resources": resources}]},
    })
}

async fn range(cluster: &Cluster, limits: Value) -> Value {
    let range =
        json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "range"}, "spec": {"limits": limits}});
    create(&cluster.api("", "v1", "LimitRange"), range).await
}

pub(crate) async fn limit_ranges_fill_in(cluster: &Cluster) {
    let made = range(
        cluster,
        json!([{"type": "Container", "default": {"cpu": "500m"}, "max": {"memory": "1Gi"}, "min": {"memory": "1Mi"}}]),
    )
    .await;
    let limit = &made["spec"]["limits"][0];
    assert_eq!(limit["default"], json!({"cpu": "500m", "memory": "1Gi"}), "the maximum is the default");
    assert_eq!(limit["defaultRequest"], json!({"cpu": "500m", "memory": "1Gi"}));
    let pods = cluster.api("", "v1", "Pod");
    let made = create(&pods, pod("p", json!({"requests": {"cpu": "100m"}}))).await;
    let resources = &made["spec"]["containers"][0]["resources"];
    assert_eq!(resources["requests"], json!({"cpu": "100m", "memory": "1Gi"}));
    assert_eq!(resources["limits"], json!({"cpu": "500m", "memory": "1Gi"}));
    assert_eq!(
        made["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: memory request for container c; cpu, memory limit for container c"
    );
    assert_eq!(made["status"]["qosClass"], "Burstable");
    assert_eq!(create(&pods, pod("q", json!({}))).await["status"]["qosClass"], "Guaranteed");
}

pub(crate) async fn limit_ranges_refuse(cluster: &Cluster) {
    range(
        cluster,
        json!([
            {"type": "Container", "max": {"cpu": "1"}, "min": {"cpu": "100m"}, "maxLimitRequestRatio": {"cpu": "2"}},
            {"type": "Pod", "max": {"memory": "1Gi"}},
        ]),
    )
    .await;
    let pods = cluster.api("", "v1", "Pod");
    let memory = |amount: &str, cpu: &str, limit: &str| json!({"requests": {"cpu": cpu, "memory": amount}, "limits": {"cpu": limit, "memory": amount}});
    create(&pods, pod("good", memory("1Gi", "500m", "1"))).await;
    for (resources, why) in [
        (memory("1Gi", "1", "2"), "maximum cpu usage per Container is 1, but limit is 2"),
        (memory("1Gi", "50m", "100m"), "minimum cpu usage per Container is 100m, but request is 50m"),
        (
            memory("1Gi", "200m", "1"),
            "cpu max limit to request ratio per Container is 2, but provided ratio is 5.000000",
        ),
        (memory("2Gi", "500m", "1"), "maximum memory usage per Pod is 1Gi, but limit is 2Gi"),
        (json!({"requests": {"cpu": "500m"}}), "maximum memory usage per Pod is 1Gi.  No limit is specified"),
    ] {
        let (code, reason, message) =
            refusal(pods.create(&PostParams::default(), &object(pod("bad", resources))).await);
        assert_eq!((code, reason.as_str(), message), (403, "Forbidden", format!("pods \"bad\" is forbidden: {why}")));
    }
    let wrong = json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "wrong"},
        "spec": {"limits": [{"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}]},
    });
    let (code, _, message) =
        refusal(cluster.api("", "v1", "LimitRange").create(&PostParams::default(), &object(wrong)).await);
    assert_eq!(code, 422);
    assert!(
        message
            .contains("spec.limits[0].default[cpu]: Invalid value: \"2\": min value 2 is greater than default value 1"),
        "{message}"
    );
    assert!(
        message.contains("spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1"),
        "{message}"
    );
}

pub(crate) async fn quotas_want_amounts_and_look_at_scopes(cluster: &Cluster) {
    let quotas = cluster.api("", "v1", "ResourceQuota");
    let quota = |name: &str, spec: Value| json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec});
    let ready = |name: &'static str| {
        kube::runtime::wait::await_condition(quotas.clone(), name, |quota: Option<&kube::api::DynamicObject>| {
            quota.is_some_and(|quota| quota.data.pointer("/status/used").is_some())
        })
    };
    create(&quotas, quota("amounts", json!({"hard": {"limits.cpu": "4", "requests.memory": "8Gi"}}))).await;
    ready("amounts").await.unwrap();
    let pods = cluster.api("", "v1", "Pod");
    let (code, _, message) = refusal(pods.create(&PostParams::default(), &object(pod("p", json!({})))).await);
    assert_eq!(
        (code, message.as_str()),
        (403, "pods \"p\" is forbidden: failed quota: amounts: must specify limits.cpu for: c; requests.memory for: c")
    );
    quotas.delete("amounts", &Default::default()).await.unwrap();

    create(&quotas, quota("cheap", json!({"hard": {"pods": "1"}, "scopes": ["BestEffort"]}))).await;
    create(&quotas, quota("maps", json!({"hard": {"count/deployments.apps": "0"}}))).await;
    ready("cheap").await.unwrap();
    ready("maps").await.unwrap();
    create(&pods, pod("a", json!({}))).await;
    create(&pods, pod("b", json!({"requests": {"cpu": "1"}}))).await;
    let used = |quota: Option<&kube::api::DynamicObject>| {
        quota.is_some_and(|quota| quota.data.pointer("/status/used/pods") == Some(&json!("1")))
    };
    kube::runtime::wait::await_condition(quotas.clone(), "cheap", used).await.unwrap();
    let (code, _, message) = refusal(pods.create(&PostParams::default(), &object(pod("c", json!({})))).await);
    assert_eq!(
        (code, message.as_str()),
        (403, "pods \"c\" is forbidden: exceeded quota: cheap, requested: pods=1, used: pods=1, limited: pods=1")
    );
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}},
    });
    let answer = cluster.api("apps", "v1", "Deployment").create(&PostParams::default(), &object(deployment)).await;
    let (code, _, message) = refusal(answer);
    assert_eq!(code, 403);
    assert!(message.contains("exceeded quota: maps, requested: count/deployments.apps=1, used: count/deployments.apps=0, limited: count/deployments.apps=0"), "{message}");
}
