//! The card map: how each card is cut, now and then.

use std::collections::BTreeMap;

use engine_model::card::{CardChange, CardLayout};

use super::{
    style::Paint,
    value::{pad, width},
};

/// Columns per unit of a card's axis.
const UNIT: usize = 6;

/// Columns before the axis; more where a node's name is long.
const MARGIN: usize = 26;

/// All cards that change, node by node; nodes with the same change are shown once.
pub(crate) fn card_map(cards: &[&CardChange], paint: Paint) -> String {
    let mut nodes: BTreeMap<&str, Vec<&CardChange>> = BTreeMap::new();
    for card in cards {
        nodes.entry(card.node.as_str()).or_default().push(card);
    }
    let mut folded: Vec<(Vec<&str>, Vec<&CardChange>)> = Vec::new();
    for (node, cards) in nodes {
        match folded.iter_mut().find(|(_, other)| same(other, &cards)) {
            Some((names, _)) => names.push(node),
            None => folded.push((vec![node], cards)),
        }
    }
    folded.iter().map(|(names, cards)| node_map(names, cards, paint)).collect::<Vec<_>>().join("\n")
}

/// The same cut of the same kind of cards.
fn same(one: &[&CardChange], other: &[&CardChange]) -> bool {
    let shape = |card: &CardChange| (card.index, card.product.clone(), card.now.clone(), card.then.clone());
    one.len() == other.len() && one.iter().zip(other).all(|(a, b)| shape(a) == shape(b))
}

fn node_map(names: &[&str], cards: &[&CardChange], paint: Paint) -> String {
    let title = |card: &CardChange| format!("  {} · {}", names[0], card.product);
    let margin = cards.iter().map(|card| width(&title(card)) + 2).max().unwrap_or(0).max(MARGIN);
    let mut out = String::new();
    let mut product = "";
    for card in cards {
        if card.product != product {
            product = &card.product;
            let axis: String = (0..card.axis).map(|unit| format!("{unit:<UNIT$}")).collect();
            out.push_str(&format!("{}{}\n", paint.bold(&pad(&title(card), margin)), paint.dim(axis.trim_end())));
        }
        let label = format!("    card {}", card.index);
        out.push_str(&row(&label, "now", &card.now, card.axis, margin));
        out.push_str(&row("", "then", &card.then, card.axis, margin));
    }
    match names.len() {
        1 => {}
        2..=6 => out.push_str(&format!("    the same on {}\n", names[1..].join(", "))),
        n => out.push_str(&format!("    the same on {}, … ({n} nodes, same change)\n", names[1..4].join(", "))),
    }
    out
}

/// The first column of a row is as wide as `    card 10` and a space.
const LABEL: usize = 12;

fn row(label: &str, when: &str, layout: &CardLayout, axis: u8, margin: usize) -> String {
    let mut text = String::new();
    let mut at = 0;
    for segment in &layout.segments {
        text.push_str(&free(segment.start.saturating_sub(at)));
        text.push_str(&boxed(&segment.label, usize::from(segment.size) * UNIT, segment.in_use));
        at = segment.start + segment.size;
    }
    text.push_str(&free(axis.saturating_sub(at)));
    format!("{}{}{}\n", pad(label, LABEL), pad(when, margin - LABEL), text.trim_end())
}

fn free(units: u8) -> String {
    if units == 0 { String::new() } else { pad("  free", usize::from(units) * UNIT) }
}

/// `[1g.10gb  ]`, shortened to what fits; a star says that it is in use.
fn boxed(label: &str, columns: usize, in_use: bool) -> String {
    let inner = columns.saturating_sub(2);
    let mark = if in_use { "*" } else { "" };
    let room = inner.saturating_sub(mark.len());
    let short = label.split('.').next().unwrap_or(label);
    let text = if width(label) <= room { label } else { short };
    let text: String = text.chars().take(room).collect();
    format!("[{}]", pad(&format!("{text}{mark}"), inner))
}

/// What the star means, where there is one.
pub(crate) fn legend(cards: &[&CardChange]) -> Option<&'static str> {
    let used = |layout: &CardLayout| layout.segments.iter().any(|segment| segment.in_use);
    cards.iter().any(|card| used(&card.now) || used(&card.then)).then_some("  * in use")
}

#[cfg(test)]
mod tests {
    use engine_model::card::Segment;

    use super::*;

    fn layout(segments: &[(&str, u8, u8, bool)]) -> CardLayout {
        let segment = |(label, start, size, in_use): &(&str, u8, u8, bool)| Segment {
            label: (*label).to_owned(),
            start: *start,
            size: *size,
            in_use: *in_use,
        };
        CardLayout { mig: true, segments: segments.iter().map(segment).collect() }
    }

    fn card(node: &str, now: CardLayout, then: CardLayout) -> CardChange {
        CardChange {
            node: node.into(),
            index: 0,
            uuid: format!("GPU-{node}").as_str().into(),
            pci: "0000:17:00.0".into(),
            product: "A100-SXM4-80GB".to_owned(),
            axis: 8,
            profile: None,
            now,
            then,
            digest: "d".into(),
        }
    }

    #[test]
    fn a_card_is_drawn_to_scale() {
        let change = card(
            "gpu-01",
            layout(&[("7g.80gb", 0, 8, false)]),
            layout(&[("1g.10gb", 0, 1, true), ("2g.20gb", 2, 2, false), ("2g.20gb", 4, 2, false)]),
        );
        let expected = "  gpu-01 · A100-SXM4-80GB  0     1     2     3     4     5     6     7
    card 0  now            [7g.80gb                                       ]
            then           [1g* ]  free[2g.20gb   ][2g.20gb   ]  free
";
        assert_eq!(card_map(&[&change], Paint { color: false }), expected);
        assert_eq!(legend(&[&change]), Some("  * in use"));
    }

    #[test]
    fn nodes_with_the_same_change_are_folded() {
        let one = |node: &str| card(node, layout(&[]), layout(&[("1g.10gb", 0, 1, false)]));
        let cards: Vec<CardChange> = (1..=9).map(|n| one(&format!("gpu-{n:02}"))).collect();
        let cards: Vec<&CardChange> = cards.iter().collect();
        let map = card_map(&cards, Paint { color: false });
        assert!(map.ends_with("    the same on gpu-02, gpu-03, gpu-04, … (9 nodes, same change)\n"), "{map}");
        assert_eq!(map.lines().count(), 4);
    }
}
