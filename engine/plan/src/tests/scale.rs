//! Growth is counted work, never time.

use std::fmt::Write;

use engine_model::change::Action;
use engine_value::{Type, Value};

use super::Bench;

#[test]
fn a_chain_of_a_hundred_thousand_is_planned() {
    const N: usize = 100_000;
    let mut text = String::new();
    for i in 0..N {
        // Each needs the next one in the file: the worst order for whoever goes through it.
        let name = if i + 1 < N { format!("mock_object.o{}.name", i + 1) } else { "\"end\"".to_owned() };
        writeln!(text, "resource \"mock_object\" \"o{i}\" {{\n  name = {name}\n}}").unwrap();
    }
    let planned = Bench::new(&text).planned();
    assert_eq!(planned.actions().len(), N);
    assert_eq!(planned.change("mock_object.o0").after.get("name").unwrap().as_str(), Some("end"));
    assert!(planned.0.work <= 10 * N as u64, "{} steps for {N} objects", planned.0.work);
}

fn each(n: usize) -> Bench {
    let text = "
        variable \"keys\" { type = set(string) }
        resource \"mock_object\" \"x\" { for_each = var.keys }
        resource \"mock_object\" \"y\" {
          for_each = var.keys
          name     = mock_object.x[each.key].id
        }
    ";
    let keys = (0..n).map(|i| Value::from(format!("k{i}"))).collect();
    Bench::new(text).variable("keys", Value::set(Type::String, keys))
}

#[test]
fn references_have_their_real_width() {
    const N: usize = 10_000;
    let planned = each(N).planned();
    let plan = &planned.0.plan;
    assert_eq!(plan.changes.iter().filter(|change| change.action == Action::Create).count(), 2 * N);
    assert!(plan.graph.edges.len() <= 3 * N, "{} edges for {N} references", plan.graph.edges.len());
    assert!(plan.changes.iter().all(|change| change.dependencies.len() <= 1));
}

#[test]
fn ten_times_the_objects_are_at_most_eleven_times_the_work() {
    let work = |n| each(n).planned().0.work;
    let (small, large) = (work(100), work(1_000));
    assert!(large <= 11 * small, "{small} for 100, {large} for 1000");
}

#[test]
fn a_set_costs_what_a_map_costs() {
    let work = |over: &str| {
        let text = format!(
            "variable \"keys\" {{ type = set(string) }}
             resource \"mock_object\" \"x\" {{
               for_each = {over}
               name     = each.key
             }}"
        );
        let keys = (0..1_000).map(|i| Value::from(format!("k{i}"))).collect();
        Bench::new(&text).variable("keys", Value::set(Type::String, keys)).planned().0.work
    };
    assert_eq!(work("var.keys"), work("{ for key in var.keys : key => 1 }"));
}

#[test]
fn all_of_one_block_in_all_of_another_are_sums_and_no_products() {
    const N: usize = 300;
    let planned = Bench::new(&format!(
        "resource \"mock_object\" \"x\" {{ count = {N} }}
         resource \"mock_object\" \"y\" {{
           count = {N}
           name  = join(\",\", mock_object.x[*].id)
         }}"
    ))
    .planned();
    let edges = planned.0.plan.graph.edges.len();
    assert!(edges <= 4 * N, "{edges} edges");
    assert!(planned.0.plan.changes.iter().all(|change| change.dependencies.len() <= 1));
}

#[test]
fn a_plan_of_what_is_as_it_should_be_is_no_more_work() {
    let work = |n: usize| {
        let mut bench = each(n);
        for i in 0..n {
            bench = bench.stored(&format!("mock_object.x[\"k{i}\"]"), &[]);
            bench = bench.stored(&format!("mock_object.y[\"k{i}\"]"), &[("name", "id-1")]);
        }
        let planned = bench.planned();
        assert_eq!(planned.actions(), [""; 0]);
        planned.0.work
    };
    let (small, large) = (work(100), work(1_000));
    assert!(large <= 11 * small, "{small} for 100, {large} for 1000");
}
