//! When pods are to be looked at again, in the world's time.

use std::collections::{BTreeMap, BTreeSet};

use super::PodName;

/// One alarm for each pod at most.
#[derive(Default)]
pub(super) struct Alarms {
    times: BTreeMap<PodName, u64>,
    // Invariant: the same pairs, by time.
    order: BTreeSet<(u64, PodName)>,
}

impl Alarms {
    /// Sets the alarm of a pod; an earlier setting is forgotten.
    pub(super) fn set(&mut self, name: &PodName, at_ms: u64) {
        self.remove(name);
        self.times.insert(name.clone(), at_ms);
        self.order.insert((at_ms, name.clone()));
    }

    pub(super) fn remove(&mut self, name: &PodName) {
        if let Some(at) = self.times.remove(name) {
            self.order.remove(&(at, name.clone()));
        }
    }

    /// The time of the next one.
    pub(super) fn next(&self) -> Option<u64> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes all that are due.
    pub(super) fn take(&mut self, now_ms: u64) -> Vec<PodName> {
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
    fn each_pod_has_one_alarm_and_they_come_in_order() {
        let name = |name: &str| -> PodName { ("ns".into(), name.into()) };
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
