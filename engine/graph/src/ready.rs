//! Which nodes may run now, given what has run.

use std::collections::BTreeSet;

use crate::{Dag, NodeId};

/// Where a node stands in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Something before it has not finished.
    Waiting,
    /// It may run.
    Ready,
    /// It was handed out and has not finished.
    Running,
    /// It finished.
    Done,
    /// It failed.
    Failed,
    /// Something before it failed, so it never runs.
    Skipped,
}

/// The state of a run over a graph without cycles: what may run, what may not any more.
#[derive(Clone, Debug)]
pub struct Ready {
    waiting: Vec<usize>,
    standing: Vec<Standing>,
    ready: BTreeSet<NodeId>,
    open: usize,
}

impl Ready {
    /// Nothing has run yet.
    pub fn new<N>(dag: &Dag<N>) -> Self {
        let waiting: Vec<usize> = dag.nodes().map(|(id, _)| dag.in_degree(id)).collect();
        let ready: BTreeSet<NodeId> = dag.nodes().map(|(id, _)| id).filter(|id| waiting[id.0 as usize] == 0).collect();
        let standing = waiting.iter().map(|n| if *n == 0 { Standing::Ready } else { Standing::Waiting }).collect();
        Self { open: waiting.len(), waiting, standing, ready }
    }

    /// Hands out the ready node with the lowest number.
    pub fn next_ready(&mut self) -> Option<NodeId> {
        let id = self.ready.pop_first()?;
        self.standing[id.0 as usize] = Standing::Running;
        Some(id)
    }

    /// The node finished. Nodes that waited only for it become ready.
    pub fn done<N>(&mut self, dag: &Dag<N>, id: NodeId) {
        self.close(id, Standing::Done);
        for after in dag.raw_after(id) {
            let i = after.0 as usize;
            self.waiting[i] -= 1;
            if self.waiting[i] == 0 && self.standing[i] == Standing::Waiting {
                self.standing[i] = Standing::Ready;
                self.ready.insert(after);
            }
        }
    }

    /// The node failed. Returns everything that will never run because of it, ascending.
    pub fn fail<N>(&mut self, dag: &Dag<N>, id: NodeId) -> Vec<NodeId> {
        self.close(id, Standing::Failed);
        let mut skipped = BTreeSet::new();
        let mut next: Vec<NodeId> = dag.raw_after(id).collect();
        while let Some(id) = next.pop() {
            if self.standing[id.0 as usize] == Standing::Waiting && skipped.insert(id) {
                self.close(id, Standing::Skipped);
                next.extend(dag.raw_after(id));
            }
        }
        skipped.into_iter().collect()
    }

    fn close(&mut self, id: NodeId, standing: Standing) {
        self.standing[id.0 as usize] = standing;
        self.open -= 1;
    }

    /// Where a node stands.
    pub fn standing(&self, id: NodeId) -> Standing {
        self.standing[id.0 as usize]
    }

    /// Has every node finished, failed or been skipped?
    pub fn is_finished(&self) -> bool {
        self.open == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_skips_what_follows_and_nothing_else() {
        let mut dag = Dag::new();
        let ids: Vec<NodeId> = (0..5).map(|n| dag.add(n)).collect();
        dag.edge(ids[0], ids[2]);
        dag.edge(ids[2], ids[3]);
        dag.edge(ids[1], ids[4]);
        let mut ready = Ready::new(&dag);
        assert_eq!(ready.next_ready(), Some(ids[0]));
        assert_eq!(ready.next_ready(), Some(ids[1]));
        assert_eq!(ready.next_ready(), None);
        assert_eq!(ready.fail(&dag, ids[0]), [ids[2], ids[3]]);
        ready.done(&dag, ids[1]);
        assert_eq!(ready.next_ready(), Some(ids[4]));
        ready.done(&dag, ids[4]);
        assert!(ready.is_finished());
        assert_eq!(ready.standing(ids[3]), Standing::Skipped);
    }
}
