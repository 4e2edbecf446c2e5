//! The computed attributes of a pool: what its nodes are, what they offer, how well tenants are kept apart.

use std::collections::BTreeMap;

use engine_model::name::{GpuUuid, NodeName, PciAddress};
use engine_value::{Type, Value};
use providers_catalog::{Instance, Layout};

use crate::{
    attributes::{known, optional, text},
    resource::{Amounts, WHOLE_CARD, add, offered},
};

/// What the state knows of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeState {
    /// Why it was left alone when this was planned.
    pub(crate) excluded: Option<String>,
    /// Its cards by place.
    pub(crate) cards: BTreeMap<PciAddress, CardState>,
}

/// What the state knows of one card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CardState {
    /// Its identity.
    pub(crate) uuid: GpuUuid,
    /// What it is.
    pub(crate) product: String,
    /// The profile that it has, and how it is cut; `None`: the card is left alone, and nothing is known of it.
    pub(crate) cut: Option<(String, Layout)>,
}

impl NodeState {
    /// What its cards with profiles offer.
    pub(crate) fn offered(&self) -> Amounts {
        let mut sum = Amounts::new();
        for (_, layout) in self.cards.values().filter_map(|card| card.cut.as_ref()) {
            add(&mut sum, &offered(layout));
        }
        sum
    }
}

/// The type of one node's value.
pub(crate) fn node_type() -> Type {
    Type::object([("excluded", Type::String), ("cards", Type::map(card_type()))])
}

fn card_type() -> Type {
    Type::object([
        ("uuid", Type::String),
        ("product", Type::String),
        ("profile", Type::String),
        ("layout", Type::String),
    ])
}

/// The attribute `nodes`.
pub(crate) fn nodes_value(nodes: &BTreeMap<NodeName, NodeState>) -> Value {
    let node = |node: &NodeState| {
        let cards = node.cards.iter().map(|(pci, card)| (pci.as_str(), card_value(card)));
        let cards = Value::map(card_type(), cards);
        Value::object([("excluded", optional(node.excluded.as_deref())), ("cards", cards)])
    };
    Value::map(node_type(), nodes.iter().map(|(name, state)| (name.as_str(), node(state))))
}

fn card_value(card: &CardState) -> Value {
    Value::object([
        ("uuid", Value::string(card.uuid.as_str())),
        ("product", Value::string(&card.product)),
        ("profile", optional(card.cut.as_ref().map(|(profile, _)| profile))),
        ("layout", optional(card.cut.as_ref().map(|(_, layout)| spell(layout)))),
    ])
}

/// `whole`, or the slices with their places: `1g.10gb@0:1 2g.20gb@2:2`; `no slices` with MIG on and nothing cut. One line
/// for a card, since a fleet has thousands of them.
pub(crate) fn spell(layout: &Layout) -> String {
    match layout {
        Layout::Whole => "whole".to_owned(),
        Layout::Mig(slices) if slices.is_empty() => "no slices".to_owned(),
        Layout::Mig(slices) => {
            let slices: Vec<String> = slices.iter().map(ToString::to_string).collect();
            slices.join(" ")
        }
    }
}

fn unspell(text: &str) -> Option<Layout> {
    match text {
        "whole" => Some(Layout::Whole),
        "no slices" => Some(Layout::mig([])),
        slices => {
            let slices: Result<Vec<Instance>, _> = slices.split(' ').map(str::parse).collect();
            Some(Layout::mig(slices.ok()?))
        }
    }
}

/// The nodes of a pool's object; none where it is null. What is not understood (a state that somebody edited) is left
/// out, and is then planned as if it were new.
pub(crate) fn nodes_of(object: &Value) -> BTreeMap<NodeName, NodeState> {
    let nodes = known(object, "nodes").and_then(Value::as_map).into_iter().flatten();
    nodes.map(|(name, node)| (NodeName::from(&**name), node_of(node))).collect()
}

fn node_of(node: &Value) -> NodeState {
    let cards = known(node, "cards").and_then(Value::as_map).into_iter().flatten();
    NodeState {
        excluded: text(node, "excluded").map(str::to_owned),
        cards: cards.filter_map(|(pci, card)| Some((PciAddress::from(&**pci), card_of(card)?))).collect(),
    }
}

fn card_of(card: &Value) -> Option<CardState> {
    let cut = || Some((text(card, "profile")?.to_owned(), unspell(text(card, "layout")?)?));
    let (uuid, product) = (text(card, "uuid")?.into(), text(card, "product")?.to_owned());
    Some(CardState { uuid, product, cut: cut() })
}

/// The attribute `resources`.
pub(crate) fn resources_value(resources: &Amounts) -> Value {
    let amount = |amount: u64| Value::int(i64::try_from(amount).unwrap_or(i64::MAX));
    Value::map(Type::Number, resources.iter().map(|(name, count)| (name.as_str(), amount(*count))))
}

/// The amounts of an object's attribute `resources`.
pub(crate) fn resources_of(object: &Value) -> Amounts {
    let entries = known(object, "resources").and_then(Value::as_map).into_iter().flatten();
    let amount = |value: &Value| u64::try_from(value.as_i64()?).ok();
    entries.filter_map(|(name, value)| Some(((&**name).into(), amount(value)?))).collect()
}

/// The attribute `isolation`: what keeps those who share a card apart, by resource name.
pub(crate) fn isolation_value(resources: &Amounts) -> Value {
    // A whole card is shared with nobody; MIG slices have memory, caches and engines of their own in hardware.
    let of = |name: &str| if name == WHOLE_CARD { "exclusive" } else { "hardware" };
    Value::map(Type::String, resources.keys().map(|name| (name.as_str(), Value::string(of(name.as_str())))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_go_round() {
        let card = |uuid: &str, cut| CardState { uuid: uuid.into(), product: "A100-SXM4-80GB".to_owned(), cut };
        let mig = Layout::mig(["1g.10gb@0:1", "2g.20gb@2:2"].map(|slice| slice.parse().unwrap()));
        let cards = [
            ("0000:17:00.0", card("GPU-0", Some(("notebooks".to_owned(), mig)))),
            ("0000:65:00.0", card("GPU-1", Some(("rest".to_owned(), Layout::Whole)))),
            ("0000:ca:00.0", card("GPU-2", None)),
            ("0000:cb:00.0", card("GPU-3", Some(("empty".to_owned(), Layout::mig([]))))),
        ];
        let cards = cards.into_iter().map(|(pci, card)| (pci.into(), card)).collect();
        let node = NodeState { excluded: None, cards };
        let excluded = NodeState { excluded: Some("agent down".to_owned()), cards: BTreeMap::new() };
        let nodes = BTreeMap::from([("gpu-01".into(), node), ("gpu-02".into(), excluded)]);
        let object = Value::object([("nodes", nodes_value(&nodes))]);
        assert_eq!(nodes_of(&object), nodes);
        assert_eq!(object.get("nodes").unwrap().type_of(), Type::map(node_type()));
        let amounts = [("nvidia.com/gpu", 1), ("nvidia.com/mig-1g.10gb", 1), ("nvidia.com/mig-2g.20gb", 1)];
        let amounts: Amounts = amounts.into_iter().map(|(name, n)| (name.into(), n)).collect();
        assert_eq!(nodes[&"gpu-01".into()].offered(), amounts);
        assert_eq!(resources_of(&Value::object([("resources", resources_value(&amounts))])), amounts);
    }

    #[test]
    fn a_null_object_has_no_nodes() {
        assert_eq!(nodes_of(&Value::null(Type::Dynamic)), BTreeMap::new());
    }
}
