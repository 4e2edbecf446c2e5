//! Questions about identities and rights: they are created, answered in their status, and not kept.

use serde_json::{Value, json};

use super::body::Body;
use super::hooks::{Attributes, Decision};
use super::identity::User;
use super::object::{self, items, map_mut, text};
use super::rbac::{self, Rule};
use super::request::Request;
use super::resource::Resource;
use super::status::{Cause, Failure};
use super::write;

/// `POST` on a kind of review.
pub(super) fn answer(request: &mut Request<'_>, resource: &Resource, body: &Body) -> Result<Value, Failure> {
    let mut review = body.object()?;
    write::check_type(resource, &review)?;
    write::conform(request, resource, &mut review, "")?;
    let status = match resource.kind.as_str() {
        "SelfSubjectReview" => json!({"userInfo": request.user.to_json()}),
        "SelfSubjectAccessReview" => {
            check(resource, &review, false)?;
            access(request, request.user, &review)
        }
        "SelfSubjectRulesReview" => rules(request, text(&review, "/spec/namespace"))?,
        "TokenReview" => token(request, &review)?,
        "LocalSubjectAccessReview" => {
            check(resource, &review, true)?;
            if text(&review, "/spec/resourceAttributes/namespace") != request.namespace() {
                let found = text(&review, "/spec/resourceAttributes/namespace").into();
                let why = "must match metadata.namespace";
                let cause = Cause::invalid("spec.resourceAttributes.namespace", &found, why);
                return Err(Failure::invalid(&resource.group, &resource.kind, "", &[cause]));
            }
            access(request, &subject(&review), &review)
        }
        _ => {
            check(resource, &review, true)?;
            access(request, &subject(&review), &review)
        }
    };
    review["apiVersion"] = resource.api_version().into();
    review["kind"] = resource.kind.as_str().into();
    let metadata = map_mut(&mut review, "metadata");
    if resource.kind == "SelfSubjectReview" {
        metadata.insert("creationTimestamp".to_owned(), request.time().into());
    }
    review["status"] = status;
    Ok(review)
}

/// Whether a review of access asks about one thing, and (if not of the sender) about somebody.
fn check(resource: &Resource, review: &Value, of_others: bool) -> Result<(), Failure> {
    let has = |field: &str| review.pointer(field).is_some_and(|value| !value.is_null());
    let mut causes = Vec::new();
    match (has("/spec/resourceAttributes"), has("/spec/nonResourceAttributes")) {
        (true, true) => causes.push(Cause::invalid(
            "spec.nonResourceAttributes",
            &review["spec"]["nonResourceAttributes"],
            "cannot be specified in combination with resourceAttributes",
        )),
        (false, false) => causes.push(Cause::invalid(
            "spec.resourceAttributes",
            &Value::Null,
            "exactly one of nonResourceAttributes or resourceAttributes must be specified",
        )),
        _ => {}
    }
    if of_others && text(review, "/spec/user").is_empty() && items(review, "/spec/groups").next().is_none() {
        let why = "at least one of user or group must be specified";
        causes.push(Cause::invalid("spec.user", &"".into(), why));
    }
    match causes.as_slice() {
        [] => Ok(()),
        // The server does not say of which kind.
        causes => Err(Failure::invalid(&resource.group, "", "", causes)),
    }
}

fn subject(review: &Value) -> User {
    let texts = |field: &str| items(review, field).filter_map(Value::as_str).map(str::to_owned).collect();
    let extra = object::entries(review, "/spec/extra");
    User {
        name: text(review, "/spec/user").to_owned(),
        uid: text(review, "/spec/uid").to_owned(),
        groups: texts("/spec/groups"),
        extra: extra
            .map(|(key, values)| {
                let values = values.as_array().into_iter().flatten();
                (key.clone(), values.filter_map(Value::as_str).map(str::to_owned).collect())
            })
            .collect(),
    }
}

fn access(request: &Request<'_>, user: &User, review: &Value) -> Value {
    let store = request.api.store.read();
    let (decision, reason) =
        if let Some(asked) = review.pointer("/spec/resourceAttributes").filter(|one| !one.is_null()) {
            let attributes = Attributes {
                verb: text(asked, "/verb"),
                group: text(asked, "/group"),
                resource: text(asked, "/resource"),
                subresource: text(asked, "/subresource"),
                namespace: text(asked, "/namespace"),
                name: text(asked, "/name"),
            };
            (request.api.authorizer.authorize(&store, user, &attributes), rbac::reason(&store, user, &attributes))
        } else {
            let (verb, path) =
                (text(review, "/spec/nonResourceAttributes/verb"), text(review, "/spec/nonResourceAttributes/path"));
            let decision = request.api.authorizer.authorize_path(&store, user, verb, path);
            (decision, rbac::path_reason(&store, user, verb, path))
        };
    match decision {
        Decision::Allow if reason.is_empty() => json!({"allowed": true}),
        Decision::Allow => json!({"allowed": true, "reason": reason}),
        // What RBAC could not look up stands behind the refusal.
        Decision::Deny(why) => match why.split_once(": RBAC: ") {
            Some((_, error)) => {
                json!({"allowed": false, "reason": format!("RBAC: {error}"), "evaluationError": error})
            }
            None => json!({"allowed": false}),
        },
    }
}

fn rules(request: &Request<'_>, namespace: &str) -> Result<Value, Failure> {
    if namespace.is_empty() {
        return Err(Failure::bad_request("no namespace on request"));
    }
    let (rules, errors) = rbac::rules_of(&request.api.store.read(), request.user, namespace);
    let (paths, resources): (Vec<&Rule>, Vec<&Rule>) = rules.iter().partition(|rule| !rule.paths.is_empty());
    let list = |rules: Vec<&Rule>| rules.into_iter().map(Rule::to_json).collect::<Vec<_>>();
    let mut status = json!({
        "resourceRules": list(resources), "nonResourceRules": list(paths), "incomplete": !errors.is_empty(),
    });
    if !errors.is_empty() {
        status["evaluationError"] = errors.join(", ").into();
    }
    Ok(status)
}

fn token(request: &Request<'_>, review: &Value) -> Result<Value, Failure> {
    let token = text(review, "/spec/token");
    if token.is_empty() {
        return Err(Failure::bad_request("token is required for TokenReview in authentication"));
    }
    let audiences: Vec<String> =
        items(review, "/spec/audiences").filter_map(Value::as_str).map(str::to_owned).collect();
    Ok(match request.api.user_of(token, &audiences) {
        Some((user, audiences)) => json!({"authenticated": true, "user": user.to_json(), "audiences": audiences}),
        None => json!({"user": {}, "error": "invalid bearer token"}),
    })
}
