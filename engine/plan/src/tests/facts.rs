//! What `terraform validate` says about small configurations, and that ours says the same.
//!
//! The configurations are in `facts/*.txt`: after `== TITLE` the files, each but `main.tf` after `-- PATH`, and then what
//! Terraform 1.11.4 said, one line each: `=> ok`, or `=> error FILE:LINE SUMMARY`. `!! REASON` says that we mean to differ,
//! and in which way.
//!
//! To record again: `TERRAFORM=terraform cargo test -p engine-plan facts`; `git diff` shows what changed.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path, process::Command, sync::Arc};

use async_trait::async_trait;
use engine_diag::{Diagnostic, Sources};
use engine_lang::{
    config::{SourceTree, load},
    eval::Surroundings,
};
use engine_model::{
    address::{Mode, ProviderAddr},
    schema::{Attribute, Block, ProviderSchemas, Schema, Usage},
};
use engine_value::{Type, Value};
use providers_api::{Call, ErrorKind, Instance, Issue, Provider, ProviderError};

use super::NoFiles;
use crate::{Program, Providers, validate};

/// The schemas of Terraform's own provider.
struct Builtin {
    addr: ProviderAddr,
    schemas: ProviderSchemas,
}

impl Builtin {
    fn new() -> Self {
        let attribute = |name, ty, usage| (name, Attribute::new(ty, usage, ""));
        let schema = |block| Schema { version: 0, block };
        let data = Block::new(
            [
                attribute("id", Type::String, Usage::Computed),
                attribute("input", Type::Dynamic, Usage::Optional),
                attribute("output", Type::Dynamic, Usage::Computed),
                attribute("triggers_replace", Type::Dynamic, Usage::Optional),
            ],
            "",
        );
        let remote = Block::new(
            [
                attribute("backend", Type::String, Usage::Required),
                attribute("config", Type::Dynamic, Usage::Optional),
                attribute("defaults", Type::Dynamic, Usage::Optional),
                attribute("outputs", Type::Dynamic, Usage::Computed),
                attribute("workspace", Type::String, Usage::Optional),
            ],
            "",
        );
        let schemas = ProviderSchemas {
            provider: schema(Block::default()),
            resources: [("terraform_data".into(), schema(data))].into(),
            data: [("terraform_remote_state".into(), schema(remote))].into(),
            ..ProviderSchemas::default()
        };
        Self { addr: ProviderAddr::new("terraform.io", "builtin", "terraform"), schemas }
    }
}

#[async_trait]
impl Provider for Builtin {
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
        Err(ProviderError::new(ErrorKind::Unreachable, "there is nothing here"))
    }
}

/// One configuration, and what is said about it.
#[derive(Clone, Debug, Default)]
struct Case {
    title: String,
    files: Vec<(String, String)>,
    /// `error main.tf:3 Summary`
    said: Vec<String>,
    differs: Option<String>,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("== ") {
            let files = vec![("main.tf".to_owned(), String::new())];
            cases.push(Case { title: title.to_owned(), files, ..Case::default() });
            continue;
        }
        let case = cases.last_mut().expect("a file begins with a title");
        if let Some(said) = line.strip_prefix("=> ") {
            case.said.push(said.to_owned());
        } else if let Some(reason) = line.strip_prefix("!! ") {
            case.differs = Some(reason.to_owned());
        } else if let Some(path) = line.strip_prefix("-- ") {
            if case.files.len() == 1 && case.files[0].1.is_empty() {
                case.files.clear();
            }
            case.files.push((path.to_owned(), String::new()));
        } else {
            let (_, text) = case.files.last_mut().expect("there is one");
            text.push_str(line);
            text.push('\n');
        }
    }
    cases
}

fn written(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        let _ = writeln!(text, "== {}", case.title);
        for (at, (path, content)) in case.files.iter().enumerate() {
            if at > 0 || path != "main.tf" {
                let _ = writeln!(text, "-- {path}");
            }
            text.push_str(content);
        }
        case.said.iter().for_each(|said| {
            let _ = writeln!(text, "=> {said}");
        });
        if let Some(reason) = &case.differs {
            let _ = writeln!(text, "!! {reason}");
        }
    }
    text
}

/// What we say.
fn ours(case: &Case) -> Vec<String> {
    let mut tree = SourceTree::new();
    for (path, text) in &case.files {
        tree.insert(path, text.as_bytes().to_vec());
    }
    let mut sources = Sources::new();
    let (config, mut diagnostics) = load(&tree, &mut sources);
    if !diagnostics.has_errors() {
        let program = Program {
            config,
            variables: BTreeMap::new(),
            providers: Providers::new([Arc::new(Builtin::new()) as Arc<dyn Provider>]),
            files: Arc::new(NoFiles),
            surroundings: Surroundings { directory: "/work".into(), ..Surroundings::default() },
            workspace: "default".into(),
        };
        diagnostics.extend(validate(&program));
    }
    let line = |d: &Diagnostic| {
        let severity = if d.is_error() { "error" } else { "warning" };
        let place = d.span.map_or("-".to_owned(), |span| sources.place(span));
        format!("{severity} {place} {}", d.summary)
    };
    diagnostics.iter().map(line).collect()
}

/// What Terraform says.
fn theirs(terraform: &str, case: &Case) -> Vec<String> {
    let directory = std::env::temp_dir().join(format!("facts-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    for (path, text) in &case.files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let run = |args: &[&str]| {
        let mut command = Command::new(terraform);
        command.args(args).current_dir(&directory);
        command.env("CHECKPOINT_DISABLE", "1").env("TF_CLI_CONFIG_FILE", "/dev/null").output().unwrap()
    };
    if case.files.iter().any(|(path, text)| path.contains('/') || text.contains("provider")) {
        run(&["init", "-backend=false", "-input=false"]);
    }
    let answer: serde_json::Value = serde_json::from_slice(&run(&["validate", "-json"]).stdout).unwrap();
    let _ = fs::remove_dir_all(&directory);
    let mut said: Vec<String> = answer["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| {
            let place = match d["range"]["filename"].as_str() {
                Some(file) => format!("{file}:{}", d["range"]["start"]["line"]),
                None => "-".to_owned(),
            };
            format!("{} {place} {}", d["severity"].as_str().unwrap(), d["summary"].as_str().unwrap())
        })
        .collect();
    said.sort();
    said.dedup();
    said
}

/// Severity and place, without the words.
fn place(said: &str) -> &str {
    let end = said.match_indices(' ').nth(1).map_or(said.len(), |(at, _)| at);
    &said[..end]
}

/// Do they agree on whether it is right, and if it is not, on a line?
fn agree(theirs: &[String], ours: &[String]) -> bool {
    let errors = |said: &[String]| said.iter().filter(|one| one.starts_with("error ")).cloned().collect::<Vec<_>>();
    let (theirs, ours) = (errors(theirs), errors(ours));
    let nowhere = |said: &String| place(said) == "error -";
    match (theirs.is_empty(), ours.is_empty()) {
        (true, true) => true,
        (false, false) => {
            theirs.iter().any(nowhere) || ours.iter().any(|one| theirs.iter().any(|other| place(one) == place(other)))
        }
        _ => false,
    }
}

#[test]
fn validate_says_what_terraform_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/facts");
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let terraform = std::env::var("TERRAFORM").ok();
    let mut wrong = String::new();
    let mut count = 0;
    for path in paths {
        let mut cases = cases(&fs::read_to_string(&path).unwrap());
        if let Some(terraform) = &terraform {
            cases.iter_mut().for_each(|case| {
                case.said = self::theirs(terraform, case);
                if case.said.is_empty() {
                    case.said.push("ok".to_owned());
                }
            });
            fs::write(&path, written(&cases)).unwrap();
        }
        for case in &cases {
            count += 1;
            let ours = ours(case);
            if agree(&case.said, &ours) == case.differs.is_some() {
                let name = path.file_stem().unwrap().to_string_lossy();
                let _ = writeln!(wrong, "{name}: {}\n  Terraform: {:?}\n  ours:      {ours:?}", case.title, case.said);
            }
        }
    }
    assert!(count > 400, "{count} configurations");
    assert!(wrong.is_empty(), "{wrong}");
}
