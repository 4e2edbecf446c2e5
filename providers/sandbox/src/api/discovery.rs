//! Discovery: which groups, versions and resources there are, in the old form and in the aggregated one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::resource::{Resource, group_version};
use super::status::Failure;

/// The version that the sandbox claims to be: that of the schemas.
pub(super) fn version() -> Value {
    json!({
        "major": "1", "minor": "37", "gitVersion": "v1.37.0-sliceform-sandbox", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc", "platform": std::env::consts::OS,
    })
}

/// The aggregated form that the client accepts, if any: `v2` or `v2beta1`.
pub(super) fn aggregated(accept: &str) -> Option<&'static str> {
    let mut parts = accept.split(',').filter(|part| part.contains("as=APIGroupDiscoveryList"));
    parts.find_map(|part| {
        let has = |version: &str| part.split(';').any(|parameter| parameter.trim() == format!("v={version}"));
        ["v2", "v2beta1"].into_iter().find(|version| has(version))
    })
}

/// `/api`
pub(super) fn core_versions(address: &str) -> Value {
    let by_address = json!([{"clientCIDR": "0.0.0.0/0", "serverAddress": address}]);
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": by_address})
}

/// The resources by group, and in each group by version.
type Groups<'r> = BTreeMap<&'r str, Vec<(&'r str, Vec<&'r Arc<Resource>>)>>;

/// Group and version of aggregated APIs that do not answer.
type Stale = BTreeSet<(String, String)>;

fn groups<'r>(resources: &'r [Arc<Resource>], stale: &'r Stale) -> Groups<'r> {
    let mut groups: Groups<'_> = BTreeMap::new();
    for (group, version) in stale {
        groups.entry(group).or_default().push((version, Vec::new()));
    }
    for resource in resources {
        let versions = groups.entry(&resource.group).or_default();
        match versions.iter_mut().find(|(version, _)| *version == resource.version) {
            Some((_, list)) => list.push(resource),
            None => versions.push((&resource.version, vec![resource])),
        }
    }
    for versions in groups.values_mut() {
        versions.sort_by_key(|(version, _)| std::cmp::Reverse(priority(version)));
    }
    groups
}

/// Stable versions come before beta, beta before alpha; larger numbers before smaller.
fn priority(version: &str) -> (u8, u64, u64) {
    let number = |text: &str| text.parse().unwrap_or(0);
    let Some(rest) = version.strip_prefix('v') else { return (0, 0, 0) };
    for (stage, rank) in [("alpha", 1), ("beta", 2)] {
        if let Some((major, minor)) = rest.split_once(stage) {
            return (rank, number(major), number(minor));
        }
    }
    (3, number(rest), 0)
}

/// `/apis`
pub(super) fn group_list(resources: &[Arc<Resource>], stale: &Stale) -> Value {
    let groups: Vec<Value> = groups(resources, stale)
        .iter()
        .filter(|(name, _)| !name.is_empty())
        .map(|(name, versions)| group_json(name, versions))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`
pub(super) fn group(resources: &[Arc<Resource>], name: &str, stale: &Stale) -> Result<Value, Failure> {
    let groups = groups(resources, stale);
    let versions = groups.get(name).filter(|_| !name.is_empty());
    let versions = versions.ok_or_else(|| Failure::no_such_path(&format!("the sandbox has no API group {name:?}")))?;
    let mut group = group_json(name, versions);
    group["kind"] = "APIGroup".into();
    group["apiVersion"] = "v1".into();
    Ok(group)
}

fn group_json(name: &str, versions: &[(&str, Vec<&Arc<Resource>>)]) -> Value {
    let list: Vec<Value> = versions
        .iter()
        .map(|(version, _)| json!({"groupVersion": group_version(name, version), "version": version}))
        .collect();
    json!({"name": name, "versions": list, "preferredVersion": list.first()})
}

/// `/api/v1`, `/apis/GROUP/VERSION`
pub(super) fn resource_list(resources: &[Arc<Resource>], group: &str, version: &str) -> Result<Value, Failure> {
    let mut list = Vec::new();
    for resource in resources.iter().filter(|resource| resource.group == group && resource.version == version) {
        list.push(json!({
            "name": resource.plural, "singularName": resource.singular, "namespaced": resource.namespaced,
            "kind": resource.kind, "verbs": resource.verbs(), "shortNames": resource.short_names, "categories": resource.categories,
            "storageVersionHash": "",
        }));
        for part in resource.subresources() {
            let mut entry = json!({
                "name": format!("{}/{}", resource.plural, part.name), "singularName": "",
                "namespaced": resource.namespaced, "kind": resource.kind, "verbs": part.verbs,
            });
            if let Some((group, version, kind)) = part.body {
                entry["group"] = group.into();
                entry["version"] = version.into();
                entry["kind"] = kind.into();
            }
            list.push(entry);
        }
    }
    let name = group_version(group, version);
    if list.is_empty() {
        return Err(Failure::no_such_path(&format!("the sandbox serves nothing in {name}")));
    }
    Ok(json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": list}))
}

/// The aggregated form, of the core group (`/api`) or of all others (`/apis`).
pub(super) fn aggregate(resources: &[Arc<Resource>], core: bool, form: &str, stale: &Stale) -> Value {
    let items: Vec<Value> = groups(resources, stale)
        .iter()
        .filter(|(name, _)| name.is_empty() == core)
        .map(|(name, versions)| {
            let versions: Vec<Value> = versions
                .iter()
                .map(|(version, resources)| {
                    let resources: Vec<Value> =
                        resources.iter().map(|resource| aggregated_resource(resource)).collect();
                    // An API that does not answer is listed with what it last said of itself.
                    let is_stale = stale.contains(&((*name).to_owned(), (*version).to_owned()));
                    let freshness = if is_stale { "Stale" } else { "Current" };
                    json!({"version": version, "freshness": freshness, "resources": resources})
                })
                .collect();
            let metadata = if name.is_empty() { json!({}) } else { json!({"name": name}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{form}"), "metadata": {}, "items": items,
    })
}

fn aggregated_resource(resource: &Resource) -> Value {
    let kind = |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let own = kind(&resource.group, &resource.version, &resource.kind);
    let parts: Vec<Value> = resource
        .subresources()
        .iter()
        .map(|part| {
            let body = part.body.map_or_else(|| own.clone(), |(group, version, name)| kind(group, version, name));
            json!({"subresource": part.name, "responseKind": body, "verbs": part.verbs})
        })
        .collect();
    json!({
        "resource": resource.plural, "singularResource": resource.singular, "responseKind": own,
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "verbs": resource.verbs(), "shortNames": resource.short_names, "categories": resource.categories, "subresources": parts,
    })
}
