//! The finished graph: places that have no step are taken out where that makes no more edges, and become groups where it
//! would.

use std::collections::BTreeSet;

use engine_graph::{Cycle, Dag, NodeId};
use engine_model::execution::{ExecutionGraph, Step};

use super::Item;

/// Linear in nodes and edges: taking a place out never adds more edges than it removes.
pub(super) fn graph(dag: &Dag<Item>) -> Result<ExecutionGraph, Cycle> {
    let order = dag.order()?;
    let mut before: Vec<BTreeSet<NodeId>> = vec![BTreeSet::new(); dag.len()];
    let mut after: Vec<BTreeSet<NodeId>> = vec![BTreeSet::new(); dag.len()];
    for (b, a) in dag.edges() {
        before[a.0 as usize].insert(b);
        after[b.0 as usize].insert(a);
    }
    let mut kept = vec![true; dag.len()];
    for id in &order {
        if matches!(dag.get(*id), Item::Step(_)) {
            continue;
        }
        let i = id.0 as usize;
        let (ins, outs) = (before[i].len(), after[i].len());
        if ins * outs > ins + outs {
            continue;
        }
        kept[i] = false;
        let (ins, outs) = (std::mem::take(&mut before[i]), std::mem::take(&mut after[i]));
        for b in &ins {
            after[b.0 as usize].remove(id);
            after[b.0 as usize].extend(&outs);
        }
        for a in &outs {
            before[a.0 as usize].remove(id);
            before[a.0 as usize].extend(&ins);
        }
    }
    let mut places = vec![u32::MAX; dag.len()];
    let mut steps = Vec::new();
    for id in order.into_iter().filter(|id| kept[id.0 as usize]) {
        places[id.0 as usize] = steps.len() as u32;
        steps.push(match dag.get(id) {
            Item::Step(step) => step.clone(),
            Item::Through(name) => Step::Group(name.clone()),
        });
    }
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for (i, after) in after.iter().enumerate().filter(|(i, _)| kept[*i]) {
        edges.extend(after.iter().map(|a| (places[i], places[a.0 as usize])));
    }
    edges.sort_unstable();
    Ok(ExecutionGraph { steps, edges })
}
