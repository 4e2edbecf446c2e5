//! Bearer tokens: those of the server's own users, which live as long as the server does, and those of service accounts,
//! which whoever may create `serviceaccounts/NAME/token` gets. The latter are signed with a key that follows from the
//! world's seed, so they outlive the process; they end with their time, their account, and what they are bound to.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use jiff::SignedDuration;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::body::Body;
use super::handler::Api;
use super::identity::{NODE_NAME, User};
use super::object::{self, items, text};
use super::request::Request;
use super::resource::Resource;
use super::status::{Cause, Failure};
use super::write;
use crate::store::{Key, Transaction};

/// Who issues them, and for whom they are if nobody else is named: the server.
const ISSUER: &str = "https://kubernetes.default.svc";

/// How long a token is good when nothing is said, and the shortest that can be asked for. Kubernetes' numbers.
const DEFAULT_SECONDS: i64 = 3600;
const MIN_SECONDS: i64 = 600;

/// The block of SHA-256, which HMAC fills its key up to.
const BLOCK: usize = 64;

/// Users by their tokens, and the key of service accounts' tokens.
pub(super) struct Tokens {
    known: Mutex<BTreeMap<String, User>>,
    key: [u8; 32],
}

impl Tokens {
    pub(super) fn new(seed: u64) -> Tokens {
        let key = Sha256::new_with_prefix(b"service account tokens").chain_update(seed.to_be_bytes()).finalize();
        Tokens { known: Mutex::default(), key: key.into() }
    }

    /// The user's token: the one it has, or a new one.
    pub(super) fn issue(&self, user: &User) -> String {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((token, _)) = known.iter().find(|(_, one)| *one == user) {
            return token.clone();
        }
        let token = uuid::Uuid::new_v4().simple().to_string();
        known.insert(token.clone(), user.clone());
        token
    }

    /// The user's token is no longer known; the next that is issued is another one.
    pub(super) fn expire(&self, user: &User) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, known| known != user);
    }

    fn sign(&self, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(&json!({"alg": "HS256", "kid": "sandbox"})), part(claims));
        let signature = URL_SAFE_NO_PAD.encode(hmac(&self.key, text.as_bytes()));
        format!("{text}.{signature}")
    }

    /// The claims of a token that was signed here.
    fn verify(&self, token: &str) -> Option<Value> {
        let (text, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let expected = hmac(&self.key, text.as_bytes());
        // All bytes are compared, so that time tells nothing.
        let differs = signature.len() != expected.len()
            || signature.iter().zip(expected).fold(0, |sum, (one, other)| sum | (one ^ other)) != 0;
        if differs {
            return None;
        }
        let claims = URL_SAFE_NO_PAD.decode(text.split_once('.')?.1).ok()?;
        serde_json::from_slice(&claims).ok()
    }
}

/// HMAC-SHA256 (RFC 2104), with a key shorter than a block.
fn hmac(key: &[u8; 32], text: &[u8]) -> [u8; 32] {
    let padded = |with: u8| -> [u8; BLOCK] { std::array::from_fn(|at| key.get(at).copied().unwrap_or(0) ^ with) };
    let inner = Sha256::new_with_prefix(padded(0x36)).chain_update(text).finalize();
    Sha256::new_with_prefix(padded(0x5c)).chain_update(inner).finalize().into()
}

impl Api {
    /// Who sends a request with these headers; none: nobody who is known.
    pub(super) fn authenticate(&self, headers: &HeaderMap) -> Option<User> {
        let token = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
        self.user_of(token.trim(), &[]).map(|(user, _)| user)
    }

    /// Whose token it is, and for which of the audiences (none: the server) it is good.
    pub(super) fn user_of(&self, token: &str, audiences: &[String]) -> Option<(User, Vec<String>)> {
        let server = || vec![ISSUER.to_owned()];
        let wanted = if audiences.is_empty() { server() } else { audiences.to_vec() };
        let known = self.tokens.known.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned();
        if let Some(user) = known {
            return wanted.contains(&ISSUER.to_owned()).then(|| (user, server()));
        }
        let claims = self.tokens.verify(token)?;
        let good: Vec<String> = wanted
            .into_iter()
            .filter(|one| items(&claims, "/aud").any(|audience| *audience == *one.as_str()))
            .collect();
        let now = self.clock.now().as_second();
        if good.is_empty() || claims["exp"].as_i64()? <= now {
            return None;
        }
        account_user(&self.store.read(), &claims).map(|user| (user, good))
    }
}

/// The account that a token was issued for, if that, and what the token is bound to, is still there.
fn account_user(store: &Transaction<'_>, claims: &Value) -> Option<User> {
    let about = claims.get("kubernetes.io")?;
    let namespace = text(about, "/namespace");
    let same = |resource: &str, namespace: &str, named: &Value| {
        let found = store.get(&Key::new(resource, namespace, text(named, "/name")));
        found.is_some_and(|found| object::uid(found) == text(named, "/uid"))
    };
    let account = about.get("serviceaccount")?;
    let bound = [("pod", "pods"), ("secret", "secrets")]
        .into_iter()
        .filter_map(|(kind, resource)| Some((resource, about.get(kind)?)));
    if !same("serviceaccounts", namespace, account)
        || !bound.clone().all(|(resource, named)| same(resource, namespace, named))
    {
        return None;
    }
    let one = |text: &str| vec![text.to_owned()];
    let mut extra = BTreeMap::new();
    extra
        .insert("authentication.kubernetes.io/credential-id".to_owned(), one(&format!("JTI={}", text(claims, "/jti"))));
    if let Some(pod) = about.get("pod") {
        extra.insert("authentication.kubernetes.io/pod-name".to_owned(), one(text(pod, "/name")));
        extra.insert("authentication.kubernetes.io/pod-uid".to_owned(), one(text(pod, "/uid")));
    }
    if let Some(node) = about.get("node") {
        extra.insert(NODE_NAME.to_owned(), one(text(node, "/name")));
        if !text(node, "/uid").is_empty() {
            extra.insert("authentication.kubernetes.io/node-uid".to_owned(), one(text(node, "/uid")));
        }
    }
    Some(User {
        name: text(claims, "/sub").to_owned(),
        uid: text(account, "/uid").to_owned(),
        groups: account_groups(namespace),
        extra,
    })
}

/// The groups of a namespace's service accounts.
pub(super) fn account_groups(namespace: &str) -> Vec<String> {
    vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]
}

/// `POST` on `serviceaccounts/NAME/token`.
pub(super) fn request(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Value, Failure> {
    let mut asked = body.object()?;
    let now = request.now;
    let store = request.api.store.read();
    let account = store.get(&request.key(resource)).cloned().ok_or_else(|| request.not_found(resource))?;
    let seconds = asked.pointer("/spec/expirationSeconds").and_then(Value::as_i64).unwrap_or(DEFAULT_SECONDS);
    let audiences: Vec<&str> = items(&asked, "/spec/audiences").filter_map(Value::as_str).collect();
    let audiences = if audiences.is_empty() { json!([ISSUER]) } else { json!(audiences) };
    let bound = asked.pointer("/spec/boundObjectRef").filter(|bound| !bound.is_null()).cloned();
    if let Some(cause) = wrong_time(seconds) {
        return Err(Failure::invalid("authentication.k8s.io", "TokenRequest", "", &[cause]));
    }
    let mut about = json!({
        "namespace": request.namespace(),
        "serviceaccount": {"name": request.name(), "uid": object::uid(&account)},
    });
    if let Some(bound) = &bound {
        bind(request, &store, bound, &mut about)?;
    }
    write::review(request, resource, Some(&account), Some(&account))?;
    let expires = now + SignedDuration::from_secs(seconds);
    let subject = format!("system:serviceaccount:{}:{}", request.namespace(), request.name());
    let id = request.api.ids.uid(store.revision(), &format!("{subject}{}", now.as_second()));
    let claims = json!({
        "aud": audiences, "exp": expires.as_second(), "iat": now.as_second(), "iss": ISSUER, "jti": id,
        "kubernetes.io": about, "nbf": now.as_second(), "sub": subject,
    });
    asked["apiVersion"] = "authentication.k8s.io/v1".into();
    asked["kind"] = "TokenRequest".into();
    asked["metadata"] = json!({
        "name": request.name(), "namespace": request.namespace(), "creationTimestamp": request.time(),
    });
    let spec = object::map_mut(&mut asked, "spec");
    spec.insert("audiences".to_owned(), audiences);
    spec.insert("expirationSeconds".to_owned(), seconds.into());
    spec.insert("boundObjectRef".to_owned(), bound.unwrap_or_default());
    asked["status"] = json!({"token": request.api.tokens.sign(&claims), "expirationTimestamp": expires.to_string()});
    Ok(asked)
}

fn wrong_time(seconds: i64) -> Option<Cause> {
    let why = match seconds {
        seconds if seconds < MIN_SECONDS => "may not specify a duration less than 10 minutes",
        seconds if seconds > 1 << 32 => "may not specify a duration larger than 2^32 seconds",
        _ => return None,
    };
    Some(Cause::invalid("spec.expirationSeconds", &seconds.into(), why))
}

/// Binds the claims to a pod or secret of the namespace.
fn bind(request: &Request<'_>, store: &Transaction<'_>, bound: &Value, about: &mut Value) -> Result<(), Failure> {
    let (kind, name) = (text(bound, "/kind"), text(bound, "/name"));
    let resource = match (text(bound, "/apiVersion"), kind) {
        ("v1", "Pod") => "pods",
        ("v1", "Secret") => "secrets",
        (version, _) => {
            let why =
                format!("cannot bind token for serviceaccount {:?} to type {version}, Kind={kind}", request.name());
            return Err(Failure::bad_request(why));
        }
    };
    let found = store
        .get(&Key::new(resource, request.namespace(), name))
        .ok_or_else(|| Failure::not_found("", resource, name))?;
    let uid = text(bound, "/uid");
    if !uid.is_empty() && uid != object::uid(found) {
        let why = format!(
            "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been deleted and then recreated"
        );
        return Err(Failure::conflict("", resource, name, &why));
    }
    about[kind.to_lowercase()] = json!({"name": name, "uid": object::uid(found)});
    let node = text(found, "/spec/nodeName");
    if resource == "pods" && !node.is_empty() {
        let uid = store.get(&Key::new("nodes", "", node)).map(|node| object::uid(node).to_owned());
        about["node"] = json!({"name": node, "uid": uid.unwrap_or_default()});
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_hmac() {
        // As another implementation (Python's `hmac`) computes it.
        let hex: String = hmac(&[1; 32], b"text").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "8e6a894e93d8bb0d89134520ae74e70d764ee71b8079c7ff4869ff21968a532d");
    }

    #[test]
    fn tokens_are_what_was_signed_with_the_same_seed() {
        let tokens = Tokens::new(7);
        let token = tokens.sign(&json!({"sub": "x"}));
        assert_eq!(tokens.verify(&token), Some(json!({"sub": "x"})));
        assert_eq!(Tokens::new(7).verify(&token), Some(json!({"sub": "x"})));
        assert_eq!(Tokens::new(8).verify(&token), None);
        let other = tokens.sign(&json!({"sub": "y"}));
        let (head, _) = other.rsplit_once('.').unwrap();
        let (_, signature) = token.rsplit_once('.').unwrap();
        assert_eq!(tokens.verify(&format!("{head}.{signature}")), None);
        for wrong in ["", "a", "a.b.c", "..", &token[..token.len() - 2]] {
            assert_eq!(tokens.verify(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_lives_at_least_ten_minutes() {
        assert!(wrong_time(599).is_some() && wrong_time(600).is_none() && wrong_time((1 << 32) + 1).is_some());
    }
}
