//! The built-in kinds: one table. A kind that is not in it, and that no custom resource definition defines, is a 404.

use std::sync::{Arc, OnceLock};

use k8s_openapi::api;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::columns::{self, BuiltinColumn};
use super::conform::Flavour;
use super::defaults;
use super::limits;
use super::names::NameRule;
use super::rbac;
use super::resource::Resource;
use super::scale::Paths;
use super::schema::Compiler;
use super::validate::{self, Immutable};

/// One built-in kind.
pub(super) struct Builtin {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) kind: &'static str,
    pub(super) plural: &'static str,
    pub(super) short_names: &'static [&'static str],
    pub(super) categories: &'static [&'static str],
    pub(super) namespaced: bool,
    /// Name of its definition in k8s-openapi's schemas.
    pub(super) definition: &'static str,
    /// `status` can only be written through its subresource.
    pub(super) has_status: bool,
    /// A status in a create request is kept (the kubelet creates its node with one).
    pub(super) keeps_status_on_create: bool,
    /// Metadata that stays as it is when the status is written; the rest of the metadata is written with it.
    pub(super) kept_by_status: &'static [&'static str],
    /// `metadata.generation` counts changes of what is neither metadata nor status.
    pub(super) has_generation: bool,
    pub(super) name_rule: NameRule,
    /// Fields that selectors may name, beside name and namespace.
    pub(super) selectable: &'static [&'static str],
    /// Fills in what clients leave out; whoever creates the object owns it.
    pub(super) default: fn(&mut Value),
    /// Fills in the first status; nobody owns it.
    pub(super) begin: fn(&mut Value),
    /// Rules beyond the schema.
    pub(super) validate: fn(&Value) -> Vec<super::status::Cause>,
    /// Fields that cannot change.
    pub(super) immutable: &'static [Immutable],
    /// Rules of changes beyond that: from what, to what.
    pub(super) validate_change: fn(&Value, &Value) -> Vec<super::status::Cause>,
    pub(super) columns: &'static [BuiltinColumn],
    /// A question: it is created, answered and not kept.
    pub(super) is_review: bool,
}

/// What most kinds are like.
const PLAIN: Builtin = Builtin {
    group: "",
    version: "v1",
    kind: "",
    plural: "",
    short_names: &[],
    categories: &[],
    namespaced: true,
    definition: "",
    has_status: false,
    keeps_status_on_create: false,
    kept_by_status: &[],
    has_generation: false,
    name_rule: NameRule::Subdomain,
    selectable: &[],
    default: defaults::nothing,
    begin: defaults::nothing,
    validate: validate::nothing,
    immutable: &[],
    validate_change: validate::no_change,
    columns: columns::NAME_AND_AGE,
    is_review: false,
};

const fn review(group: &'static str, kind: &'static str, plural: &'static str, definition: &'static str) -> Builtin {
    Builtin { group, kind, plural, definition, namespaced: false, has_status: true, is_review: true, ..PLAIN }
}

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// The table.
pub(super) static BUILTINS: &[Builtin] = &[
    Builtin {
        kind: "ConfigMap",
        plural: "configmaps",
        short_names: &["cm"],
        definition: "io.k8s.api.core.v1.ConfigMap",
        immutable: validate::CONFIG_MAP,
        columns: columns::CONFIG_MAP,
        ..PLAIN
    },
    Builtin {
        kind: "Event",
        plural: "events",
        short_names: &["ev"],
        definition: "io.k8s.api.core.v1.Event",
        selectable: &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        columns: columns::EVENT,
        ..PLAIN
    },
    Builtin {
        kind: "LimitRange",
        plural: "limitranges",
        short_names: &["limits"],
        definition: "io.k8s.api.core.v1.LimitRange",
        default: limits::default,
        validate: limits::validate,
        columns: columns::CREATED_AT,
        ..PLAIN
    },
    Builtin {
        kind: "Namespace",
        plural: "namespaces",
        short_names: &["ns"],
        namespaced: false,
        definition: "io.k8s.api.core.v1.Namespace",
        has_status: true,
        name_rule: NameRule::Label,
        selectable: &["status.phase"],
        default: defaults::namespace,
        begin: defaults::begin_namespace,
        columns: columns::NAMESPACE,
        ..PLAIN
    },
    Builtin {
        kind: "Node",
        plural: "nodes",
        short_names: &["no"],
        namespaced: false,
        definition: "io.k8s.api.core.v1.Node",
        has_status: true,
        keeps_status_on_create: true,
        selectable: &["spec.unschedulable"],
        default: defaults::node,
        validate: validate::node,
        columns: columns::NODE,
        ..PLAIN
    },
    Builtin {
        kind: "Pod",
        plural: "pods",
        short_names: &["po"],
        categories: &["all"],
        definition: "io.k8s.api.core.v1.Pod",
        has_status: true,
        kept_by_status: &["ownerReferences"],
        has_generation: true,
        selectable: &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        default: defaults::pod,
        begin: defaults::begin_pod,
        validate: validate::pod,
        validate_change: validate::pod_change,
        columns: columns::POD,
        ..PLAIN
    },
    Builtin {
        kind: "ResourceQuota",
        plural: "resourcequotas",
        short_names: &["quota"],
        definition: "io.k8s.api.core.v1.ResourceQuota",
        has_status: true,
        validate: validate::resource_quota,
        immutable: validate::RESOURCE_QUOTA,
        columns: columns::RESOURCE_QUOTA,
        ..PLAIN
    },
    Builtin {
        kind: "Secret",
        plural: "secrets",
        definition: "io.k8s.api.core.v1.Secret",
        selectable: &["type"],
        default: defaults::secret,
        immutable: validate::SECRET,
        columns: columns::SECRET,
        ..PLAIN
    },
    Builtin {
        kind: "ServiceAccount",
        plural: "serviceaccounts",
        short_names: &["sa"],
        definition: "io.k8s.api.core.v1.ServiceAccount",
        columns: columns::NAME_AND_AGE,
        ..PLAIN
    },
    Builtin {
        group: "apiextensions.k8s.io",
        kind: "CustomResourceDefinition",
        plural: "customresourcedefinitions",
        short_names: &["crd", "crds"],
        categories: &["api-extensions"],
        namespaced: false,
        definition: "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition",
        has_status: true,
        has_generation: true,
        default: super::crd::default,
        begin: super::crd::begin,
        validate: super::crd::validate,
        immutable: validate::CUSTOM_RESOURCE_DEFINITION,
        columns: columns::CREATED_AT,
        ..PLAIN
    },
    Builtin {
        group: "apps",
        kind: "Deployment",
        plural: "deployments",
        short_names: &["deploy"],
        categories: &["all"],
        definition: "io.k8s.api.apps.v1.Deployment",
        has_status: true,
        kept_by_status: &["labels"],
        has_generation: true,
        default: defaults::deployment,
        validate: validate::workload,
        immutable: validate::SELECTOR,
        columns: columns::DEPLOYMENT,
        ..PLAIN
    },
    Builtin {
        group: "apps",
        kind: "ReplicaSet",
        plural: "replicasets",
        short_names: &["rs"],
        categories: &["all"],
        definition: "io.k8s.api.apps.v1.ReplicaSet",
        has_status: true,
        has_generation: true,
        selectable: &["status.replicas"],
        default: defaults::replica_set,
        begin: defaults::begin_replica_set,
        validate: validate::workload,
        immutable: validate::SELECTOR,
        columns: columns::REPLICA_SET,
        ..PLAIN
    },
    Builtin {
        group: "batch",
        kind: "Job",
        plural: "jobs",
        categories: &["all"],
        definition: "io.k8s.api.batch.v1.Job",
        has_status: true,
        has_generation: true,
        selectable: &["status.successful"],
        default: defaults::job,
        begin: defaults::begin_job,
        validate: validate::job,
        immutable: validate::JOB,
        columns: columns::JOB,
        ..PLAIN
    },
    Builtin {
        group: "coordination.k8s.io",
        kind: "Lease",
        plural: "leases",
        definition: "io.k8s.api.coordination.v1.Lease",
        columns: columns::LEASE,
        ..PLAIN
    },
    Builtin {
        group: "policy",
        kind: "PodDisruptionBudget",
        plural: "poddisruptionbudgets",
        short_names: &["pdb"],
        definition: "io.k8s.api.policy.v1.PodDisruptionBudget",
        has_status: true,
        has_generation: true,
        columns: columns::POD_DISRUPTION_BUDGET,
        ..PLAIN
    },
    Builtin {
        group: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        plural: "clusterroles",
        namespaced: false,
        definition: "io.k8s.api.rbac.v1.ClusterRole",
        name_rule: NameRule::PathSegment,
        validate: rbac::validate::cluster_role,
        columns: columns::CREATED_AT,
        ..PLAIN
    },
    Builtin {
        group: "rbac.authorization.k8s.io",
        kind: "ClusterRoleBinding",
        plural: "clusterrolebindings",
        namespaced: false,
        definition: "io.k8s.api.rbac.v1.ClusterRoleBinding",
        name_rule: NameRule::PathSegment,
        validate: rbac::validate::cluster_role_binding,
        default: defaults::role_binding,
        immutable: validate::ROLE_REF,
        columns: columns::ROLE_BINDING,
        ..PLAIN
    },
    Builtin {
        group: "rbac.authorization.k8s.io",
        kind: "Role",
        plural: "roles",
        definition: "io.k8s.api.rbac.v1.Role",
        name_rule: NameRule::PathSegment,
        validate: rbac::validate::role,
        columns: columns::CREATED_AT,
        ..PLAIN
    },
    Builtin {
        group: "rbac.authorization.k8s.io",
        kind: "RoleBinding",
        plural: "rolebindings",
        definition: "io.k8s.api.rbac.v1.RoleBinding",
        name_rule: NameRule::PathSegment,
        validate: rbac::validate::role_binding,
        default: defaults::role_binding,
        immutable: validate::ROLE_REF,
        columns: columns::ROLE_BINDING,
        ..PLAIN
    },
    Builtin {
        group: "scheduling.k8s.io",
        kind: "PriorityClass",
        plural: "priorityclasses",
        short_names: &["pc"],
        namespaced: false,
        definition: "io.k8s.api.scheduling.v1.PriorityClass",
        has_generation: true,
        default: defaults::priority_class,
        validate: validate::priority_class,
        immutable: validate::PRIORITY_CLASS,
        columns: columns::PRIORITY_CLASS,
        ..PLAIN
    },
    review(AUTHENTICATION, "SelfSubjectReview", "selfsubjectreviews", "io.k8s.api.authentication.v1.SelfSubjectReview"),
    review(AUTHENTICATION, "TokenReview", "tokenreviews", "io.k8s.api.authentication.v1.TokenReview"),
    Builtin {
        namespaced: true,
        ..review(
            AUTHORIZATION,
            "LocalSubjectAccessReview",
            "localsubjectaccessreviews",
            "io.k8s.api.authorization.v1.LocalSubjectAccessReview",
        )
    },
    review(
        AUTHORIZATION,
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        "io.k8s.api.authorization.v1.SelfSubjectAccessReview",
    ),
    review(
        AUTHORIZATION,
        "SelfSubjectRulesReview",
        "selfsubjectrulesreviews",
        "io.k8s.api.authorization.v1.SelfSubjectRulesReview",
    ),
    review(
        AUTHORIZATION,
        "SubjectAccessReview",
        "subjectaccessreviews",
        "io.k8s.api.authorization.v1.SubjectAccessReview",
    ),
];

/// The schemas of all built-in kinds and of every type that they use, as k8s-openapi has them.
pub(super) fn definitions() -> &'static Map<String, Value> {
    static DEFINITIONS: OnceLock<Map<String, Value>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.definitions_path = "/components/schemas".into();
        });
        let mut generator = settings.into_generator();
        macro_rules! add {
            ($($kind:path),* $(,)?) => { $(generator.subschema_for::<$kind>();)* };
        }
        add!(
            api::apps::v1::Deployment,
            api::apps::v1::ReplicaSet,
            api::authentication::v1::SelfSubjectReview,
            api::authentication::v1::TokenRequest,
            api::authentication::v1::TokenReview,
            api::authorization::v1::LocalSubjectAccessReview,
            api::authorization::v1::SelfSubjectAccessReview,
            api::authorization::v1::SelfSubjectRulesReview,
            api::authorization::v1::SubjectAccessReview,
            api::batch::v1::Job,
            api::coordination::v1::Lease,
            api::core::v1::ConfigMap,
            api::core::v1::Event,
            api::core::v1::LimitRange,
            api::core::v1::Namespace,
            api::core::v1::Node,
            api::core::v1::Pod,
            api::core::v1::ResourceQuota,
            api::core::v1::Secret,
            api::core::v1::ServiceAccount,
            api::policy::v1::PodDisruptionBudget,
            api::rbac::v1::ClusterRole,
            api::rbac::v1::ClusterRoleBinding,
            api::rbac::v1::Role,
            api::rbac::v1::RoleBinding,
            api::scheduling::v1::PriorityClass,
            CustomResourceDefinition,
            ObjectMeta,
        );
        generator.take_definitions(false)
    })
}

/// The name of `ObjectMeta` among the definitions.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The built-in kinds, compiled once.
pub(super) fn resources() -> &'static [Arc<Resource>] {
    static RESOURCES: OnceLock<Vec<Arc<Resource>>> = OnceLock::new();
    RESOURCES.get_or_init(|| {
        let mut compiler = Compiler::new(definitions());
        let roots: Vec<_> = BUILTINS.iter().map(|builtin| compiler.definition(builtin.definition)).collect();
        let schema = Arc::new(compiler.schema);
        BUILTINS.iter().zip(roots).map(|(builtin, root)| Arc::new(resource(builtin, schema.clone(), root))).collect()
    })
}

fn resource(builtin: &'static Builtin, schema: Arc<super::schema::Schema>, root: super::schema::Id) -> Resource {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    Resource {
        group: builtin.group.to_owned(),
        version: builtin.version.to_owned(),
        storage_version: builtin.version.to_owned(),
        kind: builtin.kind.to_owned(),
        list_kind: format!("{}List", builtin.kind),
        plural: builtin.plural.to_owned(),
        singular: builtin.kind.to_lowercase(),
        short_names: owned(builtin.short_names),
        categories: owned(builtin.categories),
        namespaced: builtin.namespaced,
        has_status: builtin.has_status,
        has_generation: builtin.has_generation,
        name_rule: builtin.name_rule,
        selectable: owned(builtin.selectable),
        schema,
        root,
        flavour: Flavour::BuiltIn,
        columns: columns::of_builtin(builtin.columns),
        digest: String::new(),
        scale: ["Deployment", "ReplicaSet"].contains(&builtin.kind).then(Paths::of_workload),
        storage: super::status::qualified(builtin.group, builtin.plural).into(),
        builtin: Some(builtin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::Shape;

    #[test]
    fn every_kind_has_a_schema_with_metadata_and_the_status_that_the_table_says() {
        for resource in resources() {
            let root = resource.schema.at(resource.root);
            assert!(matches!(root.shape(), Shape::Map { .. }), "{}", resource.kind);
            let metadata = root.field("metadata").expect("metadata");
            assert!(metadata.declares("managedFields"), "{}", resource.kind);
            assert_eq!(root.declares("status"), resource.has_status, "{}", resource.kind);
        }
    }
}
