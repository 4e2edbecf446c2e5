//! The pure half of a provider.

use std::sync::Arc;

use async_trait::async_trait;
use engine_model::{
    address::{Mode, ProviderAddr},
    schema::ProviderSchemas,
};
use engine_value::Value;

use crate::{Call, Instance, Issue, ProviderError};

/// A provider: compiled in, pure but for [`Provider::configure`].
#[async_trait]
pub trait Provider: Send + Sync {
    /// Its address, as plans and states spell it.
    fn addr(&self) -> &ProviderAddr;

    /// Sources that mean it in `required_providers` besides its own address: `sliceform/kubernetes`.
    fn sources(&self) -> &[&'static str] {
        &[]
    }

    /// Everything that it has schemas for. The same on every call.
    fn schemas(&self) -> &ProviderSchemas;

    /// Checks a provider block. Unknown values are not checked.
    fn validate_provider(&self, config: &Value) -> Vec<Issue>;

    /// Checks a resource, data source or ephemeral resource against what the schema cannot say. Unknown values are not
    /// checked. Called at `validate` and before every plan of the object.
    fn validate(&self, mode: Mode, ty: &str, config: &Value) -> Vec<Issue>;

    /// The same where no instance will be asked (`validate`): so with what an instance tells better when it plans.
    fn validate_alone(&self, mode: Mode, ty: &str, config: &Value) -> Vec<Issue> {
        self.validate(mode, ty, config)
    }

    /// Types of this provider that must be planned before this one: their changes are in
    /// [`crate::PlanRequest::earlier`]. Ordering only: it makes no dependency at apply.
    fn plans_after(&self, ty: &str) -> &[&'static str] {
        let _ = ty;
        &[]
    }

    /// Do others have to know of an object of this type to be planned, where it is created or changed? (A definition, a
    /// namespace.) Such a change is shown to objects that are planned again: see [`crate::Planned::waits`].
    fn announces(&self, ty: &str, object: &Value) -> bool {
        let _ = (ty, object);
        false
    }

    /// Computed attributes that repeat an argument, as (argument, attribute): what is sensitive in the one is so in the
    /// other. Providers see no marks, so that they cannot carry them over themselves.
    fn repeats(&self, ty: &str) -> &[(&'static str, &'static str)] {
        let _ = ty;
        &[]
    }

    /// Does a change of this type come with operations on nodes? Then it is never replaced and never tainted, and
    /// `-replace` and `create_before_destroy` on it are errors.
    fn has_operations(&self, ty: &str) -> bool {
        let _ = ty;
        false
    }

    /// The local name of a provider whose default configuration in the same module serves this one too, where this one's
    /// own block gives none of the arguments that both have: `provider "gpu"` takes the connection of `provider
    /// "kubernetes"`.
    fn borrows_from(&self) -> Option<&'static str> {
        None
    }

    /// Calls one of its functions with arguments of the declared types.
    ///
    /// # Errors
    /// What is wrong, with the argument that it is about.
    fn call(&self, function: &str, arguments: &[Value]) -> Result<Value, (Option<usize>, String)> {
        let _ = arguments;
        Err((None, format!("there is no function {function:?}")))
    }

    /// Brings an object that an older version stored to the current schema. Called only where the versions differ.
    ///
    /// # Errors
    /// Why it cannot be brought over.
    fn upgrade(&self, ty: &str, version: u64, object: serde_json::Value) -> Result<serde_json::Value, String> {
        let _ = object;
        Err(format!("this release cannot read version {version} of {ty}"))
    }

    /// Makes an instance from a provider block (an object of the schema's type, all null where there is no block).
    /// Cheap: connects to nothing before the first call that needs it. The configuration may hold unknown values: then
    /// calls that need them answer [`crate::ErrorKind::Unreachable`], and the engine plans without them.
    ///
    /// # Errors
    /// The configuration cannot work.
    async fn configure(&self, config: &Value, call: Call<'_>) -> Result<Arc<dyn Instance>, ProviderError>;
}
