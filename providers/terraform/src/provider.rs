//! The provider: it has no configuration, and no world to speak to.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use engine_model::{
    address::{Mode, ProviderAddr},
    schema::{ProviderSchemas, Schema},
};
use engine_value::Value;
use providers_api::{
    Applied, ApplyRequest, Call, DataRequest, Imported, Instance, Issue, Outcome, PlanRequest, Planned, Provider,
    ProviderError, ReadAnswer, ReadObject, ReadRequest,
};

use crate::{functions, remote_state, terraform_data};

/// `terraform.io/builtin/terraform`.
#[derive(Debug)]
pub struct Terraform {
    addr: ProviderAddr,
    schemas: ProviderSchemas,
    dir: PathBuf,
}

impl Terraform {
    /// Other states are looked for relative to this directory: the one that the run is in.
    pub fn new(dir: PathBuf) -> Self {
        let resources = BTreeMap::from([(Arc::from(terraform_data::TYPE), terraform_data::schema())]);
        let data = BTreeMap::from([(Arc::from(remote_state::TYPE), remote_state::schema())]);
        Self {
            addr: ProviderAddr::new("terraform.io", "builtin", "terraform"),
            schemas: ProviderSchemas {
                provider: Schema::default(),
                resources,
                data,
                functions: functions::signatures(),
                ..ProviderSchemas::default()
            },
            dir,
        }
    }
}

#[async_trait]
impl Provider for Terraform {
    fn addr(&self) -> &ProviderAddr {
        &self.addr
    }

    fn schemas(&self) -> &ProviderSchemas {
        &self.schemas
    }

    /// Terraform shows a sensitive input in clear as the output; we promise that secrets are never shown.
    fn repeats(&self, ty: &str) -> &[(&'static str, &'static str)] {
        if ty == terraform_data::TYPE { &[("input", "output")] } else { &[] }
    }

    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, (Option<usize>, String)> {
        functions::call(function, arguments)
    }

    fn validate_provider(&self, _: &Value) -> Vec<Issue> {
        Vec::new()
    }

    fn validate(&self, mode: Mode, _: &str, config: &Value) -> Vec<Issue> {
        match mode {
            Mode::Data => remote_state::validate(config),
            Mode::Managed | Mode::Ephemeral => Vec::new(),
        }
    }

    async fn configure(&self, _: &Value, _: Call<'_>) -> Result<Arc<dyn Instance>, ProviderError> {
        Ok(Arc::new(BuiltIn { dir: self.dir.clone() }))
    }
}

/// Objects live in the state alone.
struct BuiltIn {
    dir: PathBuf,
}

#[async_trait]
impl Instance for BuiltIn {
    async fn read(&self, requests: Vec<ReadRequest>, _: Call<'_>) -> Vec<ReadAnswer> {
        let same = |ReadRequest { object, private, .. }| ReadObject { object, private, notes: Vec::new() };
        requests.into_iter().map(|request| ReadAnswer::Object(same(request))).collect()
    }

    async fn plan(&self, request: PlanRequest, _: Call<'_>) -> Result<Planned, Vec<Issue>> {
        Ok(terraform_data::plan(&request.prior, &request.config))
    }

    async fn apply(&self, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
        match terraform_data::apply(&request.change.after, call.host) {
            Some(object) => Outcome::done(Applied { object, private: Vec::new() }),
            None => Outcome::gone(),
        }
    }

    async fn import(&self, ty: &str, id: &str, _: Call<'_>) -> Result<Imported, ProviderError> {
        Ok(Imported::new(ty, terraform_data::imported(id), Vec::new()))
    }

    async fn data(&self, request: DataRequest, _: Call<'_>) -> Result<Value, Vec<Issue>> {
        remote_state::read(&request.config, &self.dir).await
    }
}
