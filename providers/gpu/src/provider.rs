//! Provider `gpu`: its schemas and its checks. Speaks to nobody.

use std::sync::Arc;

use async_trait::async_trait;
use engine_model::{
    address::{Mode, ProviderAddr},
    schema::ProviderSchemas,
};
use engine_value::Value;
use providers_api::{Call, Instance, Issue, Provider, ProviderError};
use providers_kubernetes::{Connection, ConnectionOverride, ConnectionSettings, Environment};

use crate::{cluster::Cluster, data, instance::GpuInstance, pool, provider_block, quota};

/// Provider `gpu`.
pub struct GpuProvider {
    addr: ProviderAddr,
    schemas: ProviderSchemas,
    environment: Environment,
    replacement: Option<ConnectionOverride>,
}

impl GpuProvider {
    /// The provider. `environment` is where provider blocks look for what they do not say; `replacement` takes the place
    /// of every configured connection (the sandbox).
    pub fn new(environment: Environment, replacement: Option<ConnectionOverride>) -> Self {
        let resources = [(pool::TYPE, pool::schema()), (quota::TYPE, quota::schema())];
        let schemas = ProviderSchemas {
            provider: provider_block::schema(),
            resources: resources.into_iter().map(|(name, schema)| (name.into(), schema)).collect(),
            data: data::schemas(),
            ..ProviderSchemas::default()
        };
        let addr = ProviderAddr::new("registry.terraform.io", "sliceform", "gpu");
        Self { addr, schemas, environment, replacement }
    }
}

#[async_trait]
impl Provider for GpuProvider {
    fn addr(&self) -> &ProviderAddr {
        &self.addr
    }

    fn schemas(&self) -> &ProviderSchemas {
        &self.schemas
    }

    fn validate_provider(&self, config: &Value) -> Vec<Issue> {
        let mut issues = Vec::new();
        provider_block::policy(config, &mut issues);
        issues
    }

    fn validate(&self, mode: Mode, ty: &str, config: &Value) -> Vec<Issue> {
        match (mode, ty) {
            (Mode::Managed, pool::TYPE) => pool::check(config),
            (Mode::Managed, quota::TYPE) => quota::check(config),
            _ => Vec::new(),
        }
    }

    fn plans_after(&self, ty: &str) -> &[&'static str] {
        if ty == quota::TYPE { &[pool::TYPE] } else { &[] }
    }

    fn borrows_from(&self) -> Option<&'static str> {
        Some("kubernetes")
    }

    fn has_operations(&self, ty: &str) -> bool {
        ty == pool::TYPE
    }

    async fn configure(&self, config: &Value, _: Call<'_>) -> Result<Arc<dyn Instance>, ProviderError> {
        let connection = match (&self.replacement, ConnectionSettings::from_config(config)) {
            (Some(replacement), _) => replacement.connection(),
            (None, Ok(settings)) => Connection::new(settings, self.environment.clone()),
            (None, Err(unknown)) => Connection::unknown(unknown),
        };
        let mut issues = Vec::new();
        let policy = provider_block::policy(config, &mut issues);
        if let Some(issue) = issues.first() {
            return Err(ProviderError::permanent(format!("{}: {}", issue.summary, issue.detail)));
        }
        Ok(Arc::new(GpuInstance::new(self.addr.clone(), Cluster::new(connection), policy)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_whole() {
        let provider = GpuProvider::new(Environment::default(), None);
        for ty in [pool::TYPE, quota::TYPE] {
            let schema = provider.schemas().get(Mode::Managed, ty).unwrap();
            assert!(schema.block.attributes.contains_key("id"), "{ty} has no id");
            for (name, attribute) in &schema.block.attributes {
                assert!(!attribute.description.is_empty(), "{ty}.{name} is not described");
            }
        }
        assert_eq!(provider.plans_after(quota::TYPE), [pool::TYPE]);
        assert!(provider.has_operations(pool::TYPE) && !provider.has_operations(quota::TYPE));
    }
}
