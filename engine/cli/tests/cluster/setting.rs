//! A directory with a configuration, and a sandbox for it: one that the program itself opens ([`Setting::embedded`]), or
//! one of the test's, which the program knows by a kubeconfig as it does any cluster ([`Setting::cluster`]).

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, SystemTime},
};

use engine_model::host::Host;
use providers_sandbox::{Options, Sandbox, Script};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::program::{Ran, Running};

/// One pool over all nodes with the label, every card cut alike.
pub(crate) const POOL: &str = r#"terraform {
  required_providers {
    gpu = { source = "sliceform/gpu" }
  }
}

variable "mig" {
  type    = map(number)
  default = { "3g.40gb" = 2 }
}

variable "on_destroy" {
  type    = string
  default = "restore"
}

provider "gpu" {
  disruption = { max_unavailable = 1 }
}

resource "gpu_pool" "dev" {
  selector   = { "example.com/pool" = "dev" }
  on_destroy = var.on_destroy
  profiles   = { all = { product = "A100-SXM4-80GB", mig = var.mig } }
}
"#;

/// Three nodes of the pool, and one that is none of it, with a pod.
pub(crate) const FLEET: &str = r#"node "gpu-01" {
  labels = { "example.com/pool" = "dev" }
  card "A100-SXM4-80GB" { count = 2 }
}
node "gpu-02" {
  labels = { "example.com/pool" = "dev" }
  card "A100-SXM4-80GB" { count = 2 }
}
node "gpu-03" {
  labels = { "example.com/pool" = "dev" }
  card "A100-SXM4-80GB" { count = 2 }
}
node "infer-01" {
  card "L4" { count = 2 }
}
pod "serving/embed-0" {
  resources     = { "nvidia.com/gpu" = 1 }
  node_selector = { "kubernetes.io/hostname" = "infer-01" }
}
"#;

/// A pod on the second node of the pool that takes its time to stop: an apply waits for it in the middle of its waves.
pub(crate) const SLOW_POD: &str = r#"pod "team-b/slow" {
  resources     = { "nvidia.com/gpu" = 1 }
  node_selector = { "kubernetes.io/hostname" = "gpu-02" }
  stops_after   = "10m"
}
"#;

/// What an apply says while it waits for that pod.
pub(crate) const WAITS: &str = "gpu-02: waiting for: pod team-b/slow to end";

/// The machine's clock, as the program has it.
struct Machine;

impl Host for Machine {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(16) {
            chunk.copy_from_slice(&uuid::Uuid::new_v4().as_bytes()[..chunk.len()]);
        }
    }
}

/// See the module.
pub(crate) struct Setting {
    dir: TempDir,
    runtime: Runtime,
    /// The test's own one.
    sandbox: Option<Sandbox>,
}

impl Setting {
    /// The program opens the sandbox, and the world ends with it.
    pub(crate) fn embedded(fleet: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("main.tf"), POOL).unwrap();
        fs::write(dir.path().join("fleet.hcl"), fleet).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { dir, runtime, sandbox: None }
    }

    /// The sandbox is the test's: the program finds it by a kubeconfig, and the world outlives it.
    pub(crate) fn cluster(fleet: &str) -> Self {
        let mut setting = Self::embedded(fleet);
        setting.open();
        setting
    }

    fn open(&mut self) {
        let sandbox = self.runtime.block_on(opened(&self.world()));
        fs::write(self.path("kubeconfig"), sandbox.kubeconfig()).unwrap();
        self.sandbox = Some(sandbox);
    }

    /// Puts another cluster in the place of the test's.
    pub(crate) fn replace(&mut self) {
        let sandbox = self.sandbox.take().unwrap();
        self.runtime.block_on(sandbox.close()).unwrap();
        assert!(providers_sandbox::command::reset(&self.world()).unwrap());
        self.open();
    }

    fn world(&self) -> PathBuf {
        self.path(".sliceform/sandbox")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The program in the directory, with no more of an environment than it needs.
    pub(crate) fn program(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sliceform"));
        let home = self.dir.path();
        command.args(args).current_dir(home).env_clear().env("HOME", home).env("USER", "somebody");
        command
    }

    /// The program on the sandbox.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        let mut command = self.program(args);
        match self.sandbox {
            Some(_) => command.env("KUBECONFIG", "kubeconfig"),
            None => command.arg("-sandbox=fleet.hcl"),
        };
        Running::start(&mut command)
    }

    /// The same, to its end.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.start(args).end()
    }

    /// Applies, and checks that nothing is left to do.
    #[track_caller]
    pub(crate) fn converge(&self, args: &[&str]) -> Ran {
        let apply = self.run(&[&["apply", "-auto-approve"], args].concat());
        apply.check(0, &["Apply complete!"]).check_not(&["Still held"]);
        self.run(&[&["plan", "-detailed-exitcode"], args].concat()).check(0, &["No changes."]);
        self.run(&[&["apply", "-auto-approve"], args].concat()).check(0, &["0 added, 0 changed, 0 destroyed"]);
        apply
    }

    /// Works on the sandbox past the program: the test's own, one that is served, or the program's while that does not
    /// run.
    pub(crate) fn with<T>(&self, work: impl AsyncFnOnce(&Sandbox) -> T) -> T {
        match &self.sandbox {
            Some(sandbox) => self.runtime.block_on(work(sandbox)),
            None => self.runtime.block_on(async {
                let sandbox = opened(&self.world()).await;
                let answer = work(&sandbox).await;
                sandbox.close().await.unwrap();
                answer
            }),
        }
    }

    /// The same with the script of a sandbox that nobody else serves.
    pub(crate) fn script<T>(&self, work: impl AsyncFnOnce(Script<'_>) -> T) -> T {
        self.with(async |sandbox| work(sandbox.script().unwrap()).await)
    }

    /// Lets ten minutes of the world's time pass, and what they bring come to rest.
    pub(crate) fn pass(&self) {
        self.script(async |script| {
            script.pass(Duration::from_secs(601));
            script.settle().await.unwrap();
        });
    }

    /// What the API says of a path.
    pub(crate) fn get(&self, path: &str) -> Value {
        self.with(async |sandbox| request(sandbox, "GET", path, &Value::Null).await)
    }

    /// A POST of an object.
    pub(crate) fn post(&self, path: &str, object: &Value) {
        self.with(async |sandbox| request(sandbox, "POST", path, object).await);
    }

    /// A DELETE with these options.
    pub(crate) fn delete(&self, path: &str, options: &Value) {
        self.with(async |sandbox| request(sandbox, "DELETE", path, options).await);
    }

    /// Starts a pod of that resource on a node.
    #[track_caller]
    pub(crate) fn run_pod(&self, name: &str, node: &str, resource: &str) {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "team-a"},
            "spec": {
                "nodeSelector": {"kubernetes.io/hostname": node},
                "containers": [{"name": "c", "image": "example.com/c:1", "resources": {"limits": {resource: "1"}}}],
            },
        });
        let started =
            self.with(async |sandbox| providers_sandbox::command::run(sandbox, name, &pod.to_string()).await.unwrap());
        assert_eq!(started[0].node.as_deref(), Ok(node));
    }

    /// Pods by namespace and name, each with its UID: a pod that is made anew is another.
    pub(crate) fn pods(&self) -> BTreeMap<String, String> {
        let pods = self.get("/api/v1/pods");
        let entry = |pod: &Value| {
            let at = |name: &str| pod["metadata"][name].as_str().unwrap().to_owned();
            (format!("{}/{}", at("namespace"), at("name")), at("uid"))
        };
        pods["items"].as_array().unwrap().iter().map(entry).collect()
    }

    /// MIG UUIDs by node, card, profile and start.
    pub(crate) fn slices(&self) -> BTreeMap<String, String> {
        let nodes = self.get("/apis/sliceform.io/v1alpha1/gpunodes");
        let mut slices = BTreeMap::new();
        for node in nodes["items"].as_array().unwrap() {
            let name = node["metadata"]["name"].as_str().unwrap();
            for card in node["status"]["cards"].as_array().unwrap() {
                for one in card["instances"].as_array().into_iter().flatten() {
                    let place = format!("{name} card {} {} at {}", card["index"], one["profile"], one["start"]);
                    slices.insert(place.replace('"', ""), one["uuid"].as_str().unwrap().to_owned());
                }
            }
        }
        slices
    }

    /// The fleet as somebody finds it: nodes with labels, annotations, taints and what they offer, cards with their
    /// layouts, and which objects there are. MIG UUIDs are no part of it: a slice that is made again has another.
    pub(crate) fn found(&self) -> Value {
        let mut found = serde_json::Map::new();
        for node in self.get("/api/v1/nodes")["items"].as_array().unwrap() {
            let (meta, spec) = (&node["metadata"], &node["spec"]);
            let facts = json!({
                "labels": meta["labels"], "annotations": meta["annotations"],
                "taints": spec["taints"], "unschedulable": spec["unschedulable"],
                "offers": offers(&node["status"]["allocatable"]),
            });
            found.insert(format!("node {}", meta["name"]), facts);
        }
        for node in self.get("/apis/sliceform.io/v1alpha1/gpunodes")["items"].as_array().unwrap() {
            let meta = &node["metadata"];
            let cards = node["status"]["cards"].as_array().unwrap().iter();
            let cards: Vec<Value> = cards.map(|card| json!([card["uuid"], card["layout"], card["settings"]])).collect();
            let facts = json!({"labels": meta["labels"], "annotations": meta["annotations"], "cards": cards});
            found.insert(format!("cards of {}", meta["name"]), facts);
        }
        for kind in ["api/v1/namespaces", "api/v1/resourcequotas", "api/v1/configmaps", "api/v1/pods"] {
            let objects = self.get(&format!("/{kind}"));
            let name = |one: &Value| json!([one["metadata"]["namespace"], one["metadata"]["name"]]);
            let names: Vec<Value> = objects["items"].as_array().unwrap().iter().map(name).collect();
            found.insert(kind.to_owned(), names.into());
        }
        found.into()
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        if let Some(sandbox) = self.sandbox.take() {
            // A test that has failed has its own message.
            let _ = self.runtime.block_on(sandbox.close());
        }
    }
}

async fn opened(dir: &Path) -> Sandbox {
    let fleet = fs::read_to_string(dir.ancestors().nth(2).unwrap().join("fleet.hcl")).unwrap();
    let options = Options::new(Arc::new(Machine), "a test");
    Sandbox::open(dir, Some(("fleet.hcl", &fleet)), options).await.unwrap()
}

async fn request(sandbox: &Sandbox, method: &str, path: &str, body: &Value) -> Value {
    let client = sandbox.connection().connection().client().await.unwrap();
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request = http::Request::builder().method(method).uri(path).header("content-type", "application/json");
    client.request(request.body(body).unwrap()).await.unwrap()
}

/// What a node offers. A device plugin never takes a name back that it has offered once: it offers none of it.
fn offers(allocatable: &Value) -> Value {
    let offers = allocatable.as_object().unwrap().iter().filter(|(_, amount)| **amount != "0");
    offers.map(|(name, amount)| (name.clone(), amount.clone())).collect::<serde_json::Map<_, _>>().into()
}

/// What is found but that pod: one that was evicted does not come back by itself.
pub(crate) fn without_pod(mut found: Value, pod: &str) -> Value {
    let (namespace, name) = pod.split_once('/').unwrap();
    found["api/v1/pods"].as_array_mut().unwrap().retain(|one| *one != json!([namespace, name]));
    found
}

/// Compares what was found at two times, and names only what differs.
#[track_caller]
pub(crate) fn same(now: &Value, before: &Value) {
    let (now, before) = (now.as_object().unwrap(), before.as_object().unwrap());
    assert_eq!(now.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    for (what, found) in now {
        assert!(*found == before[what], "{what} was {:#}\nand is {found:#}", before[what]);
    }
}
