//! Which kinds a cluster serves: asked at once where the server can tell so, else by group version when first needed, and
//! remembered. Lists of custom resource definitions are not read: they need a permission that few have.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kube::core::{ApiResource, GroupVersionKind};
use providers_api::{Call, ErrorKind, ProviderError};
use serde_json::Value as Json;
use tokio::{
    sync::{Mutex, OnceCell},
    time::Instant,
};

use super::Cluster;
use crate::object::{key::ObjectKey, similar::similar};

/// A kind that is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    /// `apps/v1`.
    pub(crate) api_version: String,
    /// `Deployment`.
    pub(crate) kind: String,
    /// `deployments`.
    pub(crate) plural: String,
    /// Do its objects lie in namespaces?
    pub(crate) namespaced: bool,
}

impl Kind {
    /// The path of all its objects, of a namespace or of the cluster.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.api_version.contains('/') { "apis" } else { "api" };
        match namespace {
            Some(namespace) if self.namespaced => {
                format!("/{root}/{}/namespaces/{namespace}/{}", self.api_version, self.plural)
            }
            _ => format!("/{root}/{}/{}", self.api_version, self.plural),
        }
    }

    /// The path of one object.
    pub(crate) fn path_of(&self, key: &ObjectKey) -> String {
        format!("{}/{}", self.path(self.namespace(key)), key.name)
    }

    /// The namespace that an object lies in.
    pub(crate) fn namespace<'a>(&self, key: &'a ObjectKey) -> Option<&'a str> {
        self.namespaced.then(|| key.namespace.as_deref().unwrap_or("default"))
    }

    /// An object of a list, with the kind that lists leave out.
    pub(crate) fn named(&self, mut item: Json) -> Json {
        if let Json::Object(fields) = &mut item {
            fields.insert("apiVersion".to_owned(), self.api_version.as_str().into());
            fields.insert("kind".to_owned(), self.kind.as_str().into());
        }
        item
    }

    /// The same for the client library.
    pub(crate) fn api_resource(&self) -> ApiResource {
        let (group, version) = self.api_version.split_once('/').unwrap_or(("", &self.api_version));
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, &self.kind), &self.plural)
    }
}

/// Is a kind served?
#[derive(Clone, Debug)]
pub(crate) enum Lookup {
    /// Yes.
    Served(Arc<Kind>),
    /// No.
    Missing(Missing),
}

/// A kind that is not served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// As it was asked for.
    pub(crate) api_version: String,
    /// As it was asked for.
    pub(crate) kind: String,
    /// Does the cluster serve this group version?
    pub(crate) version_served: bool,
    /// Other versions in which the cluster serves this group.
    pub(crate) other_versions: Vec<String>,
    /// What may have been meant, as a sentence; may be empty.
    pub(crate) hint: String,
}

impl Missing {
    /// Can no definition ever add it? The groups of Kubernetes itself that have no dot.
    pub(crate) fn is_built_in(&self) -> bool {
        is_built_in(&self.api_version)
    }

    /// What is missing, as a fragment.
    pub(crate) fn what(&self) -> String {
        match self.version_served {
            true => format!("the cluster has no kind {} in {}", self.kind, self.api_version),
            false => format!("the cluster does not serve {}, which {} belongs to", self.api_version, self.kind),
        }
    }
}

/// The kinds of a group version, by name.
type Kinds = Arc<BTreeMap<String, Arc<Kind>>>;

/// How long a group version that failed is not asked again: its other objects would wait as long as the first.
const FAILED_FOR: Duration = Duration::from_secs(60);

/// Can no definition ever add to this group version? The groups of Kubernetes itself that have no dot.
pub(crate) fn is_built_in(api_version: &str) -> bool {
    api_version.split_once('/').is_none_or(|(group, _)| !group.contains('.'))
}

/// What is known of the cluster's kinds.
#[derive(Default)]
pub(crate) struct Discovery {
    /// What the whole cluster said first; `None` within: it has no such answer.
    served: OnceCell<Option<BTreeSet<String>>>,
    /// By group version. Each has a lock of its own: one that fails does not hold up the others.
    versions: Mutex<BTreeMap<String, Arc<Mutex<Asked>>>>,
    /// Group versions that are served, for hints.
    groups: OnceCell<BTreeSet<String>>,
    /// Was something forgotten? Then nobody is told that a kind is not there without asking again.
    outdated: AtomicBool,
}

/// What is known of one group version.
#[derive(Default)]
enum Asked {
    /// Nothing.
    #[default]
    NotYet,
    /// What is known is not true any more.
    Outdated,
    /// Its kinds; `None`: it is not served.
    Told(Option<Kinds>),
    /// It fails.
    Failed(Instant, Failure),
}

/// An error that is told more than once.
struct Failure {
    kind: ErrorKind,
    what: String,
    hint: Option<String>,
}

impl Failure {
    fn error(&self) -> ProviderError {
        ProviderError { hint: self.hint.clone(), ..ProviderError::new(self.kind, self.what.clone()) }
    }
}

impl Discovery {
    /// Looks a kind up. `fresh`: ask again where it was not there before.
    pub(super) async fn lookup(
        &self,
        cluster: &Cluster,
        api_version: &str,
        kind: &str,
        fresh: bool,
        call: Call<'_>,
    ) -> Result<Lookup, ProviderError> {
        let served = self.served.get_or_try_init(async || self.ask_all(cluster, call).await).await?;
        let slot = self.versions.lock().await.entry(api_version.to_owned()).or_default().clone();
        // Held while asking, so that many objects of one kind ask once.
        let mut asked = slot.lock().await;
        let find = |kinds: &Option<Kinds>| kinds.as_ref().and_then(|all| all.get(kind).cloned());
        let outdated = self.outdated.load(Ordering::Relaxed);
        let fresh = fresh || outdated;
        let kinds = match &*asked {
            Asked::Told(kinds) if !fresh || find(kinds).is_some() => kinds.clone(),
            Asked::Failed(at, failure) if at.elapsed() < FAILED_FOR => return Err(failure.error()),
            Asked::NotYet if !fresh && served.as_ref().is_some_and(|all| !all.contains(api_version)) => None,
            _ => match ask_version(cluster, api_version, call).await {
                Ok(kinds) => {
                    let kinds = kinds.map(Arc::new);
                    *asked = Asked::Told(kinds.clone());
                    kinds
                }
                Err(error) => {
                    if error.kind != ErrorKind::Cancelled {
                        let failure = Failure { kind: error.kind, what: error.to_string(), hint: error.hint.clone() };
                        *asked = Asked::Failed(Instant::now(), failure);
                    }
                    return Err(error);
                }
            },
        };
        drop(asked);
        if let Some(kind) = find(&kinds) {
            return Ok(Lookup::Served(kind));
        }
        let anew = if outdated { Some(ask_groups(cluster, call).await?) } else { None };
        let groups = match anew.as_ref().or(served.as_ref()) {
            Some(groups) => groups,
            None => self.groups.get_or_try_init(async || ask_groups(cluster, call).await).await?,
        };
        let group = |version: &str| version.split_once('/').map_or(String::new(), |(group, _)| group.to_owned());
        let wanted = group(api_version);
        let others = groups.iter().filter(|version| group(version) == wanted && *version != api_version);
        let other_versions: Vec<String> = others.cloned().collect();
        let hint = match &kinds {
            Some(kinds) => similar(kind, kinds.keys()).map(|name| format!("Did you mean {name}?")).unwrap_or_default(),
            None if !other_versions.is_empty() => format!("That group is served as {}.", other_versions.join(", ")),
            None => {
                let near = similar(api_version, groups.iter()).map(|name| format!("Did you mean {name}? "));
                let all: Vec<&str> = groups.iter().map(String::as_str).collect();
                format!("{}The cluster serves {}.", near.unwrap_or_default(), all.join(", "))
            }
        };
        Ok(Lookup::Missing(Missing {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            version_served: kinds.is_some(),
            other_versions,
            hint,
        }))
    }

    /// Forgets a group version: something of it was not there any more. It is asked about again.
    pub(super) async fn forget(&self, api_version: &str) {
        self.outdated.store(true, Ordering::Relaxed);
        let slot = self.versions.lock().await.get(api_version).cloned();
        if let Some(slot) = slot {
            *slot.lock().await = Asked::Outdated;
        }
    }

    /// Asks for everything at once, and gives the names of all group versions.
    async fn ask_all(&self, cluster: &Cluster, call: Call<'_>) -> Result<Option<BTreeSet<String>>, ProviderError> {
        let Some(served) = cluster.served(call).await? else { return Ok(None) };
        let mut versions = self.versions.lock().await;
        for (api_version, kinds) in served.versions {
            versions.insert(api_version, Arc::new(Mutex::new(Asked::Told(Some(Arc::new(kinds))))));
        }
        Ok(Some(served.groups))
    }
}

async fn ask_version(
    cluster: &Cluster,
    api_version: &str,
    call: Call<'_>,
) -> Result<Option<BTreeMap<String, Arc<Kind>>>, ProviderError> {
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let doing = format!("cannot ask which kinds {api_version} has");
    let list = match cluster.ask(&format!("/{root}/{api_version}"), &[], &doing, call).await? {
        Ok(list) => list,
        Err(status) if status.code == 404 => return Ok(None),
        Err(status) => return Err(cluster.refused(&doing, status)),
    };
    let resources = list.get("resources").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    Ok(Some(resources.iter().filter_map(|resource| kind_of(api_version, resource)).collect()))
}

fn kind_of(api_version: &str, resource: &Json) -> Option<(String, Arc<Kind>)> {
    let text = |name: &str| resource.get(name).and_then(Json::as_str);
    let plural = text("name").filter(|name| !name.contains('/'))?;
    let kind = Kind {
        api_version: api_version.to_owned(),
        kind: text("kind")?.to_owned(),
        plural: plural.to_owned(),
        namespaced: resource.get("namespaced").and_then(Json::as_bool).unwrap_or(false),
    };
    Some((kind.kind.clone(), Arc::new(kind)))
}

async fn ask_groups(cluster: &Cluster, call: Call<'_>) -> Result<BTreeSet<String>, ProviderError> {
    let doing = "cannot ask which API groups the cluster serves";
    let list = match cluster.ask("/apis", &[], doing, call).await? {
        Ok(list) => list,
        Err(status) => return Err(cluster.refused(doing, status)),
    };
    let groups = list.get("groups").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let versions = groups.iter().flat_map(|group| {
        let versions = group.get("versions").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        versions.iter().filter_map(|version| version.get("groupVersion").and_then(Json::as_str).map(str::to_owned))
    });
    Ok(versions.chain(["v1".to_owned()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(api_version: &str, kind: &str, plural: &str, namespaced: bool) -> Kind {
        let text = str::to_owned;
        Kind { api_version: text(api_version), kind: text(kind), plural: text(plural), namespaced }
    }

    #[test]
    fn objects_have_paths() {
        let key = |namespace: Option<&str>| ObjectKey {
            api_version: String::new(),
            kind: String::new(),
            namespace: namespace.map(str::to_owned),
            name: "x".to_owned(),
        };
        let deployments = kind("apps/v1", "Deployment", "deployments", true);
        let nodes = kind("v1", "Node", "nodes", false);
        for (kind, namespace, expected) in [
            (&deployments, Some("a"), "/apis/apps/v1/namespaces/a/deployments/x"),
            (&deployments, None, "/apis/apps/v1/namespaces/default/deployments/x"),
            (&nodes, None, "/api/v1/nodes/x"),
        ] {
            assert_eq!(kind.path_of(&key(namespace)), expected);
        }
        assert_eq!(deployments.path(None), "/apis/apps/v1/deployments");
    }

    #[test]
    fn only_groups_without_a_dot_are_closed() {
        for (api_version, expected) in [("v1", true), ("apps/v1", true), ("sliceform.io/v1alpha1", false)] {
            let missing = Missing {
                api_version: api_version.to_owned(),
                kind: "X".to_owned(),
                version_served: false,
                other_versions: Vec::new(),
                hint: String::new(),
            };
            assert_eq!(missing.is_built_in(), expected, "{api_version}");
        }
    }
}
