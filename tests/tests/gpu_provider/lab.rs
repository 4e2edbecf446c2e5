//! A sandbox, the provider, and the walk that the engine takes through it.

use std::{sync::Arc, time::Duration};

use engine_model::{
    address::{Mode, ResourceAddr},
    change::Action,
    host::{FixedHost, Host},
    name::NodeName,
    operation::{Hold, Operation, OperationKind, Wave},
};
use engine_plan::contract;
use engine_value::{Data, Path, Type, Value};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Api, Client};
use providers_agent_api::GpuNode;
use providers_api::{
    Applied, ApplyRequest, Call, GateRequest, Health, HoldRequest, Instance, Issue, OperateRequest, Operations,
    Outcome, PlanRequest, PlannedChange, Provider, ProviderError, ReadAnswer, ReadRequest, Silent,
};
use providers_gpu::GpuProvider;
use providers_kubernetes::Environment;
use providers_sandbox::{
    Options, Sandbox,
    command::{exec, run},
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Two nodes with two cards each, and one with cards that cannot be cut.
pub(crate) const FLEET: &str = r#"
node "gpu-01" {
  labels = { "example.com/pool" = "dev" }
  card "A100-SXM4-80GB" { count = 2 }
}
node "gpu-02" {
  labels = { "example.com/pool" = "dev" }
  card "A100-SXM4-80GB" { count = 2 }
}
node "infer-01" {
  card "L4" {}
}
"#;

/// Longer than anything here takes; what takes longer is a test that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Lab {
    pub(crate) sandbox: Sandbox,
    provider: GpuProvider,
    host: Arc<FixedHost>,
    cancel: CancellationToken,
    _dir: TempDir,
}

/// An object of the state.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) object: Value,
    pub(crate) private: Vec<u8>,
}

/// What was planned.
pub(crate) struct Plan {
    pub(crate) change: PlannedChange,
    pub(crate) operations: Operations,
    pub(crate) notes: Vec<String>,
}

impl State {
    pub(crate) fn none() -> Self {
        Self { object: Value::null(Type::Dynamic), private: Vec::new() }
    }
}

impl Lab {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let host = Arc::new(FixedHost::new(1_000_000));
        let shared: Arc<dyn Host> = host.clone();
        let sandbox =
            Sandbox::open(dir.path(), Some(("fleet.hcl", FLEET)), Options::new(shared, "test")).await.unwrap();
        let provider = GpuProvider::new(Environment::default(), Some(sandbox.connection()));
        Self { sandbox, provider, host, cancel: CancellationToken::new(), _dir: dir }
    }

    pub(crate) async fn close(self) {
        self.sandbox.close().await.unwrap();
    }

    pub(crate) fn call(&self) -> Call<'_> {
        Call { progress: &Silent, cancel: &self.cancel, host: &*self.host }
    }

    /// As a new run makes one.
    pub(crate) async fn instance(&self) -> Arc<dyn Instance> {
        let block = Value::null(self.provider.schemas().provider.block.value_type());
        self.provider.configure(&block, self.call()).await.unwrap()
    }

    pub(crate) async fn client(&self) -> Client {
        self.sandbox.connection().connection().client().await.unwrap()
    }

    pub(crate) async fn gpu_node(&self, name: &str) -> GpuNode {
        Api::<GpuNode>::all(self.client().await).get(name).await.unwrap()
    }

    pub(crate) async fn taints(&self, name: &str) -> Vec<String> {
        let node = Api::<Node>::all(self.client().await).get(name).await.unwrap();
        let taints = node.spec.and_then(|spec| spec.taints).unwrap_or_default();
        taints.into_iter().map(|taint| format!("{}={}", taint.key, taint.value.unwrap_or_default())).collect()
    }

    /// How a card is cut: `mig 1g.10gb@0 1g.10gb@1`, or `whole`.
    pub(crate) async fn cut(&self, node: &str, card: usize) -> String {
        let status = self.gpu_node(node).await.status.unwrap();
        let layout = &status.cards[card].layout;
        let slices = layout.instances.iter().map(|slice| format!(" {}@{}", slice.profile, slice.start));
        if layout.mig { format!("mig{}", slices.collect::<String>()) } else { "whole".to_owned() }
    }

    /// MIG UUIDs by start: another one means that the slice was made anew.
    pub(crate) async fn uuids(&self, node: &str, card: usize) -> Vec<(u8, String)> {
        let status = self.gpu_node(node).await.status.unwrap();
        status.cards[card].instances.iter().map(|slice| (slice.start, slice.uuid.clone())).collect()
    }

    pub(crate) async fn pod(&self, namespace: &str, name: &str) -> Option<Pod> {
        Api::<Pod>::namespaced(self.client().await, namespace).get_opt(name).await.unwrap()
    }

    /// Starts a bare pod that asks for one device on a node.
    pub(crate) async fn run(&self, namespace: &str, name: &str, resource: &str, node: &str) {
        let pod = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "namespace": namespace, "name": name },
            "spec": {
                "nodeSelector": { "kubernetes.io/hostname": node },
                "containers": [{
                    "name": "c", "image": "example.com/i", "resources": { "limits": { resource: "1" } },
                }],
            },
        });
        let started = run(&self.sandbox, "pod.yaml", &pod.to_string()).await.unwrap();
        assert_eq!(started[0].node.as_deref(), Ok(node));
        self.settle().await;
    }

    /// Runs a command on a node.
    pub(crate) async fn exec(&self, node: &str, command: &str) {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        let output = exec(&self.sandbox, node, &words).await.unwrap();
        assert_eq!(output.code, 0, "{}", output.stdout);
        self.settle().await;
    }

    pub(crate) async fn settle(&self) {
        self.sandbox.script().unwrap().settle().await.unwrap();
    }

    /// An object of a type with these arguments; all others are null.
    pub(crate) fn config(&self, ty: &str, arguments: &[(&str, Value)]) -> Value {
        let ty = self.provider.schemas().get(Mode::Managed, ty).unwrap().block.value_type();
        let mut object = Value::object(
            ty.attributes().unwrap().iter().map(|(name, attr)| (name.clone(), Value::null(attr.ty.clone()))),
        );
        for (name, value) in arguments {
            let value = engine_value::convert(value, &ty.attributes().unwrap()[*name].ty).unwrap();
            object = Path::root().attr(*name).set(&object, value).unwrap();
        }
        object
    }

    /// A pool over the nodes `dev`: `cards` A100s cut so, the rest whole.
    pub(crate) fn pool(&self, cards: i64, slices: &[(&str, i64)]) -> Value {
        let ty = self.provider.schemas().get(Mode::Managed, "gpu_pool").unwrap().block.value_type();
        let Type::Map(profile) = ty.attributes().unwrap()["profiles"].ty.clone() else { panic!("profiles are a map") };
        let object = |set: &[(&str, Value)]| {
            let attributes = profile.attributes().unwrap().iter();
            let nulls = Value::object(attributes.map(|(name, attr)| (name.clone(), Value::null(attr.ty.clone()))));
            set.iter()
                .fold(nulls, |object, (name, value)| Path::root().attr(*name).set(&object, value.clone()).unwrap())
        };
        let mig = Value::map(Type::Number, slices.iter().map(|(name, count)| (*name, Value::int(*count))));
        let product = Value::string("A100-SXM4-80GB");
        let notebooks = object(&[("product", product), ("cards", Value::int(cards)), ("mig", mig)]);
        let rest = object(&[("whole", Value::bool(true))]);
        let profiles = Value::map((*profile).clone(), [("notebooks", notebooks), ("rest", rest)]);
        let selector = Value::object([("example.com/pool", Value::string("dev"))]);
        let restore = Value::string("restore");
        self.config("gpu_pool", &[("selector", selector), ("on_destroy", restore), ("profiles", profiles)])
    }

    /// Reads and plans, as a new run does. `config` null: to be destroyed.
    pub(crate) async fn plan(&self, addr: &str, state: &State, config: &Value) -> Result<Plan, Vec<Issue>> {
        let (instance, addr) = (self.instance().await, addr.parse::<ResourceAddr>().unwrap());
        let (mut prior, mut notes) = (state.object.clone(), Vec::new());
        if !prior.is_null() {
            let request = ReadRequest { addr: addr.clone(), object: prior.clone(), private: state.private.clone() };
            match instance.read(vec![request], self.call()).await.remove(0) {
                ReadAnswer::Object(read) => (prior, notes) = (read.object, read.notes),
                ReadAnswer::Gone => prior = Value::null(Type::Dynamic),
                other => panic!("{other:?}"),
            }
        }
        if !config.is_null() {
            let issues = self.provider.validate(Mode::Managed, &addr.ty, config);
            if !issues.is_empty() {
                return Err(issues);
            }
        }
        let request = PlanRequest {
            addr: addr.clone(),
            prior: prior.clone(),
            stored: state.object.clone(),
            private: state.private.clone(),
            config: config.clone(),
            proposed: config.clone(),
            earlier: Default::default(),
            is_last: false,
        };
        let planned = instance.plan(request, self.call()).await?;
        let block = &self.provider.schemas().get(Mode::Managed, &addr.ty).unwrap().block;
        if !config.is_null() {
            assert_eq!(contract::planned(block, &prior, config, &planned.object), []);
        }
        let action = match (prior.is_null(), config.is_null()) {
            (true, _) => Action::Create,
            (_, true) => Action::Delete,
            _ if planned.object == prior && !planned.pending => Action::NoOp,
            _ => Action::Update,
        };
        let change = PlannedChange {
            addr,
            action,
            before: prior,
            after: planned.object.clone(),
            config: config.clone(),
            private: planned.private.clone(),
        };
        let operations = instance.operations(std::slice::from_ref(&change), self.call()).await.unwrap();
        Ok(Plan { change, operations, notes })
    }

    pub(crate) fn hold_request(&self, operation: &Operation) -> HoldRequest {
        let hold = Hold {
            node: operation.node.clone(),
            provider: operation.provider.clone(),
            kind: operation.kind,
            operations: vec![operation.id.clone()],
            victims: operation.victims.clone(),
            wave: 0,
            timeout: PATIENCE,
            takes_over: None,
        };
        HoldRequest { hold, operations: vec![operation.clone()], plan: "plan".into() }
    }

    /// Carries out one operation: hold, operate, release, gate.
    pub(crate) async fn operate(&self, operation: &Operation) -> Result<(), ProviderError> {
        let (instance, request) = (self.instance().await, self.hold_request(operation));
        let is_held = operation.kind != OperationKind::None;
        if is_held {
            instance.hold(request.clone(), self.call()).await?;
        }
        let operate = OperateRequest { operation: operation.clone(), plan: request.plan.clone(), fence: 1 };
        instance.operate(operate, self.call()).await?;
        if is_held {
            instance.release(request.clone(), self.call()).await?;
        }
        let nodes: Vec<NodeName> = vec![operation.node.clone()];
        let wave = Wave { provider: operation.provider.clone(), number: 1, nodes, domain: None };
        let gate = GateRequest { wave, operations: request.operations, plan: request.plan };
        assert_eq!(instance.gate(gate, self.call()).await?, Health::Healthy);
        Ok(())
    }

    /// The resource's own step.
    pub(crate) async fn apply(&self, change: &PlannedChange) -> Outcome<Applied> {
        let request = ApplyRequest { change: change.clone(), plan: "plan".into() };
        self.instance().await.apply(request, self.call()).await
    }

    /// Plans, carries out all operations, and settles. Then a second plan must be empty.
    pub(crate) async fn carry_out(&self, addr: &str, state: &mut State, config: &Value) -> Plan {
        let plan = self.plan(addr, state, config).await.unwrap();
        assert_ne!(plan.change.action, Action::NoOp, "there is nothing to do");
        for operation in &plan.operations.operations {
            self.operate(operation).await.unwrap();
        }
        let outcome = self.apply(&plan.change).await;
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        match outcome.now {
            Some(now) => *state = State { object: now.object, private: now.private },
            None => *state = State::none(),
        }
        if !config.is_null() {
            let again = self.plan(addr, state, config).await.unwrap();
            assert_eq!((again.change.action, again.notes), (Action::NoOp, vec![]));
            assert_eq!(again.operations.operations, []);
        }
        plan
    }
}

/// A whole number of an object's map.
pub(crate) fn amount(object: &Value, map: &str, name: &str) -> Option<i64> {
    match &object.get(map)?.get(name)?.data {
        Data::Number(number) => number.to_i64(),
        _ => None,
    }
}
