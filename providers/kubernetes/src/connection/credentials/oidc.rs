//! The kubeconfig's auth-provider `oidc`: an ID token, renewed by a refresh token at the identity provider.
//!
//! The new tokens are written to the kubeconfig, as kubectl does: many providers take a refresh token once only, so that
//! one that was used and not replaced would lock out the next run, and kubectl.

use std::{
    collections::HashMap,
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{Request, StatusCode, Uri};
use http_body_util::{BodyExt, Limited};
use jiff::{Timestamp, ToSpan};
use kube::{Client, client::Body};
use providers_api::{ErrorKind, ProviderError};
use serde_json::Value as Json;

use super::{Held, no_credentials};
use crate::connection::{
    Environment, Secret, proxy,
    target::{Pem, Trust},
};

/// How long the identity provider may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most that it may answer.
const MOST: usize = 1 << 20;

/// A token is renewed that much before it runs out, as kubectl does.
const BEFORE: i64 = 10;

/// The configuration of the auth-provider.
pub(in crate::connection) struct Oidc {
    id_token: Option<Secret>,
    refresh_token: Option<Secret>,
    issuer: String,
    client: String,
    secret: Secret,
    trust: Trust,
    environment: Environment,
    /// The kubeconfig that holds the tokens.
    file: Option<PathBuf>,
}

impl Oidc {
    /// As the kubeconfig `file` says it.
    pub(in crate::connection) fn new(
        config: &HashMap<String, String>,
        file: Option<PathBuf>,
        environment: &Environment,
    ) -> Result<Self, ProviderError> {
        let get = |name: &str| config.get(name).filter(|text| !text.is_empty());
        let need = |name: &str| {
            get(name).cloned().ok_or_else(|| {
                ProviderError::permanent(format!("the kubeconfig's auth-provider `oidc` has no `{name}`"))
                    .hint("`kubectl config set-credentials --auth-provider=oidc --auth-provider-arg=…` sets it.")
            })
        };
        let authority = match (get("idp-certificate-authority-data"), get("idp-certificate-authority")) {
            (Some(data), _) => {
                let text = STANDARD.decode(data).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                let from = "idp-certificate-authority-data";
                let text =
                    text.ok_or_else(|| ProviderError::permanent(format!("`{from}` is not base64 of PEM text")))?;
                Some(Pem::Text { from, text })
            }
            (None, Some(path)) => {
                let folder = file.as_deref().and_then(Path::parent).unwrap_or(&environment.directory);
                Some(Pem::File(folder.join(path)))
            }
            (None, None) => None,
        };
        Ok(Self {
            id_token: get("id-token").cloned().map(Secret),
            refresh_token: get("refresh-token").cloned().map(Secret),
            issuer: need("idp-issuer-url")?,
            client: need("client-id")?,
            secret: Secret(get("client-secret").cloned().unwrap_or_default()),
            trust: authority.map_or(Trust::System, Trust::Authorities),
            environment: environment.clone(),
            file,
        })
    }

    /// The ID token, renewed where it has run out or was refused.
    pub(super) async fn token(&mut self, refused: bool) -> Result<Held, ProviderError> {
        if !refused && let Some(token) = &self.id_token {
            let held = held(token);
            if !held.is_over() {
                return Ok(held);
            }
        }
        self.renew().await?;
        Ok(self.id_token.as_ref().map(held).unwrap_or_default())
    }

    async fn renew(&mut self) -> Result<(), ProviderError> {
        let Some(refresh) = self.refresh_token.clone() else {
            return Err(no_credentials("the OIDC ID token has run out, and the kubeconfig has no `refresh-token`")
                .hint("Log in again with the tool that wrote the kubeconfig."));
        };
        let discovery = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let (status, answer) = self.ask(&discovery, None, None).await?;
        let endpoint = answer.get("token_endpoint").and_then(Json::as_str);
        let Some(endpoint) = endpoint.filter(|_| status.is_success()) else {
            return Err(self.failed(&format!("{discovery} names no token endpoint (HTTP {})", status.as_u16())));
        };
        let form = |more: &[(&str, &str)]| {
            let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh.0.as_str())];
            let fields =
                fields.iter().chain(more).map(|(name, value)| format!("{name}={}", crate::uri::encoded(value)));
            fields.collect::<Vec<_>>().join("&")
        };
        // Providers want the client's name in the header or in the form, and some refuse the other; a public client has
        // no secret, and is in the form.
        let header = format!("{}:{}", crate::uri::encoded(&self.client), crate::uri::encoded(&self.secret.0));
        let header = Secret(format!("Basic {}", STANDARD.encode(header)));
        let named: &[(&str, &str)] = match self.secret.0.as_str() {
            "" => &[("client_id", &self.client)],
            secret => &[("client_id", &self.client), ("client_secret", secret)],
        };
        let (mut status, mut answer) = (StatusCode::UNAUTHORIZED, Json::Null);
        if !self.secret.0.is_empty() {
            (status, answer) = self.ask(endpoint, Some(form(&[])), Some(&header)).await?;
        }
        if !status.is_success() {
            (status, answer) = self.ask(endpoint, Some(form(named)), None).await?;
        }
        if !status.is_success() {
            // The code of RFC 6749, 5.2: a word of a fixed list, and no secret.
            let known = ["invalid_request", "invalid_client", "invalid_grant", "unauthorized_client"];
            let code =
                answer.get("error").and_then(Json::as_str).and_then(|code| known.iter().find(|one| **one == code));
            let code = code.map(|code| format!(", {code}")).unwrap_or_default();
            return Err(self.failed(&format!("it refuses the refresh token (HTTP {}{code})", status.as_u16())));
        }
        let text = |name: &str| answer.get(name).and_then(Json::as_str).map(|text| Secret(text.to_owned()));
        let new = text("id_token").ok_or_else(|| self.failed("its answer has no ID token"))?;
        let replaced = [(self.id_token.replace(new.clone()), new)].into_iter();
        let replaced = replaced.chain(text("refresh_token").map(|new| (self.refresh_token.replace(new.clone()), new)));
        let replaced: Vec<(Secret, Secret)> =
            replaced.filter_map(|(old, new)| Some((old.filter(|old| *old != new)?, new))).collect();
        if let Some(file) = &self.file {
            // Where it cannot be written the tokens serve this run all the same.
            let _ = persist(file, &replaced);
        }
        Ok(())
    }

    fn failed(&self, why: &str) -> ProviderError {
        no_credentials(format!("the OIDC ID token has run out, and {} does not renew it: {why}", self.issuer))
            .hint("Log in again with the tool that wrote the kubeconfig.")
    }

    /// Asks the identity provider; answers that are no JSON are null.
    async fn ask(
        &self,
        url: &str,
        form: Option<String>,
        authorization: Option<&Secret>,
    ) -> Result<(StatusCode, Json), ProviderError> {
        let uri: Uri = url.parse().map_err(|_| self.failed("its address is no URL"))?;
        if uri.scheme_str() != Some("https") {
            return Err(self.failed("its address is not https://"));
        }
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let server = format!("https://{authority}").parse().map_err(|_| self.failed("its address has no host"))?;
        let mut config = kube::Config::new(server);
        config.default_retry = false;
        config.root_cert = self.trust.certificates()?;
        config.proxy_url = proxy::from_environment(&uri, &self.environment)?;
        let client = Client::try_from(config).map_err(|_| self.failed("its certificates cannot be used"))?;
        let mut request = Request::builder().method(if form.is_some() { "POST" } else { "GET" });
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        request = request.uri(path).header("accept", "application/json");
        if form.is_some() {
            request = request.header("content-type", "application/x-www-form-urlencoded");
        }
        if let Some(Secret(value)) = authorization {
            request = request.header("authorization", value);
        }
        let request = request.body(Body::from(form.unwrap_or_default().into_bytes()));
        let request = request.map_err(|_| self.failed("the request cannot be written"))?;
        let unreachable = |why: String| ProviderError::new(ErrorKind::Unreachable, format!("{}: {why}", self.issuer));
        let answer = tokio::time::timeout(PATIENCE, async {
            let answer = client.send(request).await.map_err(|error| {
                crate::error::provider_error("cannot renew the OIDC ID token", &self.issuer, &error)
            })?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), MOST).collect().await;
            let body = body.map_err(|_| unreachable("its answer broke off, or is longer than 1 MiB".to_owned()))?;
            Ok((status, serde_json::from_slice(&body.to_bytes()).unwrap_or(Json::Null)))
        });
        answer.await.unwrap_or_else(|_| Err(unreachable(format!("no answer in {} s", PATIENCE.as_secs()))))
    }
}

/// The token, and until when it serves as its claims say; one whose claims cannot be read serves until it is refused.
fn held(token: &Secret) -> Held {
    let claims = token.0.split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).ok());
    let claims: Option<Json> = claims.and_then(|claims| serde_json::from_slice(&claims).ok());
    let seconds = claims.as_ref().and_then(|claims| claims.get("exp")?.as_f64());
    let until = seconds.and_then(|seconds| Timestamp::from_second(seconds as i64).ok());
    let until = until.and_then(|until| until.checked_sub(BEFORE.seconds()).ok());
    Held { token: Some(token.clone()), identity: None, until }
}

/// Puts new tokens in the place of old ones in a kubeconfig, whatever else it holds, under kubectl's lock and in one
/// step.
fn persist(file: &Path, replaced: &[(Secret, Secret)]) -> std::io::Result<()> {
    // What a link points at, not the link.
    let file = fs::canonicalize(file)?;
    let lock = PathBuf::from(format!("{}.lock", file.display()));
    OpenOptions::new().write(true).create_new(true).open(&lock)?;
    let written = (|| {
        let mut text = fs::read_to_string(&file)?;
        for (old, new) in replaced {
            text = text.replace(&old.0, &new.0);
        }
        let mut new = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(Path::new(".")))?;
        new.write_all(text.as_bytes())?;
        new.as_file().set_permissions(fs::metadata(&file)?.permissions())?;
        new.as_file().sync_all()?;
        new.persist(&file).map_err(|error| error.error)?;
        Ok(())
    })();
    let _ = fs::remove_file(&lock);
    written
}
