//! The schemas that a cluster publishes: an OpenAPI document per group version, asked for when a kind of it is needed that
//! no dry run can tell about.

use std::{collections::BTreeMap, sync::Arc};

use providers_api::Call;
use serde_json::Value as Json;
use tokio::sync::Mutex;

use super::Cluster;
use crate::schema::Schema;

/// What was asked for so far.
#[derive(Default)]
pub(super) struct Schemas {
    /// By group version; `None`: there is none, or it cannot be read.
    documents: Mutex<BTreeMap<String, Option<Arc<Json>>>>,
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
        let found = self.document(&name, &path, "application/json", &doing, call).await;
        let document = found.ok().and_then(Result::ok).map(Arc::new);
        documents.insert(api_version.to_owned(), document.clone());
        document
    }
}
