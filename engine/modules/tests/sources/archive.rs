//! Archives by HTTP, and answers that say where a module is.

use std::{fs, io::Write};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::{
    server::{Answer, Server, answer},
    site::{Site, write},
};

pub(crate) const MODULE: &str = "output \"x\" {\n  value = 1\n}\n";

/// A tar.xz of main.tf with that text; made by GNU tar and xz, since the decoder has no encoder.
const TAR_XZ: &str = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4Cf/AHpdADaYSXKFAtLo4UzUOk3Exai1bNFFJRax9tNswHoSXsLNvfUOCk0Wh1Q+rjnzJ6lwk1HkBuaYCbaugPkMqn9WKbBJYsJRyLn/plitfNSHe8miO3AVON1ZomzEZDuCICL+8QIJ5EJT/ClzziF4QSXcbWIB1+uoTKhco2EsAAAASlEZfunatqMAAZYBgFAAALiQ77SxxGf7AgAAAAAEWVo=";

pub(crate) fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

pub(crate) fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, text) in files {
        writer.start_file(*path, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn ok(bytes: Vec<u8>) -> Answer {
    answer(200, &[], bytes)
}

#[tokio::test]
async fn archives_of_every_kind_are_unpacked() {
    let site = Site::new();
    let plain = tar(&[("main.tf", MODULE)]);
    let xz = STANDARD.decode(TAR_XZ).unwrap();
    let server = Server::table(vec![
        ("/a.zip", ok(zip(&[("main.tf", MODULE)]))),
        ("/a.tar.gz", ok(gz(&plain))),
        ("/a.tgz", ok(gz(&plain))),
        ("/a.tar.bz2", ok(bz2(&plain))),
        ("/a.tbz2", ok(bz2(&plain))),
        ("/a.tar.xz", ok(xz.clone())),
        ("/a.txz", ok(xz)),
        ("/any", ok(gz(&plain))),
        ("/sub.zip", ok(zip(&[("o-r-1a2b/mod/main.tf", MODULE)]))),
    ])
    .await;
    for (path, directory) in [
        ("a.zip", ""),
        ("a.tar.gz", ""),
        ("a.tgz", ""),
        ("a.tar.bz2", ""),
        ("a.tbz2", ""),
        ("a.tar.xz", ""),
        ("a.txz", ""),
        ("any?archive=tar.gz", ""),
        ("a.zip?token=x", ""),
        ("sub.zip//o-r-1a2b/mod", "/o-r-1a2b/mod"),
        ("sub.zip//*/mod", "/o-r-1a2b/mod"),
    ] {
        site.call(&format!("http://{}/{path}", server.address));
        site.install().await.unwrap_or_else(|wrong| panic!("{path}: {wrong}"));
        let file = site.root().join(format!(".terraform/modules/x{directory}/main.tf"));
        assert_eq!(fs::read_to_string(file).unwrap(), MODULE, "{path}");
        assert_eq!(site.load().1, "", "{path}");
    }
    for (path, says) in [
        ("none.zip", "404"),
        ("any", "say so: ?archive="),
        ("any?archive=rar", "no kind of archive"),
        ("any?archive=zip", "broken, or of another kind"),
        ("a.zip//nope", "no directory"),
        ("sub.zip//x*", "no directory of the package fits"),
    ] {
        site.call(&format!("http://{}/{path}", server.address));
        let wrong = site.install().await.unwrap_err();
        assert!(wrong.contains(says), "{path}: {wrong}");
    }
}

#[tokio::test]
async fn archives_of_this_machine_are_unpacked_and_directories_linked() {
    let site = Site::new();
    write(&site.beside("a.zip"), zip(&[("main.tf", MODULE)]));
    write(&site.beside("dir/main.tf"), "module \"y\" {\n  source = \"./y\"\n}\n");
    write(&site.beside("dir/y/main.tf"), MODULE);
    site.call(site.beside("a.zip").to_str().unwrap());
    site.install().await.unwrap();
    assert_eq!(site.files(), ["modules/modules.json", "modules/x/main.tf"]);
    site.call(site.beside("dir").to_str().unwrap());
    site.install().await.unwrap();
    assert!(site.root().join(".terraform/modules/x").is_symlink());
    assert_eq!(site.load().0.len(), 3);
    site.call("/nowhere/at/all");
    assert!(site.install().await.unwrap_err().contains("/nowhere/at/all"));
}

#[tokio::test]
async fn checksums_are_checked() {
    let site = Site::new();
    let bytes = zip(&[("main.tf", MODULE)]);
    let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let other = "0".repeat(64);
    let server = Server::table(vec![
        ("/a.zip", ok(bytes)),
        ("/SUMS", answer(200, &[], format!("{other}  b.zip\n{sum}  a.zip\n"))),
        ("/WRONG", answer(200, &[], format!("{other} *a.zip\n"))),
    ])
    .await;
    let address = server.address;
    for (checksum, says) in [
        (format!("sha256:{sum}"), None),
        (sum.to_uppercase(), None),
        (format!("file:http://{address}/SUMS"), None),
        (format!("file:http://{address}/WRONG"), Some("is expected")),
        (format!("file:http://{address}/none"), Some("404")),
        (format!("sha256:{other}"), Some("is expected")),
        ("sha256:00".to_owned(), Some("64 hexadecimal digits")),
        ("crc32:00".to_owned(), Some("no kind of checksum")),
    ] {
        site.call(&format!("http://{address}/a.zip?checksum={checksum}"));
        match (site.install_with(true).await, says) {
            (Ok(_), None) => assert!(site.root().join(".terraform/modules/x/main.tf").is_file()),
            (Err(wrong), Some(says)) => assert!(wrong.contains(says), "{checksum}: {wrong}"),
            (got, _) => panic!("{checksum}: {got:?}"),
        }
    }
}

#[tokio::test]
async fn an_answer_says_where_the_module_is() {
    let site = Site::new();
    let archive = zip(&[("mod/main.tf", MODULE), ("other/x.tf", "")]);
    let server = Server::table(vec![
        ("/dir/a.zip", ok(archive)),
        ("/dir/header", answer(204, &[("X-Terraform-Get", "./a.zip//mod")], "")),
        ("/page", answer(200, &[], "<html><head><meta name=\"terraform-get\" content=\"/dir/a.zip//mod\"></head>")),
        ("/twice", answer(200, &[("X-Terraform-Get", "/page")], "")),
        ("/round", answer(200, &[("X-Terraform-Get", "/round")], "")),
        ("/own", answer(200, &[("X-Terraform-Get", "file:///etc")], "")),
        ("/s3", answer(200, &[("X-Terraform-Get", "s3::https://s3.amazonaws.com/b/k.zip")], "")),
    ])
    .await;
    for path in ["dir/header", "page", "twice"] {
        site.call(&format!("http://{}/{path}", server.address));
        site.install().await.unwrap_or_else(|wrong| panic!("{path}: {wrong}"));
        // What the answer names is the whole package.
        assert_eq!(site.files(), ["modules/modules.json", "modules/x/main.tf"], "{path}");
    }
    assert!(server.asked().iter().any(|asked| asked.path == "/dir/header?terraform-get=1"));
    for (path, says) in
        [("round", "8 times"), ("own", "would be on this machine"), ("s3", "which Sliceform does not fetch")]
    {
        site.call(&format!("http://{}/{path}", server.address));
        let wrong = site.install().await.unwrap_err();
        assert!(wrong.contains(says), "{path}: {wrong}");
    }
}

#[tokio::test]
async fn a_password_is_for_the_server_that_it_was_given_for() {
    let site = Site::new();
    let other = Server::table(vec![("/b.zip", ok(zip(&[("main.tf", MODULE)])))]).await;
    let there = format!("http://{}/b.zip", other.address);
    let server = Server::table(vec![
        ("/a.zip", answer(302, &[("Location", "/moved.zip")], "")),
        ("/moved.zip", answer(302, &[("Location", &there)], "")),
        ("/denied.zip", answer(401, &[], "")),
        ("/loop.zip", answer(302, &[("Location", "/loop.zip")], "")),
    ])
    .await;
    site.call(&format!("http://user:canary@{}/a.zip", server.address));
    let told = site.install().await.unwrap();
    assert!(!told.contains("canary"), "{told}");
    let basic = Some(format!("Basic {}", STANDARD.encode("user:canary")));
    let given: Vec<_> = server.asked().into_iter().map(|asked| asked.authorization).collect();
    assert_eq!(given, [basic.clone(), basic]);
    assert!(other.asked().iter().all(|asked| asked.authorization.is_none()));
    for (path, says) in [("denied.zip", "netrc"), ("loop.zip?token=canary", "more than 10 times")] {
        site.call(&format!("http://user:canary@{}/{path}", server.address));
        let wrong = site.install().await.unwrap_err();
        assert!(wrong.contains(says) && !wrong.contains("canary"), "{path}: {wrong}");
    }
    // An entry of netrc is for its host.
    write(&site.beside("home/.netrc"), "machine 127.0.0.1 login n password canary\n");
    site.call(&there);
    site.install().await.unwrap();
    let last = other.asked().pop().unwrap().authorization;
    assert_eq!(last, Some(format!("Basic {}", STANDARD.encode("n:canary"))));
}
