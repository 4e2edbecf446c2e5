//! Kubeconfig files: read, merged by kubectl's rules, and what a context in them means. Says nothing of what they hold
//! but names: tokens and keys stand in the same lines that a parser would quote.

use std::path::{Path, PathBuf};

use kube::config::{AuthInfo, Cluster, Context, Kubeconfig, KubeconfigError};
use providers_api::ProviderError;

use super::ConnectionSettings;

/// What a context means: where, who, and which file says who.
pub(super) struct Chosen {
    /// The cluster.
    pub(super) cluster: Cluster,
    /// The user; of nobody's, where the context names none.
    pub(super) user: AuthInfo,
    /// The file that holds the user.
    pub(super) user_file: Option<PathBuf>,
}

/// The first file to name something wins, whole: nothing of a second entry of that name is mixed in. Files that are
/// not there are passed over, as kubectl passes over those of `KUBECONFIG`; `paths` holds at least one that is.
pub(super) fn choose(paths: &[PathBuf], settings: &ConnectionSettings) -> Result<Chosen, ProviderError> {
    let mut files = Vec::new();
    for path in paths {
        match Kubeconfig::read_from(path) {
            Ok(file) => files.push((path, file)),
            Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(path, &error)),
        }
    }
    let names = files.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let failed = |why: String| {
        ProviderError::permanent(format!("cannot use the kubeconfig {names}: {why}"))
            .hint("Check `config_path`, `config_context` and the file; `kubectl config view` shows what is in it.")
    };
    let current = files.iter().find_map(|(_, file)| file.current_context.clone().filter(|name| !name.is_empty()));
    let overridden = settings.config_context_cluster.is_some();
    let context = match settings.config_context.as_ref().or(current.as_ref()) {
        Some(name) => match files.iter().find_map(|(_, file)| context(file, name)) {
            Some(context) => context,
            None if settings.config_context.is_some() => {
                return Err(failed(format!("it has no context {name:?}; it has {}", contexts(&files))));
            }
            None => return Err(failed(format!("its current context {name:?} is not in it"))),
        },
        // A cluster that is named needs no context.
        None if overridden => Context::default(),
        None => {
            let what = "it has no current context, and no `config_context` is set";
            return Err(failed(format!("{what}; it has {}", contexts(&files))));
        }
    };
    let name = settings.config_context_cluster.as_ref().unwrap_or(&context.cluster);
    if name.is_empty() {
        return Err(failed("its context names no cluster".to_owned()));
    }
    let cluster = files.iter().find_map(|(_, file)| {
        file.clusters.iter().find(|one| one.name == *name).map(|one| one.cluster.clone().unwrap_or_default())
    });
    let Some(cluster) = cluster else { return Err(failed(format!("it has no cluster {name:?}"))) };
    let name = settings.config_context_auth_info.as_ref().or(context.user.as_ref()).filter(|name| !name.is_empty());
    let Some(name) = name else { return Ok(Chosen { cluster, user: AuthInfo::default(), user_file: None }) };
    let user = files.iter().find_map(|(path, file)| {
        let found = file.auth_infos.iter().find(|one| one.name == *name)?;
        Some((found.auth_info.clone().unwrap_or_default(), (*path).clone()))
    });
    let Some((user, file)) = user else { return Err(failed(format!("it has no user {name:?}"))) };
    Ok(Chosen { cluster, user, user_file: Some(file) })
}

fn context(file: &Kubeconfig, name: &str) -> Option<Context> {
    file.contexts.iter().find(|one| one.name == name).map(|one| one.context.clone().unwrap_or_default())
}

fn contexts(files: &[(&PathBuf, Kubeconfig)]) -> String {
    let names = files.iter().flat_map(|(_, file)| &file.contexts).map(|context| format!("{:?}", context.name));
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none at all".to_owned() } else { names.join(", ") }
}

/// Not what the parser says: it quotes the lines around, and the values that it did not expect.
fn unreadable(file: &Path, error: &KubeconfigError) -> ProviderError {
    let path = file.display();
    match error {
        KubeconfigError::ReadConfig(cause, _) => {
            ProviderError::permanent(format!("cannot read the kubeconfig {path}: {cause}"))
        }
        KubeconfigError::Parse(_) if let Some(name) = without_cluster(file) => {
            ProviderError::permanent(format!("the kubeconfig {path} has a context {name:?} that names no cluster"))
        }
        KubeconfigError::Parse(cause) => {
            let place = cause.location().map(|at| format!(", line {}, column {}", at.line(), at.column()));
            ProviderError::permanent(format!(
                "the kubeconfig {path} is not as such a file is written{}",
                place.unwrap_or_default()
            ))
        }
        _ => ProviderError::permanent(format!("cannot use the kubeconfig {path}: its documents do not fit together")),
    }
    .hint("`kubectl config view --kubeconfig FILE` reads it, too, and shows more (secrets are left out there).")
}

/// Of a kubeconfig file, what is looked at where it cannot be read as one.
#[derive(serde::Deserialize)]
struct Contexts {
    #[serde(default)]
    contexts: Vec<NamedContext>,
}

#[derive(serde::Deserialize)]
struct NamedContext {
    name: String,
    context: Option<serde_json::Map<String, serde_json::Value>>,
}

/// The first context that names no cluster.
fn without_cluster(file: &Path) -> Option<String> {
    let found: Contexts = serde_saphyr::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
    let names_none = |one: &NamedContext| one.context.as_ref().is_some_and(|context| !context.contains_key("cluster"));
    found.contexts.into_iter().find(names_none).map(|one| one.name)
}
