//! The public manifests of other tools: applied, planned again without a change, destroyed, on a real control plane. They are
//! read from the folders that `SLICEFORM_OTHERS` names, as `PATH` names them: none of them is part of this project.
//!
//! A folder of `.tf` files is a configuration, in which files that declare the same resource follow one another; each YAML
//! file is a configuration of its own. What cannot work without the world that a manifest was written for (a node that runs
//! its containers, a webhook that answers, another provider) is in `others.txt`, with the reason.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    panic::Location,
    path::{Path, PathBuf},
    time::Duration,
};

use engine_model::plan::PlanMode;
use engine_value::Value;
use tests::control_plane::{ControlPlane, Options};

use crate::{
    run::{Files, Run, actions},
    site::{Site, errors},
};

/// What waits longer waits for what is not there: no kubelet runs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Files of one configuration: names and contents.
type Step = Vec<(String, String)>;

/// One configuration after the other, from one state.
struct Case {
    name: String,
    steps: Vec<Step>,
}

/// Every file under a folder.
fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.insert(path);
        }
    }
}

/// The blocks that a file declares, as the first lines of them.
fn declared(text: &str) -> BTreeSet<String> {
    let heads = text.lines().filter(|line| !line.starts_with([' ', '\t']) && line.trim_end().ends_with('{'));
    heads.map(|line| line.replace(['"', ' ', '{'], "")).filter(|head| !head.starts_with("locals")).collect()
}

/// The steps of a folder of `.tf` files: as many files at a time as do not declare the same. Variables are in all of them.
fn steps(files: &[(String, String)]) -> Vec<Step> {
    let (shared, files): (Vec<_>, Vec<_>) = files.iter().cloned().partition(|(name, _)| name == "variables.tf");
    let mut steps: Vec<(BTreeSet<String>, Step)> = Vec::new();
    for (name, text) in files {
        let own = declared(&text);
        match steps.iter_mut().find(|(there, _)| there.is_disjoint(&own)) {
            Some((there, step)) => {
                there.extend(own);
                step.push((name, text));
            }
            None => steps.push((own, vec![(name, text)])),
        }
    }
    steps.into_iter().map(|(_, step)| step.into_iter().chain(shared.clone()).collect()).collect()
}

/// A configuration of the documents of a YAML text.
fn of_yaml(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string().replace("${", "$${").replace("%{", "%%{");
    format!(
        "terraform {{\n  required_providers {{\n    kubernetes = {{ source = \"hashicorp/kubernetes\" }}\n  }}\n}}\n\
         locals {{\n  documents = provider::kubernetes::manifest_decode_multi({text})\n}}\n\
         resource \"kubernetes_manifest\" \"all\" {{\n\
         \x20 for_each = {{ for index, document in local.documents : \"${{index}}\" => document }}\n\
         \x20 manifest = each.value\n  field_manager {{\n    force_conflicts = true\n  }}\n}}\n"
    )
}

fn cases(root: &Path) -> Vec<Case> {
    let mut found = BTreeSet::new();
    files(root, &mut found);
    let mut folders: BTreeMap<PathBuf, Vec<(String, String)>> = BTreeMap::new();
    let mut cases = Vec::new();
    for path in found {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default().to_owned();
        let named = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
        match extension.as_str() {
            "tf" => {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let text = std::fs::read_to_string(&path).unwrap();
                folders.entry(path.parent().unwrap().to_owned()).or_default().push((name, text));
            }
            "yml" | "yaml" => {
                let text = std::fs::read_to_string(&path).unwrap();
                let steps = vec![vec![("main.tf".to_owned(), of_yaml(&text))]];
                cases.push(Case { name: named(&path), steps });
            }
            _ => {}
        }
    }
    let folders = folders.iter().map(|(folder, files)| Case {
        name: folder.strip_prefix(root).unwrap().display().to_string(),
        steps: steps(files),
    });
    cases.extend(folders);
    cases
}

/// Values for the variables that these configurations declare.
fn given(namespace: &str) -> Vec<(&'static str, Value)> {
    let text = |value: &str| Value::from(value);
    vec![
        ("name", text("tf-acc-test")),
        ("name2", text("tf-acc-test-2")),
        ("name_prefix", text("tf-acc-test")),
        ("namespace", text(namespace)),
        ("group", text("stable.example.com")),
        ("group1", text("one.example.com")),
        ("group2", text("two.example.com")),
        ("kind", text("Widget")),
        ("kind1", text("Gadget")),
        ("kind2", text("Gizmo")),
        ("plural", text("widgets")),
        ("plural1", text("gadgets")),
        ("plural2", text("gizmos")),
        ("cr_version", text("v1")),
        ("cr_version1", text("v1")),
        ("cr_version2", text("v1alpha1")),
        ("group_version", text("stable.example.com/v1")),
        ("field_manager", text("tftest")),
        ("force", Value::bool(true)),
        ("testdata", text("hello")),
        ("data", text("hello")),
    ]
}

impl Case {
    async fn run(&self, site: &Site) -> Result<(), String> {
        let given = given(&site.namespace);
        let mut last: Option<Run> = None;
        let mut outcome = Ok(());
        for step in &self.steps {
            let files = Files { files: step, given: &given };
            let run = match Run::of([site.provider(site.admin())], &files, last.as_ref()).await {
                Ok(run) => run,
                Err(diagnostics) => {
                    outcome = Err(errors(&diagnostics).join("; "));
                    break;
                }
            };
            let done = tokio::time::timeout(PATIENCE, settle(&run)).await;
            last = Some(run);
            outcome = done.unwrap_or_else(|_| Err("it does not come about".to_owned()));
            if outcome.is_err() {
                break;
            }
        }
        let Some(run) = last else { return outcome };
        let destroyed = tokio::time::timeout(PATIENCE, destroy(&run)).await;
        outcome.and(destroyed.unwrap_or_else(|_| Err("it does not go".to_owned())))
    }
}

async fn settle(run: &Run) -> Result<(), String> {
    let (plan, diagnostics) = run.try_plan(PlanMode::Normal).await;
    told("plan", errors(&diagnostics))?;
    told("apply", errors(&run.carry_out(plan).await))?;
    let (plan, diagnostics) = run.try_plan(PlanMode::Normal).await;
    told("second plan", errors(&diagnostics))?;
    told("second plan", actions(&plan))?;
    let drift: Vec<String> = plan.drift.iter().map(|change| change.addr.to_string()).collect();
    told("drift", drift)
}

async fn destroy(run: &Run) -> Result<(), String> {
    let (plan, diagnostics) = run.try_plan(PlanMode::Destroy).await;
    told("plan of the destruction", errors(&diagnostics))?;
    told("destruction", errors(&run.carry_out(plan).await))
}

fn told(what: &str, found: Vec<String>) -> Result<(), String> {
    if found.is_empty() { Ok(()) } else { Err(format!("{what}: {}", found.join("; "))) }
}

/// What cannot work here: a part of the name, and a part of what is told then.
fn excused(name: &str, why: &str) -> bool {
    let rows = include_str!("others.txt").lines().filter(|line| !line.starts_with('#'));
    let mut rows = rows.filter_map(|line| line.split_once('\t'));
    rows.any(|(case, reason)| name.contains(case) && why.contains(reason))
}

#[tokio::test(flavor = "multi_thread")]
async fn manifests_of_others_are_applied_stay_and_go() {
    let Some(roots) = std::env::var_os("SLICEFORM_OTHERS") else {
        let why = "SLICEFORM_OTHERS names no folders of manifests";
        return tests::go_program::skip("SLICEFORM_OTHERS_NEEDED", Location::caller(), why);
    };
    // Webhooks without anybody behind them must not meet other tests.
    let Some(plane) = ControlPlane::alone(Options::default()).await else { return };
    let (mut report, mut failed, mut passed, mut excuses) = (String::new(), 0, 0, 0);
    for root in std::env::split_paths(&roots) {
        for case in cases(&root) {
            let site = Site::real(plane.clone()).await;
            let result = match case.run(&site).await {
                Ok(()) => {
                    passed += 1;
                    "passes".to_owned()
                }
                Err(why) if excused(&case.name, &why) => {
                    excuses += 1;
                    format!("cannot: {why}")
                }
                Err(why) => {
                    failed += 1;
                    format!("FAILS: {why}")
                }
            };
            writeln!(report, "{}: {result}", case.name).unwrap();
        }
    }
    let report = format!("{report}{passed} pass, {excuses} cannot, {failed} fail\n");
    assert_eq!(failed, 0, "{report}");
    assert!(passed > 0, "{report}");
}
