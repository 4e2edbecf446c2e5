//! One HTTP client for archives and registries: bounded in time, and careful with what proves who we are. A token or
//! password is sent to the scheme, host and port that it was meant for, and to no other that a redirect names.

use std::{
    collections::BTreeMap,
    error::Error as StdError,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use engine_lang::config::shown_url;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::{
        legacy::{
            Client as Pool,
            connect::{HttpConnector, proxy::Tunnel},
        },
        proxy::matcher::Matcher,
    },
    rt::{TokioExecutor, TokioIo},
};
use tokio::{net::TcpStream, time::timeout};
use tower::{BoxError, Service};

use super::{FetchError, percent_decoded, tls};
use crate::credentials::Netrc;

/// How long a server may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often an answer may send us elsewhere: what browsers and Go's client follow at most, rounded.
const REDIRECTS: usize = 10;

/// An absolute HTTP URL. Its userinfo is kept beside it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Url {
    uri: Uri,
    /// `user:password`, decoded.
    userinfo: Option<String>,
}

impl Url {
    pub(crate) fn parse(text: &str) -> Result<Self, FetchError> {
        let bad = || FetchError::new(format!("{} is no HTTP address", shown_url(text)));
        let (text, _) = text.split_once('#').unwrap_or((text, ""));
        let escaped = text.replace(' ', "%20");
        let uri: Uri = escaped.parse().map_err(|_| bad())?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(bad());
        };
        let (userinfo, host) = match authority.as_str().rsplit_once('@') {
            Some((userinfo, host)) => (Some(percent_decoded(userinfo)), host),
            None => (None, authority.as_str()),
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let uri = format!("{scheme}://{host}{path}").parse().map_err(|_| bad())?;
        Ok(Self { uri, userinfo })
    }

    /// What a reference means that stands in an answer of this URL.
    pub(crate) fn join(&self, reference: &str) -> Result<Self, FetchError> {
        if reference.starts_with("http://") || reference.starts_with("https://") {
            return Self::parse(reference);
        }
        let scheme = self.uri.scheme_str().unwrap_or("https");
        let authority = self.uri.authority().map_or("", |authority| authority.as_str());
        if let Some(rest) = reference.strip_prefix("//") {
            return Self::parse(&format!("{scheme}://{rest}"));
        }
        let (path, query) = reference.find('?').map_or((reference, ""), |at| reference.split_at(at));
        let base = self.uri.path();
        let whole = match path {
            "" => base.to_owned(),
            path if path.starts_with('/') => path.to_owned(),
            path => format!("{}{path}", &base[..=base.rfind('/').unwrap_or(0)]),
        };
        let mut parts: Vec<&str> = Vec::new();
        let ends_open = whole.ends_with('/') || whole.ends_with("/.") || whole.ends_with("/..");
        for part in whole.split('/').filter(|part| !part.is_empty()) {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        let end = if ends_open && !parts.is_empty() { "/" } else { "" };
        Self::parse(&format!("{scheme}://{authority}/{}{end}{query}", parts.join("/")))
    }

    /// With one more parameter.
    pub(crate) fn with(&self, parameter: &str) -> Result<Self, FetchError> {
        let sign = if self.uri.query().is_some() { '&' } else { '?' };
        let mut url = Self::parse(&format!("{}{sign}{parameter}", self.uri))?;
        url.userinfo.clone_from(&self.userinfo);
        Ok(url)
    }

    /// The whole of it but for its password, which must not be shown.
    pub(crate) fn unshown(&self) -> String {
        self.uri.to_string()
    }

    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    pub(crate) fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    fn origin(&self) -> (&str, &str, u16) {
        let scheme = self.uri.scheme_str().unwrap_or_default();
        (scheme, self.host(), self.uri.port_u16().unwrap_or(if scheme == "http" { 80 } else { 443 }))
    }
}

/// Without what may be secret.
impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_url(&self.uri.to_string()))
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// An answer, its body still to come.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    /// Who has answered, after redirects.
    pub(crate) url: Url,
    body: Incoming,
}

impl Answer {
    /// An error, if the answer is none of success.
    pub(crate) fn successful(self) -> Result<Self, FetchError> {
        if self.status.is_success() {
            return Ok(self);
        }
        let error = FetchError::new(format!("{} answered {}", self.url, self.status));
        Err(match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => error.hint(format!(
                "Say who you are: a token in TF_TOKEN_{} or in a credentials block of the CLI configuration for a \
                 registry, an entry in ~/.netrc for an archive.",
                self.url.host().replace('-', "__").replace('.', "_")
            )),
            StatusCode::NOT_FOUND => error.hint("Check the address, and whether it needs credentials."),
            _ => error,
        })
    }

    /// The next piece of the body.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>, FetchError> {
        loop {
            let frame = timeout(PATIENCE, self.body.frame()).await.map_err(|_| silent(&self.url))?;
            match frame {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => return Err(broken(&self.url, &error)),
            }
        }
    }

    /// The whole body, which must be short.
    pub(crate) async fn text(self, most: usize) -> Result<String, FetchError> {
        let url = self.url;
        let collected = timeout(PATIENCE, Limited::new(self.body, most).collect()).await.map_err(|_| silent(&url))?;
        let bytes = collected.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => FetchError::new(format!("the answer of {url} is longer than {} KiB", most >> 10)),
            None => broken(&url, &*error),
        })?;
        Ok(String::from_utf8_lossy(&bytes.to_bytes()).into_owned())
    }
}

pub(crate) struct Client {
    pool: Pool<HttpsConnector<Proxied>, Empty<Bytes>>,
    netrc: Netrc,
}

impl Client {
    pub(crate) fn new(variables: &BTreeMap<String, String>, netrc: Netrc) -> Result<Self, FetchError> {
        let first = |names: [&str; 2]| {
            names.into_iter().find_map(|name| variables.get(name).filter(|value| !value.is_empty())).cloned()
        };
        let proxies = Matcher::builder()
            .all(first(["ALL_PROXY", "all_proxy"]).unwrap_or_default())
            .http(first(["HTTP_PROXY", "http_proxy"]).unwrap_or_default())
            .https(first(["HTTPS_PROXY", "https_proxy"]).unwrap_or_default())
            .no(first(["NO_PROXY", "no_proxy"]).unwrap_or_default())
            .build();
        let mut direct = HttpConnector::new();
        direct.enforce_http(false);
        direct.set_connect_timeout(Some(Duration::from_secs(20)));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls::config(variables)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(Proxied { direct, proxies: proxies.into() });
        Ok(Self { pool: Pool::builder(TokioExecutor::new()).build(connector), netrc })
    }

    /// Asks for a URL, and follows redirects. `token` is for the URL's own server; without one, the password in the URL
    /// or the entry of netrc says who we are.
    pub(crate) async fn get(&self, url: &Url, token: Option<&HeaderValue>) -> Result<Answer, FetchError> {
        let mut current = url.clone();
        for _ in 0..=REDIRECTS {
            let mut request = Request::get(&current.uri)
                .header(header::USER_AGENT, concat!("sliceform/", env!("CARGO_PKG_VERSION")))
                // Terraform's own header: registries choose what to offer by it.
                .header("X-Terraform-Version", engine_lang::config::language_version().to_string())
                .body(Empty::new())
                .map_err(|error| FetchError::new(format!("cannot ask {current}: {error}")))?;
            let same = current.origin() == url.origin();
            let own = token.filter(|_| same).cloned().or_else(|| self.known(&current));
            if let Some(value) = own {
                request.headers_mut().insert(header::AUTHORIZATION, value);
            }
            let answer = self.answer(&current, request).await?;
            let location = answer.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let next = match answer.status() {
                status if !status.is_redirection() => None,
                _ => location.map(|location| current.join(location)).transpose()?,
            };
            let Some(next) = next else {
                let (parts, body) = answer.into_parts();
                return Ok(Answer { status: parts.status, headers: parts.headers, url: current, body });
            };
            if current.origin().0 == "https" && next.origin().0 == "http" {
                let error = FetchError::new(format!("{current} sends us to {next}, which is not encrypted"));
                return Err(error.hint("Give the address that it should lead to, if you trust the way to it."));
            }
            current = next;
            if current.userinfo.is_none() && current.origin() == url.origin() {
                current.userinfo.clone_from(&url.userinfo);
            }
        }
        Err(FetchError::new(format!("{url} sends us on more than {REDIRECTS} times")))
    }

    /// A connection that a server has closed in the meantime is made again, once.
    async fn answer(&self, url: &Url, request: Request<Empty<Bytes>>) -> Result<Response<Incoming>, FetchError> {
        let again = request.clone();
        let first = timeout(PATIENCE, self.pool.request(request)).await.map_err(|_| silent(url))?;
        let answer = match first {
            Err(error) if !error.is_connect() => {
                timeout(PATIENCE, self.pool.request(again)).await.map_err(|_| silent(url))?
            }
            answer => answer,
        };
        answer.map_err(|error| broken(url, &error))
    }

    /// Who we are to a server that wants no token.
    fn known(&self, url: &Url) -> Option<HeaderValue> {
        let pair = url.userinfo.clone().or_else(|| self.netrc.of(url.host()))?;
        let pair = if pair.contains(':') { pair } else { format!("{pair}:") };
        let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair))).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

fn silent(url: &Url) -> FetchError {
    FetchError::new(format!("{url} did not answer for {} s", PATIENCE.as_secs()))
}

fn broken(url: &Url, error: &(dyn StdError + 'static)) -> FetchError {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.ends_with(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    let hint = "Check the address, the network between here and there, and the proxy in HTTPS_PROXY or HTTP_PROXY. What \
                is installed already is used without a network.";
    FetchError::new(format!("cannot reach {url}: {text}")).hint(hint)
}

/// Connects directly, or by way of the proxy that the environment names. The kind of proxy is HTTP with CONNECT.
#[derive(Clone)]
struct Proxied {
    direct: HttpConnector,
    proxies: std::sync::Arc<Matcher>,
}

impl Service<Uri> for Proxied {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.direct.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let is_loopback = to.host().is_some_and(|host| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        });
        let proxy = if is_loopback { None } else { self.proxies.intercept(&to) };
        match proxy {
            None => {
                let connecting = self.direct.call(to);
                Box::pin(async move { Ok(connecting.await?) })
            }
            Some(proxy) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), self.direct.clone());
                if let Some(auth) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(auth.clone());
                }
                let connecting = tunnel.call(to);
                Box::pin(async move { Ok(connecting.await?) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved() {
        let base = Url::parse("https://u:canary@e.com:8443/a/b/c.json?x=1").unwrap();
        for (reference, expected) in [
            ("d.zip", "https://e.com:8443/a/b/d.zip"),
            ("./d/?y=2", "https://e.com:8443/a/b/d/?y=***"),
            ("../d", "https://e.com:8443/a/d"),
            ("../../../d", "https://e.com:8443/d"),
            ("/v1/modules/", "https://e.com:8443/v1/modules/"),
            ("//other.com/x", "https://other.com/x"),
            ("http://other.com/x", "http://other.com/x"),
        ] {
            assert_eq!(base.join(reference).unwrap().to_string(), expected, "{reference}");
        }
        assert_eq!(base.to_string(), "https://e.com:8443/a/b/c.json?x=***");
        for wrong in ["ftp://e.com", "x", "http:///x", "https://e.com/\u{7f}"] {
            assert!(Url::parse(wrong).is_err(), "{wrong}");
        }
    }
}
