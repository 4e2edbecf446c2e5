//! What an operation carries from plan to apply, opaque to the engine.

use std::collections::BTreeMap;

use providers_agent_api::CardSpec;
use providers_api::ProviderError;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What is written for the agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Payload {
    /// What each card becomes, by GPU UUID.
    pub(crate) cards: BTreeMap<String, CardSpec>,
    /// Cards that are approved no longer: their pool is on its way out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) forget: Vec<String>,
    /// May a card be reset?
    pub(crate) allow_reset: bool,
}

impl Payload {
    /// As a plan keeps it.
    pub(crate) fn to_json(&self) -> Json {
        serde_json::to_value(self).expect("maps by text of plain data are always JSON")
    }

    /// From a plan.
    ///
    /// # Errors
    /// Another version made it.
    pub(crate) fn from_json(json: &Json) -> Result<Self, ProviderError> {
        serde_json::from_value(json.clone()).map_err(|error| {
            ProviderError::permanent("the plan's operation cannot be read by this version").caused_by(error)
        })
    }
}
