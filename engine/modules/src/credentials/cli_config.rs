//! The CLI configuration: what `.terraformrc` and its relatives say of hosts. Everything else in them is for Terraform
//! and its plug-ins.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use engine_diag::{Diagnostic, Diagnostics, FileId};
use engine_lang::syntax::{Body, Node, parse};
use serde::Deserialize;

use super::Credentials;

/// Reads the files from the strongest to the weakest; what is said first counts.
pub(super) fn read(
    variables: &BTreeMap<String, String>,
    home: Option<&Path>,
    to: &mut Credentials,
    diagnostics: &mut Diagnostics,
) {
    let named = ["TF_CLI_CONFIG_FILE", "TERRAFORM_CONFIG"];
    let named = named.iter().find_map(|name| variables.get(*name).filter(|path| !path.is_empty()));
    match named {
        Some(path) => file(Path::new(path), true, to, diagnostics),
        None => {
            if let Some(home) = home {
                file(&home.join(".terraformrc"), false, to, diagnostics);
            }
        }
    }
    let Some(directory) = home.map(|home| home.join(".terraform.d")) else { return };
    // A file that is named stands for all of them, but for what `terraform login` has written.
    if named.is_none() {
        let entries = fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_config = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            (name.ends_with(".tfrc") || name.ends_with(".tfrc.json")) && name != LOGIN
        };
        let mut files: Vec<PathBuf> = entries.filter(is_config).collect();
        files.sort_unstable();
        for path in files {
            file(&path, false, to, diagnostics);
        }
    }
    file(&directory.join(LOGIN), false, to, diagnostics);
}

/// What `terraform login` writes.
const LOGIN: &str = "credentials.tfrc.json";

fn file(path: &Path, must_exist: bool, to: &mut Credentials, diagnostics: &mut Diagnostics) {
    let mut warn = |detail: String| {
        diagnostics.push(Diagnostic::warning("CLI configuration not used", detail));
    };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !must_exist => return,
        Err(error) => return warn(format!("Cannot read the CLI configuration file {}: {error}.", path.display())),
    };
    let is_json = path.extension().is_some_and(|end| end == "json");
    if is_json {
        match serde_json::from_str::<Json>(&text) {
            Ok(json) => json.give(to),
            // The error's text could repeat what it is about.
            Err(error) => warn(format!("{} is no JSON of the right form, line {}.", path.display(), error.line())),
        }
        return;
    }
    let (body, wrong) = parse(FileId(0), &text);
    if wrong.has_errors() {
        let span = wrong.iter().find_map(|one| one.span);
        let line = span.map_or(1, |span| text[..span.start as usize].matches('\n').count() + 1);
        return warn(format!("{} is not in the language of such files, line {line}.", path.display()));
    }
    native(&body, to);
}

fn native(body: &Body, to: &mut Credentials) {
    for block in body.blocks() {
        let mut labels = block.labels();
        let (Some((host, _)), None) = (labels.next(), labels.next()) else { continue };
        let host = host.to_ascii_lowercase();
        match &**block.kind() {
            "credentials" => {
                let token = block.body().attribute("token").map(|token| token.value().unparenthesized());
                if let Some(token) = token.as_ref().and_then(|token| token.as_text()) {
                    to.tokens.entry(host).or_insert_with(|| token.to_string());
                }
            }
            "host" => {
                let body = block.body();
                let given = body.attribute("services").map(|services| services.value().unparenthesized());
                let mut services = BTreeMap::new();
                if let Some(given) = given
                    && let Node::Object(items) = given.node()
                {
                    for item in given.tree().items(items) {
                        let (name, address) = (given.with(item.key), given.with(item.value));
                        let name = name.as_text().or_else(|| name.as_keyword()).map(ToString::to_string);
                        if let (Some(name), Some(address)) = (name, address.as_text()) {
                            services.insert(name, address.to_string());
                        }
                    }
                }
                // The older spelling, as a block.
                for inner in body.blocks().filter(|inner| &**inner.kind() == "services") {
                    for attribute in inner.body().attributes() {
                        if let Some(address) = attribute.value().as_text() {
                            services.insert(attribute.name().to_string(), address.to_string());
                        }
                    }
                }
                to.services.entry(host).or_insert(services);
            }
            _ => {}
        }
    }
}

#[derive(Deserialize)]
struct Json {
    #[serde(default)]
    credentials: BTreeMap<String, Token>,
    #[serde(default)]
    host: BTreeMap<String, Services>,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
}

#[derive(Deserialize)]
struct Services {
    #[serde(default)]
    services: BTreeMap<String, serde_json::Value>,
}

impl Json {
    fn give(self, to: &mut Credentials) {
        for (host, given) in self.credentials {
            if let Some(token) = given.token {
                to.tokens.entry(host.to_ascii_lowercase()).or_insert(token);
            }
        }
        for (host, given) in self.host {
            let services =
                given.services.into_iter().filter_map(|(name, value)| Some((name, value.as_str()?.to_owned())));
            to.services.entry(host.to_ascii_lowercase()).or_insert_with(|| services.collect());
        }
    }
}
