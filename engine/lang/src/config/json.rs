//! What the properties of `*.tf.json` and `*.tfvars.json` are: blocks, templates, constants or references.

use crate::syntax::{DYNAMIC, Grammar, Reading};

use Reading::{Expression, Literal, Members, Template};

static CONDITIONS: Grammar = Grammar { blocks: &[], attributes: &[], others: Template, open: false };

/// A file of variable values: nothing in it is evaluated.
pub(super) static VALUES: Grammar = Grammar { blocks: &[], attributes: &[], others: Literal, open: false };

/// A configuration file.
pub(super) static FILE: Grammar = Grammar {
    blocks: &[
        ("terraform", 0, &TERRAFORM),
        ("provider", 1, &PROVIDER),
        ("variable", 1, &VARIABLE),
        ("locals", 0, &LOCALS),
        ("output", 1, &OUTPUT),
        ("resource", 2, &RESOURCE),
        ("data", 2, &RESOURCE),
        ("ephemeral", 2, &RESOURCE),
        ("module", 1, &MODULE),
        ("check", 1, &CHECK),
        ("moved", 0, &MOVED),
        ("removed", 0, &REMOVED),
        ("import", 0, &IMPORT),
    ],
    attributes: &[],
    others: Literal,
    open: false,
};

static TERRAFORM: Grammar = Grammar {
    blocks: &[
        ("required_providers", 0, &REQUIRED_PROVIDERS),
        ("backend", 1, &SETTING),
        ("cloud", 0, &SETTING),
        ("provider_meta", 1, &PROVIDER_META),
    ],
    attributes: &[("experiments", Expression), ("language", Expression)],
    others: Literal,
    open: false,
};

static SETTING: Grammar =
    Grammar { blocks: &[("workspaces", 0, &VALUES)], attributes: &[], others: Literal, open: true };

static PROVIDER_META: Grammar = Grammar { blocks: &[], attributes: &[], others: Template, open: true };

static REQUIRED_PROVIDERS: Grammar =
    Grammar { blocks: &[], attributes: &[], others: Members(&[("configuration_aliases", Expression)]), open: false };

static PROVIDER: Grammar = Grammar {
    blocks: &[("dynamic", 1, &DYNAMIC), ("_", 0, &ESCAPED)],
    attributes: &[("alias", Literal), ("version", Literal)],
    others: Template,
    open: true,
};

static ESCAPED: Grammar =
    Grammar { blocks: &[("dynamic", 1, &DYNAMIC)], attributes: &[], others: Template, open: true };

static VARIABLE: Grammar = Grammar {
    blocks: &[("validation", 0, &CONDITIONS)],
    attributes: &[("type", Expression)],
    others: Literal,
    open: false,
};

static LOCALS: Grammar = Grammar { blocks: &[], attributes: &[], others: Template, open: false };

static OUTPUT: Grammar = Grammar {
    blocks: &[("precondition", 0, &CONDITIONS)],
    attributes: &[("value", Template), ("depends_on", Expression)],
    others: Literal,
    open: false,
};

static RESOURCE: Grammar = Grammar {
    blocks: &[
        ("lifecycle", 0, &LIFECYCLE),
        ("provisioner", 1, &PROVISIONER),
        ("connection", 0, &CONNECTION),
        ("dynamic", 1, &DYNAMIC),
        ("_", 0, &ESCAPED),
    ],
    attributes: &[("depends_on", Expression), ("provider", Expression)],
    others: Template,
    open: true,
};

static LIFECYCLE: Grammar = Grammar {
    blocks: &[("precondition", 0, &CONDITIONS), ("postcondition", 0, &CONDITIONS)],
    attributes: &[("ignore_changes", Expression), ("replace_triggered_by", Expression)],
    others: Literal,
    open: false,
};

static CONNECTION: Grammar = Grammar { blocks: &[], attributes: &[], others: Template, open: false };

static PROVISIONER: Grammar = Grammar {
    blocks: &[("connection", 0, &CONNECTION)],
    attributes: &[("when", Expression), ("on_failure", Expression)],
    others: Template,
    open: false,
};

static MODULE: Grammar = Grammar {
    blocks: &[],
    attributes: &[("source", Literal), ("version", Literal), ("depends_on", Expression), ("providers", Expression)],
    others: Template,
    open: false,
};

static CHECK: Grammar = Grammar {
    blocks: &[("assert", 0, &CONDITIONS), ("data", 2, &RESOURCE)],
    attributes: &[],
    others: Template,
    open: false,
};

static MOVED: Grammar = Grammar { blocks: &[], attributes: &[], others: Expression, open: false };

static REMOVED: Grammar = Grammar {
    blocks: &[("lifecycle", 0, &VALUES), ("provisioner", 1, &PROVISIONER), ("connection", 0, &CONNECTION)],
    attributes: &[],
    others: Expression,
    open: false,
};

static IMPORT: Grammar =
    Grammar { blocks: &[], attributes: &[("to", Expression), ("provider", Expression)], others: Template, open: false };
