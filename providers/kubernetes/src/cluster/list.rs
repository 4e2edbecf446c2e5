//! Many objects at once: one list per kind and namespace.

use std::{collections::BTreeMap, sync::Arc};

use futures::{StreamExt, stream};
use providers_api::{Call, ProviderError};
use serde_json::Value as Json;

use super::{Cluster, discovery::Kind};
use crate::object::key::ObjectKey;

/// Lists under way at a time: enough to hide the latency, few enough not to be throttled.
const AT_ONCE: usize = 8;

/// What became of an object that was asked for.
pub(crate) type Found = Result<Option<Json>, Arc<ProviderError>>;

impl Cluster {
    /// Reads objects, one answer per key, in their order. Two or more of a kind in a namespace are read by one list; where
    /// lists are not allowed, one by one.
    pub(crate) async fn read(&self, keys: &[ObjectKey], call: Call<'_>) -> Vec<Found> {
        let mut groups: BTreeMap<(&str, &str, Option<&str>), Vec<usize>> = BTreeMap::new();
        for (at, key) in keys.iter().enumerate() {
            let group = (key.api_version.as_str(), key.kind.as_str(), key.namespace.as_deref());
            groups.entry(group).or_default().push(at);
        }
        let groups: Vec<Vec<usize>> = groups.into_values().collect();
        let answers: Vec<Vec<(usize, Found)>> = stream::iter(groups)
            .map(|group| async move {
                match self.read_group(keys, &group, call).await {
                    Ok(found) => group.into_iter().zip(found.into_iter().map(Ok)).collect(),
                    Err(error) => {
                        let error = Arc::new(error);
                        group.into_iter().map(|at| (at, Err(error.clone()))).collect()
                    }
                }
            })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let by_place: BTreeMap<usize, Found> = answers.into_iter().flatten().collect();
        by_place.into_values().collect()
    }

    /// Objects of one kind in one namespace.
    async fn read_group(
        &self,
        keys: &[ObjectKey],
        group: &[usize],
        call: Call<'_>,
    ) -> Result<Vec<Option<Json>>, ProviderError> {
        let first = &keys[group[0]];
        let Some(kind) = self.kind_of(first, call).await? else {
            // The definition is gone, and with it every object.
            return Ok(vec![None; group.len()]);
        };
        if group.len() > 1
            && let Some(found) = self.read_list(&kind, keys, group, call).await?
        {
            return Ok(found);
        }
        let mut found = Vec::with_capacity(group.len());
        for at in group {
            found.push(self.get(&kind, &keys[*at], call).await?);
        }
        Ok(found)
    }

    /// `None`: lists are not allowed.
    async fn read_list(
        &self,
        kind: &Kind,
        keys: &[ObjectKey],
        group: &[usize],
        call: Call<'_>,
    ) -> Result<Option<Vec<Option<Json>>>, ProviderError> {
        let items = match self.list(kind, kind.namespace(&keys[group[0]]), &[], call).await? {
            Ok(items) => items,
            Err(status) if status.code == 403 => return Ok(None),
            Err(status) => return Err(self.refused(&format!("cannot list {}", kind.plural), status)),
        };
        let mut by_name: BTreeMap<String, Json> = BTreeMap::new();
        for item in items {
            if let Some(name) = item.pointer("/metadata/name").and_then(Json::as_str) {
                by_name.insert(name.to_owned(), item);
            }
        }
        Ok(Some(group.iter().map(|at| by_name.get(&keys[*at].name).cloned()).collect()))
    }
}
