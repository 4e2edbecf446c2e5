//! Who we are, told anew whenever the last word has run out: a token from a file, a command, or an identity provider.
//! Nothing here is ever part of an error.

mod exec;
mod oidc;

use std::{path::PathBuf, time::Duration};

use jiff::Timestamp;
use providers_api::{ErrorKind, ProviderError};

pub(super) use exec::Exec;
pub(super) use oidc::Oidc;

use super::Secret;

/// How long a token that was read from a file is used before the file is read again: what client-go does, and kubelets
/// renew such files long before they expire.
const FILE_IS_FRESH: Duration = Duration::from_secs(60);

/// Where credentials come from, besides a certificate that is configured.
pub(super) enum Credential {
    None,
    Token(Secret),
    File {
        path: PathBuf,
        /// Where the file cannot be read.
        otherwise: Option<Secret>,
    },
    Exec(Box<Exec>),
    Oidc(Box<Oidc>),
}

/// What is shown to the server.
#[derive(Clone, Default)]
pub(super) struct Held {
    pub(super) token: Option<Secret>,
    /// PEM: certificate and key, from a command.
    pub(super) identity: Option<(String, String)>,
    /// When it must be told anew; `None`: when the server refuses it.
    pub(super) until: Option<Timestamp>,
}

impl Held {
    pub(super) fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Timestamp::now() >= until)
    }
}

impl Credential {
    /// What to show from now on. `refused`: the server did not accept what was shown last, though it had not run out.
    ///
    /// # Errors
    /// It cannot be had: why, without a word of what was printed, read or answered.
    pub(super) async fn obtain(&mut self, refused: bool) -> Result<Held, ProviderError> {
        match self {
            Credential::None => Ok(Held::default()),
            Credential::Token(token) => Ok(Held { token: Some(token.clone()), ..Held::default() }),
            Credential::File { path, otherwise } => {
                let token = match tokio::fs::read_to_string(&path).await {
                    Ok(text) if !text.trim().is_empty() => Secret(text.trim().to_owned()),
                    Ok(_) => return Err(no_credentials(format!("the token file {} is empty", path.display()))),
                    Err(error) => match otherwise {
                        // As client-go: some remove the file once it was read.
                        Some(last) => last.clone(),
                        None => {
                            let what = format!("cannot read the token file {}", path.display());
                            return Err(no_credentials(what).caused_by(error));
                        }
                    },
                };
                *otherwise = Some(token.clone());
                Ok(Held { token: Some(token), until: after(FILE_IS_FRESH), ..Held::default() })
            }
            Credential::Exec(exec) => exec.run().await,
            Credential::Oidc(oidc) => oidc.token(refused).await,
        }
    }
}

fn after(time: Duration) -> Option<Timestamp> {
    Timestamp::now().checked_add(time).ok()
}

fn no_credentials(what: impl Into<String>) -> ProviderError {
    ProviderError::new(ErrorKind::Forbidden, what)
}
