//! Worlds for tests, in a few words.

use std::time::Duration;

use engine_model::name::{NodeName, ResourceName};
use engine_value::{Type, Value};
use providers_agent_api::{self as agent, User};
use providers_catalog::Layout;

use crate::{
    attributes::with,
    resource::{Amounts, add, offered},
    world::{Card, Heartbeat, Node, Pod, PodName, Quota, Report, World, agent_layout},
};

/// A layout with MIG on: `1g.10gb@0:1 2g.20gb@2:2`.
pub(crate) fn mig(slices: &str) -> Layout {
    Layout::mig(slices.split_whitespace().map(|slice| slice.parse().unwrap()))
}

/// A pod that uses something.
pub(crate) fn pod(namespace: &str, name: &str) -> User {
    User::Pod { namespace: namespace.to_owned(), name: name.to_owned() }
}

/// A card of any product, cut so, with users of slices (or of the card, by `whole`).
pub(crate) fn card(product: &str, number: u32, layout: &Layout, users: &[(&str, User)]) -> Card {
    let of = |key: &str| users.iter().filter(|(at, _)| *at == key).map(|(_, user)| user.clone()).collect::<Vec<_>>();
    let spelled = agent_layout(layout);
    let instances = spelled.instances.iter().map(|spec| agent::InstanceStatus {
        profile: spec.profile.clone(),
        start: spec.start,
        size: spec.size,
        uuid: format!("MIG-{}", spec.start),
        used_by: of(&format!("{}@{}:{}", spec.profile, spec.start, spec.size)),
    });
    let status = agent::CardStatus {
        index: number,
        uuid: format!("GPU-{number}"),
        pci_address: format!("0000:{number:02x}:00.0"),
        product: product.to_owned(),
        mig_capable: true,
        instances: instances.collect(),
        layout: spelled,
        used_by: of("whole"),
        ..Default::default()
    };
    Card::from_status(&status).unwrap()
}

/// An A100 with MIG on and these slices.
pub(crate) fn a100(number: u32, slices: &str, users: &[(&str, User)]) -> Card {
    card("A100-SXM4-80GB", number, &mig(slices), users)
}

/// An A100 with MIG off.
pub(crate) fn whole_a100(number: u32, users: &[(&str, User)]) -> Card {
    card("A100-SXM4-80GB", number, &Layout::Whole, users)
}

/// A profile: name, product (`""`: none), cards (0: none), slices (none: whole).
pub(crate) type ProfileSpec<'a> = (&'a str, &'a str, i64, &'a [(&'a str, i64)]);

/// The configuration of a pool.
pub(crate) fn pool_config(labels: &[(&str, &str)], profiles: &[ProfileSpec<'_>]) -> Value {
    let labels = labels.iter().map(|(key, value)| (*key, Value::string(value)));
    let profiles = profiles.iter().map(|(name, product, cards, mig)| (*name, profile_config(product, *cards, mig)));
    let attributes = crate::pool::schema().block.attributes;
    let nulls = attributes.iter().map(|(name, attribute)| (name.to_string(), Value::null(attribute.value_type())));
    let Type::Map(profile) = attributes["profiles"].value_type() else { panic!("profiles are a map") };
    let object = Value::object(nulls);
    let object = with(&object, "selector", Value::map(Type::String, labels));
    with(&object, "profiles", Value::map((*profile).clone(), profiles))
}

fn profile_config(product: &str, cards: i64, mig: &[(&str, i64)]) -> Value {
    let attributes = crate::pool::schema().block.attributes;
    let Type::Map(profile) = attributes["profiles"].value_type() else { panic!("profiles are a map") };
    let Type::Object(types) = &*profile else { panic!("a profile is an object") };
    let mut object = Value::object(types.iter().map(|(name, attr)| (name.clone(), Value::null(attr.ty.clone()))));
    if !product.is_empty() {
        object = with(&object, "product", Value::string(product));
    }
    if cards != 0 {
        object = with(&object, "cards", Value::int(cards));
    }
    if mig.is_empty() {
        return with(&object, "whole", Value::bool(true));
    }
    let slices = mig.iter().map(|(name, count)| (*name, Value::int(*count)));
    with(&object, "mig", Value::map(Type::Number, slices))
}

/// A world under construction.
#[derive(Default)]
pub(crate) struct WorldBuilder(World);

impl WorldBuilder {
    /// A healthy node of the pool `example.com/pool=dev`.
    pub(crate) fn node(mut self, name: &str, cards: Vec<Card>) -> Self {
        let mut allocatable = Amounts::new();
        for card in &cards {
            add(&mut allocatable, &offered(&card.layout));
        }
        let node = Node {
            labels: [("example.com/pool".to_owned(), "dev".to_owned())].into(),
            allocatable,
            heartbeat: Heartbeat::Age(Duration::from_secs(5)),
            report: Some(Report { cards, ..Report::default() }),
            ..Node::default()
        };
        self.0.nodes.insert(name.into(), node);
        self
    }

    /// Changes a node.
    pub(crate) fn with(mut self, name: &str, change: impl FnOnce(&mut Node)) -> Self {
        change(self.0.nodes.get_mut(&NodeName::from(name)).unwrap());
        self
    }

    /// A bare pod `namespace/name` on a node (`""`: not scheduled) that asks for one of a resource.
    pub(crate) fn pod(mut self, name: &str, node: &str, resource: &str) -> Self {
        let (namespace, short) = name.split_once('/').unwrap();
        let name = PodName { namespace: namespace.to_owned(), name: short.to_owned() };
        let at = (!node.is_empty()).then(|| NodeName::from(node));
        if let Some(node) = at.as_ref().and_then(|node| self.0.nodes.get_mut(node)) {
            node.pods.push(name.clone());
        }
        let pod = Pod {
            node: at,
            owner_kind: "pod".to_owned(),
            owner_name: short.to_owned(),
            priority: 0,
            requests: [(ResourceName::from(resource), 1)].into(),
            is_static: false,
            ending: false,
            pending: false,
            uid: format!("uid-{short}"),
        };
        self.0.pods.insert(name, pod);
        self
    }

    /// Changes a pod.
    pub(crate) fn with_pod(mut self, name: &str, change: impl FnOnce(&mut Pod)) -> Self {
        let (namespace, short) = name.split_once('/').unwrap();
        let name = PodName { namespace: namespace.to_owned(), name: short.to_owned() };
        change(self.0.pods.get_mut(&name).unwrap());
        self
    }

    /// A quota.
    pub(crate) fn quota(mut self, namespace: &str, hard: &[(&str, u64)]) -> Self {
        let hard = hard.iter().map(|(name, amount)| ((*name).into(), *amount)).collect();
        let (namespace, name) = (namespace.to_owned(), "q".to_owned());
        self.0.quotas.push(Quota { namespace, name, hard });
        self
    }

    /// The world.
    pub(crate) fn build(self) -> World {
        self.0
    }
}
