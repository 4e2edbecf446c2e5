//! Whether a node offers what its cards are cut into. Pure.

use crate::{
    resource::{Amounts, add, is_gpu_resource, offered},
    world::Node,
};

/// What the cards of a node offer, as they are cut.
pub(crate) fn cut_amounts(node: &Node) -> Amounts {
    let mut sum = Amounts::new();
    for card in node.report.iter().flat_map(|report| &report.cards) {
        add(&mut sum, &offered(&card.layout));
    }
    sum
}

/// What a node does not offer as its cards are cut: `3 nvidia.com/mig-1g.10gb, offers 0`; `None`: all is as it should be.
///
/// Names of other domains (other device plugins) are not compared.
pub(crate) fn missing(node: &Node) -> Option<String> {
    let wanted = cut_amounts(node);
    let names = wanted.keys().chain(node.allocatable.keys()).filter(|name| is_compared(name.as_str()));
    let differing = names.filter_map(|name| {
        let (want, has) = (wanted.get(name).copied().unwrap_or(0), node.allocatable.get(name).copied().unwrap_or(0));
        (want != has).then(|| format!("{want} {name}, offers {has}"))
    });
    // What should be there and is not tells more than what lingers.
    let (mut lingering, mut absent): (Vec<String>, Vec<String>) =
        differing.partition(|difference| difference.starts_with("0 "));
    absent.append(&mut lingering);
    absent.into_iter().next()
}

fn is_compared(name: &str) -> bool {
    is_gpu_resource(name) && name.starts_with("nvidia.com/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{WorldBuilder, a100, whole_a100};

    #[test]
    fn what_is_missing_is_told_before_what_lingers() {
        let cards = || vec![a100(0, "1g.10gb@0:1 1g.10gb@1:1", &[]), whole_a100(1, &[])];
        for (allocatable, expected) in [
            (vec![("nvidia.com/mig-1g.10gb", 2), ("nvidia.com/gpu", 1)], None),
            (vec![("nvidia.com/mig-1g.10gb", 2), ("nvidia.com/gpu", 1), ("sliceform.io/x", 1)], None),
            (vec![("nvidia.com/gpu", 1)], Some("2 nvidia.com/mig-1g.10gb, offers 0")),
            (vec![("nvidia.com/gpu", 2)], Some("1 nvidia.com/gpu, offers 2")),
            (
                vec![("nvidia.com/mig-1g.10gb", 2), ("nvidia.com/gpu", 1), ("nvidia.com/mig-7g.80gb", 1)],
                Some("0 nvidia.com/mig-7g.80gb, offers 1"),
            ),
        ] {
            let allocatable: Amounts = allocatable.into_iter().map(|(name, amount)| (name.into(), amount)).collect();
            let world = WorldBuilder::default()
                .node("gpu-01", cards())
                .with("gpu-01", |node| node.allocatable = allocatable)
                .build();
            assert_eq!(missing(&world.nodes[&"gpu-01".into()]).as_deref(), expected);
        }
    }
}
