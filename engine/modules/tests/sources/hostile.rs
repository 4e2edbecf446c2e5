//! Archives that mean no good. Each is refused, nothing is left of it, and nothing outside was touched.

use std::{fs, io::Write};

use crate::{
    archive::{MODULE, gz, tar, zip},
    site::{Site, write},
};
use engine_modules::Limits;

/// A tar whose names are written as they are: the library that writes would refuse them.
fn raw(entries: &[(&str, tar::EntryType, &str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, kind, link, bytes) in entries {
        let mut header = tar::Header::new_gnu();
        let old = header.as_old_mut();
        old.name[..name.len()].copy_from_slice(name.as_bytes());
        old.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    gz(&builder.into_inner().unwrap())
}

fn zip_link(name: &str, to: &str) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_symlink(name, to, zip::write::SimpleFileOptions::default()).unwrap();
    writer.start_file("main.tf", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(MODULE.as_bytes()).unwrap();
    writer.finish().unwrap().into_inner()
}

#[tokio::test]
async fn hostile_archives_are_refused() {
    use tar::EntryType::{Block, Char, Fifo, Link, Regular, Symlink};
    let mut site = Site::new();
    site.limits = Limits { download: 64 << 10, unpacked: 128 << 10, entries: 50 };
    let canary = site.beside("canary");
    fs::write(&canary, "as it was").unwrap();
    let bomb = gz(&tar(&[("main.tf", &"a".repeat(1 << 20))]));
    let many: Vec<(String, &str)> = (0..60).map(|n| (format!("f{n}"), "")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    // Not to be compressed: digits of a generator that everybody knows.
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let noise: Vec<u8> = (0..100 << 10).map(|_| noise()).collect();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("up.tar.gz", raw(&[("../canary", Regular, "", b"x")]), "leads out"),
        ("deep.tar.gz", raw(&[("a/b/../../../canary", Regular, "", b"x")]), "leads out"),
        ("absolute.tar.gz", raw(&[("/tmp/sliceform-canary", Regular, "", b"x")]), "leads out"),
        ("backslash.tar.gz", raw(&[("a\\..\\..\\canary", Regular, "", b"x")]), "leads out"),
        ("link.tar.gz", raw(&[("a", Symlink, "../../canary", b"")]), "leads out"),
        ("absolute-link.tar.gz", raw(&[("a", Symlink, "/etc", b"")]), "leads out"),
        (
            "through.tar.gz",
            raw(&[("a", Symlink, "..", b""), ("a/canary", Regular, "", b"x")]),
            // The file is written first, so that the link is in the way.
            "cannot write a",
        ),
        (
            "chain.tar.gz",
            raw(&[("d/x", Regular, "", b""), ("l", Symlink, "d", b""), ("m", Symlink, "l/../..", b"")]),
            "leads out",
        ),
        ("hard.tar.gz", raw(&[("a", Link, "../canary", b"")]), "leads out"),
        ("hard-absolute.tar.gz", raw(&[("a", Link, "/etc/passwd", b"")]), "leads out"),
        ("hard-missing.tar.gz", raw(&[("a", Link, "b", b"")]), "cannot write b"),
        ("fifo.tar.gz", raw(&[("a", Fifo, "", b"")]), "device"),
        ("char.tar.gz", raw(&[("a", Char, "", b"")]), "device"),
        ("block.tar.gz", raw(&[("a", Block, "", b"")]), "device"),
        ("newline.tar.gz", raw(&[("a\nb", Regular, "", b"")]), "no name of a file"),
        ("bomb.tar.gz", bomb, "larger than 128 KiB"),
        ("bomb.zip", zip(&[("main.tf", &"a".repeat(1 << 20))]), "larger than 128 KiB"),
        ("many.tar.gz", gz(&tar(&many)), "more than 50 entries"),
        ("many.zip", zip(&many), "more than 50 entries"),
        ("large.tar.gz", gz(&noise), "larger than 64 KiB"),
        ("up.zip", zip(&[("../canary", "x")]), "leads out"),
        ("absolute.zip", zip(&[("/tmp/sliceform-canary", "x")]), "leads out"),
        ("backslash.zip", zip(&[("..\\canary", "x")]), "leads out"),
        ("link.zip", zip_link("a", "../../canary"), "leads out"),
        ("cut.tar.gz", gz(&tar(&[("main.tf", MODULE)]))[..40].to_vec(), "broken"),
        ("cut.zip", zip(&[("main.tf", MODULE)])[..40].to_vec(), "broken"),
        ("none.zip", b"hello".to_vec(), "broken"),
        ("none.tar.gz", b"hello".to_vec(), "broken"),
        ("none.tar.bz2", b"hello".to_vec(), "broken"),
        ("none.tar.xz", b"hello".to_vec(), "broken"),
        ("empty.tar.xz", Vec::new(), "broken"),
    ];
    let paths: Vec<(String, _)> = cases
        .iter()
        .map(|(name, bytes, _)| (format!("/{name}"), crate::server::answer(200, &[], bytes.clone())))
        .collect();
    let paths = paths.iter().map(|(path, answer)| (path.as_str(), answer.clone())).collect();
    let server = crate::server::Server::table(paths).await;
    for (name, _, says) in cases {
        site.call(&format!("http://{}/{name}", server.address));
        let wrong = site.install().await.err().unwrap_or_else(|| panic!("{name} was accepted"));
        assert!(wrong.contains(says), "{name}: {wrong}");
        assert_eq!(site.files(), Vec::<String>::new(), "{name}");
        assert_eq!(fs::read_to_string(&canary).unwrap(), "as it was", "{name}");
        assert!(!std::path::Path::new("/tmp/sliceform-canary").exists(), "{name}");
    }
}

#[tokio::test]
async fn honest_links_and_modes_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    use tar::EntryType::{Directory, Link, Regular, Symlink, XGlobalHeader};
    let site = Site::new();
    let bytes = raw(&[
        ("pax_global_header", XGlobalHeader, "", b"30 comment=0123456789012345678\n"),
        ("./", Directory, "", b""),
        ("./d/", Directory, "", b""),
        ("./d/main.tf", Regular, "", MODULE.as_bytes()),
        ("./main.tf", Symlink, "d/main.tf", b""),
        ("./same.tf.txt", Link, "d/main.tf", b""),
    ]);
    write(&site.beside("a.tar.gz"), bytes);
    site.call(site.beside("a.tar.gz").to_str().unwrap());
    site.install().await.unwrap();
    let module = site.root().join(".terraform/modules/x");
    for name in ["main.tf", "d/main.tf", "same.tf.txt"] {
        assert_eq!(fs::read_to_string(module.join(name)).unwrap(), MODULE, "{name}");
    }
    assert!(module.join("main.tf").is_symlink() && !module.join("same.tf.txt").is_symlink());
    assert_eq!(fs::metadata(module.join("d/main.tf")).unwrap().permissions().mode() & 0o111, 0);
}
