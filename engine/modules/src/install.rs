//! `init` and `get`: every module that a configuration calls, fetched into the data directory and written down in the
//! manifest. What is installed already is not fetched again; what fails changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine_diag::{Diagnostic, Diagnostics, Sources, chain, sentence};
use engine_lang::config::{
    ModuleCall, ModuleSource, Package, ROOT, RegistryModule, RemoteModule, SourceTree, join, module_calls,
};

use crate::{
    credentials::Credentials,
    directory::Reader,
    fetch::{Content, FetchError, Fetcher, Limits},
    manifest::{Entry, Manifest},
    place::{self, Exchange},
    registry::Registries,
};

/// How deeply modules may call each other, and how many there may be: what loading allows.
const MAX_CALLS: usize = 64;
const MAX_MODULES: usize = 100_000;

/// What is to be installed, and where.
pub struct Installation<'a> {
    /// The root module's directory.
    pub root: &'a Path,
    /// The data directory, seen from there: `.terraform`.
    pub data_directory: &'a str,
    /// Fetch everything anew, in the newest versions that are allowed.
    pub upgrade: bool,
    /// The environment: credentials, proxies, what git reads.
    pub variables: &'a BTreeMap<String, String>,
    /// What a package may cost.
    pub limits: Limits,
}

/// Installs the modules of a configuration. `tell` is given a line for each module, as it comes. Warnings are returned.
///
/// # Errors
/// All that is wrong, at the calls. Nothing was changed then.
pub async fn install(
    installation: &Installation<'_>,
    sources: &mut Sources,
    tell: &mut (dyn FnMut(&str) + Send),
) -> Result<Diagnostics, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let credentials = Credentials::load(installation.variables, &mut diagnostics);
    let data = installation.root.join(installation.data_directory);
    let old = match Manifest::read(&data) {
        Ok(manifest) => manifest.unwrap_or_default(),
        Err(error) => {
            let hint = "Remove the file: this command writes it again.";
            return Err(Diagnostic::error("Unreadable module manifest", sentence(&chain(&error))).hint(hint).into());
        }
    };
    let failed = |error: &FetchError| Diagnostics::from(diagnostic("Cannot fetch modules", error));
    let fetcher = Fetcher::new(installation.variables, &credentials, installation.limits).map_err(|e| failed(&e))?;
    let mut walk = Walk {
        installation,
        data_directory: join(installation.data_directory, "."),
        old: old.modules.iter().map(|entry| (&*entry.key, entry)).collect(),
        registries: Registries::new(&fetcher.client, &credentials),
        fetcher: &fetcher,
        sources,
        tell,
        staging: None,
        packages: BTreeMap::new(),
        calls: BTreeMap::new(),
        entries: Vec::new(),
        placed: Vec::new(),
        diagnostics,
    };
    walk.all().await;
    if walk.diagnostics.has_errors() {
        return Err(walk.diagnostics);
    }
    match walk.commit(&old) {
        Ok(()) => Ok(walk.diagnostics),
        Err(error) => {
            let detail =
                format!("{}: {error}. What was installed before is still there.", data.join("modules").display());
            walk.diagnostics.push(Diagnostic::error("Cannot install modules", detail));
            Err(walk.diagnostics)
        }
    }
}

/// A module on the way.
struct Place {
    /// The names of the calls that lead to it, with periods between them.
    key: String,
    /// Where it will be, seen from the root module.
    directory: String,
    /// Where it is now.
    path: PathBuf,
    package: Option<PackagePlace>,
    /// The addresses of the fetched modules that lead to it.
    chain: Vec<String>,
    depth: usize,
}

/// The package that a module belongs to, in the same two places.
#[derive(Clone)]
struct PackagePlace {
    directory: String,
    path: PathBuf,
}

struct Walk<'a> {
    installation: &'a Installation<'a>,
    /// In its plain form.
    data_directory: String,
    old: BTreeMap<&'a str, &'a Entry>,
    registries: Registries<'a>,
    fetcher: &'a Fetcher,
    sources: &'a mut Sources,
    tell: &'a mut (dyn FnMut(&str) + Send),
    /// Where packages are until all of them are there. On the file system that they go to.
    staging: Option<tempfile::TempDir>,
    /// By address: each is fetched once.
    packages: BTreeMap<Package, Result<Content, String>>,
    /// The calls of directories that were read, by where they are now.
    calls: BTreeMap<PathBuf, Vec<ModuleCall>>,
    entries: Vec<Entry>,
    /// What goes into which directory of a package.
    placed: Vec<(String, Content)>,
    diagnostics: Diagnostics,
}

impl Walk<'_> {
    async fn all(&mut self) {
        let root = Place {
            key: String::new(),
            directory: ROOT.to_owned(),
            path: self.installation.root.to_owned(),
            package: None,
            chain: Vec::new(),
            depth: 0,
        };
        self.entries.push(Entry { key: String::new(), source: String::new(), version: None, dir: ROOT.to_owned() });
        let mut todo = self.calls(root);
        while let Some((place, call)) = todo.pop() {
            if self.entries.len() > MAX_MODULES {
                let detail = format!("The configuration has more than {MAX_MODULES} modules.");
                self.diagnostics.push(Diagnostic::error("Too many modules", detail).at(call.span));
                return;
            }
            if let Some(called) = self.called(&place, &call).await {
                todo.extend(self.calls(called));
            }
        }
    }

    /// The calls of a module, the last name first: it is looked at last.
    fn calls(&mut self, place: Place) -> Vec<(Arc<Place>, ModuleCall)> {
        if !self.calls.contains_key(&place.path) {
            let calls = self.read(&place);
            self.calls.insert(place.path.clone(), calls);
        }
        let place = Arc::new(place);
        let calls = self.calls[&place.path].iter().rev();
        calls.map(|call| (place.clone(), call.clone())).collect()
    }

    /// The calls of a module, in the order of their names.
    fn read(&mut self, place: &Place) -> Vec<ModuleCall> {
        let mut reader = Reader::new(self.installation.root);
        let read = reader.directory_at(&place.directory, &place.path);
        if let Err(error) = &read {
            self.diagnostics.push(Diagnostic::error("Unreadable module directory", sentence(&chain(error))));
        }
        let tree: SourceTree = reader.tree;
        let (calls, wrong) = module_calls(&tree, &place.directory, self.sources);
        // What else is wrong with a module is told when all of it is loaded.
        if wrong.has_errors() {
            self.diagnostics.extend(wrong);
        }
        calls.unwrap_or_default()
    }

    /// Makes sure that what a call calls is there.
    async fn called(&mut self, from: &Place, call: &ModuleCall) -> Option<Place> {
        let source = call.module_source(&mut self.diagnostics)?;
        let key = if from.key.is_empty() { call.name.to_string() } else { format!("{}.{}", from.key, call.name) };
        if from.depth == MAX_CALLS {
            let detail = format!("Modules may call each other {MAX_CALLS} levels deep; this is deeper: {key}.");
            let diagnostic = Diagnostic::error("Modules nested too deeply", detail).at(call.source_span);
            self.diagnostics.push(diagnostic.hint("A module that calls itself, perhaps by way of others, has no end."));
            return None;
        }
        let mut place = match &source {
            ModuleSource::Local(path) => self.local(from, call, path, key)?,
            ModuleSource::Registry(_) | ModuleSource::Remote(_) => {
                let text = source.to_string();
                if from.chain.contains(&text) {
                    let chain: Vec<&str> = from.chain.iter().map(String::as_str).chain([&*text]).collect();
                    let detail = format!("This call comes back to a module that is calling: {}.", chain.join(" → "));
                    let diagnostic = Diagnostic::error("Module calls itself", detail).at(call.source_span);
                    self.diagnostics.push(diagnostic.hint("Move what both need into a module of its own."));
                    return None;
                }
                let mut place = match self.kept(call, &text, &key) {
                    Some(place) => place,
                    None => match self.fetched(call, &source, &key).await {
                        Ok(place) => place,
                        Err(error) => {
                            let mut diagnostic = diagnostic("Failed to download module", &error);
                            diagnostic.detail = sentence(&format!("module {key}: {error}"));
                            self.diagnostics.push(diagnostic.at(call.source_span));
                            return None;
                        }
                    },
                };
                place.chain.clone_from(&from.chain);
                place.chain.push(text);
                place
            }
        };
        place.depth = from.depth + 1;
        if let ModuleSource::Local(path) = &source {
            let entry =
                Entry { key: place.key.clone(), source: path.clone(), version: None, dir: place.directory.clone() };
            self.entries.push(entry);
        }
        (self.tell)(&format!("- {} in {}\n", place.key, place.directory));
        Some(place)
    }

    fn local(&mut self, from: &Place, call: &ModuleCall, path: &str, key: String) -> Option<Place> {
        let directory = join(&from.directory, path);
        let now = match &from.package {
            None => self.installation.root.join(&directory),
            Some(package) => match directory.strip_prefix(&package.directory) {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                    package.path.join(rest.trim_start_matches('/'))
                }
                _ => {
                    let detail = format!(
                        "The directory \"{path}\" would be outside of the package that the calling module was fetched \
                         with."
                    );
                    let diagnostic = Diagnostic::error("Local module path escapes module package", detail);
                    let hint =
                        "Only what is in the package was fetched. Give the address of the other package instead.";
                    self.diagnostics.push(diagnostic.at(call.source_span).hint(hint));
                    return None;
                }
            },
        };
        if !now.is_dir() {
            let detail = format!("There is no directory \"{directory}\".");
            let hint = format!("The source \"{path}\" is relative to the directory of the file that it stands in.");
            self.diagnostics.push(Diagnostic::error("Module not found", detail).at(call.source_span).hint(hint));
            return None;
        }
        let chain = from.chain.clone();
        Some(Place { key, directory, path: now, package: from.package.clone(), chain, depth: 0 })
    }

    /// What is installed already, and still what is wanted.
    fn kept(&mut self, call: &ModuleCall, source: &str, key: &str) -> Option<Place> {
        let entry = self.old.get(key).copied().filter(|entry| !self.installation.upgrade && entry.source == source)?;
        let installed = entry.installed(&self.data_directory)?;
        let fits = match (&call.version, &installed.version) {
            (Some((constraints, _)), Some(version)) => constraints.select(version),
            _ => true,
        };
        let root = self.installation.root;
        let path = root.join(&*installed.directory);
        if !fits || !path.is_dir() {
            return None;
        }
        self.entries.push(entry.clone());
        let package = PackagePlace { directory: installed.package.to_string(), path: root.join(&*installed.package) };
        let directory = installed.directory.to_string();
        Some(Place { key: key.to_owned(), directory, path, package: Some(package), chain: Vec::new(), depth: 0 })
    }

    async fn fetched(&mut self, call: &ModuleCall, source: &ModuleSource, key: &str) -> Result<Place, FetchError> {
        let (remote, version) = match source {
            ModuleSource::Registry(module) => {
                let (remote, version) = self.chosen(call, module, key).await?;
                (remote, Some(version))
            }
            ModuleSource::Remote(remote) => {
                (self.tell)(&format!("Downloading {} for {key}...\n", remote.package.shown()));
                (remote.clone(), None)
            }
            ModuleSource::Local(path) => return Err(FetchError::new(format!("{path} needs no download"))),
        };
        let content = self.package(&remote.package).await?;
        let now = match &content {
            Content::Directory(path) | Content::Link(path) => path.clone(),
        };
        let (path, subdirectory) = match &content {
            // What somebody keeps on this machine may lead wherever they like.
            Content::Link(path) => (path.join(&remote.subdirectory), remote.subdirectory.clone()),
            Content::Directory(path) => place::subdirectory(path, &remote.subdirectory)?,
        };
        if !path.is_dir() {
            return Err(FetchError::new(format!("there is no directory \"{}\" in {}", subdirectory, now.display())));
        }
        let package = join(&self.data_directory, &format!("modules/{key}"));
        let directory = join(&package, &subdirectory);
        self.placed.push((key.to_owned(), content));
        self.entries.push(Entry { key: key.to_owned(), source: source.to_string(), version, dir: directory.clone() });
        let package = PackagePlace { directory: package, path: now };
        Ok(Place { key: key.to_owned(), directory, path, package: Some(package), chain: Vec::new(), depth: 0 })
    }

    /// The version of a registry's module, and where that is.
    async fn chosen(
        &mut self,
        call: &ModuleCall,
        module: &RegistryModule,
        key: &str,
    ) -> Result<(RemoteModule, String), FetchError> {
        let chosen = self.registries.choose(module, call.version.as_ref().map(|(constraints, _)| constraints)).await?;
        (self.tell)(&format!("Downloading {module} {} for {key}...\n", chosen.version));
        let mut remote = self.registries.package(module, &chosen).await?;
        remote.subdirectory = join(&remote.subdirectory, &module.subdirectory);
        Ok((remote, chosen.version.to_string()))
    }

    /// A package, fetched now or before in this run.
    async fn package(&mut self, package: &Package) -> Result<Content, FetchError> {
        if let Some(known) = self.packages.get(package) {
            return known.clone().map_err(FetchError::new);
        }
        let into = self.staging()?.join(format!("package-{}", self.packages.len()));
        let fetched = self.fetcher.fetch(package, &into).await;
        self.packages.insert(package.clone(), fetched.as_ref().map_err(ToString::to_string).cloned());
        fetched
    }

    fn staging(&mut self) -> Result<PathBuf, FetchError> {
        if let Some(staging) = &self.staging {
            return Ok(staging.path().to_owned());
        }
        let modules = self.modules();
        let made = fs::create_dir_all(&modules)
            .and_then(|()| tempfile::Builder::new().prefix(".installing-").tempdir_in(&modules))
            .map_err(|error| FetchError::io("cannot make a directory in", &modules, &error))?;
        let path = made.path().to_owned();
        self.staging = Some(made);
        Ok(path)
    }

    fn modules(&self) -> PathBuf {
        self.installation.root.join(&self.data_directory).join("modules")
    }

    /// Puts everything into its place, or nothing.
    fn commit(&mut self, old: &Manifest) -> io::Result<()> {
        let modules = self.modules();
        self.entries.sort_by(|a, b| a.key.cmp(&b.key));
        let manifest = Manifest { modules: std::mem::take(&mut self.entries) };
        let data = self.installation.root.join(&self.data_directory);
        let present: BTreeSet<&str> = manifest.modules.iter().map(|entry| &*entry.key).collect();
        let gone = old.modules.iter().map(|entry| &*entry.key).filter(|key| !present.contains(key) && is_key(key));
        let gone: Vec<PathBuf> = gone.map(|key| modules.join(key)).filter(|path| path.exists()).collect();
        if self.placed.is_empty() && gone.is_empty() {
            return manifest.write(&data).map_err(io::Error::other);
        }
        let staging = self.staging().map_err(io::Error::other)?;
        // First whatever can take long or fail: copies of packages that are called several times.
        let mut uses: BTreeMap<&Path, usize> = BTreeMap::new();
        for (_, content) in &self.placed {
            if let Content::Directory(path) = content {
                *uses.entry(path).or_default() += 1;
            }
        }
        let mut ready = Vec::new();
        for (index, (key, content)) in self.placed.iter().enumerate() {
            let copy = staging.join(format!("module-{index}"));
            let from = match content {
                Content::Link(to) => {
                    symlink(to, &copy)?;
                    copy
                }
                Content::Directory(path) => {
                    let left = uses.entry(path).or_default();
                    *left -= 1;
                    if *left == 0 {
                        path.clone()
                    } else {
                        place::copy(path, &copy)?;
                        copy
                    }
                }
            };
            ready.push((from, modules.join(key)));
        }
        let mut exchange = Exchange::new(&staging.join("before"))?;
        for path in &gone {
            exchange.clear(path)?;
        }
        for (from, to) in &ready {
            exchange.put(from, to)?;
        }
        manifest.write(&data).map_err(io::Error::other)?;
        exchange.keep();
        Ok(())
    }
}

/// Could it be the name of a directory of ours?
fn is_key(key: &str) -> bool {
    !key.is_empty() && !key.starts_with('.') && !key.contains('/')
}

fn diagnostic(summary: &str, error: &FetchError) -> Diagnostic {
    let diagnostic = Diagnostic::error(summary, sentence(&error.to_string()));
    error.hint.iter().fold(diagnostic, |diagnostic, hint| diagnostic.hint(hint.clone()))
}
