//! The server: HTTPS on a free loopback port, bearer tokens, kubeconfigs; and how it goes down and comes back.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::{self, Connection};
use super::handler::{Api, Setup};
use super::identity::{CertificateError, Certificates, User, kubeconfig};
use super::status::Failure;
use crate::store::Store;

/// A port that this server has just left is free for it again at once; somebody else may have taken it for a moment (a
/// client that connected to itself).
const REBIND: Duration = Duration::from_secs(10);

/// Why the server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No port could be had.
    #[error("listening on the loopback address failed")]
    Listen(#[source] std::io::Error),
    /// No certificate could be made.
    #[error("the server has no certificate")]
    Certificate(#[from] CertificateError),
    /// The store did not take the first objects.
    #[error("the first objects could not be written: {}", .0.message)]
    Bootstrap(Failure),
}

/// What a server that comes back shows to its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The certificate that it had.
    Nothing,
    /// Another certificate of the same authority.
    Certificate,
    /// Another certificate of another authority: clients that trust the old one only are lost.
    Authority,
}

/// Starts servers.
pub struct Server;

/// A server that runs until it is shut down or dropped.
pub struct Running {
    api: Arc<Api>,
    address: SocketAddr,
    certificates: Mutex<Certificates>,
    /// What runs between two times that the server is down.
    serving: Mutex<Option<Serving>>,
}

/// Everything that ends when the server goes down.
struct Serving {
    /// Ends without an answer.
    kill: CancellationToken,
    tasks: TaskTracker,
}

impl Server {
    /// Serves the store's API on a free port of the loopback address.
    ///
    /// # Errors
    /// No port, no certificate, or a store that cannot be written.
    pub async fn start(store: Arc<Store>, setup: Setup) -> Result<Running, StartError> {
        let api = Arc::new(Api::new(store, setup).map_err(StartError::Bootstrap)?);
        let certificates = Certificates::generate()?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(StartError::Listen)?;
        let address = listener.local_addr().map_err(StartError::Listen)?;
        let certificates = Mutex::new(certificates);
        let running = Running { api, address, certificates, serving: Mutex::new(None) };
        running.serve(listener);
        Ok(running)
    }
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `https://127.0.0.1:PORT`
    pub fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// The certificate of its authority, PEM.
    pub fn ca_pem(&self) -> String {
        lock(&self.certificates).authority()
    }

    /// The bearer token of a user, who is known to the server from now on.
    pub fn token(&self, user: &User) -> String {
        self.api.tokens.issue(user)
    }

    /// The user's token expires: requests with it are answered with 401. [`Running::token`] gives a new one.
    pub fn expire(&self, user: &User) {
        self.api.tokens.expire(user);
    }

    /// A kubeconfig for a user (JSON, which is YAML). It holds the token: write it with mode 0600.
    pub fn kubeconfig(&self, user: &User) -> String {
        kubeconfig(&self.url(), &self.ca_pem(), &user.name, &self.token(user))
    }

    /// The API, for calls without the wire and for its record.
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// Goes down at once, as if the process had been killed: connections are reset, new ones are refused. What has been
    /// answered is in the store.
    pub async fn go_down(&self) {
        let serving = lock(&self.serving).take();
        if let Some(serving) = serving {
            serving.kill.cancel();
            serving.tasks.close();
            serving.tasks.wait().await;
        }
    }

    /// Comes back at the same address, unless it is there.
    ///
    /// # Errors
    /// The port is another's now, or no certificate could be made.
    pub async fn come_back(&self, renewal: Renewal) -> Result<(), StartError> {
        if lock(&self.serving).is_some() {
            return Ok(());
        }
        lock(&self.certificates).renew(renewal)?;
        let began = tokio::time::Instant::now();
        let listener = loop {
            match TcpListener::bind(self.address).await {
                Ok(listener) => break listener,
                Err(error) if began.elapsed() >= REBIND => return Err(StartError::Listen(error)),
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        self.serve(listener);
        Ok(())
    }

    /// Ends all watches and connections, and returns when nothing runs any more.
    pub async fn shutdown(self) {
        self.api.stop.cancel();
        let serving = lock(&self.serving).take();
        if let Some(serving) = serving {
            serving.tasks.close();
            serving.tasks.wait().await;
        }
    }

    fn serve(&self, listener: TcpListener) {
        let serving = Serving { kill: CancellationToken::new(), tasks: TaskTracker::new() };
        let connection = Connection { api: self.api.clone(), stop: self.api.stop.clone(), kill: serving.kill.clone() };
        let acceptor = TlsAcceptor::from(lock(&self.certificates).server());
        serving.tasks.spawn(connection::accept(listener, acceptor, connection, serving.tasks.clone()));
        *lock(&self.serving) = Some(serving);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.api.stop.cancel();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
