//! The schemas that a cluster publishes: an OpenAPI document per group version, asked for when a kind of it is needed that
//! no dry run can tell about. The list of the documents has the hash of each, by which it is kept on disk.

use std::{collections::BTreeMap, sync::Arc};

use providers_api::Call;
use serde_json::Value as Json;
use tokio::sync::{Mutex, OnceCell};

use super::Cluster;
use crate::schema::Schema;

/// What was asked for so far.
#[derive(Default)]
pub(super) struct Schemas {
    /// By group version; `None`: there is none, or it cannot be read.
    documents: Mutex<BTreeMap<String, Option<Arc<Json>>>>,
    /// The hash of each document, by its path below `/openapi/v3`.
    hashes: OnceCell<BTreeMap<String, String>>,
    /// By group version and kind.
    kinds: Mutex<BTreeMap<(String, String), Option<Schema>>>,
}

impl Cluster {
    /// The schema that the cluster publishes of a kind. `None`: none, or it cannot be asked: then there is only less to be
    /// told before the object is applied.
    pub(crate) async fn schema(&self, api_version: &str, kind: &str, call: Call<'_>) -> Option<Schema> {
        let name = (api_version.to_owned(), kind.to_owned());
        // Held while asking, so that many objects of one kind ask once.
        let mut kinds = self.schemas.kinds.lock().await;
        if let Some(known) = kinds.get(&name) {
            return known.clone();
        }
        let document = self.openapi(api_version, call).await;
        let schema = document.and_then(|document| Schema::of_openapi(&document, api_version, kind));
        kinds.insert(name, schema.clone());
        schema
    }

    async fn openapi(&self, api_version: &str, call: Call<'_>) -> Option<Arc<Json>> {
        let mut documents = self.schemas.documents.lock().await;
        if let Some(known) = documents.get(api_version) {
            return known.clone();
        }
        let root = if api_version.contains('/') { "apis" } else { "api" };
        let doing = format!("cannot read the schemas of {api_version}");
        let name = format!("openapi/{root}/{api_version}");
        let path = format!("/openapi/v3/{root}/{api_version}");
        let document = match self.openapi_by_hash(&format!("{root}/{api_version}"), &name, &path, &doing, call).await {
            Some(document) => Some(document),
            None => self.document(&name, &path, "application/json", &doing, call).await.ok().and_then(Result::ok),
        };
        let document = document.map(Arc::new);
        documents.insert(api_version.to_owned(), document.clone());
        document
    }

    /// A document by its hash; `None`: there is no place to keep it, or its hash is not known.
    async fn openapi_by_hash(&self, below: &str, name: &str, path: &str, doing: &str, call: Call<'_>) -> Option<Json> {
        let cache = self.cache().await?;
        let hashes = self.schemas.hashes.get_or_init(|| self.openapi_hashes(call)).await;
        self.hashed(&cache, name, path, hashes.get(below)?, doing, call).await.ok()?
    }

    /// The list of the documents; empty where it cannot be read.
    async fn openapi_hashes(&self, call: Call<'_>) -> BTreeMap<String, String> {
        let doing = "cannot read which schemas the cluster has";
        let list = self.document("openapi", "/openapi/v3", "application/json", doing, call).await;
        let Ok(Ok(list)) = list else { return BTreeMap::new() };
        let paths = list.get("paths").and_then(Json::as_object).into_iter().flatten();
        let hash = |entry: &Json| {
            let (_, query) = entry.get("serverRelativeURL")?.as_str()?.split_once('?')?;
            query.split('&').find_map(|pair| pair.strip_prefix("hash=")).map(str::to_owned)
        };
        paths.filter_map(|(path, entry)| Some((path.clone(), hash(entry)?))).collect()
    }
}
