//! Reading protobuf, as far as kubectl insists on it: its commands that build an object from flags (`create namespace`,
//! `drain`) send nothing else. The kinds that they build most are here as tables; everything else is refused with a hint.
//!
//! The numbers are those of Kubernetes' `generated.proto` files, which never change them.

use serde_json::{Map, Value};

/// What precedes every message of the Kubernetes API.
const MAGIC: &[u8] = b"k8s\0";

/// A field of a message: its number, its name in JSON, and what it holds.
type Field = (u64, &'static str, Holds);

#[derive(Clone, Copy)]
enum Holds {
    Text,
    Bool,
    Integer,
    Message(&'static [Field]),
    Texts,
    Messages(&'static [Field]),
    /// A map to texts.
    TextMap,
    /// A map to quantities, which are messages with a text.
    QuantityMap,
}

const METADATA: Holds = Holds::Message(&[
    (1, "name", Holds::Text),
    (2, "generateName", Holds::Text),
    (3, "namespace", Holds::Text),
    (11, "labels", Holds::TextMap),
    (12, "annotations", Holds::TextMap),
    (14, "finalizers", Holds::Texts),
]);

const DELETE_OPTIONS: &[Field] = &[
    (1, "gracePeriodSeconds", Holds::Integer),
    (2, "preconditions", Holds::Message(&[(1, "uid", Holds::Text), (2, "resourceVersion", Holds::Text)])),
    (3, "orphanDependents", Holds::Bool),
    (4, "propagationPolicy", Holds::Text),
    (5, "dryRun", Holds::Texts),
];

const LABEL_SELECTOR: &[Field] = &[
    (1, "matchLabels", Holds::TextMap),
    (
        2,
        "matchExpressions",
        Holds::Messages(&[(1, "key", Holds::Text), (2, "operator", Holds::Text), (3, "values", Holds::Texts)]),
    ),
];

const RULES: Holds = Holds::Messages(&[
    (1, "verbs", Holds::Texts),
    (2, "apiGroups", Holds::Texts),
    (3, "resources", Holds::Texts),
    (4, "resourceNames", Holds::Texts),
    (5, "nonResourceURLs", Holds::Texts),
]);

const BINDING: &[Field] = &[
    (1, "metadata", METADATA),
    (
        2,
        "subjects",
        Holds::Messages(&[
            (1, "kind", Holds::Text),
            (2, "apiGroup", Holds::Text),
            (3, "name", Holds::Text),
            (4, "namespace", Holds::Text),
        ]),
    ),
    (3, "roleRef", Holds::Message(&[(1, "apiGroup", Holds::Text), (2, "kind", Holds::Text), (3, "name", Holds::Text)])),
];

const ATTRIBUTES: Holds = Holds::Message(&[
    (1, "namespace", Holds::Text),
    (2, "verb", Holds::Text),
    (3, "group", Holds::Text),
    (4, "version", Holds::Text),
    (5, "resource", Holds::Text),
    (6, "subresource", Holds::Text),
    (7, "name", Holds::Text),
]);

const PATH_ATTRIBUTES: Holds = Holds::Message(&[(1, "path", Holds::Text), (2, "verb", Holds::Text)]);

const TOKEN_SPEC: Holds = Holds::Message(&[
    (1, "audiences", Holds::Texts),
    (
        3,
        "boundObjectRef",
        Holds::Message(&[
            (1, "kind", Holds::Text),
            (2, "apiVersion", Holds::Text),
            (3, "name", Holds::Text),
            (4, "uid", Holds::Text),
        ]),
    ),
    (4, "expirationSeconds", Holds::Integer),
]);

const RESOURCES: Holds = Holds::Message(&[(1, "limits", Holds::QuantityMap), (2, "requests", Holds::QuantityMap)]);

const CONTAINERS: Holds = Holds::Messages(&[
    (1, "name", Holds::Text),
    (2, "image", Holds::Text),
    (3, "command", Holds::Texts),
    (4, "args", Holds::Texts),
    (6, "ports", Holds::Messages(&[(3, "containerPort", Holds::Integer), (4, "protocol", Holds::Text)])),
    (8, "resources", RESOURCES),
]);

const TEMPLATE: Holds = Holds::Message(&[
    (1, "metadata", METADATA),
    (2, "spec", Holds::Message(&[(2, "containers", CONTAINERS), (3, "restartPolicy", Holds::Text)])),
]);

const DEPLOYMENT_SPEC: Holds = Holds::Message(&[
    (1, "replicas", Holds::Integer),
    (2, "selector", Holds::Message(LABEL_SELECTOR)),
    (3, "template", TEMPLATE),
]);

const JOB_SPEC: Holds = Holds::Message(&[
    (1, "parallelism", Holds::Integer),
    (2, "completions", Holds::Integer),
    (3, "activeDeadlineSeconds", Holds::Integer),
    (6, "template", TEMPLATE),
    (7, "backoffLimit", Holds::Integer),
]);

/// API version, kind and fields of what can be read.
const KINDS: &[(&str, &str, &[Field])] = &[
    ("v1", "Namespace", &[(1, "metadata", METADATA)]),
    ("v1", "ServiceAccount", &[(1, "metadata", METADATA)]),
    ("v1", "ConfigMap", &[(1, "metadata", METADATA), (2, "data", Holds::TextMap), (4, "immutable", Holds::Bool)]),
    (
        "v1",
        "ResourceQuota",
        &[
            (1, "metadata", METADATA),
            (2, "spec", Holds::Message(&[(1, "hard", Holds::QuantityMap), (2, "scopes", Holds::Texts)])),
        ],
    ),
    (
        "scheduling.k8s.io/v1",
        "PriorityClass",
        &[
            (1, "metadata", METADATA),
            (2, "value", Holds::Integer),
            (3, "globalDefault", Holds::Bool),
            (4, "description", Holds::Text),
            (5, "preemptionPolicy", Holds::Text),
        ],
    ),
    ("rbac.authorization.k8s.io/v1", "Role", &[(1, "metadata", METADATA), (2, "rules", RULES)]),
    (
        "rbac.authorization.k8s.io/v1",
        "ClusterRole",
        &[
            (1, "metadata", METADATA),
            (2, "rules", RULES),
            (3, "aggregationRule", Holds::Message(&[(1, "clusterRoleSelectors", Holds::Messages(LABEL_SELECTOR))])),
        ],
    ),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", BINDING),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", BINDING),
    (
        "authorization.k8s.io/v1",
        "SelfSubjectAccessReview",
        &[
            (1, "metadata", METADATA),
            (
                2,
                "spec",
                Holds::Message(&[(1, "resourceAttributes", ATTRIBUTES), (2, "nonResourceAttributes", PATH_ATTRIBUTES)]),
            ),
        ],
    ),
    (
        "authorization.k8s.io/v1",
        "SelfSubjectRulesReview",
        &[(1, "metadata", METADATA), (2, "spec", Holds::Message(&[(1, "namespace", Holds::Text)]))],
    ),
    ("authentication.k8s.io/v1", "SelfSubjectReview", &[(1, "metadata", METADATA)]),
    ("authentication.k8s.io/v1", "TokenRequest", &[(1, "metadata", METADATA), (2, "spec", TOKEN_SPEC)]),
    ("apps/v1", "Deployment", &[(1, "metadata", METADATA), (2, "spec", DEPLOYMENT_SPEC)]),
    ("batch/v1", "Job", &[(1, "metadata", METADATA), (2, "spec", JOB_SPEC)]),
    ("policy/v1", "Eviction", &[(1, "metadata", METADATA), (2, "deleteOptions", Holds::Message(DELETE_OPTIONS))]),
    ("v1", "DeleteOptions", DELETE_OPTIONS),
    ("meta.k8s.io/v1", "DeleteOptions", DELETE_OPTIONS),
];

/// The object in the bytes, or why it cannot be read.
pub(super) fn decode(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix(MAGIC).ok_or("the body does not begin as Kubernetes' protobuf does")?;
    let (mut version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for (number, item) in items(bytes)? {
        match (number, item) {
            (1, Item::Bytes(meta)) => {
                for (number, item) in items(meta)? {
                    match (number, item) {
                        (1, Item::Bytes(bytes)) => version = text(bytes)?,
                        (2, Item::Bytes(bytes)) => kind = text(bytes)?,
                        _ => {}
                    }
                }
            }
            (2, Item::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let known = KINDS.iter().find(|(of, name, _)| *of == version && *name == kind);
    let (.., fields) = known.ok_or_else(|| {
        format!("the sandbox reads protobuf of a few kinds only, not of {kind} ({version}); write the object to a file and apply that")
    })?;
    let mut object = message(raw, fields)?;
    object["apiVersion"] = version.into();
    object["kind"] = kind.into();
    Ok(object)
}

enum Item<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

/// The fields of a message, by number.
fn items(mut bytes: &[u8]) -> Result<Vec<(u64, Item<'_>)>, String> {
    let mut items = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        let item = match tag & 7 {
            0 => Item::Number(varint(&mut bytes)?),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).map_err(|error| error.to_string())?;
                let (value, rest) = bytes.split_at_checked(length).ok_or("a field of the message is cut off")?;
                bytes = rest;
                Item::Bytes(value)
            }
            other => return Err(format!("wire type {other} is not used by the Kubernetes API")),
        };
        items.push((tag >> 3, item));
    }
    Ok(items)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, String> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first().ok_or("a number of the message is cut off")?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number of the message is too long".to_owned())
}

fn text(bytes: &[u8]) -> Result<String, String> {
    String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())
}

fn message(bytes: &[u8], fields: &[Field]) -> Result<Value, String> {
    let mut object = Map::new();
    for (number, item) in items(bytes)? {
        let Some((_, name, holds)) = fields.iter().find(|(of, ..)| *of == number) else { continue };
        match (*holds, item) {
            // Go's encoder writes empty strings, which mean nothing.
            (Holds::Text, Item::Bytes([])) => {}
            (Holds::Text, Item::Bytes(bytes)) => drop(object.insert((*name).to_owned(), text(bytes)?.into())),
            (Holds::Bool, Item::Number(number)) => drop(object.insert((*name).to_owned(), (number != 0).into())),
            // Negative numbers are written as their two's complement.
            (Holds::Integer, Item::Number(number)) => drop(object.insert((*name).to_owned(), (number as i64).into())),
            (Holds::Message(fields), Item::Bytes(bytes)) => {
                object.insert((*name).to_owned(), message(bytes, fields)?);
            }
            (Holds::Texts, Item::Bytes(bytes)) => {
                let text: Value = text(bytes)?.into();
                let list = object.entry(*name).or_insert_with(|| Value::Array(Vec::new()));
                list.as_array_mut().into_iter().for_each(|list| list.push(text.clone()));
            }
            (Holds::Messages(fields), Item::Bytes(bytes)) => {
                let one = message(bytes, fields)?;
                let list = object.entry(*name).or_insert_with(|| Value::Array(Vec::new()));
                list.as_array_mut().into_iter().for_each(|list| list.push(one.clone()));
            }
            (Holds::TextMap | Holds::QuantityMap, Item::Bytes(bytes)) => {
                let is_quantity = matches!(holds, Holds::QuantityMap);
                let value: Holds =
                    if is_quantity { Holds::Message(&[(1, "string", Holds::Text)]) } else { Holds::Text };
                let entry = message(bytes, &[(1, "key", Holds::Text), (2, "value", value)])?;
                let value = if is_quantity { entry.pointer("/value/string") } else { entry.get("value") };
                let map = object.entry(*name).or_insert_with(|| Value::Object(Map::new()));
                map[entry["key"].as_str().unwrap_or_default()] = value.cloned().unwrap_or_else(|| "".into());
            }
            _ => return Err(format!("field {number} ({name}) has another wire type than expected")),
        }
    }
    Ok(Value::Object(object))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A length-delimited field.
    fn field(number: u8, value: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, u8::try_from(value.len()).unwrap()], value].concat()
    }

    fn envelope(version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let meta = [field(1, version.as_bytes()), field(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), field(1, &meta), field(2, raw)].concat()
    }

    #[test]
    fn objects_are_read_and_what_is_cut_off_is_refused() {
        let metadata = [field(1, b"q"), field(3, b""), field(11, &[field(1, b"a"), field(2, b"b")].concat())].concat();
        let hard = [field(1, b"requests.nvidia.com/gpu"), field(2, &field(1, b"1"))].concat();
        let quota = [field(1, &metadata), field(2, &field(1, &hard)), field(3, b"")].concat();
        let bytes = envelope("v1", "ResourceQuota", &quota);
        let expected = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q", "labels": {"a": "b"}},
            "spec": {"hard": {"requests.nvidia.com/gpu": "1"}},
        });
        assert_eq!(decode(&bytes), Ok(expected));
        assert!(decode(&bytes[..bytes.len() - 1]).is_err());
        let eviction = field(2, &[vec![1 << 3, 30], field(5, b"All")].concat());
        assert_eq!(
            decode(&envelope("policy/v1", "Eviction", &eviction)).unwrap()["deleteOptions"],
            json!({"gracePeriodSeconds": 30, "dryRun": ["All"]})
        );
        let unknown = decode(&envelope("apps/v1", "StatefulSet", b"")).unwrap_err();
        assert!(unknown.contains("not of StatefulSet (apps/v1)"), "{unknown}");
        assert!(decode(b"{}").is_err());
    }
}
