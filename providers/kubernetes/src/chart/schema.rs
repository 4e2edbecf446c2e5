//! The schema, near to that of `helm_template` of HashiCorp's provider for Helm.

use engine_model::schema::{Attribute, Block, NestedBlock, Nesting, Schema, Usage};
use engine_value::Type;

/// The schema of `kubernetes_helm_template`.
pub(crate) fn schema() -> Schema {
    let optional = |ty: Type, description: &str| Attribute::new(ty, Usage::Optional, description);
    let text = |description: &str| optional(Type::String, description);
    let flag = |description: &str| optional(Type::Bool, description);
    let required = |description: &str| Attribute::new(Type::String, Usage::Required, description);
    let computed = |ty: Type, description: &str| Attribute::new(ty, Usage::Computed, description);
    let texts = || Type::list(Type::String);
    let secret = |description: &str| Attribute { sensitive: true, ..text(description) };
    let many = |block: Block| NestedBlock { nesting: Nesting::List, block, min_items: 0, max_items: 0 };
    let name = "Where in the values: `a.b[0].c`; a dot in a name is written `\\.`.";
    let set = Block::new(
        [
            ("name", required(name)),
            ("value", required("The value.")),
            (
                "type",
                text("`auto` (numbers, true, false and null are what they look like) or `string`. Default: `auto`."),
            ),
        ],
        "A value by its name; wins over `values`.",
    );
    let set_list = Block::new(
        [("name", required(name)), ("value", Attribute::new(texts(), Usage::Required, "The elements."))],
        "A list by its name.",
    );
    let set_sensitive = Block::new(
        [
            ("name", required(name)),
            ("value", Attribute { sensitive: true, ..required("The value, always taken as text.") }),
            ("type", text("`auto` or `string`: both are text, so that a password of digits stays what it is.")),
        ],
        "A value that is never shown: what it is found in is sensitive, too.",
    );
    let metadata = Type::object([
        ("name", Type::String),
        ("version", Type::String),
        ("app_version", Type::String),
        ("helm_version", Type::String),
    ]);
    let block = Block::new(
        [
            ("name", required("The name of the release: `.Release.Name`.")),
            ("chart", required("A folder, an archive (.tgz), `oci://…`, or the name of a chart in `repository`.")),
            ("repository", text("The URL of the repository, `https://…` or `oci://…`.")),
            ("repository_username", text("For the repository.")),
            ("repository_password", secret("For the repository.")),
            ("repository_ca_file", text("A file with the certificates that the repository's is signed by.")),
            (
                "repository_plain_http",
                flag("Speak to a registry at oci://… without TLS: for one in reach of nobody else. Default: false."),
            ),
            ("version", text("The chart's version, or a range of versions. Default: the latest release.")),
            ("devel", flag("Also take versions before a release, where `version` is not set.")),
            ("namespace", text("Where objects go that name no namespace. Default: `default`.")),
            ("values", optional(texts(), "Values as YAML texts; later ones win.")),
            (
                "include_crds",
                flag("Have the definitions in `manifests`, too. Default: false; they are always in `crds`."),
            ),
            ("skip_tests", flag("Leave test hooks out of `hooks`. Default: true.")),
            ("show_only", optional(texts(), "Only these templates: `templates/service.yaml`.")),
            ("kube_version", text("The version of Kubernetes that templates are told.")),
            ("api_versions", optional(texts(), "API versions that templates are told to be there.")),
            ("is_upgrade", flag("Tell templates that it is an upgrade. Default: false.")),
            ("dependency_update", flag("Fetch the dependencies that the folder of a chart lacks. Default: false.")),
            ("timeout", optional(Type::Number, "Seconds that it may take. Default: 300.")),
            (
                "manifests",
                computed(
                    Type::Dynamic,
                    "The objects by `Kind/namespace/name` or `Kind/name`, for `for_each` over `kubernetes_manifest`. Without hooks \
                     and definitions.",
                ),
            ),
            ("crds", computed(Type::Dynamic, "The definitions by `CustomResourceDefinition/name`, to be applied first.")),
            (
                "hooks",
                computed(
                    Type::Dynamic,
                    "The objects of hooks, in the order in which Helm runs them: `key`, `events`, `weight`, `delete_policies`, \
                     `manifest`. Nothing here runs them.",
                ),
            ),
            ("manifest", computed(Type::String, "All of it as Helm wrote it.")),
            (
                "notes",
                computed(
                    Type::String,
                    "What the chart says to who installs it (`NOTES.txt`). Null with a Helm older than 3.13, and where \
                     `kube_version`, `api_versions` or `is_upgrade` is set.",
                ),
            ),
            ("metadata", computed(metadata, "Which chart it is, and which Helm rendered it.")),
        ],
        "A chart, rendered by the `helm` program.",
    )
    .with_block("set", many(set))
    .with_block("set_list", many(set_list))
    .with_block("set_sensitive", many(set_sensitive));
    Schema { version: 0, block }
}
