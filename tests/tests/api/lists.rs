//! Reading: selectors, pages, other forms.

use kube::api::ListParams;
use serde_json::{Value, json};

use crate::cluster::{Cluster, config_map, create, refusal};

fn names(list: &kube::core::ObjectList<kube::api::DynamicObject>) -> Vec<String> {
    list.items.iter().map(|object| object.metadata.name.clone().unwrap()).collect()
}

pub(crate) async fn selectors_select(cluster: &Cluster) {
    let api = cluster.config_maps();
    for (name, labels) in [("a", json!({"app": "web", "tier": "x"})), ("b", json!({"app": "api"})), ("c", json!({}))] {
        let mut object = config_map(name, json!({}));
        object["metadata"]["labels"] = labels;
        create(&api, object).await;
    }
    for (labels, expected) in [
        ("app=web", "a"),
        ("app in (web,api)", "a b"),
        ("app!=web,app", "b"),
        ("tier,app=api", ""),
        ("app notin (web,api),!tier", "c"),
    ] {
        let mut list = names(&api.list(&ListParams::default().labels(labels)).await.unwrap());
        list.retain(|name| name != "kube-root-ca.crt");
        assert_eq!(list.join(" "), expected, "{labels}");
    }
    let list = api.list(&ListParams::default().fields("metadata.name=b")).await.unwrap();
    assert_eq!(names(&list), ["b"]);
    let (code, _, message) = refusal(api.list(&ListParams::default().fields("data.k=1")).await);
    assert_eq!(code, 400, "{message}");
    let everywhere = cluster.global("", "v1", "ConfigMap");
    let list = everywhere
        .list(&ListParams::default().fields(&format!("metadata.namespace={},metadata.name=c", cluster.namespace)))
        .await
        .unwrap();
    assert_eq!(names(&list), ["c"]);
}

pub(crate) async fn pages_add_up(cluster: &Cluster) {
    let api = cluster.config_maps();
    for index in 0..7 {
        let mut object = config_map(&format!("m{index}"), json!({}));
        object["metadata"]["labels"] = json!({"page": "yes"});
        create(&api, object).await;
    }
    let (mut seen, mut token, mut pages) = (Vec::new(), None::<String>, 0);
    loop {
        let mut params = ListParams::default().labels("page=yes").limit(3);
        params.continue_token = token;
        let page = api.list(&params).await.unwrap();
        assert!(page.items.len() <= 3);
        seen.extend(names(&page));
        pages += 1;
        // What is deleted and created between the pages does no harm.
        if pages == 1 {
            api.delete("m0", &Default::default()).await.unwrap();
        }
        token = page.metadata.continue_.filter(|token| !token.is_empty());
        if token.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["m0", "m1", "m2", "m3", "m4", "m5", "m6"]);
    assert_eq!(pages, 3);
}

pub(crate) async fn metadata_and_tables(cluster: &Cluster) {
    let api = cluster.config_maps();
    create(&api, config_map("m", json!({"k": "1"}))).await;
    let partial = api.get_metadata("m").await.unwrap();
    assert_eq!(partial.metadata.name.as_deref(), Some("m"));
    let request = http::Request::get(cluster.path("configmaps?fieldSelector=metadata.name%3Dm"))
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
        .body(Vec::new())
        .unwrap();
    let table: Value = cluster.client.request(request).await.unwrap();
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["rows"][0]["cells"][0], "m");
    assert_eq!(table["rows"][0]["object"]["metadata"]["name"], "m");
    let columns: Vec<&Value> =
        table["columnDefinitions"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(columns, ["Name", "Data", "Age"]);
}
