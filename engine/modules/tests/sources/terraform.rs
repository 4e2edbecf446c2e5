//! The manifest is Terraform's, byte for byte: recorded here, and compared with the program where it is installed.

use std::{fs, process::Command};

use crate::{
    archive::{MODULE, zip},
    site::{Site, git, write},
};

fn site() -> Site {
    let site = Site::new();
    let call = |name: &str, source: &str| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n");
    let repository = site.repository(
        "repo",
        &[
            ("main.tf", &call("y", "./modules/y/")),
            ("sub/main.tf", &call("up", "../modules/y")),
            ("modules/y/main.tf", MODULE),
        ],
    );
    git(&repository, &["tag", "v1.0"]);
    write(&site.beside("a.zip"), zip(&[("mod/main.tf", MODULE)]));
    let url = format!("git::file://{}", repository.display());
    site.write(
        "main.tf",
        &[
            call("z", &format!("{url}?ref=v1.0")),
            call("s", &format!("{url}//sub?ref=main&depth=1")),
            call("l", "./l/../l/"),
            call("a", &format!("{}//mod", site.beside("a.zip").display())),
            call("up", "./../root2//x"),
        ]
        .concat(),
    );
    site.write("l/main.tf", &call("r", &format!("{url}?ref=v1.0")));
    write(&site.beside("root2/x/main.tf"), MODULE);
    site
}

#[tokio::test]
async fn the_manifest_is_terraforms() {
    let site = site();
    let told = site.install().await.unwrap();
    let order: Vec<&str> = told.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(
        order,
        [
            "- a in .terraform/modules/a/mod",
            "- l in l",
            "- l.r in .terraform/modules/l.r",
            "- l.r.y in .terraform/modules/l.r/modules/y",
            "- s in .terraform/modules/s/sub",
            "- s.up in .terraform/modules/s/modules/y",
            "- up in ../root2/x",
            "- z in .terraform/modules/z",
            "- z.y in .terraform/modules/z/modules/y",
        ]
    );
    // Recorded with Terraform 1.11.4 on the same files.
    let expected = concat!(
        r#"{"Modules":[{"Key":"","Source":"","Dir":"."},"#,
        r#"{"Key":"a","Source":"file://SITE/a.zip//mod","Dir":".terraform/modules/a/mod"},"#,
        r#"{"Key":"l","Source":"./l","Dir":"l"},"#,
        r#"{"Key":"l.r","Source":"git::file://SITE/repo?ref=v1.0","Dir":".terraform/modules/l.r"},"#,
        r#"{"Key":"l.r.y","Source":"./modules/y","Dir":".terraform/modules/l.r/modules/y"},"#,
        r#"{"Key":"s","Source":"git::file://SITE/repo//sub?ref=main\u0026depth=1","Dir":".terraform/modules/s/sub"},"#,
        r#"{"Key":"s.up","Source":"../modules/y","Dir":".terraform/modules/s/modules/y"},"#,
        r#"{"Key":"up","Source":"../root2/x","Dir":"../root2/x"},"#,
        r#"{"Key":"z","Source":"git::file://SITE/repo?ref=v1.0","Dir":".terraform/modules/z"},"#,
        r#"{"Key":"z.y","Source":"./modules/y","Dir":".terraform/modules/z/modules/y"}]}"#,
    );
    assert_eq!(site.manifest(), expected);
    let ours = site.manifest();
    fs::remove_dir_all(site.root().join(".terraform")).unwrap();
    let terraform = Command::new("terraform")
        .args(["get", "-no-color"])
        .current_dir(site.root())
        .env("CHECKPOINT_DISABLE", "1")
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .output();
    match terraform {
        Err(_) => println!("skipped: there is no terraform to compare with"),
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert_eq!(site.manifest(), ours);
            // What Terraform installed, we read.
            assert_eq!(site.load().1, "");
        }
    }
}
