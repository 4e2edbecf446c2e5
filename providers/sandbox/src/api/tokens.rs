//! Who has which bearer token.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::identity::User;

/// Users by their tokens.
#[derive(Default)]
pub(super) struct Tokens(Mutex<BTreeMap<String, User>>);

impl Tokens {
    /// The user whose token a request carries.
    pub(super) fn find(&self, headers: &HeaderMap) -> Option<User> {
        let token = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
        self.lock().get(token.trim()).cloned()
    }

    /// The user's token: the one it has, or a new one.
    pub(super) fn issue(&self, user: &User) -> String {
        let mut tokens = self.lock();
        if let Some((token, _)) = tokens.iter().find(|(_, known)| *known == user) {
            return token.clone();
        }
        let token = uuid::Uuid::new_v4().simple().to_string();
        tokens.insert(token.clone(), user.clone());
        token
    }

    /// The user's token is no longer known; the next that is issued is another one.
    pub(super) fn expire(&self, user: &User) {
        self.lock().retain(|_, known| known != user);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, User>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
