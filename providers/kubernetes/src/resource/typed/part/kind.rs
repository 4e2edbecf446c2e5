//! The types, each with its fields.

use engine_value::{Path, Type, Value};
use providers_api::Issue;

use crate::resource::typed::field::{Field, Holds, Presence};

/// A type that looks after a part of an object.
pub(crate) struct Part {
    /// Its name.
    pub(super) ty: &'static str,
    /// API version and kind of the object; `None`: the block says it.
    pub(super) object: Option<(&'static str, &'static str)>,
    /// Everything that it has but `id`.
    pub(super) fields: &'static [Field],
    /// What of the object it looks after.
    pub(super) content: Content,
    /// HashiCorp's identifier; unknown where parts of it are.
    pub(super) id: fn(&Value) -> Value,
    /// What is wrong with a block beyond what its fields say.
    pub(super) check: fn(&Value) -> Vec<Issue>,
    /// For the reference documentation.
    pub(super) description: &'static str,
}

/// What of an object a type looks after.
#[derive(Clone, Copy)]
pub(super) enum Content {
    /// Entries of maps.
    Entries(&'static [Entries]),
    /// Taints of a node.
    Taints,
}

/// A map of an object of which entries are looked after.
pub(super) struct Entries {
    /// The attribute that holds them.
    pub(super) attribute: &'static str,
    /// Where the map is in an object.
    pub(super) path: &'static [&'static str],
    /// Where it is in a CronJob, whose pods are one level further down.
    pub(super) in_cron_job: &'static [&'static str],
}

const ANNOTATION_PATH: &[&str] = &["metadata", "annotations"];
const LABEL_PATH: &[&str] = &["metadata", "labels"];
const TEMPLATE_PATH: &[&str] = &["spec", "template", "metadata", "annotations"];
const CRON_JOB_PATH: &[&str] = &["spec", "jobTemplate", "spec", "template", "metadata", "annotations"];
const DATA_PATH: &[&str] = &["data"];

/// Every map that one of these types may own entries of under one name: what a type does not look after itself, it must
/// apply again, or the others lose it.
pub(super) const ALL_PATHS: &[&[&str]] = &[ANNOTATION_PATH, LABEL_PATH, TEMPLATE_PATH, CRON_JOB_PATH, DATA_PATH];

const API_VERSION: Field =
    Field::new("api_version", "", Holds::Text, "The version of its API: `apps/v1`.").required().replaces();
const KIND: Field = Field::new("kind", "", Holds::Text, "Its kind: `Deployment`.").required().replaces();
const FIELD_MANAGER: Field =
    Field::new("field_manager", "", Holds::Text, "The name under which they are owned.").or_text("Terraform");
const FORCE: Field = Field::new("force", "", Holds::Bool, "Take them from other managers.");
const NAME: Field = Field::new("name", "", Holds::Text, "Its name.").required().replaces();
const NAMESPACE: Field = Field::new("namespace", "", Holds::Text, "Its namespace.").replaces();

const ANY: Field = Field::new("metadata", "", Holds::One(&[NAME, NAMESPACE], Presence::Required), "What names it.");
const CONFIG_MAP: Field =
    Field::new("metadata", "", Holds::One(&[NAME, NAMESPACE.or_text("default")], Presence::Required), "What names it.");
const NODE: Field = Field::new("metadata", "", Holds::One(&[NAME], Presence::Required), "What names it.");

const TAINT: &[Field] = &[
    Field::new("effect", "effect", Holds::Text, "`NoSchedule`, `PreferNoSchedule` or `NoExecute`.")
        .required()
        .allowed(&["NoSchedule", "PreferNoSchedule", "NoExecute"]),
    Field::new("key", "key", Holds::Text, "Its key.").required(),
    Field::new("value", "value", Holds::Text, "Its value.").required(),
];

pub(super) const PARTS: &[&Part] = &[&ANNOTATIONS, &DATA, &LABELS, &TAINTS];

const LABELS: Part = Part {
    ty: "kubernetes_labels",
    object: None,
    fields: &[
        API_VERSION,
        FIELD_MANAGER,
        FORCE,
        KIND,
        Field::new("labels", "", Holds::Texts, "The labels. Those of others are left alone.").required(),
        ANY,
    ],
    content: Content::Entries(&[Entries { attribute: "labels", path: LABEL_PATH, in_cron_job: LABEL_PATH }]),
    id: any_id,
    check: |_| Vec::new(),
    description: "Labels of an object that others have made.",
};

const ANNOTATIONS: Part = Part {
    ty: "kubernetes_annotations",
    object: None,
    fields: &[
        Field::new("annotations", "", Holds::Texts, "Annotations. Those of others are left alone."),
        API_VERSION,
        FIELD_MANAGER,
        FORCE,
        KIND,
        ANY,
        Field::new("template_annotations", "", Holds::Texts, "Annotations of the pods that it makes."),
    ],
    content: Content::Entries(&[
        Entries { attribute: "annotations", path: ANNOTATION_PATH, in_cron_job: ANNOTATION_PATH },
        Entries { attribute: "template_annotations", path: TEMPLATE_PATH, in_cron_job: CRON_JOB_PATH },
    ]),
    id: any_id,
    check: |config| {
        let is_null = |name: &str| config.get(name).is_none_or(Value::is_null);
        if !is_null("annotations") || !is_null("template_annotations") {
            return Vec::new();
        }
        let detail = "One of `annotations` and `template_annotations` must be set.";
        vec![Issue::error(Path::root(), "Missing argument", detail)]
    },
    description: "Annotations of an object that others have made.",
};

const DATA: Part = Part {
    ty: "kubernetes_config_map_v1_data",
    object: Some(("v1", "ConfigMap")),
    fields: &[
        Field::new("data", "", Holds::Texts, "Texts by name. Those of others are left alone.").required(),
        FIELD_MANAGER,
        FORCE,
        CONFIG_MAP,
    ],
    content: Content::Entries(&[Entries { attribute: "data", path: DATA_PATH, in_cron_job: DATA_PATH }]),
    id: |block| match (text(block, "namespace"), text(block, "name")) {
        (Some(namespace), Some(name)) => format!("{namespace}/{name}").into(),
        _ => Value::unknown(Type::String),
    },
    check: |_| Vec::new(),
    description: "Data of a ConfigMap that others have made.",
};

const TAINTS: Part = Part {
    ty: "kubernetes_node_taint",
    object: Some(("v1", "Node")),
    fields: &[
        FIELD_MANAGER,
        FORCE,
        NODE,
        Field::new("taint", "", Holds::Many(TAINT, Presence::Required), "A taint. Those of others are left alone."),
    ],
    content: Content::Taints,
    id: node_id,
    check: distinct_keys,
    description: "Taints of a node.",
};

fn text(block: &Value, name: &str) -> Option<String> {
    let value = Path::root().attr("metadata").index(0).attr(name).get(block)?;
    value.as_str().map(str::to_owned)
}

fn any_id(block: &Value) -> Value {
    let top = |name: &str| block.get(name).and_then(Value::as_str).map(str::to_owned);
    let namespace = Path::root().attr("metadata").index(0).attr("namespace").get(block);
    let namespace = match namespace {
        Some(namespace) if !namespace.is_known() => return Value::unknown(Type::String),
        Some(namespace) => namespace.as_str().filter(|text| !text.is_empty()).map(|text| format!(",namespace={text}")),
        None => None,
    };
    match (top("api_version"), top("kind"), text(block, "name")) {
        (Some(api_version), Some(kind), Some(name)) => {
            format!("apiVersion={api_version},kind={kind},name={name}{}", namespace.unwrap_or_default()).into()
        }
        _ => Value::unknown(Type::String),
    }
}

fn node_id(block: &Value) -> Value {
    let Some(mut id) = text(block, "name") else { return Value::unknown(Type::String) };
    let taints = block.get("taint").filter(|taints| taints.is_wholly_known());
    let Some(taints) = taints.and_then(Value::as_sequence) else { return Value::unknown(Type::String) };
    for taint in taints {
        let part = |name: &str| taint.get(name).and_then(Value::as_str).unwrap_or_default();
        id.push_str(&format!(",{}={}:{}", part("key"), part("value"), part("effect")));
    }
    id.into()
}

fn distinct_keys(config: &Value) -> Vec<Issue> {
    let taints = config.get("taint").and_then(Value::as_sequence).unwrap_or_default();
    let keys: Vec<Option<&str>> = taints.iter().map(|taint| taint.get("key").and_then(Value::as_str)).collect();
    let mut seen = std::collections::BTreeSet::new();
    let twice = keys.iter().enumerate().filter(|(_, key)| key.is_some_and(|key| !seen.insert(key)));
    let issue = |(at, key): (usize, &Option<&str>)| {
        let detail = format!("There are two taints with the key {}.", key.unwrap_or_default());
        Issue::error(Path::root().attr("taint").index(at).attr("key"), "Duplicate taint", detail).hint("Remove one.")
    };
    twice.map(issue).collect()
}
