//! Every file of a folder beside `terraform fmt`, as it is and with other space. The folder is anybody's, and never part of
//! this repository:
//!
//! ```text
//! SLICEFORM_FMT_FOLDER=~/modules cargo test --release -p engine-lang --test format folder -- --nocapture
//! ```

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    deform::{Random, deform},
    formatted,
};

const SEEDS: u64 = 3;

#[test]
fn a_folder_is_formatted_as_terraform_does() {
    let Some(folder) = std::env::var_os("SLICEFORM_FMT_FOLDER") else {
        eprintln!("SKIPPED: SLICEFORM_FMT_FOLDER names no folder to format beside Terraform");
        return;
    };
    let files = read(Path::new(&folder));
    assert!(!files.is_empty(), "no .tf, .tfvars or .tftest.hcl file in that folder");
    let mut wrong = compare("as it is", &files);
    for seed in 1..=SEEDS {
        let mut random = Random(seed);
        let deformed: Vec<_> = files.iter().map(|(path, text)| (path.clone(), deform(text, &mut random))).collect();
        wrong.extend(compare(&format!("with the space of seed {seed}"), &deformed));
    }
    assert!(wrong.is_empty(), "{} files differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn read(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut todo = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(path) = todo.pop() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            todo.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if [".tf", ".tfvars", ".tftest.hcl"].iter().any(|end| name.ends_with(end)) {
            files.extend(fs::read_to_string(&path).ok().map(|text| (path, text)));
        }
    }
    files.sort();
    files
}

/// Runs Terraform once over copies of all, and says where it wrote something else than we would.
fn compare(what: &str, files: &[(PathBuf, String)]) -> Vec<String> {
    let copies = std::env::temp_dir().join(format!("sliceform-fmt-{}", std::process::id()));
    fs::create_dir_all(&copies).unwrap();
    let copy = |at: usize| copies.join(format!("{at}.tf"));
    for (at, (_, text)) in files.iter().enumerate() {
        fs::write(copy(at), text).unwrap();
    }
    let ran = Command::new("terraform")
        .args(["fmt", "-list=false", "-no-color"])
        .current_dir(&copies)
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .expect("terraform runs");
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    let (mut wrong, mut refused, mut changed) = (Vec::new(), 0, 0);
    for (at, (path, text)) in files.iter().enumerate() {
        let expected = fs::read_to_string(copy(at)).unwrap();
        let refuses = errors.contains(&format!("on {at}.tf line"));
        match formatted(text) {
            Err(_) if refuses => refused += 1,
            Err(why) => wrong.push(format!("{}: only we refuse it: {why}", path.display())),
            Ok(_) if refuses => wrong.push(format!("{}: only Terraform refuses it", path.display())),
            Ok(ours) if ours != expected => {
                let same = ours.lines().zip(expected.lines()).position(|(ours, theirs)| ours != theirs);
                let line = same.unwrap_or(ours.lines().count().min(expected.lines().count()));
                let of = |text: &str| text.lines().nth(line).map(str::to_owned);
                wrong.push(format!("{}: line {}: {:?} is {:?}", path.display(), line + 1, of(&expected), of(&ours)));
            }
            Ok(ours) => {
                changed += usize::from(ours != *text);
                if formatted(&ours).as_ref() != Ok(&ours) {
                    wrong.push(format!("{}: formatting it again changes it", path.display()));
                }
            }
        }
    }
    fs::remove_dir_all(&copies).unwrap();
    eprintln!("{what}: {} files, {changed} changed, {refused} refused by both, {} differ", files.len(), wrong.len());
    wrong.into_iter().map(|text| format!("{what}: {text}")).collect()
}
