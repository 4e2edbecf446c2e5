//! `sandbox exec NODE -- COMMAND`: what somebody does on a node by hand.

use kube::api::{Api, DeleteParams, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::wait::await_condition;
use serde_json::json;

use crate::cluster::{GROUP_VERSION, KIND};
use crate::error::SandboxError;
use crate::sandbox::Sandbox;

/// What a command on a node did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What it printed.
    pub stdout: String,
    /// Its exit code.
    pub code: i32,
}

/// Runs a command on a node: `nvidia-smi` with its arguments, or `reboot`. Returns when the cluster has noticed what it
/// did: the node's resources, the agent's report.
///
/// # Errors
/// The sandbox does not answer.
pub async fn exec(sandbox: &Sandbox, node: &str, command: &[String]) -> Result<Output, SandboxError> {
    let connection = sandbox.connection().connection();
    let failed = |doing: &str, error: &kube::Error| SandboxError::Api(connection.error(doing, error));
    let (group, version) = GROUP_VERSION.split_once('/').expect("a constant with a slash");
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, KIND));
    let executions: Api<DynamicObject> = Api::all_with(connection.client().await?, &resource);
    let mut execution = DynamicObject::new("", &resource).data(json!({"spec": {"node": node, "command": command}}));
    execution.metadata.name = None;
    execution.metadata.generate_name = Some("exec-".to_owned());
    let doing = format!("cannot run a command on node {node}");
    let created =
        executions.create(&PostParams::default(), &execution).await.map_err(|error| failed(&doing, &error))?;
    let name = created.metadata.name.unwrap_or_default();
    let is_done = |found: Option<&DynamicObject>| found.is_none_or(|found| found.data.get("status").is_some());
    let done = await_condition(executions.clone(), &name, is_done).await;
    let done = done.map_err(|error| SandboxError::Failed(format!("{doing}: {error}")))?;
    executions.delete(&name, &DeleteParams::default()).await.map_err(|error| failed(&doing, &error))?;
    let status = done.and_then(|done| done.data.get("status").cloned()).unwrap_or_default();
    let code = status["code"].as_i64().and_then(|code| i32::try_from(code).ok()).unwrap_or(1);
    Ok(Output { stdout: status["stdout"].as_str().unwrap_or_default().to_owned(), code })
}
