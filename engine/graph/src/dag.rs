//! The graph itself, its order and its cycles.

use std::{cmp::Reverse, collections::BinaryHeap};

use petgraph::{
    Direction,
    graph::{DiGraph, NodeIndex},
};

/// A node of a [`Dag`]: the number under which it was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl NodeId {
    fn index(self) -> NodeIndex {
        NodeIndex::new(self.0 as usize)
    }
}

/// A cycle, as the nodes that one passes before coming back to the first: each comes before the next, the last before
/// the first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a cycle of {} nodes", .0.len())]
pub struct Cycle(pub Vec<NodeId>);

/// A directed graph that should have no cycle. An edge `a -> b` means that `a` comes before `b`.
#[derive(Clone, Debug)]
pub struct Dag<N> {
    graph: DiGraph<N, ()>,
}

impl<N> Default for Dag<N> {
    fn default() -> Self {
        Self { graph: DiGraph::new() }
    }
}

impl<N> Dag<N> {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node. The order in which nodes are added breaks all ties.
    pub fn add(&mut self, node: N) -> NodeId {
        NodeId(self.graph.add_node(node).index() as u32)
    }

    /// Says that `before` comes before `after`. Saying it twice costs memory and changes nothing.
    pub fn edge(&mut self, before: NodeId, after: NodeId) {
        self.graph.add_edge(before.index(), after.index(), ());
    }

    /// The node of that number.
    pub fn get(&self, id: NodeId) -> &N {
        &self.graph[id.index()]
    }

    /// All nodes in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &N)> {
        self.graph.node_indices().map(|i| (NodeId(i.index() as u32), &self.graph[i]))
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.graph.node_count()
    }

    /// No node at all?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many edges.
    pub fn edge_count(&self) -> usize {
        self.graph.edge_count()
    }

    /// All edges, as (before, after), in the order in which they were added.
    pub fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.graph.raw_edges().iter().map(|e| (NodeId(e.source().index() as u32), NodeId(e.target().index() as u32)))
    }

    /// What comes directly before this node, ascending, each once.
    pub fn before(&self, id: NodeId) -> Vec<NodeId> {
        self.neighbours(id, Direction::Incoming)
    }

    /// What comes directly after this node, ascending, each once.
    pub fn after(&self, id: NodeId) -> Vec<NodeId> {
        self.neighbours(id, Direction::Outgoing)
    }

    fn neighbours(&self, id: NodeId, direction: Direction) -> Vec<NodeId> {
        let mut ids: Vec<NodeId> =
            self.graph.neighbors_directed(id.index(), direction).map(|i| NodeId(i.index() as u32)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    pub(crate) fn in_degree(&self, id: NodeId) -> usize {
        self.graph.neighbors_directed(id.index(), Direction::Incoming).count()
    }

    pub(crate) fn raw_after(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        self.graph.neighbors_directed(id.index(), Direction::Outgoing).map(|i| NodeId(i.index() as u32))
    }

    /// All nodes, each after everything that comes before it; among those that could come next, the one that was added
    /// first.
    ///
    /// # Errors
    /// A shortest-effort [`Cycle`], where there is one.
    pub fn order(&self) -> Result<Vec<NodeId>, Cycle> {
        let mut waiting: Vec<usize> = self.nodes().map(|(id, _)| self.in_degree(id)).collect();
        let mut next: BinaryHeap<Reverse<NodeId>> =
            self.nodes().filter(|(id, _)| waiting[id.0 as usize] == 0).map(|(id, _)| Reverse(id)).collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(id)) = next.pop() {
            order.push(id);
            for after in self.raw_after(id) {
                waiting[after.0 as usize] -= 1;
                if waiting[after.0 as usize] == 0 {
                    next.push(Reverse(after));
                }
            }
        }
        if order.len() == self.len() { Ok(order) } else { Err(self.cycle(&waiting)) }
    }

    /// Every node that still waits has a predecessor that still waits: walking back must come round.
    fn cycle(&self, waiting: &[usize]) -> Cycle {
        let stuck = |id: &NodeId| waiting[id.0 as usize] > 0;
        let mut at =
            self.nodes().map(|(id, _)| id).find(stuck).expect("a node waits, since not all of them were ordered");
        let mut seen = vec![None; self.len()];
        let mut path: Vec<NodeId> = Vec::new();
        loop {
            if let Some(start) = seen[at.0 as usize] {
                let mut cycle = path.split_off(start);
                cycle.reverse();
                let first = cycle.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(i, _)| i);
                cycle.rotate_left(first);
                return Cycle(cycle);
            }
            seen[at.0 as usize] = Some(path.len());
            path.push(at);
            at = self.before(at).into_iter().find(stuck).expect("a node that waits has one before it that waits");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dag(nodes: u32, edges: &[(u32, u32)]) -> Dag<()> {
        let mut dag = Dag::new();
        for _ in 0..nodes {
            dag.add(());
        }
        for (a, b) in edges {
            dag.edge(NodeId(*a), NodeId(*b));
        }
        dag
    }

    #[test]
    fn order_breaks_ties_by_number() {
        let order = dag(5, &[(4, 0), (0, 2), (4, 2)]).order().unwrap();
        assert_eq!(order, [1, 3, 4, 0, 2].map(NodeId));
    }

    #[test]
    fn a_cycle_is_a_path() {
        let cycle = dag(6, &[(0, 1), (1, 2), (2, 3), (3, 1), (3, 4), (4, 5)]).order().unwrap_err();
        assert_eq!(cycle, Cycle([1, 2, 3].map(NodeId).to_vec()));
        assert_eq!(dag(2, &[(1, 1)]).order().unwrap_err(), Cycle(vec![NodeId(1)]));
    }

    #[test]
    fn a_long_chain_is_no_recursion() {
        let n = 200_000;
        let edges: Vec<(u32, u32)> = (1..n).map(|i| (i, i - 1)).collect();
        assert_eq!(dag(n, &edges).order().unwrap().len(), n as usize);
    }

    proptest! {
        #[test]
        fn an_order_keeps_every_edge(edges in prop::collection::vec((0u32..30, 0u32..30), 0..80)) {
            match dag(30, &edges).order() {
                Ok(order) => {
                    let place = |id: u32| order.iter().position(|o| o.0 == id).unwrap();
                    prop_assert!(edges.iter().all(|(a, b)| place(*a) < place(*b)));
                }
                Err(Cycle(cycle)) => {
                    let next = |i: usize| cycle[(i + 1) % cycle.len()].0;
                    prop_assert!(cycle.iter().enumerate().all(|(i, id)| edges.contains(&(id.0, next(i)))));
                }
            }
        }
    }
}
