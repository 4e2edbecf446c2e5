//! How long plans of many objects take against a real control plane: `cargo bench -p tests --bench kubernetes`.
//!
//! What is measured is the released program as a process of its own, from its start to its end. What is asked of the server
//! is counted by its audit log. Ends with code 1 where a limit is missed; a machine that does other work at the time misses
//! them: its load is told.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark that cannot go on has failed, and prints")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use tests::command::Desk;
use tests::control_plane::ControlPlane;
use tests::many::{COUNT, configuration};
use tests::program::built;

const NAMESPACES: usize = 20;

/// Objects of each kind in each namespace of the plans that make something new: 1000 in all.
const NEW: usize = 5;

/// The same of those that refresh: 2400, 5000 and 10 000 in all.
const STEPS: [usize; 3] = [12, 25, 50];

/// A thousand manifests are planned in so long; ten thousand objects refreshed.
const PLAN: Duration = Duration::from_secs(15);
const REFRESH: Duration = Duration::from_secs(10);

/// The peak of memory grows no faster than objects do: not by more than this beyond their ratio.
const BEND: f64 = 1.1;

struct Bench {
    plane: ControlPlane,
    program: PathBuf,
    missed: bool,
}

struct Measured {
    time: Duration,
    /// MiB.
    peak: f64,
}

impl Bench {
    /// Runs a command as a user of its own, and prints what it took.
    async fn run(&self, desk: &Desk, what: &str, args: &[&str], code: i32) -> Measured {
        let user = what.replace(' ', "-");
        let kubeconfig = self.plane.user(&user, &["system:masters"]).await;
        let (program, directory) = (self.program.clone(), desk.path(""));
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let ran = tokio::task::spawn_blocking(move || run(&program, &directory, &kubeconfig, &args));
        let (measured, found, text) = ran.await.unwrap();
        assert_eq!(found, Some(code), "{what}:\n{text}");
        let mut requests: BTreeMap<String, usize> = BTreeMap::new();
        for request in self.plane.requests_of(&user) {
            let verb = match request.uri.contains("dryRun=All") {
                true => "dry-run".to_owned(),
                false if request.resource.ends_with("reviews") => "review".to_owned(),
                false => request.verb,
            };
            *requests.entry(verb).or_default() += 1;
        }
        let requests: Vec<String> = requests.iter().map(|(verb, count)| format!("{count} {verb}")).collect();
        let Measured { time, peak } = measured;
        println!("{what:32} {:7.2} s {peak:8.1} MiB   load {}   {}", time.as_secs_f64(), load(), requests.join(", "));
        measured
    }

    fn limit(&mut self, what: &str, is_met: bool) {
        println!("{what}: {}", if is_met { "met" } else { "MISSED" });
        self.missed |= !is_met;
    }
}

/// The load of the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}

fn run(program: &Path, directory: &Path, kubeconfig: &Path, args: &[String]) -> (Measured, Option<i32>, String) {
    let output = directory.join("output");
    let file = std::fs::File::create(&output).unwrap();
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(args)
        .current_dir(directory)
        .env_clear()
        .env("HOME", directory)
        .env("KUBE_CONFIG_PATH", kubeconfig)
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap();
    let mut peak = 0.0_f64;
    let status = loop {
        peak = peak.max(high_water(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let time = began.elapsed();
    (Measured { time, peak }, status.code(), std::fs::read_to_string(&output).unwrap())
}

/// The most memory that a process has had so far, in MiB; 0 when it has ended.
fn high_water(process: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(plane) = ControlPlane::alone(Default::default()).await else { return ExitCode::FAILURE };
    let program = tokio::task::spawn_blocking(|| built("engine-cli", "sliceform")).await.unwrap();
    let mut bench = Bench { plane, program, missed: false };
    for prefix in ["new", "old"] {
        for at in 0..NAMESPACES {
            bench.plane.namespace(&format!("{prefix}-{at}")).await;
        }
    }

    let desk = Desk::new();
    desk.write("main.tf", &configuration("new", NAMESPACES, NEW));
    let count = COUNT * NAMESPACES * NEW;
    let planned = bench.run(&desk, &format!("plan {count} new"), &["plan", "-detailed-exitcode"], 2).await;
    bench.limit("plan of 1000 manifests in 15 s", planned.time < PLAN);

    let desk = Desk::new();
    let mut before: Option<(f64, f64)> = None;
    for each in STEPS {
        let count = COUNT * NAMESPACES * each;
        desk.write("main.tf", &configuration("old", NAMESPACES, each));
        bench.run(&desk, &format!("apply up to {count}"), &["apply", "-auto-approve"], 0).await;
        let args = ["plan", "-refresh-only", "-detailed-exitcode"];
        let refreshed = bench.run(&desk, &format!("refresh {count}"), &args, 0).await;
        bench.run(&desk, &format!("plan {count} unchanged"), &["plan", "-detailed-exitcode"], 0).await;
        if each == STEPS[STEPS.len() - 1] {
            bench.limit("refresh of 10 000 objects in 10 s", refreshed.time < REFRESH);
        }
        let count = f64::from(u32::try_from(count).unwrap());
        if let Some((fewer, less)) = before {
            bench.limit("memory as the objects", refreshed.peak / less <= count / fewer * BEND);
        }
        before = Some((count, refreshed.peak));
    }
    if bench.missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
