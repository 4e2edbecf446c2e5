//! Providers that we do not carry, as far as their schemas tell: enough to check a configuration, and nothing more.

use std::sync::Arc;

use async_trait::async_trait;
use engine_diag::{Diagnostic, Diagnostics};
use engine_model::{
    address::{Mode, ProviderAddr},
    schema::ProviderSchemas,
};
use engine_plan::json::schema;
use engine_value::{Value, json};
use providers_api::{Call, Instance, Issue, Provider, ProviderError};

use crate::session::{Session, failed};

/// The providers in files of schemas.
pub(crate) fn read(session: &Session, files: &[String]) -> Result<Vec<Arc<dyn Provider>>, Diagnostics> {
    let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
    let mut wrong = Diagnostics::new();
    for name in files {
        match read_one(session, name) {
            Ok(all) => providers.extend(all),
            Err(error) => wrong.push(*error),
        }
    }
    if wrong.is_empty() { Ok(providers) } else { Err(wrong) }
}

fn read_one(session: &Session, name: &str) -> Result<Vec<Arc<dyn Provider>>, Box<Diagnostic>> {
    let wrong = |error: &(dyn std::error::Error + 'static)| {
        let hint = "terraform providers schema -json writes such a file.";
        Box::new(failed(&format!("Cannot read the schemas in {name}"), error).hint(hint))
    };
    let text = std::fs::read_to_string(session.directory.join(name)).map_err(|error| wrong(&error))?;
    let json = json::read(&text).map_err(|error| wrong(&error))?;
    let all = schema::read(&json).map_err(|error| wrong(&error))?;
    Ok(all.into_iter().map(|(addr, schemas)| Arc::new(Foreign { addr, schemas }) as _).collect())
}

/// A provider of which only the schemas are there.
struct Foreign {
    addr: ProviderAddr,
    schemas: ProviderSchemas,
}

#[async_trait]
impl Provider for Foreign {
    fn addr(&self) -> &ProviderAddr {
        &self.addr
    }

    fn schemas(&self) -> &ProviderSchemas {
        &self.schemas
    }

    fn validate_provider(&self, _: &Value) -> Vec<Issue> {
        Vec::new()
    }

    fn validate(&self, _: Mode, _: &str, _: &Value) -> Vec<Issue> {
        Vec::new()
    }

    async fn configure(&self, _: &Value, _: Call<'_>) -> Result<Arc<dyn Instance>, ProviderError> {
        Err(ProviderError::permanent(format!("only the schemas of {} are here", self.addr)))
    }
}
