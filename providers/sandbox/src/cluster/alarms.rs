//! When pods and workloads are to be looked at again, in the world's time.

use std::collections::{BTreeMap, BTreeSet};

/// One alarm for each of them at most.
pub(super) struct Alarms<K> {
    times: BTreeMap<K, u64>,
    // Invariant: the same pairs, by time.
    order: BTreeSet<(u64, K)>,
}

impl<K> Default for Alarms<K> {
    fn default() -> Self {
        Self { times: BTreeMap::new(), order: BTreeSet::new() }
    }
}

impl<K: Clone + Ord> Alarms<K> {
    /// Sets an alarm; an earlier setting is forgotten.
    pub(super) fn set(&mut self, name: &K, at_ms: u64) {
        self.remove(name);
        self.times.insert(name.clone(), at_ms);
        self.order.insert((at_ms, name.clone()));
    }

    /// Sets an alarm, unless there is one that goes off before.
    pub(super) fn set_earlier(&mut self, name: &K, at_ms: u64) {
        if self.times.get(name).is_none_or(|known| at_ms < *known) {
            self.set(name, at_ms);
        }
    }

    pub(super) fn remove(&mut self, name: &K) {
        if let Some(at) = self.times.remove(name) {
            self.order.remove(&(at, name.clone()));
        }
    }

    /// The time of the next one.
    pub(super) fn next(&self) -> Option<u64> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes all that are due.
    pub(super) fn take(&mut self, now_ms: u64) -> Vec<K> {
        let mut due = Vec::new();
        while let Some((_, name)) = self.order.first().filter(|(at, _)| *at <= now_ms).cloned() {
            self.remove(&name);
            due.push(name);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_one_alarm_and_they_come_in_order() {
        let name = str::to_owned;
        let mut alarms = Alarms::default();
        for (pod, at) in [("a", 30), ("b", 10), ("c", 20), ("a", 5), ("d", 1)] {
            alarms.set(&name(pod), at);
        }
        alarms.remove(&name("d"));
        assert_eq!(alarms.next(), Some(5));
        assert_eq!(alarms.take(10), [name("a"), name("b")]);
        assert_eq!((alarms.take(10), alarms.next()), (Vec::new(), Some(20)));
    }
}
