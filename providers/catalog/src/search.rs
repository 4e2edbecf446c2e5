//! Where slices are put: an exact search over placements. Knows scores, not reasons.
//!
//! Profiles are placed largest first, slices of one profile in ascending order, so that each set of placements is
//! visited once. The standard layout has at most a few hundred of them for any multiset, so all are visited and the
//! best is taken; a test counts the visits.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use crate::{Geometry, Instance, ProfileCounts, ProfileInfo};

/// Whether slices with these profiles can be placed on an empty card. Their numbers must be allowed
/// ([`Geometry::check_counts`]).
pub(crate) fn fits(geometry: &Geometry, wanted: &ProfileCounts) -> bool {
    let Some(items) = items(geometry, wanted) else { return false };
    visit(&items, 0, geometry_mask(geometry), &mut Vec::new(), &mut |_, _| ControlFlow::Break(())).is_break()
}

/// The best placement of `wanted`: keeps as many slices of `in_use` as possible, then as many of `idle`, then leaves
/// the most room for large slices, then stands furthest to the left with small slices first. None if there is no
/// placement at all.
pub(crate) fn place(
    geometry: &Geometry,
    wanted: &ProfileCounts,
    in_use: &[Instance],
    idle: &[Instance],
) -> Option<Vec<Instance>> {
    let items = items(geometry, wanted)?;
    let rooms = rooms(geometry);
    let mut best = None;
    let everything = visit(&items, 0, geometry_mask(geometry), &mut Vec::new(), &mut |placed, free| {
        let mut placed = placed.to_vec();
        placed.sort();
        let kept = |of: &[Instance]| of.iter().filter(|instance| placed.binary_search(instance).is_ok()).count();
        let room: u32 = rooms.iter().filter(|(mask, _)| mask & !free == 0).map(|(_, worth)| worth).sum();
        let score = (kept(in_use), kept(idle), room, Reverse(placed));
        if best.as_ref().is_none_or(|best| score > *best) {
            best = Some(score);
        }
        ControlFlow::Continue(())
    });
    debug_assert!(everything.is_continue(), "the search never stops early");
    best.map(|(_, _, _, Reverse(placed))| placed)
}

type Item<'a> = (&'a ProfileInfo, u32);

fn items<'a>(geometry: &'a Geometry, wanted: &ProfileCounts) -> Option<Vec<Item<'a>>> {
    let found = wanted.iter().map(|(profile, count)| Some((geometry.profile(profile)?, count)));
    let mut items = found.collect::<Option<Vec<_>>>()?;
    items.sort_by_key(|(info, _)| Reverse((info.size, info.compute_slices)));
    Some(items)
}

fn geometry_mask(geometry: &Geometry) -> u32 {
    crate::Placement { start: 0, size: geometry.memory_slices }.mask()
}

// Placements of plain profiles, each worth the square of its size: one large gap is worth more than two small ones.
fn rooms(geometry: &Geometry) -> Vec<(u32, u32)> {
    let plain = geometry.profiles.iter().filter(|info| info.profile.attributes == crate::Attributes::default());
    let placements = plain.flat_map(ProfileInfo::placements);
    placements.map(|placement| (placement.mask(), u32::from(placement.size).pow(2))).collect()
}

type Visitor<'a> = &'a mut dyn FnMut(&[Instance], u32) -> ControlFlow<()>;

fn visit(items: &[Item], from: u8, free: u32, placed: &mut Vec<Instance>, found: Visitor) -> ControlFlow<()> {
    let Some(((info, count), rest)) = items.split_first() else {
        return found(placed, free);
    };
    if *count == 0 {
        return visit(rest, 0, free, placed, found);
    }
    let needed: u32 = u32::from(info.size).saturating_mul(*count);
    let others: u32 = rest.iter().map(|(info, count)| u32::from(info.size).saturating_mul(*count)).sum();
    if needed.saturating_add(others) > free.count_ones() {
        return ControlFlow::Continue(());
    }
    for placement in info.placements().filter(|placement| placement.start >= from) {
        let mask = placement.mask();
        if mask & !free != 0 {
            continue;
        }
        placed.push(info.at(placement.start));
        let mut remaining = Vec::with_capacity(items.len());
        remaining.push((*info, count - 1));
        remaining.extend_from_slice(rest);
        visit(&remaining, placement.start + 1, free & !mask, placed, found)?;
        placed.pop();
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Product, catalog};

    #[test]
    fn visits_few_placements() {
        let mut most = 0;
        for card in catalog().cards() {
            let Some(geometry) = card.geometry() else { continue };
            for wanted in geometry.valid_multisets() {
                let mut visits = 0;
                let items = items(geometry, wanted).unwrap();
                let end = visit(&items, 0, geometry_mask(geometry), &mut Vec::new(), &mut |_, _| {
                    visits += 1;
                    ControlFlow::Continue(())
                });
                assert!(end.is_continue());
                most = most.max(visits);
            }
        }
        assert!((100..=300).contains(&most), "{most}");
    }

    #[test]
    fn leaves_room_and_stands_left() {
        let geometry = catalog().find(&Product::new("A100-SXM4-80GB")).unwrap().geometry().unwrap();
        for (wanted, expected) in [
            // One small slice goes where it hinders nothing large.
            ("1g.10gb", "1g.10gb@6:1"),
            ("3g.40gb", "3g.40gb@4:4"),
            ("1g.10gb 1g.10gb 1g.10gb 2g.20gb 2g.20gb", "1g.10gb@0:1 1g.10gb@1:1 2g.20gb@2:2 2g.20gb@4:2 1g.10gb@6:1"),
            ("4g.40gb 3g.40gb", "4g.40gb@0:4 3g.40gb@4:4"),
            ("1g.10gb 1g.10gb 1g.10gb 1g.10gb 3g.40gb", "1g.10gb@0:1 1g.10gb@1:1 1g.10gb@2:1 1g.10gb@3:1 3g.40gb@4:4"),
        ] {
            let wanted = wanted.split(' ').map(|name| name.parse::<crate::MigProfile>().unwrap()).collect();
            let placed = place(geometry, &wanted, &[], &[]).unwrap();
            let text: Vec<String> = placed.iter().map(ToString::to_string).collect();
            assert_eq!(text.join(" "), expected);
        }
    }
}
