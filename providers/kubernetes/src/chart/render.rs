//! The data source: a block in, a chart's objects out.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path as FilePath,
};

use base64::Engine;
use engine_value::{Marks, Path, Type, Value};
use providers_api::{Call, Issue};
use serde_json::{Value as Json, json};

use super::{
    config::{Config, OCI},
    objects::{Objects, read, tell_apart, told},
    program::{Helm, HelmError},
};
use crate::{
    Environment,
    cluster::{Cluster, discovery::Lookup},
    object::{
        convert::{from_json, mark_secret},
        scope::is_namespaced,
    },
    yaml::documents,
};

/// The name under which a repository with credentials is known to the Helm that is run.
const REPOSITORY: &str = "sliceform";

/// Of what Helm says, this much is told.
const LONGEST: usize = 4000;

/// Renders a chart.
pub(crate) async fn template(
    cluster: &Cluster,
    environment: &Environment,
    object: Value,
    call: Call<'_>,
) -> Result<Value, Vec<Issue>> {
    let config = Config::of(&object)?;
    check_chart(&config, &environment.directory)?;
    call.working(format!("rendering the chart {}", config.chart));
    let failed = |error: HelmError| vec![refused(&config, &error)];
    let home = tempfile::Builder::new().prefix("sliceform-helm-").tempdir();
    let home = home.map_err(|error| failed(HelmError::System("cannot make a folder".to_owned(), error)))?;
    let helm = Helm::find(environment, home.path(), config.timeout, call).await.map_err(failed)?;
    let chart = place(&config, &helm, home.path(), call).await.map_err(failed)?;
    let arguments = arguments(&config, &chart, home.path()).map_err(failed)?;
    let text = helm.run(&arguments, None, call).await.map_err(failed)?;
    let shown = ["show", "chart", &chart].map(str::to_owned);
    let about = helm.run(&shown, None, call).await.map_err(failed)?;
    let notes = notes(&config, &helm, &chart, home.path(), call).await.map_err(failed)?;
    let wrong = |why: String| {
        vec![Issue::error(chart_path(), "Cannot read what the chart renders", blotted(&why, &config.secrets))]
    };
    let found = read(&text).map_err(wrong)?;
    let scopes = scopes(cluster, &found, call).await;
    let namespaced = |api_version: &str, kind: &str| scopes.get(&(api_version, kind)).copied().unwrap_or(true);
    let objects = tell_apart(found.clone(), &config.namespace, namespaced).map_err(wrong)?;
    let written = Written { text, notes, about: metadata(&about, &helm.version) };
    Ok(exported(&object, &config, objects, written))
}

fn chart_path() -> Path {
    Path::root().attr("chart")
}

/// A chart of this machine must be there: Helm itself would go on to look for a repository of that name.
fn check_chart(config: &Config, directory: &FilePath) -> Result<(), Vec<Issue>> {
    if config.repository.is_some() || config.chart.contains("://") {
        return Ok(());
    }
    let path = directory.join(&config.chart);
    let problem = match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() && !path.join("Chart.yaml").is_file() => {
            format!("{} has no Chart.yaml.", path.display())
        }
        Ok(_) => return Ok(()),
        Err(error) => format!("{} cannot be read: {error}.", path.display()),
    };
    let issue = Issue::error(chart_path(), "There is no such chart", problem);
    Err(vec![
        issue.hint("Name a folder, an archive or an oci:// URL, or the repository that has it with `repository`."),
    ])
}

fn refused(config: &Config, error: &HelmError) -> Issue {
    let text = blotted(&engine_diag::chain(error), &config.secrets);
    let text = match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    };
    let issue = |summary: &str| Issue::error(chart_path(), summary, engine_diag::sentence(&text));
    match error {
        HelmError::Missing(_) => issue("Helm is not installed")
            .hint("Install Helm 3.8 or later, or name the program with the environment variable HELM_BIN."),
        HelmError::TooOld { .. } => issue("Helm is too old").hint("Install a newer one."),
        HelmError::TooSlow(_) => issue("Cannot render the chart").hint("Give it more time with `timeout`."),
        HelmError::Refused(_) | HelmError::System(..) | HelmError::TooMuch | HelmError::Interrupted => {
            issue("Cannot render the chart")
        }
    }
}

/// A text without these.
fn blotted(text: &str, secrets: &[String]) -> String {
    let secrets = secrets.iter().filter(|secret| !secret.is_empty());
    secrets.fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "(sensitive value)"))
}

/// Writes a file that only this user can read.
fn private(path: &FilePath, content: &Json) -> Result<(), HelmError> {
    use std::os::unix::fs::OpenOptionsExt;
    let write = || -> io::Result<()> {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(content.to_string().as_bytes())
    };
    write().map_err(|error| HelmError::System("cannot write a file for `helm`".to_owned(), error))
}

/// The folder in which a chart from elsewhere is put.
const FETCHED: &str = "fetched";

/// What names the chart on Helm's command line: where it lies. One from elsewhere is fetched, once, so that all that is said
/// is of the same version.
async fn place(config: &Config, helm: &Helm, home: &FilePath, call: Call<'_>) -> Result<String, HelmError> {
    let Some(remote) = Remote::of(config) else { return Ok(config.chart.clone()) };
    let text = str::to_owned;
    let folder = home.join(FETCHED);
    let system = |error| HelmError::System("cannot use the folder of a fetched chart".to_owned(), error);
    std::fs::create_dir(&folder).map_err(system)?;
    let mut arguments = vec![text("pull")];
    arguments.extend(remote.named(config, helm, home, call).await?);
    arguments.extend([text("--destination"), folder.display().to_string()]);
    arguments.extend(config.version.iter().flat_map(|version| [text("--version"), version.clone()]));
    arguments.extend(config.ca_file.iter().flat_map(|file| [text("--ca-file"), file.clone()]));
    if config.devel {
        arguments.push(text("--devel"));
    }
    helm.run(&arguments, None, call).await?;
    let fetched = std::fs::read_dir(&folder).map_err(system)?.next();
    let missing = || HelmError::Refused("it has fetched no chart, and not said why".to_owned());
    Ok(fetched.ok_or_else(missing)?.map_err(system)?.path().display().to_string())
}

/// A chart that is not on this machine.
enum Remote {
    /// By its URL in an OCI registry.
    Oci(String),
    /// By its name in the repository at this URL.
    Repository(String),
    /// By the URL of its archive.
    Archive,
}

impl Remote {
    fn of(config: &Config) -> Option<Self> {
        match config.repository.as_deref().map(|url| url.trim_end_matches('/')) {
            Some(url) if url.starts_with(OCI) => Some(Self::Oci(format!("{url}/{}", config.chart))),
            Some(url) => Some(Self::Repository(url.to_owned())),
            None if config.chart.starts_with(OCI) => Some(Self::Oci(config.chart.clone())),
            None => config.chart.contains("://").then_some(Self::Archive),
        }
    }

    /// What names it; credentials are given to Helm on the way, by its files and its input.
    async fn named(
        &self,
        config: &Config,
        helm: &Helm,
        home: &FilePath,
        call: Call<'_>,
    ) -> Result<Vec<String>, HelmError> {
        let text = str::to_owned;
        let plain = config.plain_http.then(|| text("--plain-http"));
        match self {
            Self::Archive => Ok(vec![config.chart.clone()]),
            Self::Oci(url) => {
                if let (Some(user), Some(password)) = (&config.username, &config.password) {
                    let host = url.trim_start_matches(OCI).split('/').next().unwrap_or_default();
                    let mut login = vec![text("registry"), text("login"), text(host)];
                    login.extend([text("--username"), user.clone(), text("--password-stdin")]);
                    login.extend(config.ca_file.iter().flat_map(|file| [text("--ca-file"), file.clone()]));
                    login.extend(plain.clone());
                    helm.run(&login, Some(password), call).await?;
                }
                Ok([url.clone()].into_iter().chain(plain).collect())
            }
            Self::Repository(url) if config.username.is_some() || config.password.is_some() => {
                let repository = json!({"name": REPOSITORY, "url": url, "username": config.username,
                    "password": config.password, "caFile": config.ca_file});
                private(&home.join("repositories.yaml"), &json!({"apiVersion": "v1", "repositories": [repository]}))?;
                helm.run(&[text("repo"), text("update")], None, call).await?;
                Ok(vec![format!("{REPOSITORY}/{}", config.chart)])
            }
            Self::Repository(url) => Ok(vec![config.chart.clone(), text("--repo"), url.clone()]),
        }
    }
}

/// What the chart says to who installs it. `None`: nobody can be asked: an older Helm asks the cluster, and the command
/// that renders notes cannot be told of another cluster than the newest.
async fn notes(
    config: &Config,
    helm: &Helm,
    chart: &str,
    home: &FilePath,
    call: Call<'_>,
) -> Result<Option<String>, HelmError> {
    let is_told = config.kube_version.is_some() || !config.api_versions.is_empty() || config.is_upgrade;
    if is_told || !helm.renders_notes() {
        return Ok(None);
    }
    let text = str::to_owned;
    let mut arguments = vec![text("install"), config.name.clone(), text(chart), text("--dry-run=client")];
    arguments.extend([text("--namespace"), config.namespace.clone(), text("--output"), text("json")]);
    arguments.extend([text("--values"), values_file(home)]);
    let release: Json = serde_json::from_str(&helm.run(&arguments, None, call).await?).unwrap_or_default();
    Ok(Some(told(&release, "/info/notes").to_owned()))
}

fn values_file(home: &FilePath) -> String {
    home.join("values.json").display().to_string()
}

fn arguments(config: &Config, chart: &str, home: &FilePath) -> Result<Vec<String>, HelmError> {
    let text = str::to_owned;
    private(&home.join("values.json"), &config.values)?;
    let mut arguments = vec![text("template"), config.name.clone(), text(chart)];
    arguments.extend([text("--namespace"), config.namespace.clone()]);
    arguments.extend([text("--values"), values_file(home), text("--include-crds")]);
    arguments.extend(config.kube_version.iter().flat_map(|version| [text("--kube-version"), version.clone()]));
    arguments.extend(config.api_versions.iter().flat_map(|version| [text("--api-versions"), version.clone()]));
    arguments.extend(config.show_only.iter().flat_map(|template| [text("--show-only"), template.clone()]));
    for (flag, is_set) in [("--is-upgrade", config.is_upgrade), ("--dependency-update", config.dependency_update)] {
        if is_set {
            arguments.push(text(flag));
        }
    }
    Ok(arguments)
}

/// Which kinds lie in namespaces: Kubernetes' own are known, the chart's own definitions say it, and for all others the
/// cluster is asked. Where it cannot be, they are taken to.
async fn scopes<'a>(cluster: &Cluster, found: &'a [Json], call: Call<'_>) -> BTreeMap<(&'a str, &'a str), bool> {
    let defined = |api_version: &str, kind: &str| {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let definition = found.iter().find(|object| {
            told(object, "/kind") == "CustomResourceDefinition"
                && told(object, "/spec/group") == group
                && told(object, "/spec/names/kind") == kind
        });
        definition.map(|definition| told(definition, "/spec/scope") == "Namespaced")
    };
    let mut scopes = BTreeMap::new();
    for object in found {
        let named @ (api_version, kind) = (told(object, "/apiVersion"), told(object, "/kind"));
        if scopes.contains_key(&named) {
            continue;
        }
        let known = match is_namespaced(api_version, kind).or_else(|| defined(api_version, kind)) {
            Some(known) => known,
            None => match cluster.kind(api_version, kind, call).await {
                Ok(Lookup::Served(kind)) => kind.namespaced,
                _ => true,
            },
        };
        scopes.insert(named, known);
    }
    scopes
}

/// What `helm show chart` says, and which Helm said it.
fn metadata(about: &str, helm: &str) -> Json {
    let about = documents(about).ok().and_then(|all| all.into_iter().next()).map(|one| one.body).unwrap_or_default();
    let text = |name: &str| match about.get(name) {
        Some(Json::String(text)) => Json::from(text.as_str()),
        Some(Json::Number(number)) => number.to_string().into(),
        _ => Json::Null,
    };
    json!({"name": text("name"), "version": text("version"), "app_version": text("appVersion"), "helm_version": helm})
}

/// What Helm has written beside the objects.
struct Written {
    /// All of it.
    text: String,
    notes: Option<String>,
    about: Json,
}

fn exported(object: &Value, config: &Config, objects: Objects, written: Written) -> Value {
    let Written { text, notes, about } = written;
    let hidden = Hidden::of(&config.secrets);
    let shown = |manifest: &Json| hidden.marked(mark_secret(from_json(manifest)));
    let by_key = |all: &BTreeMap<String, Json>| Value::object(all.iter().map(|(key, manifest)| (key, shown(manifest))));
    let mut manifests = objects.manifests;
    if config.include_crds {
        manifests.extend(objects.definitions.iter().map(|(key, object)| (key.clone(), object.clone())));
    }
    let hooks = objects.hooks.iter().filter(|hook| !(config.skip_tests && hook.is_test()));
    let hooks = Value::tuple(hooks.map(|hook| {
        let whole = from_json(&hook.to_json());
        Path::root().attr("manifest").set(&whole, shown(&hook.manifest)).unwrap_or(whole)
    }));
    let (manifests, crds) = (by_key(&manifests), by_key(&objects.definitions));
    // The text holds what they hold.
    let is_secret = [&manifests, &crds, &hooks].iter().any(|part| part.contains_sensitive()) || hidden.is_in(&text);
    let text = Value::from(text);
    let text = if is_secret { text.mark(Marks::SENSITIVE) } else { text };
    let ty = super::schema().block.value_type();
    let notes = notes.map_or_else(|| Value::null(Type::String), |notes| hidden.marked(notes.into()));
    let about = from_json(&about);
    let about =
        ty.attributes().and_then(|all| engine_value::convert(&about, &all.get("metadata")?.ty).ok()).unwrap_or(about);
    let parts = [
        ("manifests", manifests),
        ("crds", crds),
        ("hooks", hooks),
        ("manifest", text),
        ("notes", notes),
        ("metadata", about),
    ];
    parts
        .into_iter()
        .fold(object.clone(), |whole, (name, part)| Path::root().attr(name).set(&whole, part).unwrap_or(whole))
}

/// Values that are never shown, wherever a template has put them.
struct Hidden(Vec<String>);

/// Shorter texts are in every other word.
const SHORTEST: usize = 4;

impl Hidden {
    fn of(secrets: &[String]) -> Self {
        let long = secrets.iter().filter(|secret| secret.len() >= SHORTEST);
        let coded = |secret: &String| base64::engine::general_purpose::STANDARD.encode(secret);
        Self(long.flat_map(|secret| [secret.clone(), coded(secret)]).collect())
    }

    fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|secret| text.contains(secret.as_str()))
    }

    /// The value with every text marked in which one is.
    fn marked(&self, value: Value) -> Value {
        if self.0.is_empty() {
            return value;
        }
        value.transform(&mut |_, part| match part.as_str() {
            Some(text) if self.is_in(text) => part.mark(Marks::SENSITIVE),
            _ => part,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_never_shown_is_marked_wherever_it_stands() {
        let hidden = Hidden::of(&["hunter2".to_owned(), "ab".to_owned()]);
        let value = hidden.marked(from_json(&json!({"a": "url=hunter2@x", "b": "aHVudGVyMg==", "c": "ab"})));
        let is_marked = |name: &str| value.get(name).unwrap().marks.sensitive;
        assert!(is_marked("a") && is_marked("b") && !is_marked("c"));
        assert_eq!(blotted("no hunter2", &["hunter2".to_owned()]), "no (sensitive value)");
    }

    #[test]
    fn a_chart_that_is_not_there_is_told_before_helm_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("empty")).unwrap();
        for (chart, expected) in
            [("none", Some("cannot be read")), ("empty", Some("has no Chart.yaml")), ("oci://a/b", None)]
        {
            let object = from_json(&json!({"name": "a", "chart": chart}));
            let found = check_chart(&Config::of(&object).unwrap(), folder.path());
            let found = found.err().map(|issues| issues[0].detail.clone());
            assert_eq!(found.is_some(), expected.is_some(), "{chart}");
            assert!(found.is_none_or(|found| found.contains(expected.unwrap())));
        }
    }
}
