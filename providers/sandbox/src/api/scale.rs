//! The `scale` subresource: how many replicas an object asks for and has, in the same form for every kind that has any.

use serde_json::{Value, json};

use super::body::Body;
use super::object::{self, ensure_map, entries, items, text};
use super::patch;
use super::request::Request;
use super::resource::Resource;
use super::status::{Cause, Failure};
use super::write;

/// Where a kind keeps its replicas, as JSON pointers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Paths {
    spec: String,
    status: String,
    selector: Selector,
}

/// Where the selector of the replicas is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Selector {
    None,
    /// A label selector of Kubernetes.
    Labels(&'static str),
    /// A text.
    Text(String),
}

impl Paths {
    /// Those of the workloads that Kubernetes has.
    pub(super) fn of_workload() -> Paths {
        let selector = Selector::Labels("/spec/selector");
        Paths { spec: "/spec/replicas".to_owned(), status: "/status/replicas".to_owned(), selector }
    }

    /// Those of a version of a definition, if it has any.
    pub(super) fn of_version(version: &Value) -> Option<Paths> {
        let scale = version.pointer("/subresources/scale")?;
        let path = |name: &str| text(scale, &format!("/{name}")).replace('.', "/");
        let selector = match path("labelSelectorPath") {
            path if path.is_empty() => Selector::None,
            path => Selector::Text(path),
        };
        Some(Paths { spec: path("specReplicasPath"), status: path("statusReplicasPath"), selector })
    }

    fn selector(&self, object: &Value) -> Option<String> {
        match &self.selector {
            Selector::None => None,
            Selector::Text(pointer) => Some(text(object, pointer).to_owned()).filter(|text| !text.is_empty()),
            Selector::Labels(pointer) => {
                let labels = entries(object, &format!("{pointer}/matchLabels"));
                let mut terms: Vec<String> =
                    labels.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
                for one in items(object, &format!("{pointer}/matchExpressions")) {
                    let key = text(one, "/key");
                    let values: Vec<&str> = items(one, "/values").filter_map(Value::as_str).collect();
                    let values = values.join(",");
                    terms.push(match text(one, "/operator") {
                        "In" => format!("{key} in ({values})"),
                        "NotIn" => format!("{key} notin ({values})"),
                        "Exists" => key.to_owned(),
                        _ => format!("!{key}"),
                    });
                }
                Some(terms.join(","))
            }
        }
    }
}

fn paths<'r>(request: &Request<'_>, resource: &'r Resource) -> Result<&'r Paths, Failure> {
    resource.scale.as_ref().ok_or_else(|| request.not_found(resource))
}

/// An object's scale.
fn scale(object: &Value, paths: &Paths) -> Result<Value, Failure> {
    let Some(wanted) = object.pointer(&paths.spec).and_then(Value::as_i64) else {
        let path = paths.spec.replace('/', ".");
        return Err(Failure::internal(format!(
            "Internal error occurred: the spec replicas field {path:?} does not exist"
        )));
    };
    let found = object.pointer(&paths.status).and_then(Value::as_i64).unwrap_or_default();
    let metadata = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
    let metadata =
        metadata.iter().filter_map(|field| Some(((*field).to_owned(), object["metadata"].get(*field)?.clone())));
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata.collect::<serde_json::Map<_, _>>(),
        "spec": {"replicas": wanted}, "status": {"replicas": found},
    });
    if let Some(selector) = paths.selector(object) {
        scale["status"]["selector"] = selector.into();
    }
    Ok(scale)
}

/// `GET` on a scale.
pub(super) fn get(request: &Request<'_>, resource: &Resource) -> Result<Value, Failure> {
    let object = super::read::get(request, resource)?;
    scale(&object, paths(request, resource)?)
}

/// `PUT` on a scale.
pub(super) fn update(request: &Request<'_>, resource: &Resource, body: &Body) -> Result<Value, Failure> {
    let new = body.object()?;
    change(request, resource, |_| Ok(new))
}

/// `PATCH` on a scale.
pub(super) fn patch(request: &Request<'_>, resource: &Resource, body: &Body) -> Result<Value, Failure> {
    change(request, resource, |mut scale| {
        patch::change(request, resource, &mut scale, body, None)?;
        Ok(scale)
    })
}

fn change(
    request: &Request<'_>,
    resource: &Resource,
    work: impl FnOnce(Value) -> Result<Value, Failure>,
) -> Result<Value, Failure> {
    let paths = paths(request, resource)?;
    let mut store = request.begin();
    let live = store.get(&request.key(resource)).cloned().ok_or_else(|| request.not_found(resource))?;
    // An object that does not say how many it wants can still be told.
    let before = scale(&live, paths).unwrap_or_else(|_| json!({"metadata": live["metadata"], "spec": {"replicas": 0}}));
    let new = work(before)?;
    let wanted = new.pointer("/spec/replicas").map_or(Some(0), Value::as_i64);
    let Some(wanted) = wanted.filter(|wanted| *wanted >= 0) else {
        let found = new.pointer("/spec/replicas").cloned().unwrap_or_default();
        let cause = Cause::invalid("spec.replicas", &found, "must be greater than or equal to 0");
        return Err(Failure::invalid("autoscaling", "Scale", request.name(), &[cause]));
    };
    if object::name(&new) != request.name() {
        let (found, wanted) = (object::name(&new), request.name());
        let why = format!("the name of the object ({found}) does not match the name on the URL ({wanted})");
        return Err(Failure::bad_request(why));
    }
    write::check_version(resource, &live, &new)?;
    let mut object = (*live).clone();
    set(&mut object, &paths.spec, wanted.into());
    let written = write::replace(request, &mut store, resource, &live, object, None)?;
    let answer = scale(&written, paths)?;
    write::finish(request, store)?;
    Ok(answer)
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut place = object;
    for name in pointer.split('/').skip(1) {
        place = ensure_map(place).entry(name).or_insert(Value::Null);
    }
    *place = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_written_as_texts() {
        let object = json!({
            "metadata": {"name": "d"}, "spec": {"replicas": 2, "selector": {
                "matchLabels": {"app": "x"},
                "matchExpressions": [{"key": "t", "operator": "In", "values": ["a", "b"]}, {"key": "u", "operator": "DoesNotExist"}],
            }},
        });
        let found = scale(&object, &Paths::of_workload()).unwrap();
        assert_eq!(found["status"], json!({"replicas": 0, "selector": "app=x,t in (a,b),!u"}));
        let version =
            json!({"subresources": {"scale": {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}}});
        assert!(scale(&object, &Paths::of_version(&version).unwrap()).is_err(), "nothing says how many");
    }
}
