//! What a cluster says of itself and seldom changes: asked for where what is kept of it is not what the server has now.

use http::{StatusCode, header::ETAG};
use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use super::{Cluster, send::Sent};

impl Cluster {
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
