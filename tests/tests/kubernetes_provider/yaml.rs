//! Manifests as YAML: functions that read and write it, and `manifest` as a text.

use engine_model::plan::PlanMode;
use state::Store;

use crate::{
    run::{Run, actions},
    world::World,
};

const DOCUMENTS: &str = r#"
    locals {
      documents = <<-YAML
        # Two documents, and one that is empty.
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: &shared
          name: settings
          namespace: default
          labels: {"on": yes-indeed}
        data:
          mode: "0644"
          script: |
            #!/bin/sh
            echo $${HOME}
        ---
        ---
        apiVersion: v1
        kind: List
        items:
        - apiVersion: v1
          kind: Secret
          metadata: {name: login, namespace: default}
          stringData: {token: plain-token}
      YAML
      objects   = provider::kubernetes::manifest_decode_multi(local.documents)
    }

    resource "kubernetes_manifest" "each" {
      for_each = { for object in local.objects : "${object.kind}/${object.metadata.name}" => object }
      manifest = each.value
    }

    resource "kubernetes_manifest" "text" {
      manifest = <<-YAML
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: text, namespace: default}
        data: {a: "1"}
      YAML
    }

    resource "kubernetes_manifest" "secret" {
      manifest = provider::kubernetes::manifest_encode({
        apiVersion = "v1"
        kind       = "Secret"
        metadata   = { name = "encoded", namespace = "default" }
        stringData = { token = "other-token" }
      })
    }

    output "same" {
      value = provider::kubernetes::manifest_decode_multi(provider::kubernetes::manifest_encode(local.objects)) == local.objects
    }
"#;

/// Pain 41: YAML of several documents.
#[tokio::test]
async fn p41_yaml_of_several_documents_is_applied_object_by_object() {
    let world = World::new().await;
    let run = Run::new(&world, DOCUMENTS).await;
    let first = run.plan(PlanMode::Normal).await;
    assert_eq!(
        actions(&first),
        [
            "kubernetes_manifest.each[\"ConfigMap/settings\"] create",
            "kubernetes_manifest.each[\"Secret/login\"] create",
            "kubernetes_manifest.secret create",
            "kubernetes_manifest.text create",
        ]
    );
    let encoded = first.changes.iter().find(|change| &*change.addr.name == "secret").unwrap();
    assert!(encoded.after.get("manifest").unwrap().marks.sensitive, "the text holds the secret");
    run.apply(first).await;
    let live = world.live("/api/v1/namespaces/default/configmaps/settings").unwrap();
    assert_eq!(live["data"]["mode"], "0644");
    assert_eq!(live["data"]["script"], "#!/bin/sh\necho ${HOME}\n");
    assert_eq!(live["metadata"]["labels"]["on"], "yes-indeed");
    let second = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&second), [""; 0]);
    let same = run.store.load().await.unwrap().fold().unwrap().unwrap().outputs["same"].decoded().unwrap();
    assert_eq!(same.as_bool(), Some(true), "what is written is read again");
    run.apply(run.plan(PlanMode::Destroy).await).await;
    assert_eq!(world.live("/api/v1/namespaces/default/configmaps/text"), None);
}

#[tokio::test]
async fn p41_several_documents_in_one_manifest_are_an_error_that_shows_the_way() {
    let world = World::new().await;
    let text = DOCUMENTS.replace("manifest = each.value", "manifest = local.documents");
    let (_, diagnostics) = Run::new(&world, &text).await.try_plan(PlanMode::Normal).await;
    let error = diagnostics.iter().next().unwrap();
    assert_eq!(error.summary, "Invalid manifest");
    assert!(error.detail.contains("it has 2 documents (the second begins on line "), "{}", error.detail);
    let hint = error.hint.as_deref().unwrap();
    assert!(hint.contains("provider::kubernetes::manifest_decode_multi") && hint.contains("for_each"), "{hint}");
    let broken = DOCUMENTS.replace("kind: Secret", "kind: [");
    let (_, diagnostics) = Run::new(&world, &broken).await.try_plan(PlanMode::Normal).await;
    let error = diagnostics.iter().next().unwrap();
    assert!(error.span.is_some() && error.detail.contains("document 3, line "), "{error:?}");
    assert!(!format!("{diagnostics:?}").contains("plain-token"), "{diagnostics:?}");
}
