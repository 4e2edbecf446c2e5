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
