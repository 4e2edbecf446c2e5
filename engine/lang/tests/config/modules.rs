//! Modules that call modules.

use crate::read::read;

#[test]
fn modules_are_found_relative_to_their_caller() {
    let (config, diagnostics) = read(&[
        ("main.tf", "module \"a\" {\n  source = \"./m/a\"\n}\nmodule \"up\" {\n  source = \"../up\"\n}\n"),
        ("m/a/main.tf", "module \"b\" {\n  source = \"../b\"\n}\nmodule \"b2\" {\n  source = \"./../b/\"\n}\n"),
        ("m/b/main.tf", "locals {\n  x = 1\n}\n"),
        ("../up/main.tf", ""),
    ]);
    assert_eq!(diagnostics, Vec::<String>::new());
    let paths: Vec<_> = config.modules().iter().map(|(path, m)| format!("{path}={}", m.directory)).collect();
    assert_eq!(paths, ["=.", "module.a=m/a", "module.a.module.b=m/b", "module.a.module.b2=m/b", "module.up=../up"]);
}

#[test]
fn a_module_is_read_once() {
    let (_, diagnostics) = read(&[
        ("main.tf", "module \"a\" {\n  source = \"./m\"\n}\nmodule \"b\" {\n  source = \"./m\"\n}\n"),
        ("m/main.tf", "foo = 1\n"),
    ]);
    assert_eq!(diagnostics, ["m/main.tf:1:1 Unsupported argument"]);
}

#[test]
fn modules_that_are_not_there() {
    let call = |source: &str| format!("module \"a\" {{\n  source = {source}\n}}\n");
    for (source, summary) in [
        ("\"./nope\"", "Module not found"),
        ("\"modules/x\"", "Invalid module source address"),
        ("\"hashicorp/consul/aws\"", "Module not installed"),
        ("\"git::https://example.com/x.git\"", "Module not installed"),
        ("\"s3::https://s3.amazonaws.com/b/x.zip\"", "Unsupported module source"),
        ("\"./m\"\n  version = \"1\"", "Invalid registry module source address"),
        ("var.x", "Variables not allowed"),
    ] {
        let (_, diagnostics) = read(&[("main.tf", &call(source)), ("m/main.tf", "")]);
        assert_eq!(diagnostics.len(), 1, "{source}: {diagnostics:?}");
        assert!(diagnostics[0].ends_with(summary), "{source}: {diagnostics:?}");
    }
    let (_, diagnostics) = read(&[("main.tf", "module \"a\" {}\n")]);
    assert_eq!(diagnostics, ["main.tf:1:12 Missing required argument"]);
    let (_, diagnostics) = read(&[("main.tf", &call("\"./m\"")), ("m/x.txt", "")]);
    assert_eq!(diagnostics, ["main.tf:2:12 Module not found"]);
}

#[test]
fn a_module_must_not_call_itself() {
    let (_, diagnostics) = read(&[
        ("main.tf", "module \"a\" {\n  source = \"./a\"\n}\n"),
        ("a/main.tf", "module \"b\" {\n  source = \"../b\"\n}\n"),
        ("b/main.tf", "module \"a\" {\n  source = \"../a\"\n}\n"),
    ]);
    assert_eq!(diagnostics, ["b/main.tf:2:12 Module calls itself"]);
    let (_, diagnostics) = read(&[("main.tf", "module \"a\" {\n  source = \"./.\"\n}\n")]);
    assert_eq!(diagnostics, ["main.tf:2:12 Module calls itself"]);
}

#[test]
fn a_backend_counts_in_the_root_module_alone() {
    let (_, diagnostics) = read(&[
        ("main.tf", "module \"a\" {\n  source = \"./a\"\n}\n"),
        ("a/main.tf", "terraform {\n  backend \"local\" {\n  }\n}\n"),
    ]);
    assert_eq!(diagnostics, ["a/main.tf:2:3 Backend configuration ignored"]);
}
