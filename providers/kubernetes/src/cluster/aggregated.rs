//! All kinds that a cluster serves, by two requests instead of one per group version, and by none that carries anything
//! where the cache has what the server still says (aggregated discovery, Kubernetes 1.27 and later).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use super::{Cluster, discovery::Kind};

const ACCEPT: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                      application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// What a cluster serves.
#[derive(Default)]
pub(super) struct Served {
    /// The kinds of each group version, by name. One that fails, or that the server has not heard from lately, is not
    /// here.
    pub(super) versions: BTreeMap<String, BTreeMap<String, Arc<Kind>>>,
    /// All group versions, those that fail, too.
    pub(super) groups: BTreeSet<String>,
}

impl Cluster {
    /// Asks for everything that is served; `None`: the server has no such answer, or none for this identity.
    ///
    /// # Errors
    /// It does not answer, or fails.
    pub(super) async fn served(&self, call: Call<'_>) -> Result<Option<Served>, ProviderError> {
        let mut served = Served::default();
        for path in ["/api", "/apis"] {
            match self.discovered(path, call).await? {
                Some(list) => add(&mut served, &list),
                None => return Ok(None),
            }
        }
        Ok(Some(served))
    }

    async fn discovered(&self, path: &str, call: Call<'_>) -> Result<Option<Json>, ProviderError> {
        let doing = "cannot ask which kinds the cluster serves";
        let list = match self.document(&format!("discovery{path}"), path, ACCEPT, doing, call).await? {
            Ok(list) => list,
            Err(status) if matches!(status.code, 403 | 404 | 406) => return Ok(None),
            Err(status) => return Err(self.refused(doing, status)),
        };
        Ok((list.get("kind").and_then(Json::as_str) == Some("APIGroupDiscoveryList")).then_some(list))
    }
}

fn add(served: &mut Served, list: &Json) {
    for group in array(list, "items") {
        let name = group.pointer("/metadata/name").and_then(Json::as_str).unwrap_or_default();
        for version in array(group, "versions") {
            let Some(number) = text(version, "version") else { continue };
            let api_version = if name.is_empty() { number.to_owned() } else { format!("{name}/{number}") };
            served.groups.insert(api_version.clone());
            // What is stale may lack kinds that are there: who needs it asks the group itself.
            if text(version, "freshness") != Some("Stale") {
                let kinds = array(version, "resources").filter_map(|resource| kind(&api_version, resource)).collect();
                served.versions.insert(api_version, kinds);
            }
        }
    }
}

fn kind(api_version: &str, resource: &Json) -> Option<(String, Arc<Kind>)> {
    let kind = Kind {
        api_version: api_version.to_owned(),
        kind: resource.pointer("/responseKind/kind").and_then(Json::as_str)?.to_owned(),
        plural: text(resource, "resource")?.to_owned(),
        namespaced: text(resource, "scope") == Some("Namespaced"),
    };
    Some((kind.kind.clone(), Arc::new(kind)))
}

fn array<'a>(json: &'a Json, name: &str) -> impl Iterator<Item = &'a Json> {
    json.get(name).and_then(Json::as_array).into_iter().flatten()
}

fn text<'a>(json: &'a Json, name: &str) -> Option<&'a str> {
    json.get(name).and_then(Json::as_str)
}
