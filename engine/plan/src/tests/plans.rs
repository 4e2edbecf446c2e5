//! What a plan says: actions, reasons, values.

use engine_model::{
    change::{Action, ReplaceOrder},
    execution::Step,
    plan::PlanMode,
    reason::{Orphan, Reason},
};
use engine_value::{Path, Value};
use state::Slot;

use super::Bench;

fn path(name: &str) -> Path {
    Path::root().attr(name)
}

#[test]
fn what_is_new_is_created_and_waits_for_nothing_but_what_it_needs() {
    let planned = Bench::new(
        r#"
        resource "mock_object" "a" { name = "x" }
        resource "mock_object" "b" { name = mock_object.a.id }
        output "id" { value = mock_object.b.id }
        "#,
    )
    .planned();
    assert_eq!(planned.actions(), ["mock_object.a create", "mock_object.b create"]);
    assert_eq!(planned.change("mock_object.a").reason, Some(Reason::New));
    let name = planned.change("mock_object.b").after.get("name").unwrap();
    let origin = name.as_unknown().unwrap().origin.unwrap();
    let waits_for = &planned.0.plan.origins[origin.0 as usize];
    assert_eq!(*waits_for, engine_model::plan::WaitsFor::Change("mock_object.a".parse().unwrap()));
    assert!(!planned.0.plan.outputs["id"].after.is_known());
    assert_eq!(planned.change("mock_object.b").dependencies.len(), 1);
}

#[test]
fn what_is_as_it_should_be_stays() {
    let planned =
        Bench::new(r#"resource "mock_object" "a" { name = "x" }"#).stored("mock_object.a", &[("name", "x")]).planned();
    assert_eq!(planned.actions(), [""; 0]);
    assert!(!planned.0.plan.changes_anything());
    assert!(planned.0.plan.graph.steps.is_empty());
}

#[test]
fn configuration_drift_and_both_have_their_reasons() {
    let bench = |stored: &str| {
        Bench::new(r#"resource "mock_object" "a" { name = "x" }"#).stored("mock_object.a", &[("name", stored)])
    };
    let drifted = |bench: Bench| {
        let drift = ("name", Value::from("by hand"));
        bench.world.lock().unwrap().drifted.insert("mock_object.a".into(), drift);
        bench
    };
    let reason = |bench: Bench| bench.planned().change("mock_object.a").reason.clone();
    assert_eq!(reason(bench("old")), Some(Reason::Configuration(vec![path("name")])));
    assert_eq!(reason(drifted(bench("x"))), Some(Reason::Drift(vec![path("name")])));
    let both = Reason::ConfigurationAndDrift { configuration: vec![path("name")], drift: vec![path("name")] };
    assert_eq!(reason(drifted(bench("old"))), Some(both));
    let plan = drifted(bench("x")).planned().0.plan;
    assert_eq!(plan.drift.len(), 1);
    assert_eq!(plan.drift[0].after.get("name"), Some(&Value::from("by hand")));
    // Without reading there is no drift to be seen.
    let mut unread = drifted(bench("x"));
    unread.refresh = false;
    assert_eq!(unread.planned().actions(), [""; 0]);
}

#[test]
fn what_is_gone_is_created_and_what_cannot_be_read_stays() {
    let bench = Bench::new(r#"resource "mock_object" "a" { name = "x" }"#).stored("mock_object.a", &[("name", "x")]);
    bench.world.lock().unwrap().gone.insert("mock_object.a".into());
    let planned = bench.planned();
    assert_eq!(planned.actions(), ["mock_object.a create"]);
    assert_eq!(planned.change("mock_object.a").reason, Some(Reason::Drift(vec![Path::root()])));

    let bench = Bench::new(r#"resource "mock_object" "a" { name = "x" }"#).stored("mock_object.a", &[("name", "x")]);
    bench.world.lock().unwrap().unreachable.insert("mock_object.a".into());
    assert_eq!(bench.planned().actions(), [""; 0]);
    assert!(bench.told().contains("mock_object.a could not be read"), "{}", bench.told());
}

#[test]
fn replacements_have_their_reasons_and_orders() {
    let bench = |lifecycle: &str| {
        Bench::new(&format!("resource \"mock_object\" \"a\" {{\n zone = \"2\"\n {lifecycle}\n}}"))
            .stored("mock_object.a", &[("zone", "1")])
    };
    let planned = bench("").planned();
    let change = planned.change("mock_object.a");
    assert_eq!(change.action, Action::Replace(ReplaceOrder::DestroyThenCreate));
    assert_eq!(change.reason, Some(Reason::Immutable(vec![path("zone")])));
    assert!(!change.after.get("id").unwrap().is_known());
    let planned = bench("lifecycle { create_before_destroy = true }").planned();
    assert_eq!(planned.change("mock_object.a").action, Action::Replace(ReplaceOrder::CreateThenDestroy));

    let planned = Bench::new(r#"resource "mock_object" "a" { }"#).tainted("mock_object.a").planned();
    assert_eq!(planned.change("mock_object.a").reason, Some(Reason::Tainted));

    let mut bench = Bench::new(r#"resource "mock_object" "a" { }"#).stored("mock_object.a", &[]);
    bench.replace = vec!["mock_object.a".parse().unwrap()];
    assert_eq!(bench.planned().change("mock_object.a").reason, Some(Reason::Requested));
}

#[test]
fn create_before_destroy_goes_on_to_everything_that_is_needed() {
    let planned = Bench::new(
        r#"
        resource "mock_object" "base" {
          count = 2
          zone  = "2"
        }
        resource "mock_object" "other" { zone = "2" }
        resource "mock_object" "top" {
          zone = "2"
          name = join(",", mock_object.base[*].zone)
          lifecycle { create_before_destroy = true }
        }
        "#,
    )
    .stored("mock_object.base[0]", &[("zone", "1")])
    .stored("mock_object.base[1]", &[("zone", "1")])
    .stored("mock_object.other", &[("zone", "1")])
    .stored("mock_object.top", &[("zone", "1")])
    .planned();
    let expected = [
        "mock_object.base[0] create+delete",
        "mock_object.base[1] create+delete",
        "mock_object.other delete+create",
        "mock_object.top create+delete",
    ];
    assert_eq!(planned.actions(), expected);
    assert!(planned.change("mock_object.base[1]").create_before_destroy);
}

#[test]
fn orphans_are_destroyed_each_with_its_reason() {
    let planned = Bench::files(&[
        (
            "main.tf",
            r#"
            resource "mock_object" "count" { count = 1 }
            resource "mock_object" "each" { for_each = toset(["a"]) }
            module "m" {
              source = "./m"
              count  = 1
            }
            "#,
        ),
        ("m/main.tf", r#"resource "mock_object" "x" { }"#),
    ])
    .stored("mock_object.count[1]", &[])
    .stored("mock_object.count[\"k\"]", &[])
    .stored("mock_object.each[\"b\"]", &[])
    .stored("mock_object.block", &[])
    .stored("module.m[1].mock_object.x", &[])
    .stored("module.n.mock_object.x", &[])
    .planned();
    for (addr, orphan) in [
        ("mock_object.count[1]", Orphan::CountIndex),
        ("mock_object.count[\"k\"]", Orphan::WrongRepetition),
        ("mock_object.each[\"b\"]", Orphan::EachKey),
        ("mock_object.block", Orphan::NoResourceConfig),
        ("module.m[1].mock_object.x", Orphan::NoModule),
        ("module.n.mock_object.x", Orphan::NoResourceConfig),
    ] {
        let change = planned.change(addr);
        assert_eq!((change.action, &change.reason), (Action::Delete, &Some(Reason::Orphan(orphan))), "{addr}");
    }
}

#[test]
fn deposed_objects_are_destroyed() {
    let mut bench = Bench::new(r#"resource "mock_object" "a" { }"#).stored("mock_object.a", &[]);
    bench.store("mock_object.a", Slot::Deposed(engine_model::address::DeposedKey("0badf00d".into())), &[], |_| {});
    let planned = bench.planned();
    assert_eq!(planned.actions(), ["mock_object.a delete"]);
}

#[test]
fn unfinished_work_goes_on_although_the_object_stays_equal() {
    let bench = Bench::new(r#"resource "mock_pool" "a" { }"#).stored("mock_pool.a", &[]);
    bench.world.lock().unwrap().unfinished.insert("mock_pool.a".into(), (3, 10));
    let planned = bench.planned();
    let change = planned.change("mock_pool.a");
    assert_eq!(change.action, Action::Update);
    assert_eq!(change.reason, Some(Reason::Unfinished { done: 3, total: 10, unit: "nodes".into() }));
    assert_eq!((planned.0.plan.operations.len(), planned.0.plan.holds.len()), (1, 1));
}

#[test]
fn types_that_plan_after_others_see_their_changes() {
    let bench = Bench::new(
        r#"
        resource "mock_quota" "q" { }
        resource "mock_pool" "b" { name = mock_object.x.id }
        resource "mock_object" "x" { }
        "#,
    )
    .stored("mock_pool.old", &[]);
    bench.planned();
    let world = bench.world.lock().unwrap();
    assert_eq!(world.earlier["mock_quota.q"], ["mock_pool.b create", "mock_pool.old delete"]);
}

#[test]
fn what_waits_is_planned_again_with_what_was_announced_and_carried_out_after_it() {
    let bench = Bench::new(
        r#"
        resource "mock_object" "a" { name = "waits" }
        resource "mock_object" "b" { name = mock_object.a.id }
        resource "mock_object" "y" { any = mock_object.x.id }
        resource "mock_object" "x" { }
        resource "mock_object" "z" {
          name       = "announced"
          depends_on = [mock_object.y]
        }
        "#,
    );
    let planned = bench.planned();
    assert_eq!(planned.actions().len(), 5, "{:?}", planned.actions());
    let world = bench.world.lock().unwrap();
    assert_eq!(world.earlier["mock_object.a"], ["mock_object.z create"]);
    let asked = |addr: &str| world.calls.iter().filter(|call| **call == format!("plan mock_object.{addr}")).count();
    assert_eq!((asked("a"), asked("b"), asked("z")), (2, 1, 1));
    let graph = &planned.0.plan.graph;
    let step = |addr: &str| graph.steps.iter().position(|step| *step == Step::Create(addr.parse().unwrap())).unwrap();
    let edge = (step("mock_object.z") as u32, step("mock_object.a") as u32);
    assert!(graph.edges.contains(&edge), "{graph:?}");
}

#[test]
fn data_is_read_while_planning_unless_it_must_wait() {
    let bench = Bench::new(
        r#"
        resource "mock_object" "a" { }
        data "mock_data" "now" { input = "x" }
        data "mock_data" "unknown" { input = mock_object.a.id }
        data "mock_data" "pending" {
          input      = "x"
          depends_on = [mock_object.a]
        }
        output "now" { value = data.mock_data.now.output }
        output "pending" { value = data.mock_data.pending.output }
        "#,
    );
    let planned = bench.planned();
    assert_eq!(planned.0.plan.outputs["now"].after, Value::from("read x"));
    assert!(!planned.0.plan.outputs["pending"].after.is_known());
    assert_eq!(planned.change("data.mock_data.now").action, Action::NoOp);
    assert_eq!(planned.change("data.mock_data.unknown").reason, Some(Reason::ReadUnknown));
    assert_eq!(planned.change("data.mock_data.pending").reason, Some(Reason::ReadPending));
    // Once the object is there, nothing is pending.
    let bench = Bench::new(
        r#"
        resource "mock_object" "a" { }
        data "mock_data" "pending" {
          input      = "x"
          depends_on = [mock_object.a]
        }
        "#,
    )
    .stored("mock_object.a", &[]);
    assert_eq!(bench.planned().change("data.mock_data.pending").action, Action::NoOp);
}

#[test]
fn destroy_plans_everything_against_its_dependencies() {
    let mut bench = Bench::new(
        r#"
        resource "mock_object" "a" { }
        resource "mock_object" "b" { name = mock_object.a.id }
        output "x" { value = "1" }
        "#,
    )
    .stored("mock_object.a", &[]);
    bench.store("mock_object.b", Slot::Current, &[("name", "id-1")], |object| {
        object.dependencies =
            state::Dependencies::Nearest(vec![state::Ancestor::Instance("mock_object.a".parse().unwrap())]);
    });
    bench.snapshot.outputs.insert("x".into(), state::Output::of(Value::from("1"), false).unwrap());
    bench.mode = PlanMode::Destroy;
    let planned = bench.planned();
    assert_eq!(planned.actions(), ["mock_object.a delete", "mock_object.b delete"]);
    assert_eq!(planned.change("mock_object.a").reason, Some(Reason::Destroy));
    assert_eq!(planned.0.plan.outputs["x"].action, Action::Delete);
    let steps = format!("{:?}", planned.0.plan.graph.steps);
    assert!(steps.find("name: \"b\"") < steps.find("name: \"a\""), "{steps}");
    // What is destroyed takes along what depends on it.
    bench.targets = vec!["mock_object.a".parse().unwrap()];
    assert_eq!(bench.planned().actions(), ["mock_object.a delete", "mock_object.b delete"]);
    bench.targets = vec!["mock_object.b".parse().unwrap()];
    assert_eq!(bench.planned().actions(), ["mock_object.b delete"]);
}

#[test]
fn refresh_only_changes_nothing_but_the_state() {
    let mut bench = Bench::new(r#"resource "mock_object" "a" { name = "y" }"#)
        .stored("mock_object.a", &[("name", "x")])
        .stored("mock_object.gone", &[]);
    bench.mode = PlanMode::RefreshOnly;
    bench.world.lock().unwrap().drifted.insert("mock_object.a".into(), ("name", Value::from("by hand")));
    bench.world.lock().unwrap().gone.insert("mock_object.gone".into());
    let planned = bench.planned();
    assert_eq!(planned.actions(), [""; 0]);
    assert_eq!(planned.0.plan.drift.len(), 2);
    assert!(planned.0.plan.changes_anything());
    let steps = format!("{:?}", planned.0.plan.graph.steps);
    assert_eq!(steps.matches("StateOnly").count(), 2, "{steps}");
}

#[test]
fn targets_take_along_what_they_need_and_nothing_else() {
    let mut bench = Bench::new(
        r#"
        resource "mock_object" "a" { }
        resource "mock_object" "b" {
          for_each = toset(["x", "y"])
          name     = mock_object.a.id
        }
        resource "mock_object" "c" { name = mock_object.b["x"].id }
        output "a" { value = mock_object.a.name }
        output "c" { value = mock_object.c.id }
        "#,
    )
    .stored("mock_object.orphan", &[]);
    bench.targets = vec!["mock_object.b[\"x\"]".parse().unwrap()];
    let planned = bench.planned();
    assert_eq!(planned.actions(), ["mock_object.a create", "mock_object.b[\"x\"] create"]);
    assert!(planned.0.plan.incomplete.is_some());
    assert!(planned.0.plan.outputs["c"].after.is_null());
    bench.targets = vec!["mock_object.orphan".parse().unwrap()];
    assert_eq!(bench.planned().actions(), ["mock_object.orphan delete"]);
}

#[test]
fn modules_are_expanded_and_feed_each_other() {
    let planned = Bench::files(&[
        (
            "main.tf",
            r#"
            module "m" {
              source   = "./m"
              for_each = { p = "1", q = "2" }
              in       = each.value
            }
            output "all" { value = [for k, m in module.m : "${k}=${m.name}"] }
            output "one" { value = module.m["p"].name }
            "#,
        ),
        (
            "m/main.tf",
            r#"
            variable "in" { type = number }
            locals { twice = var.in * 2 }
            resource "mock_object" "x" {
              count = var.in
              name  = "n${local.twice}"
            }
            output "name" { value = mock_object.x[0].name }
            "#,
        ),
    ])
    .planned();
    let expected = [
        "module.m[\"p\"].mock_object.x[0] create",
        "module.m[\"q\"].mock_object.x[0] create",
        "module.m[\"q\"].mock_object.x[1] create",
    ];
    assert_eq!(planned.actions(), expected);
    assert_eq!(planned.0.plan.outputs["one"].after, Value::from("n2"));
    let all = Value::tuple([Value::from("p=n2"), Value::from("q=n4")]);
    assert_eq!(planned.0.plan.outputs["all"].after, all);
}

#[test]
fn secrets_stay_marked() {
    let bench = Bench::new(
        r#"
        variable "s" {
          type      = string
          sensitive = true
        }
        resource "mock_object" "a" {
          name   = var.s
          secret = "t"
        }
        "#,
    )
    .variable("s", Value::from("hunter2"));
    let planned = bench.planned();
    let after = &planned.change("mock_object.a").after;
    assert!(after.get("name").unwrap().marks.sensitive && after.get("secret").unwrap().marks.sensitive);
    assert!(planned.0.plan.variables["s"].sensitive);
}

#[test]
fn the_same_input_gives_the_same_bytes_whatever_the_parallelism() {
    let mut bench = Bench::new(
        r#"
        resource "mock_object" "a" { count = 20 }
        resource "mock_object" "b" {
          count = 20
          name  = mock_object.a[count.index].id
        }
        output "all" { value = mock_object.b[*].id }
        "#,
    );
    let bytes = |bench: &Bench| serde_json::to_string(&bench.planned().0.plan).unwrap();
    let wide = bytes(&bench);
    bench.parallelism = 1;
    assert_eq!(bytes(&bench), wide);
}

#[test]
fn objects_of_older_schemas_are_brought_over() {
    let mut bench = Bench::new(r#"resource "mock_object" "a" { name = "upgraded" }"#);
    bench.store("mock_object.a", Slot::Current, &[("name", "old")], |object| object.schema_version = 7);
    assert_eq!(bench.planned().actions(), [""; 0]);
}

#[test]
fn data_in_a_module_waits_for_what_the_module_depends_on() {
    let bench = |stored: bool| {
        let bench = Bench::files(&[
            (
                "main.tf",
                r#"
                resource "mock_object" "a" { }
                module "m" {
                  source     = "./m"
                  depends_on = [mock_object.a]
                }
                module "after" {
                  source     = "./m"
                  depends_on = [module.m]
                }
                "#,
            ),
            ("m/main.tf", "data \"mock_data\" \"d\" { input = \"x\" }\nresource \"mock_object\" \"o\" { }"),
        ]);
        if stored {
            bench
                .stored("mock_object.a", &[])
                .stored("module.m.mock_object.o", &[])
                .stored("module.after.mock_object.o", &[])
        } else {
            bench
        }
    };
    let planned = bench(false).planned();
    assert_eq!(planned.change("module.m.data.mock_data.d").reason, Some(Reason::ReadPending));
    assert_eq!(planned.change("module.after.data.mock_data.d").reason, Some(Reason::ReadPending));
    let steps = &planned.0.plan.graph.steps;
    let at = |text: &str| {
        let addr = text.parse().unwrap();
        let is = |step: &engine_model::execution::Step| match step {
            engine_model::execution::Step::Create(other) => *other == addr,
            _ => false,
        };
        steps.iter().position(is).unwrap()
    };
    assert!(at("mock_object.a") < at("module.m.mock_object.o"));
    assert!(at("module.m.mock_object.o") < at("module.after.mock_object.o"));
    let planned = bench(true).planned();
    assert_eq!(planned.change("module.after.data.mock_data.d").action, Action::NoOp);
}

#[test]
fn data_that_the_state_already_has_is_not_written_again() {
    let bench = Bench::new("data \"mock_data\" \"d\" { input = \"x\" }");
    let steps = |bench: &Bench| bench.planned().0.plan.graph.steps.len();
    assert_eq!(steps(&bench), 1);
    let bench = bench.stored("data.mock_data.d", &[("input", "x"), ("output", "read x")]);
    assert_eq!(steps(&bench), 0);
    // What the configuration no longer has is forgotten.
    assert_eq!(steps(&bench.stored("data.mock_data.old", &[])), 1);
}

#[test]
fn without_refresh_nothing_is_read() {
    let mut bench = Bench::new(r#"resource "mock_object" "a" { }"#).stored("mock_object.a", &[]);
    bench.refresh = false;
    bench.planned();
    assert!(!bench.world.lock().unwrap().calls.iter().any(|call| call.starts_with("read")));
    bench.refresh = true;
    let bench = bench.stored("mock_object.b", &[]);
    bench.planned();
    let calls = &bench.world.lock().unwrap().calls;
    assert!(calls.contains(&"read 2".to_owned()), "one call for all: {calls:?}");
}

#[test]
fn an_object_whose_block_got_or_lost_its_count_is_the_same_object() {
    let planned = Bench::new(
        r#"
        resource "mock_object" "got" { count = 2 }
        resource "mock_object" "lost" { name = "new" }
        resource "mock_object" "each" { for_each = toset(["a"]) }
        "#,
    )
    .stored("mock_object.got", &[])
    .stored("mock_object.lost[0]", &[])
    .stored("mock_object.lost[1]", &[])
    .stored("mock_object.each", &[])
    .planned();
    let expected = [
        "mock_object.each delete",
        "mock_object.each[\"a\"] create",
        "mock_object.got[1] create",
        "mock_object.lost update",
        "mock_object.lost[1] delete",
    ];
    assert_eq!(planned.actions(), expected);
    let previous = |addr: &str| planned.change(addr).previous.as_ref().map(ToString::to_string);
    assert_eq!(previous("mock_object.got[0]").as_deref(), Some("mock_object.got"));
    assert_eq!(previous("mock_object.lost").as_deref(), Some("mock_object.lost[0]"));
    assert!(planned.0.plan.changes_anything());
}

#[test]
fn nothing_moves_onto_an_address_that_is_taken() {
    let planned = Bench::new(r#"resource "mock_object" "a" { count = 1 }"#)
        .stored("mock_object.a", &[])
        .stored("mock_object.a[0]", &[])
        .planned();
    assert_eq!(planned.actions(), ["mock_object.a delete"]);
}
