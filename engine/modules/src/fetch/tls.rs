//! Which authorities are trusted: those of the system, or those in the file and directory that `SSL_CERT_FILE` and
//! `SSL_CERT_DIR` name.

use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

use super::FetchError;

pub(super) fn config(variables: &BTreeMap<String, String>) -> Result<ClientConfig, FetchError> {
    let mut roots = RootCertStore::empty();
    let named = |name: &str| variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut files: Vec<PathBuf> = named("SSL_CERT_FILE").into_iter().collect();
    if let Some(directory) = named("SSL_CERT_DIR") {
        let entries =
            fs::read_dir(&directory).map_err(|error| FetchError::io("cannot read SSL_CERT_DIR", &directory, &error))?;
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()));
    }
    if files.is_empty() {
        // Some of a system's certificates may be unreadable; the others serve.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    for file in files {
        let certificates = CertificateDer::pem_file_iter(&file)
            .map_err(|error| FetchError::new(format!("cannot read the certificates in {}: {error}", file.display())))?;
        roots.add_parsable_certificates(certificates.filter_map(Result::ok));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| FetchError::new(format!("no TLS: {error}")))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
