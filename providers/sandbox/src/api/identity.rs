//! Who calls: users, their tokens, and the certificate authority of one server.

use std::collections::BTreeMap;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};
use serde_json::json;

use super::server::Renewal;

/// The extra under which a user's node is kept, as Kubernetes names it in node-bound service account tokens.
pub const NODE_NAME: &str = "authentication.kubernetes.io/node-name";

/// The group of everybody who is known.
pub const AUTHENTICATED: &str = "system:authenticated";

/// The group whose members may do everything.
pub const MASTERS: &str = "system:masters";

/// Somebody who calls the API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name in records, managed fields and messages.
    pub name: String,
    /// The UID of a service account; empty for others.
    pub uid: String,
    /// Groups, on which rights hang; beside [`AUTHENTICATED`], in which everybody is.
    pub groups: Vec<String>,
    /// Further claims, such as [`NODE_NAME`].
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// A user who may do everything.
    pub fn admin(name: &str) -> User {
        User { name: name.to_owned(), groups: vec![MASTERS.to_owned()], ..User::default() }
    }

    /// The agent of one node.
    pub fn agent(node: &str) -> User {
        User {
            name: format!("system:serviceaccount:sliceform-system:agent-{node}"),
            groups: vec![super::agents::AGENTS.to_owned()],
            extra: BTreeMap::from([(NODE_NAME.to_owned(), vec![node.to_owned()])]),
            ..User::default()
        }
    }

    /// The node that this user is bound to.
    pub fn node(&self) -> Option<&str> {
        self.extra.get(NODE_NAME)?.first().map(String::as_str)
    }

    /// The groups, with that of everybody.
    pub fn all_groups(&self) -> impl Iterator<Item = &str> {
        let own = self.groups.iter().map(String::as_str);
        own.clone().chain([AUTHENTICATED].into_iter().filter(move |all| own.clone().all(|one| one != *all)))
    }

    /// Who it is, as reviews tell it.
    pub(super) fn to_json(&self) -> serde_json::Value {
        let mut user = json!({"username": self.name, "groups": self.all_groups().collect::<Vec<_>>()});
        if !self.uid.is_empty() {
            user["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            user["extra"] = json!(self.extra);
        }
        user
    }

    /// Whether this user is in a group.
    pub fn is_in(&self, group: &str) -> bool {
        self.all_groups().any(|one| one == group)
    }
}

/// The certificates of one run of a server: made when it starts, gone when it ends.
pub(super) struct Certificates {
    /// Whom clients trust.
    authority: Issuer<'static, KeyPair>,
    authority_pem: String,
    server: Arc<rustls::ServerConfig>,
}

impl Certificates {
    /// For a server on the loopback address.
    pub(super) fn generate() -> Result<Certificates, CertificateError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        params.distinguished_name.push(DnType::CommonName, "sliceform-sandbox");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let authority_pem = params.self_signed(&key)?.pem();
        let authority = Issuer::new(params, key);
        let server = Arc::new(server_config(&authority)?);
        Ok(Certificates { authority, authority_pem, server })
    }

    /// The authority's certificate, which clients trust. PEM.
    pub(super) fn authority(&self) -> String {
        self.authority_pem.clone()
    }

    /// What the server shows.
    pub(super) fn server(&self) -> Arc<rustls::ServerConfig> {
        self.server.clone()
    }

    /// Replaces what is to be replaced.
    pub(super) fn renew(&mut self, renewal: Renewal) -> Result<(), CertificateError> {
        match renewal {
            Renewal::Nothing => {}
            Renewal::Certificate => self.server = Arc::new(server_config(&self.authority)?),
            Renewal::Authority => *self = Certificates::generate()?,
        }
        Ok(())
    }
}

fn server_config(authority: &Issuer<'static, KeyPair>) -> Result<rustls::ServerConfig, CertificateError> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "sliceform-sandbox-api");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.signed_by(&key, authority)?;

    let private = rustls::pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut server = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)?;
    server.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(server)
}

/// Why no certificate could be made.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The generator failed.
    #[error("generating a certificate failed")]
    Generate(#[from] rcgen::Error),
    /// The TLS library refused what was generated.
    #[error("the TLS library refused the generated certificate")]
    Tls(#[from] rustls::Error),
}

/// A kubeconfig for one user, as JSON (which is YAML, too).
pub(super) fn kubeconfig(server: &str, authority: &str, user: &str, token: &str) -> String {
    use base64::Engine as _;
    let authority = base64::engine::general_purpose::STANDARD.encode(authority);
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": user}}],
        "current-context": "sandbox",
    });
    let mut text = serde_json::to_string_pretty(&config).expect("JSON values serialise");
    text.push('\n');
    text
}
