//! Objects that keep another one from being gone. For people, beside an error: what cannot be read is left out.

use providers_api::Call;
use serde_json::Value as Json;

use super::{
    Cluster,
    discovery::{Kind, Lookup},
    pods::Workload,
};
use crate::object::key::ObjectKey;

/// More than these are not read to be named.
const MOST: usize = 500;

impl Cluster {
    /// The pods that an object stands for.
    pub(crate) async fn pods_owned(&self, key: &ObjectKey, live: &Json, call: Call<'_>) -> Vec<Json> {
        let Some(workload) = Workload::of(key, live) else { return Vec::new() };
        self.pods_where(workload.namespace(), Some(workload.query()), call).await
    }

    /// The pods that use a claim.
    pub(crate) async fn pods_with_claim(&self, claim: &ObjectKey, call: Call<'_>) -> Vec<Json> {
        let uses = |pod: &Json| {
            let volumes = pod.pointer("/spec/volumes").and_then(Json::as_array).into_iter().flatten();
            let is_it = |volume: &Json| {
                volume.pointer("/persistentVolumeClaim/claimName").and_then(Json::as_str) == Some(&claim.name)
            };
            volumes.into_iter().any(is_it)
        };
        let namespace = claim.namespace.as_deref().unwrap_or("default");
        self.pods_where(namespace, None, call).await.into_iter().filter(uses).collect()
    }

    async fn pods_where(&self, namespace: &str, query: Option<(&str, String)>, call: Call<'_>) -> Vec<Json> {
        let Ok(Lookup::Served(pods)) = self.kind("v1", "Pod", call).await else { return Vec::new() };
        self.some(&pods, Some(namespace), query, call).await.unwrap_or_default()
    }

    /// Objects of the kind that a definition defines.
    pub(crate) async fn objects_of_definition(&self, definition: &Json, call: Call<'_>) -> Vec<Json> {
        let text = |pointer: &str| definition.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        let versions = definition.pointer("/spec/versions").and_then(Json::as_array).into_iter().flatten();
        let served = versions.into_iter().find(|version| version.get("served") == Some(&Json::Bool(true)));
        let Some(version) = served.and_then(|version| version.get("name")?.as_str()) else { return Vec::new() };
        let kind = Kind {
            api_version: format!("{}/{version}", text("/spec/group")),
            kind: text("/spec/names/kind").to_owned(),
            plural: text("/spec/names/plural").to_owned(),
            namespaced: text("/spec/scope") == "Namespaced",
        };
        self.some(&kind, None, None, call).await.unwrap_or_default()
    }

    /// Objects of a resource that are left in a namespace.
    pub(crate) async fn objects_left(&self, group: &str, plural: &str, namespace: &str, call: Call<'_>) -> Vec<Json> {
        let api_version = match group {
            "" => "v1".to_owned(),
            group => {
                let Ok(Ok(found)) = self.ask(&format!("/apis/{group}"), &[], "cannot look", call).await else {
                    return Vec::new();
                };
                let preferred = found.pointer("/preferredVersion/groupVersion").and_then(Json::as_str);
                preferred.unwrap_or_default().to_owned()
            }
        };
        let kind = Kind { api_version, kind: String::new(), plural: plural.to_owned(), namespaced: true };
        self.some(&kind, Some(namespace), None, call).await.unwrap_or_default()
    }

    /// The first page of a list; `None`: it cannot be read.
    pub(crate) async fn some(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: Option<(&str, String)>,
        call: Call<'_>,
    ) -> Option<Vec<Json>> {
        let query: Vec<(&str, String)> = selector.into_iter().chain([("limit", MOST.to_string())]).collect();
        let listed = self.ask(&kind.path(namespace), &query, "cannot look", call).await.ok()?.ok()?;
        let items = listed.get("items").and_then(Json::as_array)?;
        Some(items.iter().map(|item| kind.named(item.clone())).collect())
    }
}
