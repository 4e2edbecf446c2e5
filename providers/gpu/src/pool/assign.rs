//! Which card gets which profile: a minimum-cost assignment. Knows numbers only, neither cards nor profiles.
//!
//! There are few places to go (the profiles with a count, and one that takes what remains) and many cards. So a greedy
//! assignment is improved along cycles of moves between places until none is left that costs less, which is the optimum.
//! The cheapest move between two places is kept in a heap, so that a cycle costs the logarithm of the cards.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    ops::{Add, Sub},
};

/// What it costs to put a card somewhere; compared from the first component on. The components are in `plan`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost(pub(super) [i64; 8]);

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].saturating_add(other.0[i])))
    }
}

impl Sub for Cost {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].saturating_sub(other.0[i])))
    }
}

/// The place of each card: exactly `counts[p]` cards go to place `p` (fewer where there are not enough cards), all others
/// to the last place, `counts.len()`. The sum of the costs is the least possible; ties are broken by the order of places
/// and cards alone.
///
/// `costs[card]` has one cost for each place, the last one included.
pub(super) fn assign(counts: &[usize], costs: &[Vec<Cost>]) -> Vec<usize> {
    let rest = counts.len();
    let mut places = vec![rest; costs.len()];
    let mut left = counts.to_vec();
    let mut moves: Vec<(Cost, usize, usize)> = Vec::with_capacity(costs.len() * rest);
    for (card, costs) in costs.iter().enumerate() {
        moves.extend((0..rest).map(|place| (costs[place] - costs[rest], place, card)));
    }
    moves.sort_unstable();
    for (_, place, card) in moves {
        if left[place] > 0 && places[card] == rest {
            left[place] -= 1;
            places[card] = place;
        }
    }
    let mut moves = Moves::new(rest + 1, costs, &places);
    while let Some(cycle) = moves.improving_cycle(&places) {
        for (card, to) in cycle {
            places[card] = to;
            moves.add(card, to, costs);
        }
    }
    places
}

/// What it costs to move a card, and which.
type Move = (Cost, usize);

/// What it costs to move cards from each place to each other, cheapest first.
struct Moves {
    places: usize,
    // By where from, then where to. A move of a card that is no longer there is stale; it is dropped when it comes up.
    heaps: Vec<Vec<BinaryHeap<Reverse<Move>>>>,
}

impl Moves {
    fn new(places: usize, costs: &[Vec<Cost>], now: &[usize]) -> Self {
        let mut moves = Self { places, heaps: vec![vec![BinaryHeap::new(); places]; places] };
        for (card, from) in now.iter().enumerate() {
            moves.add(card, *from, costs);
        }
        moves
    }

    /// A card is now here.
    fn add(&mut self, card: usize, from: usize, costs: &[Vec<Cost>]) {
        for (to, cost) in costs[card].iter().enumerate().filter(|(to, _)| *to != from) {
            self.heaps[from][to].push(Reverse((*cost - costs[card][from], card)));
        }
    }

    fn cheapest(&mut self, from: usize, to: usize, now: &[usize]) -> Option<Move> {
        let heap = &mut self.heaps[from][to];
        while let Some(Reverse((cost, card))) = heap.peek().copied() {
            if now[card] == from {
                return Some((cost, card));
            }
            heap.pop();
        }
        None
    }

    /// Moves that go round, one card out of and into each place that they touch, and cost less than nothing in all.
    fn improving_cycle(&mut self, now: &[usize]) -> Option<Vec<(usize, usize)>> {
        let places = self.places;
        let mut best: Vec<Vec<Option<Move>>> = vec![vec![None; places]; places];
        for (from, row) in best.iter_mut().enumerate() {
            for (to, cheapest) in row.iter_mut().enumerate() {
                *cheapest = self.cheapest(from, to, now);
            }
        }
        // Bellman and Ford, from everywhere at once.
        let mut distance = vec![Cost::default(); places];
        let mut before: Vec<Option<usize>> = vec![None; places];
        let mut touched = None;
        for _ in 0..places {
            touched = None;
            for from in 0..places {
                for to in 0..places {
                    let Some((cost, _)) = best[from][to] else { continue };
                    if distance[from] + cost < distance[to] {
                        distance[to] = distance[from] + cost;
                        before[to] = Some(from);
                        touched = Some(to);
                    }
                }
            }
            touched?;
        }
        // Still improving after as many rounds as places: going back from there as often ends inside a cycle.
        let mut at = touched?;
        for _ in 0..places {
            at = before[at]?;
        }
        let (start, mut cycle) = (at, Vec::new());
        loop {
            let from = before[at]?;
            cycle.push((best[from][at]?.1, at));
            at = from;
            if at == start {
                return Some(cycle);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cost(first: i64, second: i64) -> Cost {
        Cost([first, second, 0, 0, 0, 0, 0, 0])
    }

    fn total(places: &[usize], costs: &[Vec<Cost>]) -> Cost {
        places.iter().zip(costs).fold(Cost::default(), |sum, (place, costs)| sum + costs[*place])
    }

    // Every assignment there is.
    fn cheapest(counts: &[usize], costs: &[Vec<Cost>]) -> Cost {
        fn go(card: usize, left: &mut Vec<usize>, costs: &[Vec<Cost>], sum: Cost, best: &mut Option<Cost>) {
            if card == costs.len() {
                if left.iter().all(|left| *left == 0) && best.is_none_or(|best| sum < best) {
                    *best = Some(sum);
                }
                return;
            }
            let rest = left.len();
            for place in 0..=rest {
                if place < rest {
                    if left[place] == 0 {
                        continue;
                    }
                    left[place] -= 1;
                }
                go(card + 1, left, costs, sum + costs[card][place], best);
                if place < rest {
                    left[place] += 1;
                }
            }
        }
        let mut best = None;
        go(0, &mut counts.to_vec(), costs, Cost::default(), &mut best);
        best.unwrap()
    }

    #[test]
    fn greed_alone_would_be_dearer() {
        // Both places want card 0, and taking it for the first leaves the second with a dear one.
        let costs = [vec![cost(0, 0), cost(0, 0), cost(0, 0)], vec![cost(1, 0), cost(5, 0), cost(0, 0)]];
        assert_eq!(assign(&[1, 1], &costs), [1, 0]);
    }

    #[test]
    fn too_few_cards_are_shared_out() {
        let costs = vec![vec![cost(0, 0); 3]; 2];
        assert_eq!(assign(&[3, 1], &costs), [0, 0]);
        assert_eq!(assign(&[], &[vec![cost(0, 0)]]), [0]);
    }

    proptest! {
        #[test]
        fn no_assignment_is_cheaper(
            costs in prop::collection::vec(prop::collection::vec((0_i64..3, 0_i64..4), 4), 3..7),
            counts in prop::collection::vec(0_usize..2, 3),
        ) {
            let costs: Vec<Vec<Cost>> =
                costs.into_iter().map(|card| card.into_iter().map(|(a, b)| cost(a, b)).collect()).collect();
            let places = assign(&counts, &costs);
            for (place, count) in counts.iter().enumerate() {
                prop_assert_eq!(places.iter().filter(|p| **p == place).count(), *count);
            }
            prop_assert_eq!(total(&places, &costs), cheapest(&counts, &costs));
        }
    }
}
