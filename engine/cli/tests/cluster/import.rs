//! `import`: what exists is taken into the state, its configuration is generated, and nothing changes.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::setting::{FLEET, Setting};

const ID: &str = "apiVersion=v1,kind=ConfigMap,namespace=default,name=settings";

fn setting() -> Setting {
    let setting = Setting::cluster(FLEET);
    setting.write("main.tf", "variable \"unused\" {\n  default = \"\"\n}\n");
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"a.b": "${x}", "script": "#!/bin/sh\necho %{y}\n"}});
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}, "data": {"token": "Y2FuYXJ5"}});
    setting.post("/api/v1/namespaces/default/configmaps", &map);
    setting.post("/api/v1/namespaces/default/secrets", &secret);
    setting
}

#[test]
fn an_object_is_imported_with_its_configuration_and_nothing_changes() {
    let setting = setting();
    let generate = "-generate-config-out=settings.tf";
    let import = setting.run(&["import", "-var=unused=x", generate, "kubernetes_manifest.settings", ID]);
    import.check(
        0,
        &[
            "kubernetes_manifest.settings: Importing from ID",
            "Prepared kubernetes_manifest for import",
            "Import successful!",
        ],
    );
    let text = fs::read_to_string(setting.path("settings.tf")).unwrap();
    assert!(text.contains("\"a.b\"  = \"$${x}\"") && text.contains("echo %%{y}"), "{text}");
    setting.run(&["plan", "-detailed-exitcode"]).check(0, &["No changes."]);
    setting.run(&["state", "list"]).check(0, &["kubernetes_manifest.settings"]);

    let secret = "apiVersion=v1,kind=Secret,namespace=default,name=login";
    let import = setting.run(&["import", "-generate-config-out=login.tf", "kubernetes_manifest.login", secret]);
    import.check(0, &["Import successful!"]).check_not(&["Y2FuYXJ5", "canary"]);
    let text = fs::read_to_string(setting.path("login.tf")).unwrap();
    assert!(text.contains("# The data of this Secret is left out") && !text.contains("Y2FuYXJ5"), "{text}");
    setting.run(&["plan", "-detailed-exitcode"]).check(0, &["No changes."]);
    formatted(&setting, &["settings.tf", "login.tf"]);

    // A typed resource takes HashiCorp's identifier.
    let import = setting.run(&["import", "-generate-config-out=ns.tf", "kubernetes_namespace.default", "default"]);
    import.check(0, &["Import successful!"]);
    setting.run(&["plan", "-detailed-exitcode"]).check(0, &["No changes."]);

    setting
        .run(&["import", "kubernetes_manifest.settings", ID])
        .check(1, &["Resource already managed", "kubernetes_manifest.settings"]);
    // What is written by hand is imported without a file; what differs from it is then planned.
    setting.write("hand.tf", "resource \"kubernetes_manifest\" \"hand\" {\n  for_each = toset([\"a\"])\n  manifest = {\n    apiVersion = \"v1\"\n    kind       = \"ConfigMap\"\n    metadata   = { name = \"settings\", namespace = \"default\" }\n  }\n}\n");
    setting
        .run(&["import", "kubernetes_manifest.hand[\"b\"]", ID])
        .check(1, &["has no instance kubernetes_manifest.hand[\"b\"]"]);
    setting.run(&["import", "kubernetes_manifest.hand[\"a\"]", ID]).check(0, &["Import successful!"]);
}

/// The Terraform binary is the judge of the format where it is.
fn formatted(setting: &Setting, files: &[&str]) {
    let mut command = Command::new("terraform");
    command.arg("fmt").arg("-check").args(files).current_dir(setting.path("")).env("CHECKPOINT_DISABLE", "1");
    match command.stdout(Stdio::piped()).output() {
        Ok(judged) => assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout)),
        Err(_) => {
            let what = "SKIPPED: there is no terraform on the path; `terraform fmt -check` was not asked";
            let _ = writeln!(std::io::stderr(), "{what}");
        }
    }
}

#[test]
fn what_cannot_be_imported_is_told_and_leaves_nothing_behind() {
    let setting = setting();
    let addr = "kubernetes_manifest.settings";
    setting.write("taken.tf", "");
    for (args, said) in [
        (
            vec![addr, ID],
            vec![
                "Resource is not in the configuration",
                "resource \"kubernetes_manifest\" \"settings\" {",
                "-generate-config-out=FILE",
            ],
        ),
        (vec!["-generate-config-out=taken.tf", addr, ID], vec!["Target generated file already exists"]),
        (
            vec!["-generate-config-out=a.tf", "kubernetes_manifest.settings[0]", ID],
            vec!["Cannot generate configuration"],
        ),
        (
            vec!["-generate-config-out=a.tf", "module.m.kubernetes_manifest.settings", ID],
            vec!["Cannot generate configuration"],
        ),
        (vec!["-generate-config-out=a.tf", "data.kubernetes_resource.a", ID], vec!["Invalid address"]),
        (vec!["-generate-config-out=a.tf", "kubernetes_manifest", ID], vec!["Invalid address"]),
        (vec!["-generate-config-out=a.tf", "kubernetes_nothing.a", ID], vec!["kubernetes_nothing"]),
        (
            vec!["-generate-config-out=a.tf", addr, "settings"],
            vec!["is no identifier of a kubernetes_manifest", "Write it as apiVersion="],
        ),
        (
            vec!["-generate-config-out=a.tf", addr, "apiVersion=v1,kind=ConfigMap,namespace=default,name=none"],
            vec!["There is no ConfigMap default/none"],
        ),
        (vec!["-generate-config-out=a.tf", addr, "apiVersion=x/v1,kind=Y,name=none"], vec!["no kind Y"]),
        (vec!["-lock=false", "-generate-config-out=a.tf", addr, ID], vec!["Import needs the lock"]),
        (vec!["-generate-config-out=none/a.tf", addr, ID], vec!["Cannot write"]),
    ] {
        setting.run(&[vec!["import"], args.clone()].concat()).check(1, &said);
        assert!(!setting.path("a.tf").exists(), "{args:?}");
        assert!(!setting.path("sliceform.tfstate").exists(), "{args:?}");
    }
    setting.run(&["import", addr]).check(1, &["ID"]);
    setting.run(&["import", "-generate-config-out=a.tf", addr, ID]).check(0, &["Import successful!"]);
    setting.run(&["import", "-generate-config-out=b.tf", addr, ID]).check(1, &["Resource already managed"]);
    assert!(!setting.path("b.tf").exists());
}

/// Objects that others have made: address, identifier, where they are in the API, what they are.
fn others() -> Vec<(&'static str, &'static str, &'static str, serde_json::Value)> {
    const GROUP: &str = "rbac.authorization.k8s.io";
    let named = |name: &str| json!({"name": name, "labels": {"app.kubernetes.io/name": "shop"}});
    let role = |kind: &str| json!({"apiGroup": GROUP, "kind": kind, "name": "view"});
    let subjects = json!([{"apiGroup": GROUP, "kind": "User", "name": "jane"},
        {"kind": "ServiceAccount", "name": "default", "namespace": "default"}]);
    vec![
        (
            "kubernetes_config_map_v1.m",
            "default/typed",
            "/api/v1/namespaces/default/configmaps",
            json!({"metadata": named("typed"), "data": {"a": "${b}", "c": "d\n"}, "binaryData": {"e": "/w=="}}),
        ),
        (
            "kubernetes_secret.s",
            "default/typed",
            "/api/v1/namespaces/default/secrets",
            json!({"metadata": named("typed"), "data": {"token": "Y2FuYXJ5"}, "type": "example.com/token"}),
        ),
        (
            "kubernetes_service_account.a",
            "default/typed",
            "/api/v1/namespaces/default/serviceaccounts",
            json!({"metadata": named("typed"), "imagePullSecrets": [{"name": "typed"}]}),
        ),
        (
            "kubernetes_role.r",
            "default/typed",
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
            json!({"metadata": named("typed"), "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        ),
        (
            "kubernetes_role_binding_v1.b",
            "default/typed",
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
            json!({"metadata": named("typed"), "roleRef": role("Role"), "subjects": subjects}),
        ),
        (
            "kubernetes_cluster_role.r",
            "typed",
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            json!({"metadata": named("typed"), "rules": [{"nonResourceURLs": ["/healthz"], "verbs": ["get"]}]}),
        ),
        (
            "kubernetes_cluster_role_binding.b",
            "typed",
            "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            json!({"metadata": named("typed"), "roleRef": role("ClusterRole"), "subjects": subjects}),
        ),
        (
            "kubernetes_resource_quota.q",
            "default/typed",
            "/api/v1/namespaces/default/resourcequotas",
            json!({"metadata": named("typed"), "spec": {"hard": {"pods": "40", "requests.cpu": "1500m"}}}),
        ),
        (
            "kubernetes_limit_range.l",
            "default/typed",
            "/api/v1/namespaces/default/limitranges",
            json!({"metadata": named("typed"), "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]}}),
        ),
        (
            "kubernetes_priority_class.p",
            "typed",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            json!({"metadata": named("typed"), "value": 7, "description": "some"}),
        ),
    ]
}

#[test]
fn typed_objects_are_imported_with_their_configuration_and_nothing_changes() {
    let setting = setting();
    let mut files = Vec::new();
    for (addr, id, path, object) in others() {
        setting.post(path, &object);
        let file = format!("{}.tf", addr.replace('.', "_"));
        let import = setting.run(&["import", &format!("-generate-config-out={file}"), addr, id]);
        import.check(0, &["Import successful!"]).check_not(&["Y2FuYXJ5", "canary"]);
        let text = fs::read_to_string(setting.path(&file)).unwrap();
        assert!(!text.contains("canary") && !text.contains("Y2FuYXJ5"), "{text}");
        files.push(file);
        if addr == "kubernetes_secret.s" {
            // What is sensitive has to be given from here on.
            setting.write("secret.auto.tfvars", "kubernetes_secret_s_data = { token = \"canary\" }\n");
        }
    }
    formatted(&setting, &files.iter().map(String::as_str).collect::<Vec<_>>());
    setting.run(&["plan", "-detailed-exitcode"]).check(0, &["No changes."]);
}

/// HashiCorp's provider does not import these either: what they look after is there already, and a block takes it.
#[test]
fn parts_of_objects_are_not_imported_but_taken_by_their_blocks() {
    let setting = setting();
    for (ty, id) in [
        ("kubernetes_labels", "default/settings"),
        ("kubernetes_annotations", "default/settings"),
        ("kubernetes_config_map_v1_data", "default/settings"),
        ("kubernetes_node_taint", "gpu-01"),
    ] {
        let addr = format!("{ty}.x");
        setting.run(&["import", "-generate-config-out=a.tf", &addr, id]).check(
            1,
            &[&format!("{ty} cannot be imported."), "Write its block and apply: it takes over what is there"],
        );
        assert!(!setting.path("a.tf").exists() && !setting.path("sliceform.tfstate").exists(), "{ty}");
    }
    setting.write(
        "main.tf",
        "resource \"kubernetes_config_map_v1_data\" \"x\" {\n  metadata {\n    name = \"settings\"\n  }\n  data = { \"a.b\" = \
         \"$${x}\" }\n}\n",
    );
    setting.run(&["apply", "-auto-approve"]).check(0, &["1 added"]);
    setting.run(&["plan", "-detailed-exitcode"]).check(0, &["No changes."]);
}
