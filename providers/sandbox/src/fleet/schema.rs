//! The blocks of a fleet file.

use std::sync::Arc;

use engine_model::schema::{Attribute, Block, Usage};
use engine_value::Type;

fn attribute(name: &str, ty: Type, usage: Usage, description: &str) -> (Arc<str>, Attribute) {
    (name.into(), Attribute::new(ty, usage, description))
}

/// `node "NAME" { }`, without its cards.
pub(super) fn node() -> Block {
    use Usage::Optional;
    let attributes = [
        attribute("labels", Type::map(Type::String), Optional, "Labels that an administrator has set."),
        attribute("driver", Type::String, Optional, "Version of the NVIDIA driver; `580.105.08` without it."),
        attribute("ready", Type::Bool, Optional, "Whether the kubelet works; `true` without it."),
        attribute("unschedulable", Type::Bool, Optional, "Whether somebody has cordoned the node."),
        attribute("agent", Type::String, Optional, "`up`, `down` (it ran once) or `absent` (it never did)."),
        attribute("passthrough", Type::Bool, Optional, "A virtual machine, which may not reset its cards."),
    ];
    Block::new(attributes, "A node.")
}

/// `card "PRODUCT" { }` in a node.
pub(super) fn card() -> Block {
    use Usage::Optional;
    let attributes = [
        attribute("count", Type::Number, Optional, "How many of them; 1 without it."),
        attribute("mig", Type::Bool, Optional, "Whether MIG is on; it is, where there are instances."),
        attribute(
            "instances",
            Type::list(Type::String),
            Optional,
            "MIG instances of each card: `1g.10gb`, or `1g.10gb:4` to say where it starts.",
        ),
        attribute("held", Type::Bool, Optional, "Whether a process that belongs to no pod holds every slice."),
    ];
    Block::new(attributes, "Equal cards.")
}

/// `pod "NAMESPACE/NAME" { }`.
pub(super) fn pod() -> Block {
    use Usage::{Optional, Required};
    let attributes = [
        attribute("resources", Type::map(Type::String), Required, "What the pod asks for, by resource name."),
        attribute("labels", Type::map(Type::String), Optional, "Its labels."),
        attribute("node_selector", Type::map(Type::String), Optional, "Labels that its node must have."),
        attribute("priority", Type::Number, Optional, "Its priority; a priority class is made for it."),
        attribute("owner", Type::String, Optional, "`deployment/NAME`, `replicaset/NAME` or `job/NAME`."),
        attribute("ends_after", Type::String, Optional, "How long it runs, such as `40s`; for ever without it."),
        attribute("stops_after", Type::String, Optional, "How long it takes to stop when it is told to."),
        attribute("busy", Type::Bool, Optional, "Whether a process of it runs on its devices."),
    ];
    Block::new(attributes, "A pod.")
}
