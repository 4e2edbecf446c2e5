//! What a cluster says of itself and seldom changes: asked for where what is kept of it is not what the server has now.

use http::{StatusCode, header::ETAG};
use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use super::{Cluster, cache::Cache, send::Sent};
use crate::uri::encoded;

impl Cluster {
    /// A document that the server knows by a hash: what is kept under that is right for ever, and nobody is asked.
    /// `None`: the server has another one by now, or refuses.
    ///
    /// # Errors
    /// It does not answer.
    pub(super) async fn hashed(
        &self,
        cache: &Cache,
        name: &str,
        path: &str,
        hash: &str,
        doing: &str,
        call: Call<'_>,
    ) -> Result<Option<Json>, ProviderError> {
        let kept = cache.get(name).filter(|(tag, _)| tag == hash);
        if let Some(document) = kept.and_then(|(_, body)| serde_json::from_slice(&body).ok()) {
            return Ok(Some(document));
        }
        let uri = format!("{path}?hash={}", encoded(hash));
        let answer = match self.fetch(&uri, "application/json", None, doing, call).await? {
            Ok(answer) if answer.status() == StatusCode::OK => answer,
            // A hash that is old leads to the new one: a race that is not worth a second try.
            Ok(_) | Err(_) => return Ok(None),
        };
        let document = self.parsed(answer.body(), doing)?;
        cache.put(name, hash, answer.body());
        Ok(Some(document))
    }

    /// A document of the server's, from the disk, where it has this name, if its tag is still right.
    pub(super) async fn document(
        &self,
        name: &str,
        path: &str,
        accept: &str,
        doing: &str,
        call: Call<'_>,
    ) -> Result<Sent, ProviderError> {
        let cache = self.cache().await;
        let kept = cache.as_ref().and_then(|cache| cache.get(name));
        let kept = kept.and_then(|(tag, body)| Some((tag, serde_json::from_slice::<Json>(&body).ok()?)));
        let tag = kept.as_ref().map(|(tag, _)| tag.as_str());
        let answer = match self.fetch(path, accept, tag, doing, call).await? {
            Ok(answer) => answer,
            Err(status) => return Ok(Err(status)),
        };
        if let (StatusCode::NOT_MODIFIED, Some((_, document))) = (answer.status(), kept) {
            return Ok(Ok(document));
        }
        let document = self.parsed(answer.body(), doing)?;
        let tag = answer.headers().get(ETAG).and_then(|tag| tag.to_str().ok());
        if let (Some(cache), Some(tag)) = (cache, tag) {
            cache.put(name, tag, answer.body());
        }
        Ok(Ok(document))
    }
}
