//! The providers of this release: compiled in, so there is nothing to download or to trust. A test brings its own besides.

use std::sync::Arc;

use engine_plan::Providers;
use providers_api::Provider;
use providers_gpu::GpuProvider;
use providers_kubernetes::{ConnectionOverride, Environment, KubernetesProvider};
use providers_terraform::Terraform;

use crate::session::Session;

/// All of them. With `instead` those that speak to a cluster speak to that one, whatever their configuration says.
pub(crate) fn providers(session: &Session, instead: Option<ConnectionOverride>) -> Providers {
    let environment = Environment { variables: session.env.variables.clone(), directory: session.directory.clone() };
    let all: [Arc<dyn Provider>; 3] = [
        Arc::new(Terraform::new(session.directory.clone())),
        Arc::new(KubernetesProvider::new(environment.clone(), instead.clone())),
        Arc::new(GpuProvider::new(environment, instead)),
    ];
    Providers::new(all.into_iter().chain(session.env.providers.iter().cloned()))
}
