//! The module registry protocol: where a host has its registry, which versions of a module there are, and where one of
//! them is fetched from.

use std::collections::BTreeMap;

use engine_lang::config::{RegistryModule, RemoteModule, Version, VersionConstraints};
use http::HeaderValue;
use serde::Deserialize;

use crate::{
    credentials::Credentials,
    fetch::{Client, FetchError, Url, header, located},
};

/// The longest answer of a registry. A thousand versions have 100 KiB.
const MOST: usize = 8 << 20;

/// Registries, each asked once for each thing.
pub(crate) struct Registries<'a> {
    client: &'a Client,
    credentials: &'a Credentials,
    /// Where the modules are, by host.
    bases: BTreeMap<String, Url>,
    /// By module without the directory within it, the newest first, as the registry spells them.
    versions: BTreeMap<String, Vec<(Version, String)>>,
    packages: BTreeMap<(String, String), RemoteModule>,
}

/// A version that was chosen.
pub(crate) struct Chosen {
    pub(crate) version: Version,
    /// As the registry spells it.
    text: String,
}

impl<'a> Registries<'a> {
    pub(crate) fn new(client: &'a Client, credentials: &'a Credentials) -> Self {
        Self { client, credentials, bases: BTreeMap::new(), versions: BTreeMap::new(), packages: BTreeMap::new() }
    }

    /// The newest version of a module that satisfies the constraints; pre-releases only where one is named.
    pub(crate) async fn choose(
        &mut self,
        module: &RegistryModule,
        constraints: Option<&VersionConstraints>,
    ) -> Result<Chosen, FetchError> {
        let key = module.to_string();
        if !self.versions.contains_key(&key) {
            let found = self.list(module).await?;
            self.versions.insert(key.clone(), found);
        }
        let versions = &self.versions[&key];
        let fits = |version: &Version| constraints.map_or(!version.is_prerelease(), |all| all.select(version));
        if let Some((version, text)) = versions.iter().find(|(version, _)| fits(version)) {
            return Ok(Chosen { version: version.clone(), text: text.clone() });
        }
        let newest = versions.iter().find(|(version, _)| !version.is_prerelease());
        let newest =
            newest.map_or_else(|| "It has no releases".to_owned(), |(_, text)| format!("The newest is {text}"));
        let wanted = constraints.map_or_else(|| "a release".to_owned(), |all| format!("\"{all}\""));
        Err(FetchError::new(format!("there is no version of {module} that is {wanted}. {newest}"))
            .hint("A pre-release is only used where the version names it exactly."))
    }

    /// Where a version is fetched from.
    pub(crate) async fn package(
        &mut self,
        module: &RegistryModule,
        chosen: &Chosen,
    ) -> Result<RemoteModule, FetchError> {
        let key = (module.to_string(), chosen.text.clone());
        if let Some(found) = self.packages.get(&key) {
            return Ok(found.clone());
        }
        let url = self.base(&module.host).await?.join(&format!("{}/{}/download", path(module), chosen.text))?;
        let answer = self.client.get(&url, self.token(&module.host)?.as_ref()).await?.successful()?;
        let (named, from) = (header(&answer.headers), answer.url.clone());
        let location = match named {
            Some(location) => location,
            None => {
                let text = answer.text(MOST).await?;
                let body: Option<Location> = serde_json::from_str(&text).ok();
                body.map(|body| body.location).ok_or_else(|| {
                    FetchError::new(format!("{from} does not say where the module is (X-Terraform-Get)"))
                })?
            }
        };
        let found = located(&location, &from)?;
        self.packages.insert(key, found.clone());
        Ok(found)
    }

    async fn list(&mut self, module: &RegistryModule) -> Result<Vec<(Version, String)>, FetchError> {
        let url = self.base(&module.host).await?.join(&format!("{}/versions", path(module)))?;
        let answer = self.client.get(&url, self.token(&module.host)?.as_ref()).await?;
        if answer.status == http::StatusCode::NOT_FOUND {
            return Err(FetchError::new(format!("the registry {} has no module {}", module.host, path(module)))
                .hint("Check the source, and whether the registry needs credentials."));
        }
        let text = answer.successful()?.text(MOST).await?;
        let listed: Listed = serde_json::from_str(&text)
            .map_err(|error| FetchError::new(format!("{url} has an answer that is no list of versions: {error}")))?;
        let all = listed.modules.into_iter().take(1).flat_map(|module| module.versions);
        // What is no version, or has characters that none has, cannot be asked for.
        let mut versions: Vec<_> = all.filter_map(|one| Some((Version::parse(&one.version)?, one.version))).collect();
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte));
        versions.retain(|(_, text)| is_plain(text));
        versions.sort_by(|(a, left), (b, right)| b.cmp(a).then_with(|| left.cmp(right)));
        Ok(versions)
    }

    /// Where a host's modules are: as the CLI configuration says, or as the host itself says.
    async fn base(&mut self, host: &str) -> Result<Url, FetchError> {
        if let Some(base) = self.bases.get(host) {
            return Ok(base.clone());
        }
        let none = || {
            FetchError::new(format!("{host} is no registry of modules (it has no service modules.v1)"))
                .hint("Check the source. A directory is written with a dot: \"./x\".")
        };
        let base = match self.credentials.service(host, SERVICE) {
            Some(Some(address)) => Url::parse(address)?,
            Some(None) => return Err(none()),
            None => {
                let url = Url::parse(&format!("https://{host}/.well-known/terraform.json"))?;
                let answer = self.client.get(&url, self.token(host)?.as_ref()).await?;
                if answer.status == http::StatusCode::NOT_FOUND {
                    return Err(none());
                }
                let from = answer.url.clone();
                let text = answer.successful()?.text(MOST).await?;
                let services: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).map_err(|error| {
                    FetchError::new(format!("{from} has an answer that names no services: {error}"))
                })?;
                let address = services.get(SERVICE).and_then(serde_json::Value::as_str).ok_or_else(none)?;
                from.join(address)?
            }
        };
        let base = if base.path().ends_with('/') { base } else { base.join(&format!("{}/", base.path()))? };
        self.bases.insert(host.to_owned(), base.clone());
        Ok(base)
    }

    fn token(&self, host: &str) -> Result<Option<HeaderValue>, FetchError> {
        self.credentials.header(host)
    }
}

/// The service that this is.
const SERVICE: &str = "modules.v1";

fn path(module: &RegistryModule) -> String {
    format!("{}/{}/{}", module.namespace, module.name, module.system)
}

#[derive(Deserialize)]
struct Listed {
    modules: Vec<Versions>,
}

#[derive(Deserialize)]
struct Versions {
    #[serde(default)]
    versions: Vec<One>,
}

#[derive(Deserialize)]
struct One {
    version: String,
}

#[derive(Deserialize)]
struct Location {
    location: String,
}
