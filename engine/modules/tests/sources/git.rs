//! Repositories.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::{
    server::{self, Server},
    site::{Site, commit, git, write},
};

const MODULE: &str = "output \"x\" {\n  value = 1\n}\n";

#[tokio::test]
async fn every_name_of_a_revision_leads_to_it() {
    let site = Site::new();
    let repository = site.repository("repo", &[("is.tf", "# one\n"), ("sub/is.tf", "# sub\n")]);
    let one = git(&repository, &["rev-parse", "HEAD"]);
    git(&repository, &["tag", "v1"]);
    git(&repository, &["tag", "-a", "annotated", "-m", "x"]);
    git(&repository, &["checkout", "-q", "-b", "feature/x"]);
    commit(&repository, &[("is.tf", "# feature\n")]);
    git(&repository, &["checkout", "-q", "main"]);
    commit(&repository, &[("is.tf", "# two\n")]);
    let url = format!("git::file://{}", repository.display());
    for (query, expected) in [
        ("", "# two\n"),
        ("?ref=", "# two\n"),
        ("?ref=main", "# two\n"),
        ("?ref=main&depth=1", "# two\n"),
        ("?ref=v1", "# one\n"),
        ("?ref=annotated", "# one\n"),
        ("?ref=refs/tags/v1", "# one\n"),
        ("?ref=feature%2Fx", "# feature\n"),
        ("?ref=feature/x", "# feature\n"),
        (&format!("?ref={one}"), "# one\n"),
        (&format!("?depth=1&ref={}", &one[..8]), "# one\n"),
        ("?ref=main~1", "# one\n"),
    ] {
        site.call(&format!("{url}{query}"));
        site.install().await.unwrap_or_else(|wrong| panic!("{query}: {wrong}"));
        let is = fs::read_to_string(site.root().join(".terraform/modules/x/is.tf")).unwrap();
        assert_eq!(is, expected, "{query}");
    }
    site.call(&format!("{url}//sub?ref=v1"));
    site.install().await.unwrap();
    assert_eq!(site.load(), (vec!["=.".to_owned(), "module.x=.terraform/modules/x/sub".to_owned()], String::new()));
    assert_eq!(site.files(), ["modules/modules.json", "modules/x/is.tf", "modules/x/sub/is.tf"]);
    for (query, says) in [
        ("?ref=nope", "no branch, tag or commit \"nope\""),
        ("//nope", "no directory \"nope\""),
        ("?ref=--upload-pack=touch", "no name of a branch"),
        ("?depth=x", "no number"),
    ] {
        site.call(&format!("{url}{query}"));
        let wrong = site.install().await.unwrap_err();
        assert!(wrong.contains(says), "{query}: {wrong}");
    }
    site.call(&format!("git::file://{}", site.beside("nothing").display()));
    assert!(site.install().await.unwrap_err().contains("git cannot fetch"));
}

#[tokio::test]
async fn nothing_of_a_repository_is_run() {
    let site = Site::new();
    let ran = site.beside("ran");
    // A template of the user's, with a hook that tells.
    let hook = site.beside("template/hooks/post-checkout");
    write(&hook, format!("#!/bin/sh\ntouch {}\n", ran.display()));
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    write(
        &site.beside("home/.gitconfig"),
        format!(
            "[init]\n  templateDir = {0}\n[core]\n  hooksPath = {0}/hooks\n[protocol \"ext\"]\n  allow = always\n",
            site.beside("template").display()
        ),
    );
    let repository = site.repository("repo", &[("main.tf", MODULE)]);
    site.call(&format!("git::file://{}", repository.display()));
    site.install().await.unwrap();
    assert!(!ran.exists());
    // A submodule that would run a command, and one that would read this machine.
    for url in [format!("ext::sh -c touch% {}", ran.display()), format!("file://{}", site.beside("other").display())] {
        site.repository("other", &[("main.tf", MODULE)]);
        let name = if url.starts_with("ext") { "ext" } else { "file" };
        let repository = site.repository(name, &[("main.tf", MODULE)]);
        let of = git(&site.beside("other"), &["rev-parse", "HEAD"]);
        write(&repository.join(".gitmodules"), format!("[submodule \"m\"]\n  path = m\n  url = {url}\n"));
        git(&repository, &["update-index", "--add", "--cacheinfo", &format!("160000,{of},m")]);
        git(&repository, &["add", ".gitmodules"]);
        git(&repository, &["commit", "-q", "-m", "submodule"]);
        site.call(&format!("git::file://{}", repository.display()));
        let wrong = site.install().await.unwrap_err();
        assert!(wrong.contains("not allowed"), "{wrong}");
    }
    assert!(!ran.exists());
}

#[tokio::test]
async fn links_that_lead_out_of_a_repository_are_refused() {
    let site = Site::new();
    let repository = site.repository("repo", &[("main.tf", MODULE), ("a/x.tf", "")]);
    std::os::unix::fs::symlink("../main.tf", repository.join("a/inside.tf")).unwrap();
    commit(&repository, &[]);
    site.call(&format!("git::file://{}", repository.display()));
    site.install().await.unwrap();
    std::os::unix::fs::symlink("../../../../../etc/passwd", repository.join("a/passwd.tf")).unwrap();
    commit(&repository, &[]);
    let wrong = site.install_with(true).await.unwrap_err();
    assert!(wrong.contains("a/passwd.tf leads out of the package"), "{wrong}");
}

#[tokio::test]
async fn without_git_its_absence_is_the_error() {
    let mut site = Site::new();
    site.variables.insert("PATH".to_owned(), "/nowhere".to_owned());
    site.call("git::https://example.com/x.git");
    let wrong = site.install().await.unwrap_err();
    assert!(wrong.contains("git is not installed") && wrong.contains("Install git"), "{wrong}");
}

#[tokio::test]
async fn servers_of_both_kinds_serve() {
    let site = Site::new();
    let repository = site.repository("repos/x", &[("main.tf", MODULE)]);
    let first = git(&repository, &["rev-parse", "HEAD"]);
    git(&repository, &["tag", "v1"]);
    commit(&repository, &[("two.tf", "")]);
    git(&repository, &["update-server-info"]);
    for smart in [true, false] {
        let server = Server::start(None, server::git(site.beside("repos"), smart, None)).await;
        for name in ["v1", &first[..7]] {
            let call = |index: usize| {
                format!("module \"m{index}\" {{\n  source = \"git::http://{}/x/.git?ref={name}\"\n}}\n", server.address)
            };
            site.write("main.tf", &(0..3).map(call).collect::<String>());
            let before = server.asked().len();
            site.install().await.unwrap_or_else(|wrong| panic!("{smart} {name}: {wrong}"));
            // Once for all of them: the first thing that git asks is which revisions there are.
            let refs = server.asked()[before..].iter().filter(|asked| asked.path.contains("info/refs")).count();
            assert!((1..=2).contains(&refs), "{smart} {name}: {refs}");
            for index in 0..3 {
                let module = site.root().join(format!(".terraform/modules/m{index}"));
                assert!(module.join("main.tf").is_file() && !module.join("two.tf").exists());
                assert!(!module.join(".git").exists());
            }
        }
    }
}

#[tokio::test]
async fn passwords_are_used_and_not_told() {
    let site = Site::new();
    site.repository("repos/x", &[("main.tf", MODULE)]);
    // user:canary
    let server = Server::start(None, server::git(site.beside("repos"), true, Some("Basic dXNlcjpjYW5hcnk="))).await;
    site.call(&format!("git::http://user:canary@{}/x/.git", server.address));
    let told = site.install().await.unwrap();
    assert!(!told.contains("canary"), "{told}");
    for url in [
        format!("git::http://user:canary2@{}/x/.git", server.address),
        format!("git::http://canary2@{}/x/.git", server.address),
        format!("git::http://user:canary@{}/nothing/.git", server.address),
    ] {
        site.call(&url);
        let wrong = site.install().await.unwrap_err();
        assert!(!wrong.contains("canary"), "{wrong}");
    }
    site.call(&format!("git::http://{}/x/.git", server.address));
    let wrong = site.install().await.unwrap_err();
    assert!(wrong.contains("Git does not ask for passwords here"), "{wrong}");
}
