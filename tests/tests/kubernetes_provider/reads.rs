//! Identity, batches of reads, data sources, import, and a server that is gone.

use engine_model::address::Mode;
use engine_value::{Path, Value};
use http::Method;
use providers_api::{DataRequest, ErrorKind, Provider, ReadAnswer, ReadRequest};
use serde_json::json;

use crate::world::{World, addr, json as to_json, value};

const TYPE: &str = "kubernetes_manifest";

fn read(manifest: &Value) -> ReadRequest {
    ReadRequest { addr: addr(TYPE), object: manifest.clone(), private: Vec::new() }
}

#[tokio::test]
async fn the_cluster_is_known_by_its_system_namespace() {
    let world = World::new().await;
    let identity = world.instance.identity(world.call()).await.unwrap().unwrap();
    let system = world.live("/api/v1/namespaces/kube-system").unwrap();
    assert_eq!(Some(identity.as_str()), system["metadata"]["uid"].as_str());
}

#[tokio::test]
async fn many_objects_of_a_kind_are_read_by_one_list() {
    let world = World::new().await;
    let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default"}, "data": {"k": name}});
    for name in ["a", "b", "c"] {
        world.other(Method::POST, "/api/v1/namespaces/default/configmaps", Some(map(name)));
    }
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}});
    world.other(Method::POST, "/api/v1/namespaces/default/secrets", Some(secret.clone()));
    let definition = json!({"apiVersion": "gone.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}});
    let manifests = [map("c"), secret, map("missing"), map("a"), definition, map("b")];
    let requests = manifests.iter().map(|manifest| read(&world.manifest(manifest.clone()))).collect();
    world.running.api().calls().take();
    let answers = world.instance.read(requests, world.call()).await;
    let names: Vec<Option<String>> = answers
        .iter()
        .map(|answer| match answer {
            ReadAnswer::Object(read) => {
                let name = Path::root().attr("object").attr("metadata").attr("name").get(&read.object);
                name.and_then(|name| name.as_str().map(str::to_owned))
            }
            ReadAnswer::Gone => None,
            other => panic!("{other:?}"),
        })
        .collect();
    let expected = [Some("c"), Some("s"), None, Some("a"), None, Some("b")].map(|name| name.map(str::to_owned));
    assert_eq!(names, expected);
    let calls = world.running.api().calls().take();
    let mut asked: Vec<(&str, &str)> = calls
        .iter()
        .filter(|call| call.path.contains("/namespaces/"))
        .map(|call| (call.verb, call.path.as_str()))
        .collect();
    asked.sort_unstable();
    assert_eq!(
        asked,
        [("get", "/api/v1/namespaces/default/secrets/s"), ("list", "/api/v1/namespaces/default/configmaps")]
    );
}

#[tokio::test]
async fn a_server_that_is_gone_is_unreachable_by_name() {
    let world = World::new().await;
    let config = world.manifest(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}));
    let url = world.running.url();
    let World { running, instance, provider, cancel, .. } = world;
    let call_host = engine_model::host::FixedHost::new(0);
    let call = providers_api::Call { progress: &providers_api::Silent, cancel: &cancel, host: &call_host };
    running.shutdown().await;
    let error = instance.identity(call).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.to_string().contains(&url), "{error}");
    assert!(error.hint.is_some());
    let answers = instance.read(vec![read(&config)], call).await;
    assert!(matches!(&answers[0], ReadAnswer::Unreachable(error) if error.to_string().contains(&url)), "{answers:?}");
    assert!(provider.sources().contains(&"sliceform/kubernetes"));
}

#[tokio::test]
async fn data_sources_find_one_object_or_many() {
    let world = World::new().await;
    for (name, team) in [("a", "x"), ("b", "x"), ("c", "y")] {
        let map = json!({"metadata": {"name": name, "labels": {"team": team}}, "data": {"k": name}});
        world.other(Method::POST, "/api/v1/namespaces/default/configmaps", Some(map));
    }
    let data = async |ty: &str, config: serde_json::Value| {
        let schema = world.provider.schemas().get(Mode::Data, ty).unwrap();
        let config = engine_value::json::from_tree(&(&config).into(), &schema.block.value_type()).unwrap();
        let addr = engine_model::address::ResourceAddr { mode: Mode::Data, ..addr(ty) };
        world.instance.data(DataRequest { addr, config }, world.call()).await
    };
    let one = |name: &str| json!({"api_version": "v1", "kind": "ConfigMap", "metadata": [{"name": name, "namespace": null}], "object": null});
    let found = data("kubernetes_resource", one("a")).await.unwrap();
    let object = to_json(found.get("object").unwrap());
    assert_eq!((&object["data"]["k"], object["metadata"].get("managedFields")), (&json!("a"), None));
    let issues = data("kubernetes_resource", one("z")).await.unwrap_err();
    assert_eq!(issues[0].path.to_string(), "metadata[0].name");

    let many = json!({"api_version": "v1", "kind": "ConfigMap", "namespace": "default", "label_selector": "team in (x)",
        "field_selector": null, "limit": null, "objects": null});
    let found = data("kubernetes_resources", many).await.unwrap();
    let names: Vec<serde_json::Value> = to_json(found.get("objects").unwrap())
        .as_array()
        .unwrap()
        .iter()
        .map(|object| object["metadata"]["name"].clone())
        .collect();
    assert_eq!(names, ["a", "b"]);
}

#[tokio::test]
async fn an_object_is_imported_and_then_owned() {
    let world = World::new().await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"k": "1"}});
    world.other(Method::POST, "/api/v1/namespaces/default/configmaps", Some(map.clone()));
    let id = "apiVersion=v1,kind=ConfigMap,namespace=default,name=a";
    let imported = world.instance.import(TYPE, id, world.call()).await.unwrap().object;
    assert_eq!(to_json(imported.get("manifest").unwrap()), map);
    assert_eq!(world.read(TYPE, &imported).await, Some(imported.clone()));
    let config = world.config(TYPE, &[("manifest", value(&map))]);
    let (prior, planned) = world.plan(TYPE, Some(&imported), &config).await;
    assert_eq!(planned.unwrap().object, prior, "what is imported as it is configured changes nothing");
}
