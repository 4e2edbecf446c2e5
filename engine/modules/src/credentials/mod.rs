//! Who we are to registries and to servers of archives: `TF_TOKEN_*`, the CLI configuration, `credentials.tfrc.json` and
//! netrc. Tokens are only ever given to the client as headers; no `Debug` or `Display` here shows one.

mod cli_config;
mod netrc;

use std::{collections::BTreeMap, path::PathBuf};

use engine_diag::Diagnostics;
use http::HeaderValue;

pub(crate) use netrc::Netrc;

use crate::fetch::FetchError;

/// What is known of hosts.
#[derive(Default)]
pub(crate) struct Credentials {
    /// Tokens by host, the stronger source first.
    tokens: BTreeMap<String, String>,
    /// Services by host and name, for hosts that are not asked.
    services: BTreeMap<String, BTreeMap<String, String>>,
    pub(crate) netrc: Netrc,
}

impl Credentials {
    /// Reads everything. What is wrong with a file is a warning: it may be of no use here.
    pub(crate) fn load(variables: &BTreeMap<String, String>, diagnostics: &mut Diagnostics) -> Self {
        let mut credentials = Self::default();
        let home = variables.get("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        cli_config::read(variables, home.as_deref(), &mut credentials, diagnostics);
        for (name, value) in variables {
            if let Some(host) = name.strip_prefix("TF_TOKEN_").filter(|host| !host.is_empty()) {
                credentials.tokens.insert(host_of(host), value.clone());
            }
        }
        credentials.netrc = Netrc::read(variables, home.as_deref());
        credentials
    }

    /// The header for a registry.
    pub(crate) fn header(&self, host: &str) -> Result<Option<HeaderValue>, FetchError> {
        let Some(token) = self.tokens.get(host) else { return Ok(None) };
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
            FetchError::new(format!("the token for {host} has characters that no token has"))
                .hint("A line break or a blank within it is the usual reason.")
        })?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    /// The address of a host's service, where the CLI configuration says it. The outer `None`: it says nothing of the
    /// host.
    pub(crate) fn service(&self, host: &str, name: &str) -> Option<Option<&str>> {
        self.services.get(host).map(|services| services.get(name).map(String::as_str))
    }
}

/// The host that the name of a variable means: `_` is a period and `__` a hyphen, which variables cannot have.
fn host_of(name: &str) -> String {
    name.replace("__", "-").replace('_', ".").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(variables: &[(&str, &str)]) -> (Credentials, Vec<String>) {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut diagnostics = Diagnostics::new();
        let credentials = Credentials::load(&variables, &mut diagnostics);
        (credentials, diagnostics.iter().map(|one| format!("{} {}", one.summary, one.detail)).collect())
    }

    #[test]
    fn hosts_are_written_in_names_of_variables() {
        for (name, expected) in [
            ("app_terraform_io", "app.terraform.io"),
            ("my__registry_example_com", "my-registry.example.com"),
            ("Example_com", "example.com"),
            ("xn----example_com", "xn----example.com"),
        ] {
            assert_eq!(host_of(name), expected);
        }
    }

    #[test]
    fn the_stronger_source_wins() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(
            ".terraformrc",
            "plugin_cache_dir = \"$HOME/x\"\ncredentials \"b.example.com\" {\n  token = \"rc\"\n}\ncredentials \
             \"C.example.com\" {\n  token = \"rc\"\n}\nhost \"d.example.com\" {\n  services = {\n    \"modules.v1\" = \
             \"https://mods.example.com/v1/\"\n  }\n}\n",
        );
        write(
            ".terraform.d/credentials.tfrc.json",
            r#"{"credentials":{"c.example.com":{"token":"file"},"e.example.com":{"token":"file"}}}"#,
        );
        let home = home.path().to_str().unwrap();
        let (credentials, wrong) = load(&[("HOME", home), ("TF_TOKEN_b_example_com", "variable")]);
        assert_eq!(wrong, Vec::<String>::new());
        for (host, expected) in [
            ("a.example.com", None),
            ("b.example.com", Some("Bearer variable")),
            ("c.example.com", Some("Bearer rc")),
            ("e.example.com", Some("Bearer file")),
        ] {
            let header = credentials.header(host).unwrap();
            assert_eq!(header.as_ref().map(|value| value.to_str().unwrap()), expected, "{host}");
        }
        assert_eq!(credentials.service("d.example.com", "modules.v1"), Some(Some("https://mods.example.com/v1/")));
        assert_eq!(credentials.service("d.example.com", "providers.v1"), Some(None));
        assert_eq!(credentials.service("a.example.com", "modules.v1"), None);
    }

    #[test]
    fn what_is_wrong_is_told_without_tokens() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "credentials \"a.example.com\" {\n  token = \"canary\n}\n").unwrap();
        let (_, wrong) = load(&[("TF_CLI_CONFIG_FILE", file.path().to_str().unwrap())]);
        assert_eq!(wrong.len(), 1);
        assert!(!wrong[0].contains("canary"), "{wrong:?}");
        let (_, wrong) = load(&[("TF_CLI_CONFIG_FILE", "/nowhere/rc")]);
        assert!(wrong[0].contains("/nowhere/rc"), "{wrong:?}");
        let (credentials, _) = load(&[("TF_TOKEN_a_example_com", "canary\n")]);
        let error = credentials.header("a.example.com").unwrap_err();
        assert!(!error.to_string().contains("canary"), "{error}");
    }
}
