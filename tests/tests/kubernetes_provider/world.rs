//! A cluster, an instance of the provider, and the walk that the engine takes through it: read, plan, apply.

use std::sync::Arc;

use engine_model::{
    address::{Mode, ModuleAddr, ResourceAddr},
    change::Action,
    host::FixedHost,
    name::PlanDigest,
    schema::Schema,
};
use engine_plan::{contract, proposed};
use engine_value::{Type, Value, json::Json as Tree};
use http::Method;
use providers_api::{
    ApplyRequest, Call, Instance, Issue, Outcome, PlanRequest, Planned, PlannedChange, Provider, ReadAnswer,
    ReadRequest, Silent,
};
use providers_kubernetes::{ConnectionOverride, ConnectionSettings, Environment, KubernetesProvider, Secret};
use providers_sandbox::{
    api::{Authorizer, Clock, Rbac, Running, Server, Setup, User},
    store::Store,
};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

pub(crate) struct World {
    pub(crate) running: Running,
    pub(crate) provider: KubernetesProvider,
    instead: ConnectionOverride,
    environment: Environment,
    pub(crate) instance: Arc<dyn Instance>,
    pub(crate) cancel: CancellationToken,
    host: FixedHost,
}

/// A clock that stands still.
struct Still;

impl Clock for Still {
    fn now(&self) -> jiff::Timestamp {
        "2026-01-02T03:04:05Z".parse().unwrap()
    }
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(Arc::new(Rbac), &User::admin("platform")).await
    }

    pub(crate) async fn with(authorizer: Arc<dyn Authorizer>, user: &User) -> Self {
        Self::whole(authorizer, user, Environment::default()).await
    }

    /// A world whose provider finds programs and files there.
    pub(crate) async fn in_environment(environment: Environment) -> Self {
        Self::whole(Arc::new(Rbac), &User::admin("platform"), environment).await
    }

    async fn whole(authorizer: Arc<dyn Authorizer>, user: &User, environment: Environment) -> Self {
        let setup = Setup { seed: 7, clock: Arc::new(Still), authorizer, admission: Vec::new(), graceful_pods: false };
        let running = Server::start(Arc::new(Store::in_memory()), setup).await.unwrap();
        let settings = ConnectionSettings {
            host: Some(running.url()),
            token: Some(Secret(running.token(user))),
            cluster_ca_certificate: Some(running.ca_pem().to_owned()),
            ..ConnectionSettings::default()
        };
        let instead = ConnectionOverride(settings);
        let provider = KubernetesProvider::new(environment.clone(), Some(instead.clone()));
        let (cancel, host) = (CancellationToken::new(), FixedHost::new(0));
        let block = null(&provider.schemas().provider);
        let instance =
            provider.configure(&block, Call { progress: &Silent, cancel: &cancel, host: &host }).await.unwrap();
        Self { running, provider, instead, environment, instance, cancel, host }
    }

    /// Another provider for the same cluster.
    pub(crate) fn another_provider(&self) -> Arc<KubernetesProvider> {
        Arc::new(KubernetesProvider::new(self.environment.clone(), Some(self.instead.clone())))
    }

    pub(crate) fn call(&self) -> Call<'_> {
        Call { progress: &Silent, cancel: &self.cancel, host: &self.host }
    }

    fn schema(&self, ty: &str) -> &Schema {
        self.provider.schemas().get(Mode::Managed, ty).unwrap()
    }

    /// An object of a type's schema with these arguments; all others are null, all other blocks are empty.
    pub(crate) fn config(&self, ty: &str, arguments: &[(&str, Value)]) -> Value {
        let mut object = null(self.schema(ty));
        for (name, value) in arguments {
            let ty = self.schema(ty).block.value_type().attributes().unwrap()[*name].ty.clone();
            let value = engine_value::convert(value, &ty).unwrap();
            object = engine_value::Path::root().attr(*name).set(&object, value).unwrap();
        }
        object
    }

    /// A manifest's configuration.
    pub(crate) fn manifest(&self, manifest: Json) -> Value {
        self.config("kubernetes_manifest", &[("manifest", value(&manifest))])
    }

    /// The object of the state, read again; `None`: it is gone.
    pub(crate) async fn read(&self, ty: &str, stored: &Value) -> Option<Value> {
        let request = ReadRequest { addr: addr(ty), object: bare(stored), private: Vec::new() };
        match self.instance.read(vec![request], self.call()).await.remove(0) {
            ReadAnswer::Object(read) => Some(read.object),
            ReadAnswer::Gone => None,
            other => panic!("{other:?}"),
        }
    }

    /// Reads again and plans; gives the object as it was read, too.
    pub(crate) async fn plan(
        &self,
        ty: &str,
        stored: Option<&Value>,
        config: &Value,
    ) -> (Value, Result<Planned, Vec<Issue>>) {
        self.plan_with(ty, stored, config, &[]).await
    }

    /// The same, again, where these manifests are created in the same plan.
    pub(crate) async fn plan_with(
        &self,
        ty: &str,
        stored: Option<&Value>,
        config: &Value,
        announced: &[Value],
    ) -> (Value, Result<Planned, Vec<Issue>>) {
        assert_eq!(self.provider.validate(Mode::Managed, ty, config), []);
        let none = Value::null(self.schema(ty).block.value_type());
        let prior = match stored {
            Some(stored) => self.read(ty, stored).await.unwrap_or(none.clone()),
            None => none.clone(),
        };
        let announced = announced.iter().enumerate().map(|(index, object)| PlannedChange {
            addr: ResourceAddr { name: format!("announced-{index}").into(), ..addr(ty) },
            action: Action::Create,
            before: none.clone(),
            after: bare(object),
            config: bare(object),
            private: Vec::new(),
        });
        let earlier: Arc<[PlannedChange]> = announced.collect();
        let request = PlanRequest {
            addr: addr(ty),
            prior: bare(&prior),
            stored: bare(stored.unwrap_or(&none)),
            private: Vec::new(),
            config: bare(config),
            proposed: bare(&proposed(&self.schema(ty).block, &prior, config)),
            is_last: !earlier.is_empty(),
            earlier,
        };
        let planned = self.instance.plan(request, self.call()).await;
        if let Ok(planned) = &planned {
            assert_eq!(contract::planned(&self.schema(ty).block, &prior, config, &planned.object), []);
        }
        (prior, planned)
    }

    /// Plans the destruction of what the state has.
    pub(crate) async fn plan_destruction(&self, ty: &str, stored: &Value) -> Planned {
        let none = Value::null(Type::Dynamic);
        let request = PlanRequest {
            addr: addr(ty),
            prior: bare(stored),
            stored: bare(stored),
            private: Vec::new(),
            config: none.clone(),
            proposed: none,
            earlier: Default::default(),
            is_last: false,
        };
        self.instance.plan(request, self.call()).await.unwrap()
    }

    /// Carries out a planned change.
    pub(crate) async fn carry_out(&self, ty: &str, before: Value, after: Value) -> Outcome<providers_api::Applied> {
        self.carry_out_with(ty, before, after, Vec::new()).await
    }

    /// The same, with what the plan gave to see again.
    pub(crate) async fn carry_out_with(
        &self,
        ty: &str,
        before: Value,
        after: Value,
        private: Vec<u8>,
    ) -> Outcome<providers_api::Applied> {
        let action = match (before.is_null(), after.is_null()) {
            (true, _) => Action::Create,
            (_, true) => Action::Delete,
            _ => Action::Update,
        };
        let config = bare(&after);
        let change = PlannedChange { addr: addr(ty), action, before, after: after.clone(), config, private };
        let request = ApplyRequest { change, plan: PlanDigest::from("p") };
        let outcome = self.instance.apply(request, self.call()).await;
        if let (Some(now), None) = (&outcome.now, &outcome.error) {
            assert_eq!(contract::agrees(&self.schema(ty).block, &after, &now.object, true), []);
        }
        outcome
    }

    /// Plans and applies; then a second plan must change nothing. Gives the state.
    pub(crate) async fn apply(&self, ty: &str, stored: Option<&Value>, config: &Value) -> Value {
        let (before, planned) = self.plan(ty, stored, config).await;
        let planned = planned.unwrap();
        assert_eq!(planned.replace, []);
        assert_ne!(planned.object, before, "there is nothing to do");
        let outcome = self.carry_out(ty, before, planned.object).await;
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        let now = outcome.now.unwrap().object;
        self.changes_nothing(ty, &now, config).await;
        now
    }

    /// Nothing has drifted, and a plan changes nothing.
    pub(crate) async fn changes_nothing(&self, ty: &str, stored: &Value, config: &Value) {
        self.running.api().calls().take();
        let (prior, planned) = self.plan(ty, Some(stored), config).await;
        let planned = planned.unwrap();
        assert_eq!(prior, *stored, "nothing has drifted");
        assert_eq!(planned.object, prior, "nothing changes");
        assert_eq!(planned.unverified, None);
        let written: Vec<_> = self.running.api().calls().take().into_iter().filter(|call| call.has_written()).collect();
        assert_eq!(written, [], "a plan writes nothing");
    }

    /// Destroys what the state has.
    pub(crate) async fn destroy(&self, ty: &str, stored: Value) -> Outcome<providers_api::Applied> {
        let none = Value::null(self.schema(ty).block.value_type());
        self.carry_out(ty, stored, none).await
    }

    /// Somebody else asks the API.
    pub(crate) fn other(&self, method: Method, path: &str, body: Option<Json>) -> Json {
        self.running.api().call(&User::admin("somebody"), &method, path, body.as_ref()).unwrap()
    }

    /// An object as it is in the cluster.
    pub(crate) fn live(&self, path: &str) -> Option<Json> {
        self.running.api().call(&User::admin("somebody"), &Method::GET, path, None).ok()
    }
}

/// Providers are given values without marks.
fn bare(value: &Value) -> Value {
    value.clone().unmark_deep().0
}

/// The one error that there is.
pub(crate) fn only(result: Result<Planned, Vec<Issue>>) -> Issue {
    let mut issues = result.unwrap_err();
    assert_eq!(issues.len(), 1, "{issues:?}");
    issues.remove(0)
}

pub(crate) fn addr(ty: &str) -> ResourceAddr {
    let module = ModuleAddr::root();
    ResourceAddr { module, mode: Mode::Managed, ty: ty.into(), name: "x".into(), key: None }
}

/// The value that JSON implies.
pub(crate) fn value(json: &Json) -> Value {
    engine_value::json::infer_tree(&Tree::from(json))
}

/// The JSON of a value.
pub(crate) fn json(value: &Value) -> Json {
    Json::from(&engine_value::json::to_tree(value, None).unwrap())
}

/// An object of a schema, with nothing in it.
pub(crate) fn null(schema: &Schema) -> Value {
    let types = schema.block.value_type();
    let attributes = types.attributes().unwrap().iter().map(|(name, attr)| {
        let value = match &attr.ty {
            Type::List(element) if schema.block.blocks.contains_key(name) => {
                Value::list(element.as_ref().clone(), Vec::new())
            }
            ty => Value::null(ty.clone()),
        };
        (name.clone(), value)
    });
    Value::object(attributes)
}
