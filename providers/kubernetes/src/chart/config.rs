//! What a block says, and what is wrong with it that can be told without Helm.

use std::time::Duration;

use engine_value::{Path, Value};
use providers_api::Issue;
use serde_json::{Map, Value as Json};

use super::values::{merge, set, typed};
use crate::yaml::documents;

/// What a block says.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) name: String,
    pub(super) chart: String,
    pub(super) repository: Option<String>,
    pub(super) username: Option<String>,
    pub(super) password: Option<String>,
    pub(super) ca_file: Option<String>,
    pub(super) plain_http: bool,
    pub(super) version: Option<String>,
    pub(super) devel: bool,
    pub(super) namespace: String,
    /// All values, merged.
    pub(super) values: Json,
    /// Texts that are never shown.
    pub(super) secrets: Vec<String>,
    pub(super) include_crds: bool,
    pub(super) skip_tests: bool,
    pub(super) show_only: Vec<String>,
    pub(super) kube_version: Option<String>,
    pub(super) api_versions: Vec<String>,
    pub(super) is_upgrade: bool,
    pub(super) dependency_update: bool,
    pub(super) timeout: Duration,
}

/// How the URLs of charts in registries begin.
pub(super) const OCI: &str = "oci://";

/// As long as Helm waits.
const TIMEOUT: f64 = 300.0;

impl Config {
    /// Reads a block that is wholly known.
    pub(super) fn of(object: &Value) -> Result<Self, Vec<Issue>> {
        let text = |name: &str| object.get(name).and_then(Value::as_str).filter(|t| !t.is_empty()).map(str::to_owned);
        let flag = |name: &str, default: bool| object.get(name).and_then(Value::as_bool).unwrap_or(default);
        let texts = |name: &str| {
            let all = object.get(name).and_then(Value::as_sequence).unwrap_or_default();
            all.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        let (values, secrets) = values(object)?;
        let seconds = object.get("timeout").and_then(Value::as_number).map_or(TIMEOUT, |n| n.to_f64());
        let password = text("repository_password");
        Ok(Self {
            name: text("name").unwrap_or_default(),
            chart: text("chart").unwrap_or_default(),
            repository: text("repository"),
            username: text("repository_username"),
            ca_file: text("repository_ca_file"),
            plain_http: flag("repository_plain_http", false),
            version: text("version"),
            devel: flag("devel", false),
            namespace: text("namespace").unwrap_or_else(|| "default".to_owned()),
            values,
            secrets: secrets.into_iter().chain(password.clone()).collect(),
            password,
            include_crds: flag("include_crds", false),
            skip_tests: flag("skip_tests", true),
            show_only: texts("show_only"),
            kube_version: text("kube_version"),
            api_versions: texts("api_versions"),
            is_upgrade: flag("is_upgrade", false),
            dependency_update: flag("dependency_update", false),
            timeout: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs_f64(TIMEOUT)),
        })
    }
}

fn blocks<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    object.get(name).and_then(Value::as_sequence).unwrap_or_default()
}

/// All values merged, and the texts of those that are never shown.
fn values(object: &Value) -> Result<(Json, Vec<String>), Vec<Issue>> {
    let mut merged = Json::Object(Map::new());
    let mut issues = Vec::new();
    for (at, text) in blocks(object, "values").iter().enumerate() {
        match text.as_str().map_or(Ok(Json::Null), yaml) {
            Ok(Json::Null) => {}
            Ok(values @ Json::Object(_)) => merge(&mut merged, values),
            Ok(_) => issues.push(wrong_values(at, "It is no map of values.")),
            Err(why) => issues.push(wrong_values(at, &format!("It cannot be read: {why}."))),
        }
    }
    let mut secrets = Vec::new();
    for name in ["set", "set_list", "set_sensitive"] {
        for (at, one) in blocks(object, name).iter().enumerate() {
            let Some(key) = one.get("name").and_then(Value::as_str) else { continue };
            let text = one.get("value").and_then(Value::as_str).unwrap_or_default();
            let value = match (name, one.get("type").and_then(Value::as_str)) {
                ("set_list", _) => {
                    let items = one.get("value").and_then(Value::as_sequence).unwrap_or_default();
                    Json::Array(items.iter().filter_map(Value::as_str).map(Json::from).collect())
                }
                ("set_sensitive", _) => {
                    secrets.push(text.to_owned());
                    text.into()
                }
                (_, Some("string")) => text.into(),
                _ => typed(text),
            };
            if let Err(why) = set(&mut merged, key, value) {
                let path = Path::root().attr(name).index(at).attr("name");
                issues.push(Issue::error(path, "Invalid name of a value", why).hint("Write it as a.b[0].c."));
            }
        }
    }
    if issues.is_empty() { Ok((merged, secrets)) } else { Err(issues) }
}

fn wrong_values(at: usize, why: &str) -> Issue {
    Issue::error(Path::root().attr("values").index(at), "Invalid values", why)
        .hint("Write each as one YAML document, for example with yamlencode({ … }) or file(\"values.yaml\").")
}

/// One document; what is wrong with it never repeats a value.
fn yaml(text: &str) -> Result<Json, String> {
    let mut documents = documents(text).map_err(|error| error.to_string())?;
    match documents.len() {
        0 => Ok(Json::Null),
        1 => Ok(documents.swap_remove(0).body),
        many => Err(format!("it has {many} documents")),
    }
}

/// What is set of how to speak to a repository, and is of no use to it.
fn wrong_credentials(object: &Value) -> Vec<Issue> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let is_set = |name: &str| object.get(name).is_some_and(|value| !value.is_null());
    let named = text("repository").or_else(|| text("chart")).unwrap_or_default();
    let is_local = text("repository").is_none() && !named.contains("://");
    let issue = |name: &str, detail: &str, hint: &str| {
        Issue::error(Path::root().attr(name), "Argument without effect", detail).hint(hint)
    };
    let mut issues = Vec::new();
    for name in ["repository_username", "repository_password"] {
        if is_set(name) && is_local {
            issues.push(issue(name, "The chart is on this machine.", "Remove it, or set `repository`."));
        }
    }
    for (one, other) in [("repository_username", "repository_password"), ("repository_password", "repository_username")]
    {
        if named.starts_with(OCI) && is_set(one) && !is_set(other) {
            issues.push(issue(one, &format!("`{one}` is set and `{other}` is not."), "Set both."));
        }
    }
    if object.get("repository_plain_http").and_then(Value::as_bool) == Some(true) && !named.starts_with(OCI) {
        issues.push(issue("repository_plain_http", "It is for oci:// alone.", "Write the URL as http://…."));
    }
    issues
}

/// What is wrong with a block. Unknown values are not checked.
pub(crate) fn validate(object: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    for name in ["name", "chart"] {
        if text(name) == Some("") {
            issues.push(Issue::error(Path::root().attr(name), "Missing value", format!("`{name}` must not be empty.")));
        }
    }
    for name in ["name", "chart", "repository", "version", "namespace", "kube_version", "repository_username"] {
        // It would be taken for an option.
        if text(name).is_some_and(|text| text.starts_with('-')) {
            let detail = format!("`{name}` must not begin with \"-\".");
            issues.push(Issue::error(Path::root().attr(name), "Invalid value", detail));
        }
    }
    let is_known = |name: &str| object.get(name).is_none_or(Value::is_known);
    if is_known("repository") && is_known("chart") {
        issues.extend(wrong_credentials(object));
    }
    for name in ["set", "set_sensitive"] {
        for (at, one) in blocks(object, name).iter().enumerate() {
            if let Some(ty) = one.get("type").and_then(Value::as_str).filter(|ty| !["", "auto", "string"].contains(ty))
            {
                let path = Path::root().attr(name).index(at).attr("type");
                let detail = format!("{ty:?} is neither \"auto\" nor \"string\".");
                issues.push(Issue::error(path, "Invalid type of a value", detail));
            }
        }
    }
    let known = ["values", "set", "set_list", "set_sensitive"]
        .iter()
        .all(|name| object.get(name).is_none_or(Value::is_wholly_known));
    if known {
        issues.extend(values(object).err().into_iter().flatten());
    }
    issues
}

#[cfg(test)]
mod tests {
    use engine_value::Type;
    use serde_json::json;

    use super::*;
    use crate::object::convert::from_json;

    #[test]
    fn values_are_merged_in_helms_order() {
        let object = from_json(&json!({
            "values": ["a: {b: 1, c: 0644, d: yes}", "a: {b: 2}"],
            "set": [{"name": "a.e", "value": "3", "type": null}, {"name": "a.f", "value": "3", "type": "string"}],
            "set_list": [{"name": "l", "value": ["x", "y"]}],
            "set_sensitive": [{"name": "p", "value": "123456", "type": null}],
        }));
        let (values, secrets) = values(&object).unwrap();
        assert_eq!(
            values,
            json!({"a": {"b": 2, "c": 420, "d": true, "e": 3, "f": "3"}, "l": ["x", "y"], "p": "123456"})
        );
        assert_eq!(secrets, ["123456"]);
    }

    #[test]
    fn what_is_wrong_is_told_without_helm() {
        for (object, expected) in [
            (json!({"name": "a", "chart": "b"}), None),
            (json!({"name": "", "chart": "b"}), Some("name: `name` must not be empty.")),
            (json!({"name": "a", "chart": "--post-renderer=x"}), Some("chart: `chart` must not begin with \"-\".")),
            (
                json!({"chart": "b", "repository_username": "u", "repository_password": "p"}),
                Some("repository_username: The chart is on this machine."),
            ),
            (
                json!({"chart": "oci://a/b", "repository_username": "u"}),
                Some("repository_username: `repository_username` is set and `repository_password` is not."),
            ),
            (json!({"chart": "b", "repository": "https://a", "repository_username": "u"}), None),
            (
                json!({"chart": "b", "repository": "http://a", "repository_plain_http": true}),
                Some("repository_plain_http: It is for oci:// alone."),
            ),
            (json!({"chart": "b", "repository": "oci://a", "repository_plain_http": true}), None),
            (json!({"values": ["a: 1", "- b"]}), Some("values[1]: It is no map of values.")),
            (
                json!({"set": [{"name": "a[", "value": "b"}]}),
                Some("set[0].name: \"\" in \"a[\" is no index below 4096."),
            ),
        ] {
            let found = validate(&from_json(&object));
            let found = found.first().map(|issue| format!("{}: {}", issue.path, issue.detail));
            assert_eq!(found.as_deref(), expected, "{object}");
        }
        let broken = validate(&from_json(&json!({"values": ["password: [hunter2"]})));
        assert!(broken.len() == 1 && !broken[0].detail.contains("hunter2"), "{broken:?}");
        let unknown = Value::object([("values", Value::list(Type::String, vec![Value::unknown(Type::String)]))]);
        assert_eq!(validate(&unknown), []);
    }
}
