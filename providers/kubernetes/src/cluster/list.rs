//! Many objects at once, by as few requests as serve: a list of the whole cluster, of a namespace, or one by one.
//!
//! Of a page only what was asked for is kept, so that memory is as the objects that are wanted, not as the cluster.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::{StreamExt, stream};
use kube::core::Status;
use providers_api::{Call, ErrorKind, ProviderError};
use serde_json::Value as Json;

use super::{Cluster, discovery::Kind, send::Query};
use crate::object::key::ObjectKey;

/// Objects of a page: what kubectl asks for, and what API servers are made for.
const PAGE: usize = 500;

/// How often a list is begun anew whose version was forgotten between two pages. An API server remembers for five
/// minutes: it takes one that is very slow, or that restarts.
const BEGINNINGS: u32 = 3;

/// So many objects may be read for each that is wanted. An object more in a page is cheap, a request is not.
const READ_PER_WANTED: usize = 100;

/// Kinds, and namespaces of a kind, that are read at a time. What is under way at a time is bounded where it is sent.
const AT_ONCE: usize = 16;

/// What became of an object that was asked for.
pub(crate) type Found = Result<Option<Json>, Arc<ProviderError>>;

/// The objects of a list; `None`: it would take too many requests. `Err`: it was refused.
type Pages = Result<Option<Vec<Json>>, Box<Status>>;

/// The objects of a kind that are wanted, by namespace (none for what lies in none) and name, with their places among
/// the keys.
type Wanted<'a> = BTreeMap<Option<&'a str>, BTreeMap<&'a str, Vec<usize>>>;

impl Cluster {
    /// Lists objects of a kind, of a namespace or of all. A `limit` in the query is that of all pages.
    pub(crate) async fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        query: Query<'_>,
        call: Call<'_>,
    ) -> Result<Result<Vec<Json>, Box<Status>>, ProviderError> {
        let pages = self.pages(kind, namespace, query, &|_| true, usize::MAX, call).await?;
        Ok(pages.map(Option::unwrap_or_default))
    }

    /// Reads objects, one answer per key, in their order.
    pub(crate) async fn read(&self, keys: &[ObjectKey], call: Call<'_>) -> Vec<Found> {
        let mut kinds: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (at, key) in keys.iter().enumerate() {
            kinds.entry((key.api_version.as_str(), key.kind.as_str())).or_default().push(at);
        }
        let answers: Vec<Vec<(usize, Found)>> = stream::iter(kinds.into_values())
            .map(|group| async move { self.read_kind(keys, &group, call).await })
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let by_place: BTreeMap<usize, Found> = answers.into_iter().flatten().collect();
        by_place.into_values().collect()
    }

    /// Objects of one kind. Where it is not served any more although it was when the cluster was asked what it serves, its
    /// definition was deleted meanwhile, or serves another version: it is asked again.
    async fn read_kind(&self, keys: &[ObjectKey], group: &[usize], call: Call<'_>) -> Vec<(usize, Found)> {
        let all = |found: Found| group.iter().map(|at| (*at, found.clone())).collect();
        let mut was_asked = false;
        loop {
            let kind = match self.kind_of(&keys[group[0]], call).await {
                Ok(Some(kind)) => kind,
                // The definition is gone, and with it every object.
                Ok(None) => return all(Ok(None)),
                Err(error) => return all(Err(Arc::new(error))),
            };
            match self.read_of(&kind, keys, group, call).await {
                Ok(found) => return found,
                Err(status) if was_asked => return all(Err(Arc::new(self.refused(&cannot(&kind), status)))),
                Err(_) => self.discovery.forget(&kind.api_version).await,
            }
            was_asked = true;
        }
    }

    /// Objects of a kind that is served; `Err`: it is not.
    async fn read_of(
        &self,
        kind: &Kind,
        keys: &[ObjectKey],
        group: &[usize],
        call: Call<'_>,
    ) -> Result<Vec<(usize, Found)>, Box<Status>> {
        let all = |found: Found| Ok(group.iter().map(|at| (*at, found.clone())).collect());
        let mut wanted = Wanted::new();
        for at in group {
            let key = &keys[*at];
            wanted.entry(kind.namespace(key)).or_default().entry(key.name.as_str()).or_default().push(*at);
        }
        if wanted.len() > 1 {
            match self.read_list(kind, None, &wanted, wanted.len(), call).await {
                Ok(Ok(Some(found))) => return Ok(found),
                // Too much else is there, or this identity sees some namespaces only.
                Ok(Ok(None)) => {}
                Ok(Err(status)) if status.code == 403 => {}
                Ok(Err(status)) if status.code == 404 => return Err(status),
                Ok(Err(status)) => return all(Err(Arc::new(self.refused(&cannot(kind), status)))),
                Err(error) => return all(Err(Arc::new(error))),
            }
        }
        // Not a closure: the compiler cannot tell that one would do for every lifetime.
        let mut namespaces = Vec::with_capacity(wanted.len());
        for (namespace, names) in wanted {
            namespaces.push(self.read_namespace(kind, namespace, names, keys, call));
        }
        let found: Vec<_> = stream::iter(namespaces).buffer_unordered(AT_ONCE).collect().await;
        let found: Vec<Vec<(usize, Found)>> = found.into_iter().collect::<Result<_, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Objects of one kind in one namespace, or of a kind that lies in none. `Err`: it is not served.
    async fn read_namespace(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        names: BTreeMap<&str, Vec<usize>>,
        keys: &[ObjectKey],
        call: Call<'_>,
    ) -> Result<Vec<(usize, Found)>, Box<Status>> {
        let places: Vec<usize> = names.values().flatten().copied().collect();
        let single: Vec<usize> = names.values().filter_map(|at| at.first().copied()).collect();
        if names.len() > 1 {
            let all = |error: ProviderError| {
                let error = Arc::new(error);
                Ok(places.iter().map(|at| (*at, Err(error.clone()))).collect())
            };
            let most = names.len();
            match self.read_list(kind, namespace, &Wanted::from([(namespace, names)]), most, call).await {
                Ok(Ok(Some(found))) => return Ok(found),
                Ok(Ok(None)) => {}
                Ok(Err(status)) if status.code == 403 => call.working(format!(
                    "reading {} {} one by one: this identity may not list them",
                    places.len(),
                    kind.plural
                )),
                Ok(Err(status)) if status.code == 404 => return Err(status),
                Ok(Err(status)) => return all(self.refused(&cannot(kind), status)),
                Err(error) => return all(error),
            }
        }
        let one_by_one = stream::iter(single).map(|at| async move {
            let found = match self.get_served(kind, &keys[at], call).await {
                Ok(found) => Ok(found?),
                Err(error) => Err(Arc::new(error)),
            };
            Ok((keys[at].name.as_str(), found))
        });
        let found: Vec<Result<(&str, Found), Box<Status>>> = one_by_one.buffer_unordered(AT_ONCE).collect().await;
        let by_name: BTreeMap<&str, Found> = found.into_iter().collect::<Result<_, _>>()?;
        Ok(places.into_iter().filter_map(|at| Some((at, by_name.get(keys[at].name.as_str())?.clone()))).collect())
    }

    /// What is wanted, out of a list of at most so many requests.
    async fn read_list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        wanted: &Wanted<'_>,
        most: usize,
        call: Call<'_>,
    ) -> Result<Result<Option<Vec<(usize, Found)>>, Box<Status>>, ProviderError> {
        let count: usize = wanted.values().map(BTreeMap::len).sum();
        let most = most.min((count * READ_PER_WANTED / PAGE).max(1));
        let pages =
            self.pages(kind, namespace, &[], &|object| places(wanted, kind, object).is_some(), most, call).await?;
        let found = match pages {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(Ok(None)),
            Err(status) => return Ok(Err(status)),
        };
        let mut missing: BTreeSet<usize> = wanted.values().flat_map(BTreeMap::values).flatten().copied().collect();
        let mut answers: Vec<(usize, Found)> = Vec::with_capacity(missing.len());
        for object in found {
            for at in places(wanted, kind, &object).into_iter().flatten() {
                if missing.remove(at) {
                    answers.push((*at, Ok(Some(object.clone()))));
                }
            }
        }
        answers.extend(missing.into_iter().map(|at| (at, Ok(None))));
        Ok(Ok(Some(answers)))
    }

    /// Goes through a list page by page, all of one version of it, and keeps the objects that are wanted.
    async fn pages(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        query: Query<'_>,
        wanted: &(dyn Fn(&Json) -> bool + Sync),
        most: usize,
        call: Call<'_>,
    ) -> Result<Pages, ProviderError> {
        let place = namespace.map_or(String::new(), |namespace| format!(" in namespace {namespace}"));
        let doing = format!("{}{place}", cannot(kind));
        let limit = query.iter().find(|(name, _)| *name == "limit").and_then(|(_, text)| text.parse::<usize>().ok());
        let selectors = || query.iter().filter(|(name, _)| *name != "limit").cloned();
        for _ in 0..BEGINNINGS {
            let (mut found, mut next, mut asked) = (Vec::new(), None::<String>, 0);
            loop {
                let left = limit.map_or(PAGE, |limit| limit.saturating_sub(found.len()).min(PAGE));
                let page = selectors().chain([("limit", left.to_string())]);
                let page: Vec<(&str, String)> =
                    page.chain(next.iter().map(|token| ("continue", token.clone()))).collect();
                let mut page = match self.ask(&kind.path(namespace), &page, &doing, call).await? {
                    Ok(page) => page,
                    // The version of the list that the first pages were of is forgotten: another one, from its beginning.
                    Err(status) if status.code == 410 && next.is_some() => break,
                    Err(status) => return Ok(Err(status)),
                };
                asked += 1;
                if let Some(Json::Array(items)) = page.get_mut("items").map(Json::take) {
                    found.extend(items.into_iter().filter(wanted).map(|item| kind.named(item)));
                }
                next = text(&page, "/metadata/continue");
                let full = limit.is_some_and(|limit| found.len() >= limit);
                if next.is_none() || full {
                    return Ok(Ok(Some(found)));
                }
                // What the server does not say is a page more at least.
                let remaining = page.pointer("/metadata/remainingItemCount").and_then(Json::as_u64).unwrap_or(1);
                let remaining = usize::try_from(remaining).unwrap_or(usize::MAX).div_ceil(PAGE);
                if asked + remaining > most {
                    return Ok(Ok(None));
                }
            }
        }
        let what = format!("{doing}: the API server forgets the list before it is read, {BEGINNINGS} times");
        Err(ProviderError::new(ErrorKind::Unreachable, what)
            .hint("It is very slow, or it restarts again and again. Look at its load, and run again."))
    }
}

/// The places among the keys that an object was asked for at.
fn places<'a>(wanted: &'a Wanted<'a>, kind: &Kind, object: &'a Json) -> Option<&'a Vec<usize>> {
    let text = |pointer| object.pointer(pointer).and_then(Json::as_str);
    let namespace = if kind.namespaced { text("/metadata/namespace") } else { None };
    wanted.get(&namespace)?.get(text("/metadata/name")?)
}

fn cannot(kind: &Kind) -> String {
    format!("cannot list {}", kind.plural)
}

fn text(page: &Json, pointer: &str) -> Option<String> {
    page.pointer(pointer).and_then(Json::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}
