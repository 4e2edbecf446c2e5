//! Registries.

use std::fs;

use crate::{
    archive::{MODULE, zip},
    server::{Answer, Authority, Server, answer, by_table},
    site::{Site, write},
};

const VERSIONS: &str = r#"{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.2.0"},{"version":"1.10.0"},
    {"version":"2.0.0-beta1"},{"version":"1.11.0-rc1"},{"version":"no version"}]}]}"#;

fn paths(archive: &str) -> Vec<(&'static str, Answer)> {
    let mut paths = vec![
        ("/v1/modules/a/b/c/versions", answer(200, &[], VERSIONS)),
        ("/v1/modules/a/none/c/versions", answer(200, &[], r#"{"modules":[{"versions":[]}]}"#)),
        ("/v1/modules/a/odd/c/versions", answer(200, &[], "<html>")),
    ];
    for (path, version) in [
        ("/v1/modules/a/b/c/1.0.0/download", "1.0.0"),
        ("/v1/modules/a/b/c/1.2.0/download", "1.2.0"),
        ("/v1/modules/a/b/c/1.10.0/download", "1.10.0"),
        ("/v1/modules/a/b/c/2.0.0-beta1/download", "2.0.0-beta1"),
    ] {
        paths.push((path, answer(204, &[("X-Terraform-Get", &format!("{archive}//*?version={version}"))], "")));
    }
    paths
}

async fn files() -> Server {
    let bytes = zip(&[("o-r/main.tf", MODULE), ("o-r/modules/deep/main.tf", MODULE)]);
    Server::table(vec![("/a.zip", answer(200, &[], bytes))]).await
}

/// A site that knows the registry by its own configuration.
async fn by_configuration() -> (Site, Server, Server) {
    let files = files().await;
    let registry = Server::table(paths(&format!("http://{}/a.zip", files.address))).await;
    let site = Site::new();
    write(
        &site.beside("home/.terraformrc"),
        format!(
            "host \"mods.example.com\" {{\n  services = {{ \"modules.v1\" = \"http://{}/v1/modules\" }}\n}}\ncredentials \
             \"mods.example.com\" {{\n  token = \"canary\"\n}}\n",
            registry.address
        ),
    );
    (site, registry, files)
}

/// What Terraform 1.11.4 chooses among the same versions.
#[tokio::test]
async fn the_newest_version_that_is_allowed_is_chosen() {
    let (site, registry, files) = by_configuration().await;
    for (constraint, expected) in [
        ("", Ok("1.10.0")),
        ("~> 1.0", Ok("1.10.0")),
        ("< 1.10.0", Ok("1.2.0")),
        ("1.0.0", Ok("1.0.0")),
        ("~> 1.2.0", Ok("1.2.0")),
        ("2.0.0-beta1", Ok("2.0.0-beta1")),
        (">= 2.0.0-beta1", Err("The newest is 1.10.0")),
        (">= 1.11.0-rc1, < 2.0.0", Err("The newest is 1.10.0")),
        ("9.0", Err("The newest is 1.10.0")),
    ] {
        match constraint {
            "" => site.call("mods.example.com/a/b/c"),
            constraint => site.call_version("mods.example.com/a/b/c", constraint),
        }
        match (site.install_with(true).await, expected) {
            (Ok(told), Ok(version)) => {
                assert!(told.contains(&format!("mods.example.com/a/b/c {version} for x")), "{told}");
                let entry = format!(
                    r#"{{"Key":"x","Source":"mods.example.com/a/b/c","Version":"{version}","Dir":".terraform/modules/x/o-r"}}"#
                );
                assert!(site.manifest().contains(&entry), "{}", site.manifest());
                assert_eq!(site.load().1, "");
            }
            (Err(wrong), Err(says)) => assert!(wrong.contains(says), "{constraint}: {wrong}"),
            (got, _) => panic!("{constraint}: {got:?}"),
        }
    }
    site.call_version("mods.example.com/a/b/c//modules/deep", "1.0.0");
    site.install().await.unwrap();
    assert_eq!(site.load().0[1], "module.x=.terraform/modules/x/o-r/modules/deep");
    for (source, says) in [
        ("mods.example.com/a/b/c//nope", "no directory \"o-r/nope\""),
        ("mods.example.com/a/none/c", "It has no releases"),
        ("mods.example.com/a/missing/c", "has no module a/missing/c"),
        ("mods.example.com/a/odd/c", "no list of versions"),
    ] {
        site.call(source);
        let wrong = site.install().await.unwrap_err();
        assert!(wrong.contains(says) && !wrong.contains("canary"), "{source}: {wrong}");
    }
    // The token is the registry's, and nobody else's.
    assert!(registry.asked().iter().all(|asked| asked.authorization.as_deref() == Some("Bearer canary")));
    assert!(!files.asked().is_empty() && files.asked().iter().all(|asked| asked.authorization.is_none()));
}

#[tokio::test]
async fn each_thing_is_asked_for_once() {
    let (site, registry, files) = by_configuration().await;
    let call = |n: usize| format!("module \"m{n}\" {{\n  source = \"mods.example.com/a/b/c\"\n}}\n");
    site.write("main.tf", &(0..5).map(call).collect::<String>());
    site.install().await.unwrap();
    assert_eq!((registry.count("/versions"), registry.count("/download"), files.asked().len()), (1, 1, 1));
    for n in 0..5 {
        let file = site.root().join(format!(".terraform/modules/m{n}/o-r/main.tf"));
        assert_eq!(fs::read_to_string(file).unwrap(), MODULE);
    }
}

#[tokio::test]
async fn a_host_says_where_its_registry_is() {
    let mut site = Site::new();
    let authority = Authority::new();
    let files = files().await;
    let mut table = paths(&format!("http://{}/a.zip", files.address));
    table.push(("/.well-known/terraform.json", answer(302, &[("Location", "/found.json")], "")));
    table.push(("/found.json", answer(200, &[], r#"{"modules.v1":"/v1/modules/","login.v1":{"client":"x"}}"#)));
    let registry = Server::start(Some(&authority), by_table(table)).await;
    let source = format!("{}/a/b/c", registry.address);
    site.call(&source);
    // Nobody vouches for its certificate yet.
    let wrong = site.install().await.unwrap_err();
    assert!(wrong.contains("certificate"), "{wrong}");
    write(&site.beside("ca.pem"), &authority.certificate);
    site.variables.insert("SSL_CERT_FILE".to_owned(), site.beside("ca.pem").to_str().unwrap().to_owned());
    let host = registry.address.to_string().replace('.', "_");
    site.variables.insert(format!("TF_TOKEN_{host}"), "canary".to_owned());
    site.install().await.unwrap();
    assert!(registry.asked().iter().all(|asked| asked.authorization.as_deref() == Some("Bearer canary")));
    assert!(registry.count("terraform.json") >= 1);
    // A host without the service.
    let other = Server::start(
        Some(&authority),
        by_table(vec![("/.well-known/terraform.json", answer(200, &[], r#"{"providers.v1":"/x/"}"#))]),
    )
    .await;
    site.call(&format!("{}/a/b/c", other.address));
    let wrong = site.install().await.unwrap_err();
    assert!(wrong.contains("no registry of modules"), "{wrong}");
    assert!(other.asked().iter().all(|asked| asked.authorization.is_none()));
}

#[tokio::test]
async fn a_token_does_not_follow_a_redirect_to_another_server() {
    let (mut site, _registry, files) = by_configuration().await;
    let there = Server::table(paths(&format!("http://{}/a.zip", files.address))).await;
    let moved = Server::table(vec![(
        "/v1/modules/a/b/c/versions",
        answer(307, &[("Location", &format!("http://{}/v1/modules/a/b/c/versions", there.address))], ""),
    )])
    .await;
    let rc = site.beside("rc");
    write(
        &rc,
        format!(
            "host \"mods.example.com\" {{\n  services = {{\n    \"modules.v1\" = \"http://{}/v1/modules/\"\n  }}\n}}\n",
            moved.address
        ),
    );
    site.variables.insert("TF_CLI_CONFIG_FILE".to_owned(), rc.to_str().unwrap().to_owned());
    site.variables.insert("TF_TOKEN_mods_example_com".to_owned(), "canary".to_owned());
    site.call("mods.example.com/a/b/c");
    // The list is there; what it leads to is not.
    let wrong = site.install().await.unwrap_err();
    assert!(wrong.contains("404") && !wrong.contains("canary"), "{wrong}");
    assert_eq!(moved.asked()[0].authorization.as_deref(), Some("Bearer canary"));
    assert_eq!(there.asked().len(), 1);
    assert!(there.asked().iter().all(|asked| asked.authorization.is_none()));
}
