//! The provider: schemas, checks, and how instances are made. Dispatches by type, and does nothing else.

use std::sync::Arc;

use async_trait::async_trait;
use engine_diag::Severity;
use engine_model::{
    address::{Mode, ProviderAddr},
    schema::{Attribute, Block, NestedBlock, Nesting, ProviderSchemas, Schema, Usage},
};
use engine_value::{Path, Type, Value};
use providers_api::{Call, Instance, Issue, Provider, ProviderError};

use crate::{
    Connection, ConnectionOverride, ConnectionSettings, Environment, chart, connection_attributes, connection_blocks,
    data, functions,
    instance::{KubernetesInstance, announced_by},
    resource::{
        manifest,
        typed::{self, Typed},
    },
};

/// `registry.terraform.io/hashicorp/kubernetes`, which is ours here.
pub struct KubernetesProvider {
    addr: ProviderAddr,
    schemas: ProviderSchemas,
    environment: Environment,
    instead: Option<ConnectionOverride>,
}

impl KubernetesProvider {
    /// A provider that looks for what its block leaves out in this environment. `instead`: the cluster that takes the
    /// place of every configured one.
    pub fn new(environment: Environment, instead: Option<ConnectionOverride>) -> Self {
        let addr = ProviderAddr::new("registry.terraform.io", "hashicorp", "kubernetes");
        Self { addr, schemas: schemas(), environment, instead }
    }
}

/// Arguments of HashiCorp's provider that are not honoured, and what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("ignore_annotations", "Remove it: annotations that the configuration does not name are never compared."),
    ("ignore_labels", "Remove it: labels that the configuration does not name are never compared."),
];

fn schemas() -> ProviderSchemas {
    let optional = |ty: Type, description: &str| Attribute::new(ty, Usage::Optional, description);
    let mut block = Block { attributes: connection_attributes(), blocks: connection_blocks(), ..Block::default() };
    block.description = "A Kubernetes cluster. What is not set here is taken from the environment.".to_owned();
    for (name, instead) in REFUSED {
        let ty = Type::list(Type::String);
        block.attributes.insert((*name).into(), optional(ty, &format!("Refused when set. {instead}")));
    }
    let experiments =
        Block::new([("manifest_resource", optional(Type::Bool, "Always on."))], "Accepted, without effect.");
    block = block.with_block(
        "experiments",
        NestedBlock { nesting: Nesting::List, block: experiments, min_items: 0, max_items: 1 },
    );
    ProviderSchemas {
        provider: Schema { version: 0, block },
        resources: Typed::schemas()
            .chain([(manifest::TYPE, manifest::schema())])
            .map(|(ty, schema)| (ty.into(), schema))
            .collect(),
        data: typed::data::schemas()
            .chain([(data::RESOURCE, data::resource_schema()), (data::RESOURCES, data::resources_schema())])
            .chain([(chart::TEMPLATE, chart::schema())])
            .map(|(ty, schema)| (ty.into(), schema))
            .collect(),
        functions: functions::signatures(),
        ..ProviderSchemas::default()
    }
}

#[async_trait]
impl Provider for KubernetesProvider {
    fn addr(&self) -> &ProviderAddr {
        &self.addr
    }

    fn sources(&self) -> &[&'static str] {
        &["hashicorp/kubernetes", "sliceform/kubernetes"]
    }

    fn schemas(&self) -> &ProviderSchemas {
        &self.schemas
    }

    fn validate_provider(&self, config: &Value) -> Vec<Issue> {
        let is_set = |name: &str| config.get(name).is_some_and(|value| value.is_known() && !value.is_null());
        let mut issues: Vec<Issue> = REFUSED
            .iter()
            .filter(|(name, _)| is_set(name))
            .map(|(name, instead)| {
                let detail = format!("`{name}` is not supported.");
                Issue::error(Path::root().attr(*name), "Unsupported argument", detail).hint(*instead)
            })
            .collect();
        if is_set("config_path") && is_set("config_paths") {
            let detail = "`config_path` and `config_paths` say the same.";
            issues.push(
                Issue::error(Path::root().attr("config_paths"), "Conflicting arguments", detail)
                    .hint("Set one of them."),
            );
        }
        for (one, other) in [("client_certificate", "client_key"), ("client_key", "client_certificate")] {
            let is_missing = config.get(other).is_none_or(Value::is_null);
            if is_set(one) && is_missing && !self.environment.variables.contains_key("KUBE_CLIENT_KEY_DATA") {
                let detail = format!("`{one}` is set and `{other}` is not.");
                issues.push(Issue::error(Path::root().attr(one), "Incomplete credentials", detail).hint("Set both."));
            }
        }
        issues
    }

    fn validate(&self, mode: Mode, ty: &str, config: &Value) -> Vec<Issue> {
        match (mode, ty) {
            (Mode::Data, chart::TEMPLATE) => chart::validate(config),
            (Mode::Managed, manifest::TYPE) => manifest::validate(config),
            (Mode::Managed, ty) => Typed::of(ty).map(|typed| typed.validate(config)).unwrap_or_default(),
            (Mode::Data, ty) => typed::data::validate(ty, config),
            (Mode::Ephemeral, _) => Vec::new(),
        }
    }

    fn validate_alone(&self, mode: Mode, ty: &str, config: &Value) -> Vec<Issue> {
        let issues = self.validate(mode, ty, config);
        match (mode, ty) {
            _ if issues.iter().any(|issue| issue.severity == Severity::Error) => issues,
            (Mode::Managed, manifest::TYPE) => issues.into_iter().chain(manifest::validate_alone(config)).collect(),
            (Mode::Managed, ty) => {
                let typed = Typed::of(ty).map(|typed| typed.validate_alone(config)).unwrap_or_default();
                issues.into_iter().chain(typed).collect()
            }
            _ => issues,
        }
    }

    fn announces(&self, ty: &str, object: &Value) -> bool {
        announced_by(ty, object).is_some()
    }

    fn repeats(&self, ty: &str) -> &[(&'static str, &'static str)] {
        if ty == manifest::TYPE { &[("manifest", "object")] } else { &[] }
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, (Option<usize>, String)> {
        functions::call(function, arguments)
    }

    async fn configure(&self, config: &Value, _: Call<'_>) -> Result<Arc<dyn Instance>, ProviderError> {
        let connection = match (&self.instead, ConnectionSettings::from_config(config)) {
            (Some(instead), _) => instead.connection(),
            (None, Ok(settings)) => Connection::new(settings, self.environment.clone()),
            (None, Err(unknown)) => Connection::unknown(unknown),
        };
        Ok(Arc::new(KubernetesInstance::new(Arc::new(connection), self.environment.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_attribute_is_also_a_block_and_every_type_is_whole() {
        let schemas = schemas();
        let all = schemas.resources.values().chain(schemas.data.values()).chain([&schemas.provider]);
        for schema in all {
            assert!(schema.block.blocks.keys().all(|name| !schema.block.attributes.contains_key(name)));
            assert!(schema.block.value_type().attributes().is_some_and(|attributes| !attributes.is_empty()));
        }
    }

    #[test]
    fn what_is_not_honoured_is_refused() {
        let provider = KubernetesProvider::new(Environment::default(), None);
        for (name, value, expected) in [
            ("host", Value::from("https://a"), None),
            ("ignore_labels", Value::tuple([Value::from("a")]), Some("`ignore_labels` is not supported.")),
            ("ignore_labels", Value::unknown(Type::list(Type::String)), None),
            ("client_key", Value::from("x"), Some("`client_key` is set and `client_certificate` is not.")),
        ] {
            let issues = provider.validate_provider(&Value::object([(name, value)]));
            assert_eq!(issues.first().map(|issue| issue.detail.as_str()), expected, "{name}");
            assert!(issues.iter().all(|issue| issue.hint.is_some()));
        }
    }
}
