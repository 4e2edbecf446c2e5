//! What the API answers when it does not do what was asked: the `Status` object of Kubernetes, with the codes, reasons
//! and texts that clients match on.

use serde_json::{Map, Value, json};

/// A refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason (`NotFound`, `Conflict`, …).
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// Object and causes; empty when there is nothing to tell.
    details: Map<String, Value>,
    /// When to try again, in seconds.
    retry_after: Option<u32>,
    /// It is no `Status` but a line of text: what stands before the API answers so.
    is_plain: bool,
    /// From where an inconsistent list can go on.
    continue_at: String,
}

/// One reason among several: a field and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldValueRequired`, `FieldManagerConflict`, …
    pub reason: &'static str,
    /// For people.
    pub message: String,
    /// Path of the field; may be empty.
    pub field: String,
}

impl Cause {
    /// A value that is not allowed.
    pub fn invalid(field: impl Into<String>, value: &Value, why: &str) -> Cause {
        let message = format!("Invalid value: {}: {why}", shown(value));
        Cause { reason: "FieldValueInvalid", message, field: field.into() }
    }

    /// A value that must be there.
    pub fn required(field: impl Into<String>) -> Cause {
        Cause { reason: "FieldValueRequired", message: "Required value".to_owned(), field: field.into() }
    }

    /// A field that may not be set or changed.
    pub fn forbidden(field: impl Into<String>, why: &str) -> Cause {
        Cause { reason: "FieldValueForbidden", message: format!("Forbidden: {why}"), field: field.into() }
    }

    /// A value that is not one of those allowed.
    pub fn unsupported(field: impl Into<String>, value: &Value, allowed: &[Value]) -> Cause {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        let message = format!("Unsupported value: {}: supported values: {}", shown(value), allowed.join(", "));
        Cause { reason: "FieldValueNotSupported", message, field: field.into() }
    }

    /// A value of another type than the schema says.
    pub fn wrong_type(field: impl Into<String>, value: &Value, expected: &str) -> Cause {
        let found = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let field = field.into();
        let message = format!("Invalid value: \"{found}\": {field} in body must be of type {expected}: \"{found}\"");
        Cause { reason: "FieldValueTypeInvalid", message, field }
    }
}

/// A value as Kubernetes prints it in messages; secrets never come here, because only names and enums are validated.
fn shown(value: &Value) -> String {
    match value {
        Value::Object(_) | Value::Array(_) => "...".to_owned(),
        other => other.to_string(),
    }
}

/// `pods`, `deployments.apps`: how messages name a resource.
pub(super) fn qualified(group: &str, plural: &str) -> String {
    if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") }
}

impl Failure {
    /// Any failure; the others are those that Kubernetes has names for.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Failure {
        let (details, continue_at) = (Map::new(), String::new());
        Failure { code, reason, message: message.into(), details, retry_after: None, is_plain: false, continue_at }
    }

    /// A failure that is a line of text.
    fn plain(code: u16, message: &str) -> Failure {
        Failure { is_plain: true, ..Failure::new(code, "", message) }
    }

    /// The same with the time, in seconds, after which the client may try again.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u32) -> Failure {
        self.retry_after = Some(seconds);
        if !self.is_plain {
            self.details.insert("retryAfterSeconds".to_owned(), seconds.into());
        }
        self
    }

    /// When to try again, in seconds.
    pub(super) fn retry_after(&self) -> Option<u32> {
        self.retry_after
    }

    /// The text, if it is a line of text.
    pub(super) fn plain_text(&self) -> Option<String> {
        self.is_plain.then(|| format!("{}\n", self.message))
    }

    fn about(mut self, group: &str, kind: &str, name: &str) -> Failure {
        for (key, value) in [("name", name), ("group", group), ("kind", kind)] {
            if !value.is_empty() {
                self.details.insert(key.to_owned(), value.into());
            }
        }
        self
    }

    /// Adds causes to the details.
    pub fn with_causes(mut self, causes: &[Cause]) -> Failure {
        let causes: Vec<Value> = causes
            .iter()
            .map(|cause| {
                let mut object = json!({"message": cause.message});
                if !cause.reason.is_empty() {
                    object["reason"] = cause.reason.into();
                }
                if !cause.field.is_empty() {
                    object["field"] = cause.field.as_str().into();
                }
                object
            })
            .collect();
        self.details.insert("causes".to_owned(), causes.into());
        self
    }

    /// The object does not exist.
    pub fn not_found(group: &str, plural: &str, name: &str) -> Failure {
        let message = format!("{} {name:?} not found", qualified(group, plural));
        Failure::new(404, "NotFound", message).about(group, plural, name)
    }

    /// Nothing is served at this path; `hint` says what the sandbox lacks.
    pub fn no_such_path(hint: &str) -> Failure {
        let message = format!("the server could not find the requested resource ({hint})");
        Failure::new(404, "NotFound", message)
    }

    /// The object exists already.
    pub fn already_exists(group: &str, plural: &str, name: &str) -> Failure {
        let message = format!("{} {name:?} already exists", qualified(group, plural));
        Failure::new(409, "AlreadyExists", message).about(group, plural, name)
    }

    /// The object is not in the state that the request was made for.
    pub fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Failure {
        let message = format!("Operation cannot be fulfilled on {} {name:?}: {why}", qualified(group, plural));
        Failure::new(409, "Conflict", message).about(group, plural, name)
    }

    /// Other field managers own fields that an apply would change.
    pub fn apply_conflict(message: String, causes: &[Cause]) -> Failure {
        Failure::new(409, "Conflict", message).with_causes(causes)
    }

    /// The object breaks its schema or a rule.
    pub fn invalid(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Failure {
        let mut texts: Vec<String> = causes
            .iter()
            .map(|cause| match cause.field.as_str() {
                "" => cause.message.clone(),
                field => format!("{field}: {}", cause.message),
            })
            .collect();
        let text = match texts.len() {
            1 => texts.remove(0),
            _ => format!("[{}]", texts.join(", ")),
        };
        let message = format!("{} {name:?} is invalid: {text}", qualified(group, kind));
        Failure::new(422, "Invalid", message).about(group, kind, name).with_causes(causes)
    }

    /// The request itself is wrong.
    pub fn bad_request(message: impl Into<String>) -> Failure {
        Failure::new(400, "BadRequest", message)
    }

    /// The token is missing or unknown.
    pub fn unauthorized() -> Failure {
        Failure::new(401, "Unauthorized", "Unauthorized")
    }

    /// The user, a quota or a rule forbids it.
    pub fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Failure {
        let message = match name {
            "" => format!("{} is forbidden: {why}", qualified(group, plural)),
            name => format!("{} {name:?} is forbidden: {why}", qualified(group, plural)),
        };
        Failure::new(403, "Forbidden", message).about(group, plural, name)
    }

    /// The user may not ask for a path that is no resource.
    pub fn forbidden_path(why: &str) -> Failure {
        Failure::new(403, "Forbidden", format!("forbidden: {why}"))
    }

    /// The path does not know this method.
    pub fn method_not_allowed(what: &str) -> Failure {
        Failure::new(
            405,
            "MethodNotAllowed",
            format!("the server does not allow this method on the requested resource ({what})"),
        )
    }

    /// The body is in a format that is not understood.
    pub fn unsupported_media_type(message: impl Into<String>) -> Failure {
        Failure::new(415, "UnsupportedMediaType", message)
    }

    /// The resource version is older than the history that is kept.
    pub fn expired(message: impl Into<String>) -> Failure {
        Failure::new(410, "Expired", message)
    }

    /// The pages of a list are no longer known; from `continue_at` on, the rest can be had as it is now.
    pub(super) fn list_expired(continue_at: String) -> Failure {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start a new \
                       list without the continue parameter, or use the continue token in this response to retrieve the \
                       remainder of the results. Continuing with the provided token results in an inconsistent list - \
                       objects that were created, modified, or deleted between the time the first chunk was returned and \
                       now may show up in the list.";
        Failure { continue_at, ..Failure::expired(message) }
    }

    /// Try again later: a disruption budget is used up.
    pub fn too_many_requests(message: impl Into<String>, causes: &[Cause]) -> Failure {
        Failure::new(429, "TooManyRequests", message).with_causes(causes)
    }

    /// The server has as many requests as it can have: priority and fairness turn this one away. Plain text, as there.
    pub fn throttled(retry_after: u32) -> Failure {
        Failure::plain(429, "Too many requests, please try again later.").with_retry_after(retry_after)
    }

    /// Something that the server needs is not there.
    pub fn unavailable(message: impl Into<String>) -> Failure {
        Failure::new(503, "ServiceUnavailable", message)
    }

    /// The server behind an aggregated API does not answer. Plain text, as the aggregator's.
    pub fn aggregated_api_unavailable() -> Failure {
        Failure::plain(503, "service unavailable")
    }

    /// The request took too long; what it asked for may have been done.
    pub fn timed_out() -> Failure {
        Failure::new(
            504,
            "Timeout",
            "Timeout: request did not complete within requested timeout - context deadline exceeded",
        )
    }

    /// An admission webhook refuses. Most answer so: code 403, reason `Forbidden`.
    pub fn webhook_denied(webhook: &str, why: &str) -> Failure {
        Failure::new(403, "Forbidden", format!("admission webhook {webhook:?} denied the request: {why}"))
    }

    /// An admission webhook whose failure policy is `Fail` does not answer. `why` is as the server tells it: `context
    /// deadline exceeded`, `no endpoints available for service "x"`.
    pub fn webhook_failed(webhook: &str, url: &str, why: &str) -> Failure {
        let error = format!("failed calling webhook {webhook:?}: failed to call webhook: Post {url:?}: {why}");
        let cause = Cause { reason: "", message: error.clone(), field: String::new() };
        Failure::internal(format!("Internal error occurred: {error}")).with_causes(&[cause])
    }

    /// The server's own fault, or something that Kubernetes answers with 500.
    pub fn internal(message: impl Into<String>) -> Failure {
        Failure::new(500, "InternalError", message)
    }

    /// What Kubernetes fails at without naming a reason.
    pub fn unexplained(message: impl Into<String>) -> Failure {
        Failure::new(500, "", message)
    }

    /// The request is larger than what is read.
    pub fn too_large(limit: usize) -> Failure {
        let message = format!("Request entity too large: limit is {limit}");
        Failure::new(413, "RequestEntityTooLarge", message)
    }

    /// The `Status` object.
    pub fn to_json(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        });
        if !self.continue_at.is_empty() {
            status["metadata"]["continue"] = self.continue_at.as_str().into();
        }
        if !self.details.is_empty() {
            status["details"] = Value::Object(self.details.clone());
        }
        status
    }
}

/// The `Status` of a deletion that left nothing behind.
pub(super) fn deleted(group: &str, plural: &str, name: &str, uid: &str) -> Value {
    let mut details = Map::new();
    for (key, value) in [("name", name), ("group", group), ("kind", plural), ("uid", uid)] {
        if !value.is_empty() {
            details.insert(key.to_owned(), value.into());
        }
    }
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}
