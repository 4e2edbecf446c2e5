//! The worklist: what is wanted, what waits for what, what may go on.
//!
//! Iterative: a chain of any length costs a queue entry per link and no stack. Deterministic: first come, first served.
//! Knows keys and nothing about what they mean.

use std::{collections::VecDeque, hash::Hash};

use rustc_hash::FxHashMap;

/// A key of a [`Worklist`], by the order in which keys were first wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(pub(crate) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// In the queue.
    Queued,
    /// Handed out: somebody works on it.
    Busy,
    /// Waits for so many others.
    Waiting(u32),
    /// Finished.
    Done,
}

#[derive(Debug)]
struct Node {
    standing: Standing,
    /// Who waits for this.
    waiters: Vec<Id>,
    /// What this waits for, or waited for last.
    waits_for: Vec<Id>,
}

/// What is wanted, what waits for what, what may go on.
#[derive(Debug)]
pub(crate) struct Worklist<K> {
    ids: FxHashMap<K, Id>,
    keys: Vec<K>,
    nodes: Vec<Node>,
    queue: VecDeque<Id>,
    /// How many times a key was handed out: counted work, for tests.
    handed_out: u64,
}

impl<K> Default for Worklist<K> {
    fn default() -> Self {
        Self { ids: FxHashMap::default(), keys: Vec::new(), nodes: Vec::new(), queue: VecDeque::new(), handed_out: 0 }
    }
}

impl<K: Clone + Eq + Hash> Worklist<K> {
    /// Wants a key. The first time it joins the queue.
    pub(crate) fn want(&mut self, key: &K) -> Id {
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        let id = Id(self.keys.len() as u32);
        self.ids.insert(key.clone(), id);
        self.keys.push(key.clone());
        self.nodes.push(Node { standing: Standing::Queued, waiters: Vec::new(), waits_for: Vec::new() });
        self.queue.push_back(id);
        id
    }

    /// The number of a key that was wanted before.
    pub(crate) fn find(&self, key: &K) -> Option<Id> {
        self.ids.get(key).copied()
    }

    /// The key of that number.
    pub(crate) fn key(&self, id: Id) -> &K {
        &self.keys[id.0 as usize]
    }

    /// How many keys were ever wanted.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Every key, in the order in which they were first wanted.
    pub(crate) fn ids(&self) -> impl Iterator<Item = Id> + use<K> {
        (0..self.keys.len() as u32).map(Id)
    }

    /// Is it finished?
    pub(crate) fn is_done(&self, id: Id) -> bool {
        self.nodes[id.0 as usize].standing == Standing::Done
    }

    /// Hands out the next key that may go on. Whoever takes it calls [`Self::finish`], [`Self::wait`] or
    /// [`Self::again`] for it.
    pub(crate) fn next(&mut self) -> Option<Id> {
        let id = self.queue.pop_front()?;
        self.nodes[id.0 as usize].standing = Standing::Busy;
        self.handed_out += 1;
        Some(id)
    }

    /// How many times a key was handed out.
    pub(crate) fn handed_out(&self) -> u64 {
        self.handed_out
    }

    /// The key goes back into the queue.
    pub(crate) fn again(&mut self, id: Id) {
        self.nodes[id.0 as usize].standing = Standing::Queued;
        self.queue.push_back(id);
    }

    /// The key waits for others; it is handed out again when all of them are finished.
    pub(crate) fn wait(&mut self, id: Id, others: &[Id]) {
        let mut open: Vec<Id> = others.iter().copied().filter(|other| !self.is_done(*other)).collect();
        open.sort_unstable();
        open.dedup();
        if open.is_empty() {
            self.again(id);
            return;
        }
        for other in &open {
            self.nodes[other.0 as usize].waiters.push(id);
        }
        let node = &mut self.nodes[id.0 as usize];
        node.standing = Standing::Waiting(open.len() as u32);
        node.waits_for = open;
    }

    /// The key is finished. Whoever waited only for it joins the queue.
    pub(crate) fn finish(&mut self, id: Id) {
        let node = &mut self.nodes[id.0 as usize];
        node.standing = Standing::Done;
        node.waits_for = Vec::new();
        for waiter in std::mem::take(&mut node.waiters) {
            let node = &mut self.nodes[waiter.0 as usize];
            if let Standing::Waiting(open) = &mut node.standing {
                *open -= 1;
                if *open == 0 {
                    self.again(waiter);
                }
            }
        }
    }

    /// What a key waits for, or waited for last.
    pub(crate) fn waits_for(&self, id: Id) -> &[Id] {
        &self.nodes[id.0 as usize].waits_for
    }

    /// A cycle among the keys that wait, each waiting for the next and the last for the first. Only where nothing is
    /// queued and nobody is busy; `None`: nothing waits.
    pub(crate) fn cycle(&self) -> Option<Vec<Id>> {
        let waits = |id: &Id| matches!(self.nodes[id.0 as usize].standing, Standing::Waiting(_));
        let mut at = self.ids().find(waits)?;
        let mut seen: FxHashMap<Id, usize> = FxHashMap::default();
        let mut path: Vec<Id> = Vec::new();
        loop {
            if let Some(start) = seen.get(&at) {
                let mut cycle = path.split_off(*start);
                let first = cycle.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(i, _)| i);
                cycle.rotate_left(first);
                return Some(cycle);
            }
            seen.insert(at, path.len());
            path.push(at);
            at = *self.nodes[at.0 as usize].waits_for.iter().find(|id| !self.is_done(**id))?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs until nothing may go on: each key waits for what `needs` says.
    fn run(wanted: &[u32], needs: impl Fn(u32) -> Vec<u32>) -> (Worklist<u32>, Vec<u32>) {
        let mut list = Worklist::default();
        for key in wanted {
            list.want(key);
        }
        let mut finished = Vec::new();
        while let Some(id) = list.next() {
            let needed: Vec<Id> = needs(*list.key(id)).iter().map(|key| list.want(key)).collect();
            if needed.iter().all(|other| list.is_done(*other)) {
                list.finish(id);
                finished.push(*list.key(id));
            } else {
                list.wait(id, &needed);
            }
        }
        (list, finished)
    }

    #[test]
    fn what_is_needed_comes_first() {
        let (list, finished) = run(&[3, 1], |key| if key == 0 { vec![] } else { vec![key - 1] });
        assert_eq!(finished, [0, 1, 2, 3]);
        assert_eq!(list.cycle(), None);
    }

    #[test]
    fn a_long_chain_is_no_recursion_and_linear() {
        let n = 200_000;
        let (list, finished) = run(&[n], |key| if key == 0 { vec![] } else { vec![key - 1] });
        assert_eq!(finished.len(), n as usize + 1);
        assert!(list.handed_out() <= 2 * (u64::from(n) + 1));
    }

    #[test]
    fn a_cycle_is_a_path_that_begins_at_its_first_key() {
        let (list, finished) = run(&[9, 1], |key| match key {
            9 => vec![5],
            1 => vec![2, 0],
            2 => vec![3, 0],
            3 => vec![1],
            5 => vec![1],
            _ => vec![],
        });
        assert_eq!(finished, [0]);
        let cycle: Vec<u32> = list.cycle().unwrap().into_iter().map(|id| *list.key(id)).collect();
        assert_eq!(cycle, [1, 2, 3]);
    }
}
