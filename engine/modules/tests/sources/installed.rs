//! What is installed: kept, replaced as a whole, noticed when it is not what is wanted.

use std::fs;

use crate::site::{Site, commit, git, write};

const MODULE: &str = "output \"x\" {\n  value = 1\n}\n";

#[tokio::test]
async fn what_is_installed_is_not_fetched_again() {
    let site = Site::new();
    let repository = site.repository("repo", &[("main.tf", MODULE)]);
    site.call(&format!("git::file://{}?ref=main", repository.display()));
    assert!(site.install().await.unwrap().contains("Downloading"));
    commit(&repository, &[("new.tf", "")]);
    assert_eq!(site.install().await.unwrap(), "- x in .terraform/modules/x\n");
    let files = site.files();
    fs::rename(&repository, site.beside("away")).unwrap();
    // Without the repository: as it is, and after a failure too.
    assert_eq!(site.install().await.unwrap(), "- x in .terraform/modules/x\n");
    assert!(site.install_with(true).await.is_err());
    assert_eq!((site.files(), site.load().1), (files, String::new()));
    fs::rename(site.beside("away"), &repository).unwrap();
    site.install_with(true).await.unwrap();
    assert_eq!(site.files(), ["modules/modules.json", "modules/x/main.tf", "modules/x/new.tf"]);
}

#[tokio::test]
async fn a_failure_leaves_everything_as_it_was() {
    let site = Site::new();
    let repository = site.repository("repo", &[("main.tf", MODULE)]);
    let url = format!("git::file://{}", repository.display());
    site.call(&url);
    site.install().await.unwrap();
    let (files, manifest) = (site.files(), site.manifest());
    let good = format!("module \"x\" {{\n  source = \"{url}?ref=main\"\n}}\n");
    for bad in [
        format!("module \"y\" {{\n  source = \"{url}?ref=nope\"\n}}\n"),
        "module \"y\" {\n  source = \"./nope\"\n}\n".to_owned(),
        "module \"y\" {\n  source = \"x\"\n}\n".to_owned(),
        format!("module \"../../y\" {{\n  source = \"{url}\"\n}}\n"),
        "module \"y\" {\n".to_owned(),
    ] {
        site.write("main.tf", &format!("{good}{bad}"));
        site.install().await.unwrap_err();
        assert_eq!((site.files(), site.manifest()), (files.clone(), manifest.clone()), "{bad}");
    }
    assert!(!site.root().join("y").exists() && !site.beside("y").exists());
}

#[tokio::test]
async fn what_is_not_called_any_more_goes() {
    let site = Site::new();
    let repository = site.repository("repo", &[("main.tf", MODULE)]);
    site.call(&format!("git::file://{}", repository.display()));
    site.install().await.unwrap();
    write(&site.root().join(".terraform/modules/own/x"), "somebody's");
    site.write("main.tf", "module \"l\" {\n  source = \"./l\"\n}\n");
    site.write("l/main.tf", MODULE);
    site.install().await.unwrap();
    assert_eq!(site.files(), ["modules/modules.json", "modules/own/x"]);
}

#[tokio::test]
async fn what_is_not_what_is_wanted_is_noticed() {
    let site = Site::new();
    let repository = site.repository("repo", &[("main.tf", MODULE)]);
    let url = format!("git::file://{}", repository.display());
    site.call(&url);
    let wrong = |part: &str| {
        let wrong = site.load().1;
        assert!(wrong.contains(part) && wrong.contains("sliceform init"), "{wrong}");
    };
    wrong("Module not installed: This module is not yet installed.");
    site.install().await.unwrap();
    assert_eq!(site.load().1, "");
    site.call(&format!("{url}?ref=main"));
    wrong("Module source has changed");
    site.call_version("mods.example.com/a/b/c", "~> 1.0");
    wrong("Module source has changed");
    write(
        &site.root().join(".terraform/modules/modules.json"),
        r#"{"Modules":[{"Key":"x","Source":"mods.example.com/a/b/c","Version":"1.4.0","Dir":".terraform/modules/x"}]}"#,
    );
    assert_eq!(site.load().1, "");
    site.call_version("mods.example.com/a/b/c", "~> 2.0");
    wrong("Module version requirements have changed");
    site.call_version("mods.example.com/a/b/c", "1.4.0");
    fs::remove_dir_all(site.root().join(".terraform/modules/x")).unwrap();
    wrong("could not be read");
    write(&site.root().join(".terraform/modules/modules.json"), "{");
    assert!(site.install().await.unwrap_err().contains("Remove the file"));
}

#[tokio::test]
async fn calls_without_end_are_errors_with_their_path() {
    let site = Site::new();
    let repository = site.repository("repo", &[]);
    let url = format!("git::file://{}", repository.display());
    commit(&repository, &[("main.tf", &format!("module \"y\" {{\n  source = \"{url}\"\n}}\n"))]);
    site.call(&url);
    let wrong = site.install().await.unwrap_err();
    assert!(wrong.contains(&format!("{url} → {url}")), "{wrong}");
    site.call("./l");
    site.write("l/main.tf", "module \"y\" {\n  source = \"../l\"\n}\n");
    let wrong = site.install().await.unwrap_err();
    assert!(wrong.contains("64 levels deep") && wrong.contains("x.y.y"), "{wrong}");
    assert_eq!(site.files(), Vec::<String>::new());
}

#[tokio::test]
async fn local_modules_stay_within_their_package() {
    let site = Site::new();
    site.write("main.tf", "");
    write(&site.beside("outside/main.tf"), MODULE);
    let call = |source: &str| format!("module \"y\" {{\n  source = \"{source}\"\n}}\n");
    for (source, fits) in [("../b", true), ("..", true), ("../../repo", false), ("../../../../outside", false)] {
        let source = if source == ".." { "../." } else { source };
        let name = format!("repo{}", source.len());
        let repository =
            site.repository(&name, &[("main.tf", MODULE), ("b/main.tf", MODULE), ("a/main.tf", &call(source))]);
        site.call(&format!("git::file://{}//a", repository.display()));
        let done = site.install().await;
        assert_eq!(done.is_ok(), fits, "{source}: {done:?}");
        if let Err(wrong) = done {
            assert!(wrong.contains("Local module path escapes module package"), "{wrong}");
        }
    }
    // Another program may have written the manifest.
    write(&site.root().join(".terraform/modules/x/a/main.tf"), call("../../../../../outside"));
    let manifest = site.manifest();
    let source = manifest.split("\"Source\":\"").nth(2).unwrap().split('"').next().unwrap();
    site.call(&source.replace("SITE", site.beside("").to_str().unwrap().trim_end_matches('/')));
    let (_, wrong) = site.load();
    assert!(wrong.contains("Local module path escapes module package"), "{wrong}");
}

#[tokio::test]
async fn a_local_module_may_call_what_was_fetched_for_each_of_its_calls() {
    let site = Site::new();
    let repository = site.repository("repo", &[("main.tf", MODULE)]);
    git(&repository, &["tag", "v1"]);
    let call = |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    site.write("main.tf", &format!("{}{}", call("a", "./l"), call("b", "./l")));
    site.write("l/main.tf", &call("r", &format!("git::file://{}?ref=v1", repository.display())));
    site.install().await.unwrap();
    let (modules, wrong) = site.load();
    assert_eq!(wrong, "");
    assert_eq!(
        modules,
        [
            "=.",
            "module.a=l",
            "module.a.module.r=.terraform/modules/a.r",
            "module.b=l",
            "module.b.module.r=.terraform/modules/b.r"
        ]
    );
}

/// What a saved plan keeps.
#[tokio::test]
async fn the_files_that_were_read_are_the_configuration_again() {
    let mut site = Site::new();
    let repository = site.repository("repo", &[("main.tf", "module \"y\" {\n  source = \"./y\"\n}\n"), ("y/y.tf", "")]);
    site.call(&format!("git::file://{}", repository.display()));
    for data in [".terraform".to_owned(), site.beside("data").to_str().unwrap().to_owned()] {
        site.data_directory = data;
        site.install().await.unwrap();
        let tree = engine_modules::read_tree(&site.root(), &site.data_directory).unwrap();
        let files: Vec<_> = tree.files().map(|(path, bytes)| (path, bytes.clone())).collect();
        let again = engine_modules::tree_of(files.iter().map(|(path, bytes)| (path.as_str(), bytes.clone())));
        let load = |tree| {
            let (config, diagnostics) = engine_lang::config::load(tree, &mut engine_diag::Sources::new());
            assert!(diagnostics.is_empty(), "{diagnostics:?}");
            config.modules().iter().map(|(path, module)| format!("{path}={}", module.directory)).collect::<Vec<_>>()
        };
        assert_eq!(load(&again), load(&tree));
        assert_eq!(load(&tree).len(), 3);
    }
}

#[tokio::test]
async fn the_data_directory_may_be_elsewhere() {
    let mut site = Site::new();
    let repository = site.repository("repo", &[("main.tf", "module \"y\" {\n  source = \"./y\"\n}\n"), ("y/y.tf", "")]);
    site.call(&format!("git::file://{}", repository.display()));
    for (data, expected) in [("foo/bar", "foo/bar"), ("./foo/", "foo"), ("/ABSOLUTE", "SITE/data")] {
        site.data_directory = data.replace("/ABSOLUTE", site.beside("data").to_str().unwrap());
        site.install().await.unwrap();
        let dir = format!(r#""Dir":"{expected}/modules/x/y""#);
        assert!(site.manifest().contains(&dir), "{}", site.manifest());
        let (modules, wrong) = site.load();
        assert_eq!((modules.len(), wrong), (3, String::new()), "{data}");
    }
}
