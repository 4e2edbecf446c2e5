//! What it costs to read and check large configurations, with Terraform beside it where it is installed:
//! `cargo bench -p providers-terraform`.
//!
//! Each configuration is measured in a process of its own, so that peak memory is its own. The best of several runs, since
//! a busy machine only ever adds.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program that measures")]

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use engine_diag::Sources;
use engine_lang::eval::{Files, Surroundings};
use engine_model::{
    host::FixedHost,
    plan::{PlanMode, SnapshotIdentity},
};
use engine_plan::{PlanInput, Program, Providers, plan, validate};
use providers_api::{Call, Silent};
use providers_terraform::Terraform;
use state::{Lineage, Snapshot};
use tokio_util::sync::CancellationToken;

const RUNS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "measured") {
        return once(Path::new(&arguments[at + 1]), arguments.iter().any(|argument| argument == "plan"));
    }
    println!(
        "{:34} {:>11} {:>11} {:>12} {:>8} {:>11} {:>20}",
        "", "source", "validate", "peak memory", "ratio", "with plan", "terraform validate"
    );
    for (name, files) in [
        ("1,000 calls of a 20-block module", calls(1000, 20)),
        ("for_each over a set of 10,000", repeated("toset(local.names)")),
        ("for_each over a map of 10,000", repeated("{ for name in local.names : name => 1 }")),
        ("20,000 blocks in one file", vec![("main.tf", blocks(20_000, ""))]),
    ] {
        measure(name, &files);
    }
}

fn measure(name: &str, files: &[(&str, String)]) {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let size: usize = files.iter().map(|(_, text)| text.len()).sum();
    let (time, kib) = best(directory.path(), &[]);
    let (planned, _) = best(directory.path(), &["plan"]);
    println!(
        "{name:34} {:>7} KiB {:>9.3} s {:>8} MiB {:>7.1}x {:>9.3} s {:>20}",
        size >> 10,
        time.as_secs_f64(),
        kib >> 10,
        (kib << 10) as f64 / size as f64,
        planned.as_secs_f64(),
        terraform(directory.path())
    );
}

/// The least time and the least memory of some runs.
fn best(directory: &Path, more: &[&str]) -> (Duration, u64) {
    let runs = (0..RUNS).map(|_| {
        let program = std::env::current_exe().unwrap();
        let output = Command::new(program).arg("measured").arg(directory).args(more).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let mut numbers = text.split_whitespace().map(|number| number.parse::<u64>().unwrap());
        (Duration::from_micros(numbers.next().expect("a duration")), numbers.next().expect("memory"))
    });
    let least = |a: (Duration, u64), b: (Duration, u64)| (a.0.min(b.0), a.1.min(b.1));
    runs.reduce(least).expect("it ran")
}

/// Reads and checks a configuration, perhaps plans it too, and tells microseconds and the peak of memory in KiB.
fn once(root: &Path, with_plan: bool) {
    let start = Instant::now();
    let tree = engine_modules::read_tree(root, ".terraform").unwrap();
    let mut sources = Sources::new();
    let (config, diagnostics) = engine_lang::config::load(&tree, &mut sources);
    drop(tree);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let program = Program {
        config,
        variables: BTreeMap::new(),
        providers: Providers::new([Arc::new(Terraform::new(root.to_owned())) as Arc<dyn providers_api::Provider>]),
        files: Arc::new(NoFiles),
        surroundings: Surroundings { directory: root.to_string_lossy().into(), ..Surroundings::default() },
        workspace: "default".into(),
    };
    let diagnostics = validate(&program);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    if with_plan {
        planned(program, &sources);
    }
    let time = start.elapsed().as_micros();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<u64>().ok());
    println!("{time} {}", peak.unwrap_or_default());
}

/// Plans from nothing.
fn planned(program: Program, sources: &Sources) {
    let snapshot = Snapshot::new(Lineage::default());
    let input = PlanInput {
        program: Arc::new(program),
        sources,
        snapshot: &snapshot,
        identity: SnapshotIdentity { lineage: String::new(), serial: 0, tail: String::new() },
        mode: PlanMode::Normal,
        refresh: true,
        targets: Vec::new(),
        replace: Vec::new(),
        parallelism: 10,
        sandbox: false,
        events: &|_| {},
    };
    let (cancel, host) = (CancellationToken::new(), FixedHost::new(0));
    let call = Call { progress: &Silent, cancel: &cancel, host: &host };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let output = runtime.block_on(plan(input, call));
    assert!(!output.diagnostics.has_errors(), "{:?}", output.diagnostics);
}

/// Seconds of `terraform validate`, after `terraform init`.
fn terraform(root: &Path) -> String {
    let run = |command: &str| {
        let mut program = Command::new("terraform");
        program.arg(command).current_dir(root).env("CHECKPOINT_DISABLE", "1").env("TF_CLI_CONFIG_FILE", "/dev/null");
        program.stdout(Stdio::null()).stderr(Stdio::null()).status()
    };
    if !run("init").is_ok_and(|status| status.success()) {
        return "not there".to_owned();
    }
    let start = Instant::now();
    match run("validate") {
        Ok(status) if status.success() => format!("{:.3} s", start.elapsed().as_secs_f64()),
        _ => "refuses it".to_owned(),
    }
}

/// A root module that calls one module often.
fn calls(calls: usize, size: usize) -> Vec<(&'static str, String)> {
    let mut root = String::new();
    for n in 0..calls {
        let _ = writeln!(root, "module \"m{n}\" {{\n  source = \"./m\"\n  prefix = \"p{n}\"\n}}\n");
    }
    vec![("main.tf", root), ("m/main.tf", blocks(size, "var.prefix"))]
}

/// So many blocks: a variable, resources that lead to each other, an output.
fn blocks(count: usize, prefix: &str) -> String {
    let prefix = if prefix.is_empty() { "\"x\"" } else { prefix };
    let mut text = String::from("variable \"prefix\" {\n  type    = string\n  default = \"p\"\n}\n\n");
    for n in 0..count.saturating_sub(2) {
        let before = if n % 10 == 0 { prefix.to_owned() } else { format!("terraform_data.r{}.output.name", n - 1) };
        let _ = writeln!(
            text,
            "resource \"terraform_data\" \"r{n}\" {{\n  input = {{\n    name = \"${{{before}}}-{n}\"\n    size = {n} * 2\n    tags = \
             [\"a\", \"b\", var.prefix]\n  }}\n}}\n"
        );
    }
    text.push_str("output \"names\" {\n  value = terraform_data.r0.output\n}\n");
    text
}

/// One resource ten thousand times: `range` gives no more than 1,024 at a time.
fn repeated(over: &str) -> Vec<(&'static str, String)> {
    let text = format!(
        "locals {{\n  names = flatten([for a in range(10) : [for b in range(1000) : \"key-${{a}}-${{b}}\"]])\n}}\n\nresource \
         \"terraform_data\" \"x\" {{\n  for_each = {over}\n  input    = each.key\n}}\n\noutput \"x\" {{\n  value = \
         length(terraform_data.x)\n}}\n"
    );
    vec![("main.tf", text)]
}

/// The configurations above read none.
#[derive(Debug)]
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("no such file".to_owned())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }
}
