//! What an error of the Kubernetes client means for a caller. Says nothing about what to do next but in hints.

use std::{error::Error, io, time::Duration};

use kube::core::Status;
use providers_api::{ErrorKind, ProviderError};

use crate::object::told::told;

/// How API servers begin the message, with code 500, about a field that the schema does not have.
pub(crate) const UNDECLARED: &str = "failed to create typed patch object";

/// How API servers name, with code 500, a webhook that does not answer as it should.
const WEBHOOK: &str = "failed calling webhook";

/// Does it fail because of a webhook?
pub(crate) fn is_of_webhook(error: &ProviderError) -> bool {
    error.what.contains(WEBHOOK)
}

/// Is it the answer that the object, or its kind, is not there?
pub fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

/// Is it that one side of a TLS connection does not trust the other?
pub(crate) fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    failure(error) == Failure::Untrusted
}

/// What an error of the client means. `doing` is what failed, as a fragment: "cannot read node gpu-01"; `host` is the
/// API server that was spoken to.
///
/// A 404 becomes [`ErrorKind::Permanent`]: who expects that something may be absent asks [`is_not_found`] first.
pub fn provider_error(doing: &str, host: &str, error: &kube::Error) -> ProviderError {
    match error {
        kube::Error::Api(status) => answered(doing, status),
        kube::Error::Service(own) if own.is::<ProviderError>() => {
            // Ours: credentials that cannot be had, an answer that does not come or does not end.
            let own = own.downcast_ref::<ProviderError>().expect("it was just asked");
            let mut error = ProviderError::new(own.kind, format!("{doing}: {own}"));
            error.hint.clone_from(&own.hint);
            match &own.source {
                Some(source) => error.caused_by(source.to_string()),
                None => error,
            }
        }
        kube::Error::SerdeError(cause) => {
            ProviderError::permanent(format!("{doing}: {host} does not answer as a Kubernetes API server does"))
                .caused_by(cause.to_string())
                .hint("Check that `host` is the address of an API server, not of a proxy in front of something else.")
        }
        other => network(doing, host, other),
    }
}

fn answered(doing: &str, status: &Status) -> ProviderError {
    let message = told(if status.message.is_empty() { &status.reason } else { &status.message });
    let error = |kind| ProviderError::new(kind, format!("{doing}: {message}"));
    match status.code {
        401 => ProviderError::new(
            ErrorKind::Forbidden,
            format!("{doing}: the API server does not accept these credentials"),
        )
        .hint("Check `token`, `client_certificate` or the kubeconfig's user; a token may have expired."),
        403 => error(ErrorKind::Forbidden).hint("Ask for a role that allows it, or use another identity."),
        409 => error(ErrorKind::Conflict),
        // Server-side apply's way to say that a field does not exist: no server fault, and it does not pass.
        500 if message.contains(UNDECLARED) => error(ErrorKind::Permanent),
        // One that has just been installed may be about to answer.
        500 if message.contains(WEBHOOK) => error(ErrorKind::Transient { after: None }).hint(
            "See that the pods of the webhook run, and that its configuration names a Service that leads to them; every \
             request of its kind waits for it.",
        ),
        408 | 410 | 429 | 500 | 502 | 503 | 504 => error(ErrorKind::Transient { after: retry_after(status) }),
        _ => error(ErrorKind::Permanent),
    }
}

fn retry_after(status: &Status) -> Option<Duration> {
    let seconds = status.details.as_ref()?.retry_after_seconds;
    (seconds > 0).then(|| Duration::from_secs(seconds.into()))
}

fn network(doing: &str, host: &str, error: &kube::Error) -> ProviderError {
    let cause = innermost(error).to_string();
    let (kind, what, hint) = match failure(error) {
        Failure::Lost => {
            (ErrorKind::Transient { after: None }, format!("the connection to {host} was lost"), String::new())
        }
        Failure::Refused => (
            ErrorKind::Unreachable,
            format!("{host} refuses connections"),
            "Check that the API server runs there and that the port is right.".to_owned(),
        ),
        Failure::NoName => (
            ErrorKind::Unreachable,
            format!("the name in {host} cannot be resolved"),
            "Check the spelling of the host and that this machine's DNS knows it (a VPN may be needed).".to_owned(),
        ),
        Failure::Silent => (
            ErrorKind::Unreachable,
            format!("{host} does not answer"),
            "Check the network between here and there: a firewall, a VPN, a private endpoint.".to_owned(),
        ),
        Failure::Untrusted => (
            ErrorKind::Unreachable,
            format!("the TLS handshake with {host} failed"),
            "Check `cluster_ca_certificate`, `tls_server_name` and the client certificate.".to_owned(),
        ),
        Failure::Other => (
            ErrorKind::Unreachable,
            format!("{host} cannot be reached"),
            "Check `host`, or the cluster that the kubeconfig names.".to_owned(),
        ),
    };
    let error = ProviderError::new(kind, format!("{doing}: {what}")).caused_by(cause);
    if hint.is_empty() { error } else { error.hint(hint) }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// An open connection broke.
    Lost,
    /// Nobody listens.
    Refused,
    /// The name is not known.
    NoName,
    /// No answer at all.
    Silent,
    /// TLS: a certificate, or none where one is needed.
    Untrusted,
    /// Anything else.
    Other,
}

fn failure(error: &(dyn Error + 'static)) -> Failure {
    let mut at = Some(error);
    while let Some(error) = at {
        if error.is::<rustls::Error>() {
            return Failure::Untrusted;
        }
        if let Some(io) = error.downcast_ref::<io::Error>() {
            // An io::Error hides what it carries from `source`.
            if let Some(inner) = io.get_ref()
                && failure(inner) != Failure::Other
            {
                return failure(inner);
            }
            match io.kind() {
                io::ErrorKind::ConnectionRefused => return Failure::Refused,
                io::ErrorKind::TimedOut
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable
                | io::ErrorKind::NetworkDown => return Failure::Silent,
                io::ErrorKind::ConnectionReset
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::UnexpectedEof => return Failure::Lost,
                _ => {}
            }
        }
        let text = error.to_string();
        // The client's own error types are private: only their texts tell these two apart.
        if text.contains("dns error") || text.contains("failed to lookup address") {
            return Failure::NoName;
        }
        if text.contains("connection closed before message completed") || text.contains("connection error") {
            return Failure::Lost;
        }
        at = error.source();
    }
    Failure::Other
}

fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut at = error;
    loop {
        let inside = at.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        at = match inside.map(|inner| inner as &(dyn Error + 'static)).or_else(|| at.source()) {
            Some(inner) => inner,
            None => return at,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(code: u16) -> kube::Error {
        let seconds = if code == 429 { 7 } else { 0 };
        let status = serde_json::json!({ "message": "no", "code": code, "details": { "retryAfterSeconds": seconds } });
        kube::Error::Api(Box::new(serde_json::from_value(status).unwrap()))
    }

    #[test]
    fn answers_become_kinds() {
        for (code, expected) in [
            (400, ErrorKind::Permanent),
            (401, ErrorKind::Forbidden),
            (403, ErrorKind::Forbidden),
            (404, ErrorKind::Permanent),
            (409, ErrorKind::Conflict),
            (422, ErrorKind::Permanent),
            (429, ErrorKind::Transient { after: Some(Duration::from_secs(7)) }),
            (500, ErrorKind::Transient { after: None }),
            (503, ErrorKind::Transient { after: None }),
        ] {
            let error = provider_error("cannot read node gpu-01", "https://k:6443", &api(code));
            assert_eq!(error.kind, expected, "{code}");
            assert!(error.to_string().starts_with("cannot read node gpu-01: "), "{error}");
        }
        assert!(is_not_found(&api(404)));
        assert!(!is_not_found(&api(403)));
    }

    #[test]
    fn failures_of_the_network_are_told_apart() {
        let io = |kind| kube::Error::Service(Box::new(io::Error::from(kind)));
        let tls = io::Error::other(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer));
        for (error, expected) in [
            (io(io::ErrorKind::ConnectionRefused), Failure::Refused),
            (io(io::ErrorKind::TimedOut), Failure::Silent),
            (io(io::ErrorKind::ConnectionReset), Failure::Lost),
            (kube::Error::Service(Box::new(tls)), Failure::Untrusted),
            (kube::Error::Service("dns error: no such host".into()), Failure::NoName),
            (kube::Error::Service("?".into()), Failure::Other),
        ] {
            assert_eq!(failure(&error), expected, "{error}");
        }
    }

    #[test]
    fn the_message_names_host_and_cause() {
        let refused = kube::Error::Service(Box::new(io::Error::from(io::ErrorKind::ConnectionRefused)));
        let error = provider_error("cannot read the cluster", "https://k:6443", &refused);
        assert_eq!(error.kind, ErrorKind::Unreachable);
        assert_eq!(error.to_string(), "cannot read the cluster: https://k:6443 refuses connections");
        assert_eq!(error.source().unwrap().to_string(), "connection refused");
        assert!(error.hint.unwrap().contains("port"));
    }
}
