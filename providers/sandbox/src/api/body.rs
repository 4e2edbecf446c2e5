//! Reading what a request carries.

use bytes::Bytes;
use serde_json::Value;

use super::protobuf;
use super::status::Failure;

/// The body and its content type.
pub(super) struct Body {
    pub(super) bytes: Bytes,
    /// Without parameters; empty when the client said nothing.
    pub(super) content_type: String,
}

impl Body {
    /// An object in JSON or YAML, or in protobuf if it is one of the few kinds that kubectl sends that way.
    pub(super) fn object(&self) -> Result<Value, Failure> {
        if self.content_type == "application/vnd.kubernetes.protobuf" {
            return protobuf::decode(&self.bytes).map_err(Failure::unsupported_media_type);
        }
        let known = [
            "",
            "application/json",
            "application/yaml",
            "application/apply-patch+yaml",
            "application/merge-patch+json",
            "application/strategic-merge-patch+json",
        ];
        if !known.contains(&self.content_type.as_str()) {
            return Err(Failure::unsupported_media_type(format!(
                "the body of the request was in an unknown format ({:?}) - accepted media types include: application/json, application/yaml",
                self.content_type
            )));
        }
        let value = match serde_json::from_slice(&self.bytes) {
            Ok(value) => value,
            Err(json) if !self.content_type.ends_with("yaml") => {
                return Err(Failure::bad_request(format!("error decoding the body: {json}")));
            }
            Err(_) => serde_saphyr::from_slice::<Value>(&self.bytes)
                .map_err(|error| Failure::bad_request(format!("error decoding YAML: {error}")))?,
        };
        if !value.is_object() {
            return Err(Failure::bad_request("the body of the request is not an object"));
        }
        Ok(value)
    }

    /// The options of a deletion; an empty object when there are none.
    pub(super) fn delete_options(&self) -> Result<Value, Failure> {
        if self.bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Value::Object(serde_json::Map::new()));
        }
        self.object()
    }
}
