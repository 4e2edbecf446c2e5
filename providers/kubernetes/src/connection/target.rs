//! Where a connection goes and how it is told that it got there, after all settings, files and variables are weighed.
//! Of files it keeps the names: what they hold is read when it is needed, and again when it no longer serves.

use std::{fs, path::PathBuf};

use http::Uri;
use kube::{Client, config::AuthInfo};
use providers_api::ProviderError;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use sha2::{Digest, Sha256};

use super::credentials::Credential;
use crate::digest::hex;

/// The server, how it is recognised, and who we are.
pub(super) struct Target {
    pub(super) url: Uri,
    pub(super) trust: Trust,
    pub(super) server_name: Option<String>,
    pub(super) proxy: Option<Uri>,
    /// Certificate and key.
    pub(super) identity: Option<(Pem, Pem)>,
    pub(super) credential: Credential,
    /// Whom we act for: nothing of it but `as`, `as-uid`, `as-groups` and `as-user-extra` is set.
    pub(super) acting_for: AuthInfo,
}

/// Whose certificates are accepted.
pub(super) enum Trust {
    /// Those of the authorities that this machine trusts.
    System,
    /// Those of these authorities.
    Authorities(Pem),
    /// Anybody's.
    Anybody,
}

/// Text in PEM form.
#[derive(Clone)]
pub(super) enum Pem {
    Text {
        /// The argument or field that it comes from.
        from: &'static str,
        text: String,
    },
    File(PathBuf),
}

impl Pem {
    /// The text, as it is now.
    pub(super) fn read(&self) -> Result<String, ProviderError> {
        match self {
            Pem::Text { text, .. } => Ok(text.clone()),
            Pem::File(path) => fs::read_to_string(path).map_err(|error| {
                ProviderError::permanent(format!("cannot read {}", path.display()))
                    .caused_by(error)
                    .hint("The kubeconfig, or the pod's service account, names this file.")
            }),
        }
    }

    fn name(&self) -> String {
        match self {
            Pem::Text { from, .. } => format!("`{from}`"),
            Pem::File(path) => path.display().to_string(),
        }
    }
}

impl Trust {
    /// The certificates of the authorities, DER, where they are named.
    pub(super) fn certificates(&self) -> Result<Option<Vec<Vec<u8>>>, ProviderError> {
        let Trust::Authorities(pem) = self else { return Ok(None) };
        let bad = |why: &str| {
            ProviderError::permanent(format!("{} is no certificate in PEM form: {why}", pem.name())).hint(
                "It begins with -----BEGIN CERTIFICATE-----; `base64decode()` turns a kubeconfig's data into that.",
            )
        };
        let text = pem.read()?;
        let found: Result<Vec<Vec<u8>>, _> =
            CertificateDer::pem_slice_iter(text.as_bytes()).map(|one| one.map(|der| der.as_ref().to_vec())).collect();
        match found {
            Ok(found) if found.is_empty() => Err(bad("there is none in it")),
            Ok(found) => Ok(Some(found)),
            Err(_) => Err(bad("it is cut off, or not base64")),
        }
    }
}

/// What the files of a target held when the client was made from them.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Materials {
    /// DER.
    pub(super) authorities: Option<Vec<Vec<u8>>>,
    /// PEM: certificate and key.
    pub(super) identity: Option<(String, String)>,
}

impl Target {
    /// Reads the files that it names.
    pub(super) fn materials(&self) -> Result<Materials, ProviderError> {
        let identity = match &self.identity {
            Some((certificate, key)) => Some((certificate.read()?, key.read()?)),
            None => None,
        };
        Ok(Materials { authorities: self.trust.certificates()?, identity })
    }

    /// The digest of what tells this server from others: its address, and who vouches for it.
    pub(super) fn digest(&self) -> Result<String, ProviderError> {
        let mut hasher = Sha256::new();
        hasher.update(self.url.to_string());
        for certificate in self.trust.certificates()?.iter().flatten() {
            hasher.update(Sha256::digest(certificate));
        }
        Ok(hex(&hasher.finalize()))
    }

    /// A client by these materials. It shows no token: the transport adds one to each request.
    pub(super) fn client(&self, materials: &Materials) -> Result<Client, ProviderError> {
        let mut config = kube::Config::new(self.url.clone());
        config.default_retry = false;
        config.accept_invalid_certs = matches!(self.trust, Trust::Anybody);
        config.root_cert = materials.authorities.clone();
        config.tls_server_name = self.server_name.clone();
        config.proxy_url = self.proxy.clone();
        config.auth_info = self.acting_for.clone();
        if let Some((certificate, key)) = &materials.identity {
            config.auth_info.client_certificate_data = Some(base64(certificate));
            config.auth_info.client_key_data = Some(base64(key).into());
        }
        Client::try_from(config).map_err(|_| {
            // Not the cause: it may quote what it could not read.
            let what = match (&materials.identity, &self.server_name) {
                (Some(_), _) => "the client certificate and its key cannot be used",
                (None, Some(_)) => "`tls_server_name` is no name of a host",
                (None, None) => "the certificates of the authorities cannot be used",
            };
            ProviderError::permanent(what)
                .hint("Certificates and keys are PEM; a key is PKCS#8, PKCS#1 or SEC1, unencrypted.")
        })
    }
}

fn base64(text: &str) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(text)
}
