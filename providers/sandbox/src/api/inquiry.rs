//! What a request asks, as far as its line and headers tell.

use http::{Method, Uri};

use super::body::Body;
use super::object;
use super::options;
use super::place::{self, Place, Target};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Inquiry {
    /// As [`super::Call::verb`]; `get` for documents.
    pub(super) verb: &'static str,
    /// The group of a resource or of a document about a group; empty for the core group.
    pub(super) group: String,
    /// Empty for documents.
    pub(super) plural: String,
    pub(super) subresource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// Without the query.
    pub(super) path: String,
    pub(super) user: String,
    pub(super) dry_run: bool,
}

impl Inquiry {
    /// Reads a request.
    pub(super) fn of(user: &str, method: &Method, uri: &Uri, body: &Body) -> Self {
        let rest = Self { verb: "get", path: uri.path().to_owned(), user: user.to_owned(), ..Self::default() };
        match place::parse(uri.path()) {
            Some(Target::Resource(place)) => Self {
                verb: verb(method, &place, options::has_flag(uri, "watch"), &body.content_type).unwrap_or("get"),
                group: place.group,
                plural: place.plural,
                subresource: place.subresource,
                namespace: place.namespace.unwrap_or_default(),
                name: place.name.unwrap_or_default(),
                dry_run: options::has_value(uri, "dryRun", "All") || (*method == Method::DELETE && deletes_dry(body)),
                ..rest
            },
            Some(Target::GroupVersion(group, _) | Target::OpenApi(group, _) | Target::Group(group)) => {
                Self { group, ..rest }
            }
            _ => rest,
        }
    }

    /// `gpunodes/status`
    pub(super) fn resource(&self) -> String {
        match self.subresource.as_str() {
            "" => self.plural.clone(),
            part => format!("{}/{part}", self.plural),
        }
    }
}

/// The options of a deletion come in its body, too.
fn deletes_dry(body: &Body) -> bool {
    let options = body.delete_options();
    options.is_ok_and(|options| object::items(&options, "/dryRun").any(|value| value == "All"))
}

/// The verb of a request for a resource; none where the path does not know the method.
pub(super) fn verb(method: &Method, place: &Place, watch: bool, content_type: &str) -> Option<&'static str> {
    let is_collection = place.name.is_none();
    Some(match (method, is_collection) {
        (&Method::GET, _) if watch => "watch",
        (&Method::GET, true) => "list",
        (&Method::GET, false) => "get",
        (&Method::POST, true) => "create",
        (&Method::POST, false) if !place.subresource.is_empty() => "create",
        (&Method::PUT, false) => "update",
        (&Method::PATCH, false) if content_type == "application/apply-patch+yaml" => "apply",
        (&Method::PATCH, false) => "patch",
        (&Method::DELETE, false) if place.subresource.is_empty() => "delete",
        (&Method::DELETE, true) => "deletecollection",
        _ => return None,
    })
}
