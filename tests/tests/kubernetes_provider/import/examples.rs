//! An object of every built-in kind.

use serde_json::json;

use engine_model::plan::PlanMode;

use super::{How, collection, import_all, kinds::examples, make};
use crate::{
    run::{Run, actions},
    world::World,
};

struct Kind {
    api_version: String,
    kind: String,
    plural: String,
    namespaced: bool,
}

/// Every kind whose objects can be made, read and applied.
fn served(world: &World) -> Vec<Kind> {
    let groups = world.live("/apis").unwrap();
    let groups =
        groups["groups"].as_array().unwrap().iter().map(|group| group["preferredVersion"]["groupVersion"].clone());
    let mut kinds = Vec::new();
    for version in groups.chain([json!("v1")]) {
        let version = version.as_str().unwrap();
        let path = if version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{version}") };
        let list = world.live(&path).unwrap();
        for resource in list["resources"].as_array().unwrap() {
            let can = |verb: &str| resource["verbs"].as_array().unwrap().contains(&json!(verb));
            let plural = resource["name"].as_str().unwrap();
            if !plural.contains('/') && can("create") && can("patch") && can("get") {
                kinds.push(Kind {
                    api_version: version.to_owned(),
                    kind: resource["kind"].as_str().unwrap().to_owned(),
                    plural: plural.to_owned(),
                    namespaced: resource["namespaced"].as_bool().unwrap(),
                });
            }
        }
    }
    kinds
}

#[tokio::test]
async fn every_built_in_kind_is_imported_whoever_made_it() {
    let world = World::new().await;
    let kinds = served(&world);
    assert!(kinds.len() >= 18, "{}", kinds.len());
    let mut objects = Vec::new();
    for Kind { api_version, kind, plural, namespaced } in &kinds {
        let examples = examples(kind).unwrap_or_else(|| panic!("there is no example of {api_version} {kind}"));
        let collection = collection(api_version, plural, namespaced.then_some("default"));
        for (how, by) in [(How::Update, "update"), (How::Apply, "apply")] {
            for (example, size) in examples.iter().zip(["small", "rich"]) {
                let mut object = example.clone();
                object["apiVersion"] = api_version.as_str().into();
                object["kind"] = kind.as_str().into();
                match (kind.as_str(), by) {
                    ("CustomResourceDefinition", "apply") => {
                        let text = object.to_string().replace("example.com", "example.org");
                        object = serde_json::from_str(&text).unwrap();
                    }
                    ("CustomResourceDefinition", _) => {}
                    _ => object["metadata"]["name"] = format!("{by}-{size}").into(),
                }
                if *namespaced {
                    object["metadata"]["namespace"] = "default".into();
                }
                make(&world, how, &collection, &object).unwrap_or_else(|why| panic!("{kind} {by} {size}: {why}"));
                objects.push(object);
            }
        }
    }
    let text = import_all(&world, &objects).await;
    assert!(!text.contains("Y2FuYXJ5") && !text.contains("canary"), "the data of a Secret was written down");
    assert!(text.contains("# The data of this Secret is left out"), "a reader must know");
    for filled_in in
        ["      uid", "      resourceVersion", "      creationTimestamp", "      managedFields", "    status"]
    {
        assert!(!text.contains(&format!("\n{filled_in} ")), "{filled_in} was generated");
    }
}

#[tokio::test]
async fn what_is_imported_says_what_somebody_wanted_and_no_more() {
    let world = World::new().await;
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "x"}}, "template": {"metadata": {"labels": {"app": "x"}},
            "spec": {"containers": [{"name": "a", "image": "a:1", "args": ["--n", "${x}"]}]}}}});
    make(&world, How::Apply, &collection("apps/v1", "deployments", Some("default")), &object).unwrap();
    let run = Run::new(&world, "").await;
    let id = "apiVersion=apps/v1,kind=Deployment,namespace=default,name=web";
    let text = run.import("kubernetes_manifest.o0", id).await.unwrap();
    assert_eq!(actions(&run.edited(&world, &text).plan(PlanMode::Normal).await), [""; 0]);
    let expected = r#"resource "kubernetes_manifest" "o0" {
  manifest = {
    apiVersion = "apps/v1"
    kind       = "Deployment"
    metadata = {
      name      = "web"
      namespace = "default"
    }
    spec = {
      replicas = 0
      selector = {
        matchLabels = {
          app = "x"
        }
      }
      template = {
        metadata = {
          labels = {
            app = "x"
          }
        }
        spec = {
          containers = [
            {
              args  = ["--n", "$${x}"]
              image = "a:1"
              name  = "a"
            },
          ]
        }
      }
    }
  }
}
"#;
    assert_eq!(text, expected);
}
