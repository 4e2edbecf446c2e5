//! `terraform_remote_state`: the outputs of another configuration, read from its state file; that of Terraform or ours,
//! with what its journal adds.
//!
//! Reads the backend `local` and the default workspace. Sensitive outputs stay sensitive (Terraform shows them).

use std::path::{Path as FilePath, PathBuf};

use engine_diag::chain;
use engine_model::schema::{Attribute, Block, Schema, Usage};
use engine_value::{Data, Path, Type, Value};
use providers_api::Issue;
use state::{FileStore, STATE_FILE, Store};

pub(crate) const TYPE: &str = "terraform_remote_state";

pub(crate) fn schema() -> Schema {
    let attributes = [
        ("backend", Attribute::new(Type::String, Usage::Required, "Where the state is kept: `local`.")),
        ("config", Attribute::new(Type::Dynamic, Usage::Optional, "Arguments of the backend: `path`.")),
        ("defaults", Attribute::new(Type::Dynamic, Usage::Optional, "Values of outputs that the state lacks.")),
        ("outputs", Attribute::new(Type::Dynamic, Usage::Computed, "Every output of the root module, by name.")),
        ("workspace", Attribute::new(Type::String, Usage::Optional, "The workspace: `default`.")),
    ];
    Schema { version: 0, block: Block::new(attributes, "The outputs of another configuration.") }
}

fn at(name: &str) -> Path {
    Path::root().attr(name)
}

fn bare(config: &Value, name: &str) -> Value {
    config.get(name).cloned().map_or_else(|| Value::null(Type::Dynamic), |value| value.unmark_deep().0)
}

/// What is wrong with the configuration, as far as it is known.
pub(crate) fn validate(config: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    if let Some(backend) = bare(config, "backend").as_str().filter(|backend| *backend != "local") {
        let detail = format!("There is no backend type named {backend:?} here: only \"local\" can be read.");
        issues.push(Issue::error(at("backend"), "Invalid backend configuration", detail));
    }
    let arguments = bare(config, "config");
    let invalid = |why: &str| {
        let detail = format!("The given configuration is not valid for backend \"local\": {why}.");
        Issue::error(at("config"), "Invalid backend configuration", detail)
    };
    match members(&arguments) {
        None => issues.push(invalid("an object is required")),
        Some(members) => {
            for (name, value) in members {
                if name != "path" {
                    issues.push(invalid(&format!("unexpected attribute {name:?}")));
                } else if value.is_known() && !value.is_null() && value.as_str().is_none() {
                    issues.push(invalid(".path: string required"));
                }
            }
        }
    }
    if members(&bare(config, "defaults")).is_none() {
        let detail = "Defaults must be given in an object value.";
        issues.push(Issue::error(at("defaults"), "Invalid default values", detail));
    }
    if let Some(workspace) = bare(config, "workspace").as_str().filter(|workspace| *workspace != "default") {
        let detail = format!("The workspace {workspace:?} cannot be read: this release knows the default one only.");
        issues.push(Issue::error(at("workspace"), "Unsupported workspace", detail));
    }
    issues
}

/// The members of an object or a map; none where it is null or unknown. `None`: it is something else.
fn members(value: &Value) -> Option<Vec<(&str, &Value)>> {
    match &value.data {
        Data::Object(members) | Data::Map(_, members) => {
            Some(members.iter().map(|(name, value)| (&**name, value)).collect())
        }
        Data::Null(_) | Data::Unknown(_) => Some(Vec::new()),
        _ => None,
    }
}

/// Reads the state; paths are relative to `dir`.
pub(crate) async fn read(config: &Value, dir: &FilePath) -> Result<Value, Vec<Issue>> {
    let issues = validate(config);
    if !issues.is_empty() {
        return Err(issues);
    }
    let arguments = bare(config, "config");
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or(STATE_FILE);
    let path: PathBuf = dir.join(path);
    let failed = |summary: &str, detail: String, hint: Option<String>| {
        vec![Issue { hint, ..Issue::error(at("config"), summary, detail) }]
    };
    let unreadable = |error: &dyn std::error::Error, hint| {
        failed("Unable to read remote state", format!("Reading it failed: {}.", chain(error)), hint)
    };
    let loaded = FileStore::new(path.clone()).load().await.map_err(|error| unreadable(&error, Some(error.hint())))?;
    let Some(snapshot) = loaded.fold().map_err(|error| unreadable(&error, None))? else {
        let detail = format!("No stored state was found at {}.", path.display());
        return Err(failed("Unable to find remote state", detail, None));
    };
    let defaults = bare(config, "defaults");
    let mut outputs: Vec<(&str, Value)> = members(&defaults).unwrap_or_default().into_iter().map(owned).collect();
    for (name, output) in &snapshot.outputs {
        let value = output.decoded().map_err(|error| unreadable(&error, None))?;
        outputs.push((name, value));
    }
    let part = |name| config.get(name).cloned().unwrap_or_else(|| Value::null(Type::Dynamic));
    Ok(Value::object([
        ("backend", part("backend")),
        ("config", part("config")),
        ("defaults", part("defaults")),
        ("outputs", Value::object(outputs)),
        ("workspace", part("workspace")),
    ]))
}

fn owned<'a>((name, value): (&'a str, &Value)) -> (&'a str, Value) {
    (name, value.clone())
}

#[cfg(test)]
mod tests {
    use engine_value::json;

    use super::*;

    fn config(parts: [&str; 4]) -> Value {
        let names = ["backend", "config", "defaults", "workspace"];
        let parts = names.into_iter().zip(parts).map(|(name, text)| (name, json::infer(text).unwrap()));
        Value::object(parts.chain([("outputs", Value::null(Type::Dynamic))]))
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for (parts, expected) in [
            (["\"local\"", "null", "null", "null"], vec![]),
            (["\"local\"", "{\"path\":\"a\"}", "{\"x\":1}", "\"default\""], vec![]),
            (
                ["\"s3\"", "{}", "null", "null"],
                vec!["There is no backend type named \"s3\" here: only \"local\" can be read."],
            ),
            (
                ["\"local\"", "{\"pth\":\"a\",\"path\":1}", "1", "\"w\""],
                vec![
                    "The given configuration is not valid for backend \"local\": .path: string required.",
                    "The given configuration is not valid for backend \"local\": unexpected attribute \"pth\".",
                    "Defaults must be given in an object value.",
                    "The workspace \"w\" cannot be read: this release knows the default one only.",
                ],
            ),
            (
                ["\"local\"", "\"x\"", "null", "null"],
                vec!["The given configuration is not valid for backend \"local\": an object is required."],
            ),
        ] {
            let issues = validate(&config(parts));
            assert_eq!(issues.iter().map(|issue| &*issue.detail).collect::<Vec<_>>(), expected);
        }
    }

    #[tokio::test]
    async fn outputs_are_read_over_the_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let state = r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","resources":[],"outputs":{
            "a":{"value":1,"type":"number"},"s":{"value":"secret","type":"string","sensitive":true}}}"#;
        std::fs::write(dir.path().join("o.tfstate"), state).unwrap();
        std::fs::write(dir.path().join("bad.tfstate"), "{").unwrap();
        for (path, expected) in [
            ("o.tfstate", r#"{"a":1,"s":null,"z":2}"#),
            ("none.tfstate", "Unable to find remote state"),
            ("bad.tfstate", "Unable to read remote state"),
        ] {
            let config = config(["\"local\"", &format!("{{\"path\":{path:?}}}"), "{\"a\":7,\"z\":2}", "null"]);
            let found = match read(&config, dir.path()).await {
                Ok(value) => json::known_part(value.get("outputs").unwrap(), true).unwrap().to_string(),
                Err(issues) => issues[0].summary.clone(),
            };
            assert_eq!(found, expected);
        }
    }
}
