//! Modules of others, as they are. `SLICEFORM_PUBLIC_MODULES` names a folder with a folder for each, and every one of them
//! must load, with its local modules, without an error but for the modules that it calls from elsewhere, which are
//! not installed there.

use std::{fs, path::PathBuf};

use engine_diag::Sources;

#[test]
fn modules_of_others_load() {
    let Some(folder) = std::env::var_os("SLICEFORM_PUBLIC_MODULES") else {
        println!("skipped: SLICEFORM_PUBLIC_MODULES names no folder of modules");
        return;
    };
    let mut found: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let is_module = |path: &PathBuf| {
        let files = fs::read_dir(path).into_iter().flatten().flatten();
        files.map(|entry| entry.path()).any(|path| path.extension().is_some_and(|end| end == "tf"))
    };
    found.retain(is_module);
    found.sort();
    assert!(!found.is_empty(), "{} holds no modules", folder.to_string_lossy());
    let mut wrong = Vec::new();
    for module in &found {
        let mut sources = Sources::new();
        let tree = engine_modules::read_tree(module, ".terraform").unwrap();
        let (_, diagnostics) = engine_lang::config::load(&tree, &mut sources);
        let errors = diagnostics.iter().filter(|one| one.is_error() && one.summary != "Module not installed");
        for error in errors {
            let place =
                error.span.map(|span| format!("{}:{}", sources.get(span.file).name, sources.range(span).0.line));
            let place = place.unwrap_or_default();
            wrong.push(format!("{}/{place}: {}: {}", module.display(), error.summary, error.detail));
        }
    }
    println!("{} modules, {} errors", found.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
