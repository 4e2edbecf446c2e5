//! What stands between a client and a server, small enough to be odd: an HTTPS server that answers what a test says, and
//! proxies that note who came.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use serde_json::Value as Json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// Somebody who vouches.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// Certificate and key, PEM, of a server at the loopback address, or of a client.
    pub(crate) fn issue(&self, usage: ExtendedKeyUsagePurpose) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    fn certificate(&self) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()
    }
}

/// A request, as far as tests look at it.
pub(crate) struct Asked {
    /// `GET /path HTTP/1.1` and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
    /// The certificate that the client showed, PEM without line breaks' difference: DER.
    pub(crate) certificate: Option<Vec<u8>>,
}

/// Serves HTTPS at the loopback address and gives the address. Clients must show a certificate of the same authority
/// where `certified`.
pub(crate) async fn serve(
    authority: &Authority,
    certified: bool,
    answer: impl Fn(Asked) -> (u16, Json) + Send + Sync + 'static,
) -> String {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let (certificate, key) = authority.issue(ExtendedKeyUsagePurpose::ServerAuth);
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let config = if certified {
        let mut roots = RootCertStore::empty();
        roots.add(authority.certificate()).unwrap();
        let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        builder.with_client_cert_verifier(clients).with_single_cert(chain, key)
    } else {
        builder.with_no_client_auth().with_single_cert(chain, key)
    };
    let acceptor = TlsAcceptor::from(Arc::new(config.unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, answer) = (acceptor.clone(), answer.clone());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                let certificate = stream.get_ref().1.peer_certificates().map(|chain| chain[0].to_vec());
                while let Some((head, body)) = request(&mut stream).await {
                    let known = head.clone();
                    let (code, json) = answer(Asked { head, body, certificate: certificate.clone() });
                    let text = json.to_string();
                    let tag = tag(&text);
                    // As API servers: what the client has under this tag is not sent again.
                    let (code, text) = match known.contains(&format!("if-none-match: {tag}")) {
                        true => (304, String::new()),
                        false => (code, text),
                    };
                    let head = format!("HTTP/1.1 {code} x\r\ncontent-type: application/json\r\netag: {tag}\r\n");
                    let whole = format!("{head}content-length: {}\r\n\r\n{text}", text.len());
                    if stream.write_all(whole.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("https://{address}")
}

fn tag(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("\"{:x}\"", hasher.finish())
}

async fn request(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<(String, String)> {
    let head = head(stream).await?;
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some((head, String::from_utf8(body).unwrap()))
}

async fn head(stream: &mut (impl AsyncReadExt + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(head).unwrap())
}

/// A proxy that leads to `target`, whatever it is asked for, and notes what it was asked for.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// One that speaks HTTP (`CONNECT`).
    pub(crate) async fn http(target: SocketAddr) -> Self {
        Self::new(target, false).await
    }

    /// One that speaks SOCKS5.
    pub(crate) async fn socks(target: SocketAddr) -> Self {
        Self::new(target, true).await
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    async fn new(target: SocketAddr, socks: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let note = asked.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let note = note.clone();
                tokio::spawn(async move {
                    let wanted = if socks { socks_wanted(&mut stream).await } else { head(&mut stream).await };
                    note.lock().unwrap().push(wanted?);
                    let answer: &[u8] =
                        if socks { &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0] } else { b"HTTP/1.1 200 OK\r\n\r\n" };
                    stream.write_all(answer).await.ok()?;
                    let mut upstream = TcpStream::connect(target).await.ok()?;
                    copy_bidirectional(&mut stream, &mut upstream).await.ok()
                });
            }
        });
        Self { address, asked }
    }
}

/// The name that a SOCKS5 client asks for.
async fn socks_wanted(stream: &mut TcpStream) -> Option<String> {
    let mut greeting = [0; 2];
    stream.read_exact(&mut greeting).await.ok()?;
    stream.read_exact(&mut vec![0; greeting[1].into()]).await.ok()?;
    stream.write_all(&[5, 0]).await.ok()?;
    let mut wanted = [0; 4];
    stream.read_exact(&mut wanted).await.ok()?;
    assert_eq!(wanted[3], 3, "names are for the proxy to resolve");
    let mut name = vec![0; stream.read_u8().await.ok()?.into()];
    stream.read_exact(&mut name).await.ok()?;
    stream.read_u16().await.ok()?;
    String::from_utf8(name).ok()
}
