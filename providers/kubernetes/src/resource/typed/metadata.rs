//! The `metadata` block of every object that is made here.

use super::field::{Field, Holds, Presence};

const ANNOTATIONS: Field =
    Field::new("annotations", "annotations", Holds::Texts, "Annotations. Those of others are left alone.");
const LABELS: Field = Field::new("labels", "labels", Holds::Texts, "Labels. Those of others are left alone.");
const GENERATE_NAME: Field = Field::new(
    "generate_name",
    "",
    Holds::Text,
    "What a generated name begins with, where `name` is not set. Cannot be changed.",
)
.replaces();
const GENERATION: Field =
    Field::new("generation", "", Holds::Int, "How often its specification has changed, as of the last apply.")
        .computed();
const NAME: Field =
    Field::new("name", "name", Holds::Text, "Its name. Cannot be changed.").optional_computed().replaces();
const NAMESPACE: Field = Field::new("namespace", "namespace", Holds::Text, "Its namespace. Cannot be changed.")
    .or_text("default")
    .replaces();
const RESOURCE_VERSION: Field =
    Field::new("resource_version", "", Holds::Text, "Its version, as of the last apply.").computed();
const UID: Field = Field::new("uid", "", Holds::Text, "What tells it from another one of the same name.").computed();

const CLUSTER: &[Field] = &[ANNOTATIONS, GENERATE_NAME, GENERATION, LABELS, NAME, RESOURCE_VERSION, UID];
const IN_NAMESPACE: &[Field] =
    &[ANNOTATIONS, GENERATE_NAME, GENERATION, LABELS, NAME, NAMESPACE, RESOURCE_VERSION, UID];

/// The block of an object that lies in no namespace.
pub(super) const OF_CLUSTER: Field =
    Field::new("metadata", "metadata", Holds::One(CLUSTER, Presence::Required), "Name, labels, annotations.");
/// The block of an object that lies in a namespace.
pub(super) const OF_NAMESPACE: Field =
    Field::new("metadata", "metadata", Holds::One(IN_NAMESPACE, Presence::Required), "Name, labels, annotations.");
