//! The providers of this release: compiled in, so there is nothing to download or to trust. A test brings its own besides.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use engine_plan::Providers;
use providers_api::Provider;
use providers_gpu::GpuProvider;
use providers_kubernetes::{ConnectionOverride, Environment, KubernetesProvider};
use providers_terraform::Terraform;

use crate::session::Session;

/// All of them. With `instead` those that speak to a cluster speak to that one, whatever their configuration says.
pub(crate) fn providers(session: &Session, instead: Option<ConnectionOverride>) -> Providers {
    let environment = Environment {
        variables: session.env.variables.clone(),
        directory: session.directory.clone(),
        cache: cache(&session.env.variables),
    };
    let all: [Arc<dyn Provider>; 3] = [
        Arc::new(Terraform::new(session.directory.clone())),
        Arc::new(KubernetesProvider::new(environment.clone(), instead.clone())),
        Arc::new(GpuProvider::new(environment, instead)),
    ];
    Providers::new(all.into_iter().chain(session.env.providers.iter().cloned()))
}

/// Where what clusters say of their kinds is kept from run to run: `KUBECACHEDIR`, which kubectl reads, else the user's
/// cache folder. Both are shared by all configurations, and what lies there can be removed at any time.
fn cache(variables: &BTreeMap<String, String>) -> Option<PathBuf> {
    let folder = |name: &str| variables.get(name).filter(|text| !text.is_empty()).map(PathBuf::from);
    let user = || Some(folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?.join("sliceform"));
    let folder = match folder("KUBECACHEDIR") {
        Some(kubectl) => kubectl.join("sliceform"),
        None => user()?.join("kubernetes"),
    };
    // One that is relative would be another in each folder.
    folder.is_absolute().then_some(folder)
}
