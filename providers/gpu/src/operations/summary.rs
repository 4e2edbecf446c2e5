//! What an operation does, in one line.

use crate::{pool::CardDiff, world::Card};

/// `create 1g.10gb at 4 on card 0`, `re-slice cards 0 and 1`, `slice card 0, make card 1 whole`.
pub(super) fn summary(diffs: &[(&Card, CardDiff)]) -> String {
    if let [(card, diff)] = diffs
        && diff.destroyed.is_empty()
        && diff.mode.is_none()
        && let [slice] = diff.created.as_slice()
    {
        return format!("create {} at {} on card {}", slice.profile, slice.placement.start, card.index);
    }
    let of = |what: fn(&CardDiff) -> bool| diffs.iter().filter(move |(_, diff)| what(diff)).map(|(card, _)| card.index);
    let parts = [
        ("slice", of(|diff| diff.mode == Some(true)).collect::<Vec<_>>(), ""),
        ("re-slice", of(|diff| diff.mode.is_none()).collect(), ""),
        ("make", of(|diff| diff.mode == Some(false)).collect(), " whole"),
    ];
    let parts = parts.iter().filter(|(_, cards, _)| !cards.is_empty());
    let parts: Vec<String> = parts.map(|(verb, cards, end)| format!("{verb} {}{end}", listed(cards))).collect();
    parts.join(", ")
}

fn listed(cards: &[u32]) -> String {
    match cards {
        [] => String::new(),
        [one] => format!("card {one}"),
        [before @ .., last] => {
            let before: Vec<String> = before.iter().map(ToString::to_string).collect();
            format!("cards {} and {last}", before.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use providers_catalog::Layout;

    use super::*;
    use crate::{
        fixture::{a100, mig, whole_a100},
        pool::card_diff,
    };

    #[test]
    fn one_line_says_it() {
        let (half, whole) = (a100(0, "1g.10gb@0:1", &[]), whole_a100(1, &[]));
        for (changes, expected) in [
            (vec![(&half, mig("1g.10gb@0:1 2g.20gb@2:2"))], "create 2g.20gb at 2 on card 0"),
            (vec![(&half, mig("2g.20gb@2:2"))], "re-slice card 0"),
            (vec![(&half, Layout::Whole), (&whole, mig("7g.80gb@0:8"))], "slice card 1, make card 0 whole"),
        ] {
            let diffs: Vec<_> = changes.iter().map(|(card, then)| (*card, card_diff(card, then))).collect();
            assert_eq!(summary(&diffs), expected);
        }
        assert_eq!(listed(&[0, 1, 3]), "cards 0, 1 and 3");
    }
}
