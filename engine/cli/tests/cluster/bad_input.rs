//! What can be wrong between the program and its cluster: one clear message each, with the place and the way out, and
//! nothing changed. `UPDATE_GOLDEN=1 cargo test -p engine-cli --test cluster` writes the messages again.

#![expect(clippy::unwrap_used, reason = "a check fails by panicking")]

use std::{fs, path::Path};

use crate::{
    program::{Ran, Running},
    setting::{FLEET, Setting, same},
};

/// Compares exit code and what was said on standard error, and of standard output what stands below the changes. Ports,
/// identities, times and the directory have names.
#[track_caller]
fn check(name: &str, setting: &Setting, ran: &Ran) {
    let directory = setting.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let below = ran.stdout.find("\nExcluded").map_or("", |at| &ran.stdout[at..]);
    let said = format!("{}{below}\nexit code {}\n", ran.stderr, ran.code.unwrap()).replace(&directory, "<directory>");
    // How old a heartbeat is depends on how long the test took.
    let said = match said.split_once("no heartbeat for ") {
        Some((_, rest)) => said.replace(rest.split('\n').next().unwrap(), "<age>"),
        None => said,
    };
    let lines: Vec<String> = said.lines().map(|line| line.split(' ').map(word).collect::<Vec<_>>().join(" ")).collect();
    let found = lines.join("\n") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cluster/golden/{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{}", path.display());
}

fn word(word: &str) -> String {
    let inner = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_uuid = inner.len() == 36 && inner.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    let seconds = inner.strip_suffix('s').unwrap_or_default();
    if !seconds.is_empty() && seconds.bytes().all(|b| b.is_ascii_digit()) {
        return word.replace(inner, "<time>");
    }
    match (is_uuid, inner.split_once("127.0.0.1:")) {
        (true, _) => word.replace(inner, "<uuid>"),
        (_, Some((before, port))) if port != "1" => word.replace(inner, &format!("{before}127.0.0.1:<port>")),
        _ => word.to_owned(),
    }
}

#[test]
fn no_cluster_is_known() {
    let setting = Setting::embedded(FLEET);
    check("no_kubeconfig", &setting, &Running::start(&mut setting.program(&["apply", "-auto-approve"])).end());
    assert!(!setting.path("sliceform.tfstate").exists());
}

#[test]
fn the_api_does_not_answer() {
    let setting = Setting::embedded(FLEET);
    let mut program = setting.program(&["apply", "-auto-approve"]);
    // Nobody may listen at a port that low but root, and nobody does.
    program.env("KUBE_HOST", "https://127.0.0.1:1");
    check("unreachable", &setting, &Running::start(&mut program).end());
    assert!(!setting.path("sliceform.tfstate").exists());
}

/// On a fleet where that is said of the first nodes of the pool.
#[track_caller]
fn fleet(name: &str, fault: &str, nodes: usize) {
    let label = "labels = { \"example.com/pool\" = \"dev\" }";
    let setting = Setting::embedded(&FLEET.replacen(label, &format!("{fault}\n  {label}"), nodes));
    let found = setting.found();
    check(name, &setting, &setting.run(&["apply", "-auto-approve"]));
    same(&setting.found(), &found);
}

#[test]
fn agents_do_not_answer() {
    fleet("agents_down", "agent = \"down\"", 3);
}

#[test]
fn a_node_that_is_not_ready_uses_up_the_budget() {
    fleet("node_not_ready", "ready = false", 1);
}

#[test]
fn another_cluster_answers() {
    let mut setting = Setting::cluster(FLEET);
    setting.run(&["plan", "-out=p"]).check(0, &[]);
    setting.replace();
    let found = setting.found();
    check("another_cluster_than_the_plans", &setting, &setting.run(&["apply", "p"]));
    same(&setting.found(), &found);

    setting.converge(&[]);
    setting.replace();
    let state = fs::read(setting.path("sliceform.tfstate")).unwrap();
    check("another_cluster_than_the_states", &setting, &setting.run(&["apply", "-auto-approve"]));
    same(&setting.found(), &found);
    assert_eq!(fs::read(setting.path("sliceform.tfstate")).unwrap(), state);
}
