//! Whole plans over a provider in memory.

mod apply;
mod conditions;
mod facts;
mod json;
mod mock;
mod plans;
mod random;
mod scale;
mod wrong;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use engine_diag::{Diagnostic, Diagnostics, Sources};
use engine_lang::{
    config::{SourceTree, load},
    eval::{Files, Surroundings},
};
use engine_model::{
    address::ResourceAddr,
    change::{Action, ResourceChange},
    host::FixedHost,
    plan::{PlanMode, SnapshotIdentity},
};
use engine_value::Value;
use providers_api::{Call, Silent};
use state::{Lineage, Object, Slot, Snapshot, Status};
use tokio_util::sync::CancellationToken;

use crate::{Given, PlanInput, PlanOutput, Program, Providers, Target, plan};
use mock::{Mock, World};

/// No files.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("there are no files".into())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }
}

/// A configuration, a state and a world, to be planned.
pub(crate) struct Bench {
    pub(crate) program: Arc<Program>,
    pub(crate) sources: Sources,
    pub(crate) snapshot: Snapshot,
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) mode: PlanMode,
    pub(crate) refresh: bool,
    pub(crate) targets: Vec<Target>,
    pub(crate) replace: Vec<ResourceAddr>,
    pub(crate) parallelism: usize,
    pub(crate) cancel: CancellationToken,
}

impl Bench {
    /// The root module is this text.
    pub(crate) fn new(text: &str) -> Self {
        Self::files(&[("main.tf", text)])
    }

    pub(crate) fn files(files: &[(&str, &str)]) -> Self {
        let mut tree = SourceTree::new();
        for (path, text) in files {
            tree.insert(path, text.as_bytes().to_vec());
        }
        let mut sources = Sources::new();
        let (config, diagnostics) = load(&tree, &mut sources);
        assert!(!diagnostics.has_errors(), "{diagnostics:?}");
        let mock = Arc::new(Mock::new());
        let world = mock.world.clone();
        let program = Program {
            config,
            variables: BTreeMap::new(),
            providers: Providers::new([mock as Arc<dyn providers_api::Provider>]),
            files: Arc::new(NoFiles),
            surroundings: Surroundings { directory: "/work".into(), ..Surroundings::default() },
            workspace: "default".into(),
        };
        Self {
            program: Arc::new(program),
            sources,
            snapshot: Snapshot::new(Lineage("test".into())),
            world,
            mode: PlanMode::Normal,
            refresh: true,
            targets: Vec::new(),
            replace: Vec::new(),
            parallelism: 10,
            cancel: CancellationToken::new(),
        }
    }

    /// The state has an object: arguments by name, all others null.
    pub(crate) fn stored(mut self, addr: &str, arguments: &[(&str, &str)]) -> Self {
        self.store(addr, Slot::Current, arguments, |_| {});
        self
    }

    pub(crate) fn store(&mut self, addr: &str, slot: Slot, arguments: &[(&str, &str)], edit: impl FnOnce(&mut Object)) {
        let addr: ResourceAddr = addr.parse().unwrap();
        let provider = "provider[\"registry.terraform.io/hashicorp/mock\"]".parse().unwrap();
        let mock = self.program.providers.iter().next().unwrap();
        let block = &mock.schemas().get(addr.mode, &addr.ty).unwrap().block;
        let mut value = crate::stored::empty_object(block);
        for (name, text) in [("id", "id-1")].iter().chain(arguments) {
            if block.attributes.contains_key(*name) {
                value = engine_value::Path::root().attr(*name).set(&value, Value::from(*text)).unwrap();
            }
        }
        let mut object = Object::of(value, &block.value_type(), 0).unwrap();
        edit(&mut object);
        self.snapshot.put(&addr, slot, provider, object);
    }

    pub(crate) fn tainted(mut self, addr: &str) -> Self {
        self.store(addr, Slot::Current, &[], |object| object.status = Status::Tainted);
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: Value) -> Self {
        let program = Arc::make_mut(&mut self.program);
        program.variables.insert(name.into(), Given::Value(value));
        self
    }

    pub(crate) fn plan(&self) -> PlanOutput {
        let host = FixedHost::new(1_000_000_000);
        let call = Call { progress: &Silent, cancel: &self.cancel, host: &host };
        let input = PlanInput {
            program: self.program.clone(),
            sources: &self.sources,
            snapshot: &self.snapshot,
            identity: SnapshotIdentity { lineage: "test".into(), serial: self.snapshot.serial, tail: String::new() },
            mode: self.mode,
            refresh: self.refresh,
            targets: self.targets.clone(),
            replace: self.replace.clone(),
            parallelism: self.parallelism,
            sandbox: false,
            events: &|_| {},
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(plan(input, call))
    }

    /// The plan, which has no errors.
    pub(crate) fn planned(&self) -> crate::tests::Planned {
        let output = self.plan();
        assert!(!output.diagnostics.has_errors(), "{}", told(&output.diagnostics, &self.sources));
        Planned(output)
    }

    /// The errors and warnings, as `file:line: summary: detail`.
    pub(crate) fn told(&self) -> String {
        told(&self.plan().diagnostics, &self.sources)
    }
}

/// A plan without errors.
pub(crate) struct Planned(pub(crate) PlanOutput);

impl Planned {
    pub(crate) fn change(&self, addr: &str) -> &ResourceChange {
        let found = self.0.plan.changes.iter().find(|change| change.addr.to_string() == addr);
        found.unwrap_or_else(|| panic!("no change of {addr}: {:?}", self.actions()))
    }

    /// Every change that is one: address and actions.
    pub(crate) fn actions(&self) -> Vec<String> {
        let changes = self.0.plan.changes.iter().filter(|change| change.action != Action::NoOp);
        changes.map(|change| format!("{} {}", change.addr, change.action.names().join("+"))).collect()
    }
}

pub(crate) fn told(diagnostics: &Diagnostics, sources: &Sources) -> String {
    let one = |d: &Diagnostic| {
        let place = d.span.map_or(String::new(), |span| format!("{}: ", sources.place(span)));
        let hint = d.hint.as_ref().map_or(String::new(), |hint| format!(" [{hint}]"));
        let related: Vec<String> =
            d.related.iter().map(|label| format!("\n  {}: {}", sources.place(label.span), label.text)).collect();
        format!("{place}{}: {}{hint}{}", d.summary, d.detail, related.concat())
    };
    diagnostics.iter().map(one).collect::<Vec<_>>().join("\n")
}
