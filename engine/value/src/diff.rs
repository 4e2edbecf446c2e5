//! The structural difference of two values, as data: the plan's view renders it, and the planner finds in it which paths
//! changed. Nothing is hidden here: what is sensitive says so, and the renderer leaves it out.

use std::{collections::HashMap, sync::Arc};

use crate::{Data, Path, Step, Value};

/// What became of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The same before and after.
    Unchanged,
    /// Only there after.
    Added,
    /// Only there before.
    Removed,
    /// There before and after, and different.
    Changed,
    /// There before; what it will be is known after apply.
    Unknown,
}

/// One part before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// What became of it.
    pub change: Change,
    /// Before, if it was there.
    pub before: Option<Value>,
    /// After, if it will be there. May be unknown, wholly or in part.
    pub after: Option<Value>,
    /// The value itself is sensitive, before or after.
    pub sensitive: bool,
    /// Its own parts.
    pub parts: Parts,
}

/// The parts of a composite value before and after, unchanged ones too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// None: it is no composite, or one of another kind than before.
    None,
    /// Attributes of an object, in order of their names.
    Attributes(Vec<(Arc<str>, Diff)>),
    /// Elements of a map, in order of their keys.
    Elements(Vec<(Arc<str>, Diff)>),
    /// Elements of a list or tuple, aligned, with their places before and after.
    Sequence(Vec<Aligned>),
    /// Elements of a set: removed, unchanged and added, in the set's order.
    Members(Vec<Diff>),
}

/// An element of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// Its place before.
    pub before: Option<usize>,
    /// Its place after.
    pub after: Option<usize>,
    /// What became of it.
    pub diff: Diff,
}

impl Diff {
    /// Did anything change?
    pub fn is_change(&self) -> bool {
        self.change != Change::Unchanged
    }

    /// The paths of the smallest parts that changed, in order, as paths into the value after (into the value before for
    /// what is removed).
    pub fn changed_paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.collect(&mut Path::root(), &mut paths);
        paths
    }

    fn collect(&self, at: &mut Path, paths: &mut Vec<Path>) {
        if !self.is_change() {
            return;
        }
        let mut descend = |step: Step, diff: &Diff| {
            at.0.push(step);
            diff.collect(at, paths);
            at.0.pop();
        };
        match &self.parts {
            Parts::Attributes(parts) if self.change == Change::Changed => {
                parts.iter().for_each(|(name, diff)| descend(Step::Attr(Arc::clone(name)), diff));
            }
            Parts::Elements(parts) if self.change == Change::Changed => {
                parts.iter().for_each(|(key, diff)| descend(Step::Key(Arc::clone(key)), diff));
            }
            Parts::Sequence(parts) if self.change == Change::Changed => {
                for part in parts {
                    let index = part.after.or(part.before).unwrap_or(0);
                    descend(Step::Index(index), &part.diff);
                }
            }
            // A set has no places: that it changed is all that can be said.
            _ => paths.push(at.clone()),
        }
    }
}

/// The difference between a value before (`None`: there was none) and after (`None`: there will be none).
///
/// A value that is null counts as there. Linear in the size of both values but for the sorting of elements.
pub fn diff(before: Option<&Value>, after: Option<&Value>) -> Diff {
    let sensitive = [before, after].into_iter().flatten().any(|value| value.marks.sensitive);
    let (change, parts) = match (before, after) {
        (Some(before), Some(after)) => both(before, after),
        (None, Some(after)) => (Change::Added, one_side(after, |part| diff(None, Some(part)), false)),
        (Some(before), None) => (Change::Removed, one_side(before, |part| diff(Some(part), None), true)),
        (None, None) => (Change::Unchanged, Parts::None),
    };
    Diff { change, before: before.cloned(), after: after.cloned(), sensitive, parts }
}

fn both(before: &Value, after: &Value) -> (Change, Parts) {
    if !after.is_known() {
        let same = before == after;
        return (if same { Change::Unchanged } else { Change::Unknown }, Parts::None);
    }
    let parts = match (&before.data, &after.data) {
        (Data::Object(x), Data::Object(y)) => Parts::Attributes(named(x, y)),
        (Data::Map(_, x), Data::Map(_, y)) => Parts::Elements(named(x, y)),
        // A map that became an object, or the other way round, is the same to whoever reads it.
        (Data::Map(_, x) | Data::Object(x), Data::Map(_, y) | Data::Object(y)) => Parts::Elements(named(x, y)),
        (Data::List(_, x) | Data::Tuple(x), Data::List(_, y) | Data::Tuple(y)) => Parts::Sequence(align(x, y)),
        (Data::Set(_, x), Data::Set(_, y)) => Parts::Members(members(x, y)),
        _ => Parts::None,
    };
    let change = if before == after { Change::Unchanged } else { Change::Changed };
    (change, parts)
}

fn one_side(value: &Value, part: impl Fn(&Value) -> Diff, was: bool) -> Parts {
    let place = |index: usize, diff: Diff| {
        let (before, after) = if was { (Some(index), None) } else { (None, Some(index)) };
        Aligned { before, after, diff }
    };
    match &value.data {
        Data::Object(parts) => Parts::Attributes(parts.iter().map(|(n, v)| (Arc::clone(n), part(v))).collect()),
        Data::Map(_, parts) => Parts::Elements(parts.iter().map(|(n, v)| (Arc::clone(n), part(v))).collect()),
        Data::List(_, parts) | Data::Tuple(parts) => {
            Parts::Sequence(parts.iter().enumerate().map(|(index, v)| place(index, part(v))).collect())
        }
        Data::Set(_, parts) => Parts::Members(parts.iter().map(part).collect()),
        _ => Parts::None,
    }
}

type Named = std::collections::BTreeMap<Arc<str>, Value>;

fn named(before: &Named, after: &Named) -> Vec<(Arc<str>, Diff)> {
    let mut names: Vec<&Arc<str>> = before.keys().chain(after.keys()).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| (Arc::clone(name), diff(before.get(name), after.get(name)))).collect()
}

fn members(before: &[Value], after: &[Value]) -> Vec<Diff> {
    // Both are in the set's order, so one walk over the two would do, were that order known here; sorting again is as
    // good.
    let mut all: Vec<(&Value, bool, usize)> = Vec::with_capacity(before.len() + after.len());
    all.extend(before.iter().enumerate().map(|(at, value)| (value, false, at)));
    all.extend(after.iter().enumerate().map(|(at, value)| (value, true, at)));
    all.sort_by(|(a, a_after, _), (b, b_after, _)| a.cmp(b).then(a_after.cmp(b_after)));
    let mut placed: Vec<((usize, bool), Diff)> = Vec::new();
    let mut rest = all.as_slice();
    while let Some(((value, is_after, at), tail)) = rest.split_first() {
        match tail.first() {
            Some((other, true, there)) if !is_after && other == value => {
                placed.push(((*there, true), diff(Some(value), Some(other))));
                rest = &tail[1..];
            }
            _ => {
                let one = if *is_after { diff(None, Some(value)) } else { diff(Some(value), None) };
                placed.push(((*at, *is_after), one));
                rest = tail;
            }
        }
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, diff)| diff).collect()
}

/// Elements that are equal and in the same order stay; between two of those, composite elements are paired in order as
/// changed, and all others are removed and added.
fn align(before: &[Value], after: &[Value]) -> Vec<Aligned> {
    let mut result = Vec::with_capacity(before.len().max(after.len()));
    let (mut i, mut j) = (0, 0);
    for (x, y) in anchors(before, after).into_iter().chain([(before.len(), after.len())]) {
        gap(before, after, i..x, j..y, &mut result);
        if x < before.len() && y < after.len() {
            let diff = diff(Some(&before[x]), Some(&after[y]));
            result.push(Aligned { before: Some(x), after: Some(y), diff });
        }
        (i, j) = (x + 1, y + 1);
    }
    result
}

fn gap(
    before: &[Value],
    after: &[Value],
    x: std::ops::Range<usize>,
    y: std::ops::Range<usize>,
    result: &mut Vec<Aligned>,
) {
    let (mut i, mut j) = (x.start, y.start);
    while i < x.end || j < y.end {
        let pair = i < x.end && j < y.end;
        if pair && is_pair(&before[i], &after[j]) {
            let diff = diff(Some(&before[i]), Some(&after[j]));
            result.push(Aligned { before: Some(i), after: Some(j), diff });
            (i, j) = (i + 1, j + 1);
            continue;
        }
        if i < x.end {
            result.push(Aligned { before: Some(i), after: None, diff: diff(Some(&before[i]), None) });
            i += 1;
        }
        if j < y.end {
            result.push(Aligned { before: None, after: Some(j), diff: diff(None, Some(&after[j])) });
            j += 1;
        }
    }
}

/// Two of a kind that has parts, or one that will be known after apply.
fn is_pair(before: &Value, after: &Value) -> bool {
    !after.is_known()
        || matches!(
            (&before.data, &after.data),
            (Data::Object(_) | Data::Map(..), Data::Object(_) | Data::Map(..))
                | (Data::List(..) | Data::Tuple(_), Data::List(..) | Data::Tuple(_))
                | (Data::Set(..), Data::Set(..))
        )
}

/// Places of equal elements, ascending on both sides: the common head and tail, and between them the longest ascending
/// run of elements that are there exactly once on each side.
fn anchors(before: &[Value], after: &[Value]) -> Vec<(usize, usize)> {
    let head = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let tail = before[head..].iter().rev().zip(after[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (before_end, after_end) = (before.len() - tail, after.len() - tail);

    let mut places: HashMap<&Value, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (at, value) in before[..before_end].iter().enumerate().skip(head) {
        places.entry(value).or_default().0.push(at);
    }
    for (at, value) in after[..after_end].iter().enumerate().skip(head) {
        places.entry(value).or_default().1.push(at);
    }
    // Sorted, so that the order of the hash map cannot be seen.
    let mut unique: Vec<(usize, usize)> = places
        .into_values()
        .filter_map(|(x, y)| match (x.as_slice(), y.as_slice()) {
            ([x], [y]) => Some((*x, *y)),
            _ => None,
        })
        .collect();
    unique.sort_unstable();

    let mut found: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    found.extend(longest_ascending(&unique));
    found.extend((0..tail).map(|at| (before_end + at, after_end + at)));
    found
}

/// The longest subsequence whose second places ascend, by patience sorting.
fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut piles: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, y)) in pairs.iter().enumerate() {
        let pile = piles.partition_point(|top| pairs[*top].1 < *y);
        previous.push(pile.checked_sub(1).map(|below| piles[below]));
        if pile == piles.len() { piles.push(at) } else { piles[pile] = at }
    }
    let mut run = Vec::with_capacity(piles.len());
    let mut next = piles.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = previous[at];
    }
    run.reverse();
    run
}
