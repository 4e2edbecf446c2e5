//! The API itself, apart from how requests reach it: it knows who may ask, finds the verb, answers and keeps record.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Uri};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::apply;
use super::body::Body;
use super::calls::{Call, Calls};
use super::delete;
use super::discovery;
use super::evict;
use super::faults::Faults;
use super::form::Form;
use super::hooks::{Admission, Attributes, Authorizer, Decision};
use super::identity::User;
use super::ids::Ids;
use super::inquiry::{self, Inquiry};
use super::logs;
use super::openapi;
use super::options::Options;
use super::patch;
use super::place::{self, Place, Target};
use super::rbac::bootstrap::{cluster_role_bindings, cluster_roles};
use super::read;
use super::registry::{DEFINITIONS, Registry};
use super::request::Request;
use super::resource::Resource;
use super::reviews;
use super::scale;
use super::selectors::FieldSelector;
use super::status::Failure;
use super::tokens::{self, Tokens};
use super::watch::{self, Watch};
use super::write;
use crate::store::{Store, Transaction};

/// Where time comes from: the world's clock stands still between commands.
pub trait Clock: Send + Sync {
    /// The moment.
    fn now(&self) -> Timestamp;
}

/// What the composition of a sandbox decides about its API.
pub struct Setup {
    /// From which UIDs and generated names follow.
    pub seed: u64,
    /// The world's clock.
    pub clock: Arc<dyn Clock>,
    /// Who may do what.
    pub authorizer: Arc<dyn Authorizer>,
    /// Rules over writes, asked in order.
    pub admission: Vec<Arc<dyn Admission>>,
    /// Deleted pods that run on a node stay until their (simulated) kubelet has ended them. Without kubelets they would
    /// stay for ever.
    pub graceful_pods: bool,
}

/// The API of one world.
pub struct Api {
    pub(super) store: Arc<Store>,
    pub(super) registry: Registry,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: Ids,
    pub(super) admission: Vec<Arc<dyn Admission>>,
    pub(super) graceful_pods: bool,
    /// Ends all watches.
    pub(super) stop: CancellationToken,
    pub(super) authorizer: Arc<dyn Authorizer>,
    pub(super) tokens: Tokens,
    calls: Calls,
    faults: Faults,
}

const CLUSTER_ROLES_PATH: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const CLUSTER_ROLE_BINDINGS_PATH: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

/// A request, however it came.
pub(super) struct Incoming {
    pub(super) method: Method,
    pub(super) uri: Uri,
    pub(super) accept: String,
    pub(super) user_agent: String,
    pub(super) body: Body,
}

/// An answer that is not a refusal.
pub(super) enum Answer {
    Text(Cow<'static, str>),
    Json(u16, Arc<Value>),
    /// JSON with a media type of its own.
    Typed(String, Value),
    Watch(Box<Watch>),
    /// A document that stays the same as long as its hash.
    Schema {
        document: Value,
        hash: String,
    },
}

impl Api {
    /// The API over a store. The namespaces that every cluster has are created where they are missing.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn new(store: Arc<Store>, setup: Setup) -> Result<Api, Failure> {
        let api = Api {
            store,
            registry: Registry::default(),
            clock: setup.clock,
            ids: Ids { seed: setup.seed },
            admission: setup.admission,
            graceful_pods: setup.graceful_pods,
            stop: CancellationToken::new(),
            authorizer: setup.authorizer,
            tokens: Tokens::new(setup.seed),
            calls: Calls::default(),
            faults: Faults::default(),
        };
        api.bootstrap()?;
        Ok(api)
    }

    /// What every cluster has from its first moment.
    fn bootstrap(&self) -> Result<(), Failure> {
        let admin = User::admin("system:apiserver");
        let namespace = |name: &str| ("/api/v1/namespaces", json!({"metadata": {"name": name}}));
        let class = |name: &str, value: u64| {
            let object = json!({"metadata": {"name": name}, "value": value});
            ("/apis/scheduling.k8s.io/v1/priorityclasses", object)
        };
        let mut objects = vec![
            namespace("default"),
            namespace("kube-node-lease"),
            namespace("kube-public"),
            namespace("kube-system"),
            class("system-cluster-critical", 2_000_000_000),
            class("system-node-critical", 2_000_001_000),
        ];
        let rbac = |plural: &'static str| move |object| (plural, object);
        objects.extend(cluster_roles().into_iter().map(rbac(CLUSTER_ROLES_PATH)));
        objects.extend(cluster_role_bindings().into_iter().map(rbac(CLUSTER_ROLE_BINDINGS_PATH)));
        for (path, object) in objects {
            match self.call(&admin, &Method::POST, path, Some(&object)) {
                Err(failure) if failure.reason != "AlreadyExists" => return Err(failure),
                _ => {}
            }
        }
        self.calls.take();
        Ok(())
    }

    /// The store behind it.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The record of calls.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// What goes wrong at requests that come over the wire.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The same as a request over HTTPS, without the wire. `path` may have a query. Watching is not possible this way:
    /// [`Store::subscribe`] is.
    ///
    /// # Errors
    /// What the API refuses.
    pub fn call(&self, user: &User, method: &Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let content_type = if *method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        self.call_as(user, method, path, content_type, body)
    }

    /// As [`Api::call`], with the content type that tells the kinds of patches apart.
    ///
    /// # Errors
    /// What the API refuses.
    pub fn call_as(
        &self,
        user: &User,
        method: &Method,
        path: &str,
        content_type: &str,
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let uri = path.parse().map_err(|_| Failure::bad_request(format!("{path:?} is not a path")))?;
        let bytes = body.map(|body| Bytes::from(body.to_string())).unwrap_or_default();
        let body = Body { bytes, content_type: content_type.to_owned() };
        let incoming =
            Incoming { method: method.clone(), uri, accept: String::new(), user_agent: user.name.clone(), body };
        match self.handle(user, incoming).0? {
            Answer::Json(_, value) => Ok(Arc::unwrap_or_clone(value)),
            Answer::Typed(_, value) | Answer::Schema { document: value, .. } => Ok(value),
            Answer::Text(text) => Ok(text.into_owned().into()),
            Answer::Watch(_) => Err(Failure::bad_request("a watch needs a connection")),
        }
    }

    /// Answers a request and records it. The texts are warnings for the client.
    pub(super) fn handle(&self, user: &User, incoming: Incoming) -> (Result<Answer, Failure>, Vec<String>) {
        let mut call = Call {
            verb: "get",
            path: incoming.uri.path().to_owned(),
            user: user.name.clone(),
            dry_run: false,
            code: 200,
        };
        let mut warnings = Vec::new();
        let answer = self.dispatch(user, incoming, &mut call, &mut warnings);
        call.code = match &answer {
            Ok(Answer::Json(code, _)) => *code,
            Ok(_) => 200,
            Err(failure) => failure.code,
        };
        self.calls.add(call);
        (answer, warnings)
    }

    /// Records a request that a fault struck before anything was done.
    pub(super) fn record_unserved(&self, inquiry: &Inquiry, code: u16) {
        let (verb, dry_run) = (inquiry.verb, inquiry.dry_run);
        self.calls.add(Call { verb, path: inquiry.path.clone(), user: inquiry.user.clone(), dry_run, code });
    }

    /// Records a request whose sender is not known.
    pub(super) fn refuse_unknown(&self, path: &str) -> Failure {
        let failure = Failure::unauthorized();
        let path = path.to_owned();
        self.calls.add(Call { verb: "get", path, user: String::new(), dry_run: false, code: failure.code });
        failure
    }

    fn dispatch(
        &self,
        user: &User,
        incoming: Incoming,
        call: &mut Call,
        warnings: &mut Vec<String>,
    ) -> Result<Answer, Failure> {
        let nothing = || Failure::no_such_path("the sandbox serves nothing at this path");
        let Some(target) = place::parse(incoming.uri.path()) else {
            self.authorize_path(user, &incoming)?;
            return Err(nothing());
        };
        let unavailable = self.faults.unavailable();
        if target.api().is_some_and(|api| unavailable.contains(&api)) {
            return Err(Failure::aggregated_api_unavailable());
        }
        match target {
            Target::Resource(place) => self.resource(user, incoming, place, call, warnings),
            target => {
                self.authorize_path(user, &incoming)?;
                if incoming.method != Method::GET {
                    return Err(Failure::method_not_allowed(incoming.method.as_str()));
                }
                self.document(target, &incoming.accept, &unavailable)
            }
        }
    }

    /// What is no resource: versions, health, discovery, schemas.
    fn document(&self, target: Target, accept: &str, stale: &BTreeSet<(String, String)>) -> Result<Answer, Failure> {
        let store = self.store.read();
        let resources = self.registry.all(&store);
        let aggregated = discovery::aggregated(accept);
        let json = |value| Ok(Answer::Json(200, Arc::new(value)));
        match (target, aggregated) {
            (Target::Version, _) => json(discovery::version()),
            (Target::Health, _) => Ok(Answer::Text("ok".into())),
            (Target::Paths, _) => {
                json(json!({"paths": ["/api", "/apis", "/healthz", "/livez", "/openapi/v3", "/readyz", "/version"]}))
            }
            (target @ (Target::CoreVersions | Target::Groups), Some(form)) => {
                let document = discovery::aggregate(&resources, target == Target::CoreVersions, form, stale);
                let media = format!("application/json;g=apidiscovery.k8s.io;v={form};as=APIGroupDiscoveryList");
                Ok(Answer::Typed(media, document))
            }
            (Target::CoreVersions, None) => json(discovery::core_versions("127.0.0.1")),
            (Target::Groups, None) => json(discovery::group_list(&resources, stale)),
            (Target::Group(group), _) => json(discovery::group(&resources, &group, stale)?),
            (Target::GroupVersion(group, version), _) => json(discovery::resource_list(&resources, &group, &version)?),
            (Target::OpenApiIndex, _) => json(openapi::index(&resources, stale)),
            (Target::OpenApi(group, version), _) => {
                let definitions: Vec<Arc<Value>> = store.list(DEFINITIONS).map(|(_, object)| object.clone()).collect();
                let document = openapi::document(&resources, &definitions, &group, &version)?;
                let hash = openapi::hash(&resources, &group, &version);
                Ok(Answer::Schema { document, hash })
            }
            (Target::Resource(_), _) => Err(Failure::internal("a resource is no document")),
        }
    }

    fn resource(
        &self,
        user: &User,
        incoming: Incoming,
        place: Place,
        call: &mut Call,
        warnings: &mut Vec<String>,
    ) -> Result<Answer, Failure> {
        let options = Options::parse(&incoming.uri)?;
        let verb = inquiry::verb(&incoming.method, &place, options.watch, &incoming.body.content_type);
        let verb = verb.ok_or_else(|| Failure::method_not_allowed(incoming.method.as_str()))?;
        (call.verb, call.dry_run) = (verb, options.dry_run);
        let resource = {
            let store = self.store.read();
            self.registry.find(&store, &place.group, &place.version, &place.plural)?
        };
        check_verb(&resource, &place, verb)?;
        let selected = FieldSelector::parse(&options.field_selector, &[]).ok();
        let selected = selected.as_ref().and_then(FieldSelector::exact_name).unwrap_or_default();
        self.authorize(
            &self.store.read(),
            user,
            &Attributes {
                verb: if verb == "apply" { "patch" } else { verb },
                group: &place.group,
                resource: &place.plural,
                subresource: &place.subresource,
                namespace: place.namespace.as_deref().unwrap_or_default(),
                name: place.name.as_deref().unwrap_or(selected),
            },
        )?;
        if resource.namespaced && place.namespace.is_none() && place.name.is_some() {
            return Err(Failure::no_such_path(&format!("{} are namespaced", resource.plural)));
        }
        if !resource.namespaced && place.namespace.is_some() {
            return Err(Failure::no_such_path(&format!("{} are cluster-scoped", resource.plural)));
        }
        let form = Form::parse(&incoming.accept, &options.include_object);
        let now = whole_seconds(self.clock.now());
        let user_agent = incoming.user_agent;
        let mut request = Request { api: self, user, options, place, form, now, user_agent, warnings: Vec::new() };
        let answer = run(&mut request, resource, verb, &incoming.body);
        call.dry_run = request.options.dry_run;
        warnings.append(&mut request.warnings);
        answer
    }

    /// Asks the authoriser. Whoever has a transaction gives it: a second one would wait for the first for ever.
    pub(super) fn authorize(
        &self,
        store: &Transaction<'_>,
        user: &User,
        attributes: &Attributes<'_>,
    ) -> Result<(), Failure> {
        match self.authorizer.authorize(store, user, attributes) {
            Decision::Allow => Ok(()),
            Decision::Deny(why) => {
                Err(Failure::forbidden(attributes.group, attributes.resource, attributes.name, &why))
            }
        }
    }

    fn authorize_path(&self, user: &User, incoming: &Incoming) -> Result<(), Failure> {
        let (verb, path) = (incoming.method.as_str().to_lowercase(), incoming.uri.path());
        match self.authorizer.authorize_path(&self.store.read(), user, &verb, path) {
            Decision::Allow => Ok(()),
            Decision::Deny(why) => Err(Failure::forbidden_path(&why)),
        }
    }
}

fn run(request: &mut Request<'_>, resource: Arc<Resource>, verb: &'static str, body: &Body) -> Result<Answer, Failure> {
    let (form, now) = (request.form, request.now);
    let one = |code, object: &Arc<Value>| Answer::Json(code, form.one(&resource, object, now));
    let plain = |code, value| Answer::Json(code, Arc::new(value));
    Ok(match (verb, request.place.subresource.as_str()) {
        ("get", "log") => Answer::Text(logs::get(request, &resource)?.into()),
        ("get", "scale") => plain(200, scale::get(request, &resource)?),
        ("update", "scale") => plain(200, scale::update(request, &resource, body)?),
        ("patch" | "apply", "scale") => plain(200, scale::patch(request, &resource, body)?),
        ("get", _) => one(200, &read::get(request, &resource)?),
        ("list", _) => plain(200, read::list(request, &resource)?),
        ("watch", _) => Answer::Watch(Box::new(watch::watch(request, resource)?)),
        ("create", "binding") => plain(201, evict::bind(request, &resource, body)?),
        ("create", "token") => plain(201, tokens::request(request, &resource, body)?),
        ("create", _) if resource.is_review() => plain(201, reviews::answer(request, &resource, body)?),
        ("create", "eviction") => plain(201, evict::evict(request, &resource, body)?),
        ("create", _) => one(201, &write::create(request, &resource, body)?),
        ("update", _) => one(200, &write::update(request, &resource, body)?),
        ("apply", _) => {
            let (created, object) = apply::apply(request, &resource, body)?;
            one(if created { 201 } else { 200 }, &object)
        }
        ("patch", _) => one(200, &patch::patch(request, &resource, body)?),
        ("delete", _) => plain(200, delete::delete(request, &resource, body)?),
        _ => plain(200, delete::delete_collection(request, &resource, body)?),
    })
}

fn check_verb(resource: &Resource, place: &Place, verb: &str) -> Result<(), Failure> {
    if place.subresource.is_empty() {
        return match resource.is_review() && verb != "create" {
            true => Err(Failure::method_not_allowed(&format!("{verb} on {}", resource.plural))),
            false => Ok(()),
        };
    }
    let parts = resource.subresources();
    let Some(part) = parts.iter().find(|part| part.name == place.subresource) else {
        let hint = format!("the sandbox has no subresource {}/{}", resource.plural, place.subresource);
        return Err(Failure::no_such_path(&hint));
    };
    let verb = if verb == "apply" { "patch" } else { verb };
    if part.verbs.contains(&verb) {
        Ok(())
    } else {
        Err(Failure::method_not_allowed(&format!("{verb} on {}/{}", resource.plural, part.name)))
    }
}

fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
