//! What cannot be planned says where, why, and what to do.

use engine_model::plan::PlanMode;
use engine_value::{Path, Value};

use super::{Bench, mock};

fn check(bench: Bench, expected: &[&str]) {
    let output = bench.plan();
    let told = super::told(&output.diagnostics, &bench.sources);
    assert!(output.plan.errored, "{told}");
    for part in expected {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
}

#[test]
fn a_cycle_is_a_path_with_a_position_for_each_step() {
    check(
        Bench::new(
            "resource \"mock_object\" \"a\" {\n  name = mock_object.b.name\n}\n\
             resource \"mock_object\" \"b\" {\n  name = local.l\n}\n\
             locals {\n  l = mock_object.a.name\n}\n",
        ),
        &[
            "main.tf:8: Cycle",
            "local.l → mock_object.a → mock_object.b → local.l",
            "main.tf:2: mock_object.a refers to mock_object.b",
            "main.tf:5: mock_object.b refers to local.l",
        ],
    );
}

#[test]
fn an_object_may_not_refer_to_itself() {
    check(
        Bench::new("resource \"mock_object\" \"a\" {\n  name = mock_object.a.id\n}\n"),
        &["main.tf:2: Self-referential block"],
    );
}

#[test]
fn unknown_instances_name_what_they_wait_for() {
    check(
        Bench::new(
            "resource \"mock_object\" \"a\" { }\n\
             resource \"mock_object\" \"b\" {\n  for_each = toset([mock_object.a.id])\n}\n",
        ),
        &["main.tf:3: Invalid for_each argument", "waits for the planned change of mock_object.a", "-target"],
    );
    check(
        Bench::new(
            "resource \"mock_object\" \"a\" { }\nresource \"mock_object\" \"b\" {\n  count = length(mock_object.a.id)\n}",
        ),
        &["Invalid count argument", "the planned change of mock_object.a"],
    );
}

#[test]
fn independent_errors_are_all_told() {
    check(
        Bench::new(
            "resource \"mock_object\" \"a\" {\n  name = \"wrong\"\n}\n\
             resource \"mock_object\" \"b\" {\n  count = -1\n}\n\
             resource \"mock_objct\" \"c\" { }\n\
             resource \"mock_object\" \"d\" {\n  name = mock_object.b[0].name\n}\n",
        ),
        &[
            "main.tf:2: Wrong name",
            "main.tf:5: Invalid count argument",
            "main.tf:7: Invalid resource type",
            "Did you mean \"mock_object\"?",
        ],
    );
}

#[test]
fn a_missing_instance_says_which_there_are() {
    check(
        Bench::new(
            "resource \"mock_object\" \"a\" {\n  for_each = toset([\"x\"])\n}\noutput \"o\" {\n  value = mock_object.a[\"y\"].id\n}\n",
        ),
        &["main.tf:5: Invalid index: mock_object.a[\"y\"] does not exist. It has the instances \"x\"."],
    );
}

#[test]
fn what_must_not_be_destroyed_is_not() {
    let text = "resource \"mock_object\" \"a\" {\n  zone = \"2\"\n  lifecycle {\n    prevent_destroy = true\n  }\n}\n";
    check(
        Bench::new(text).stored("mock_object.a", &[("zone", "1")]),
        &["main.tf:4: Instance cannot be destroyed: mock_object.a has prevent_destroy set"],
    );
    let mut bench = Bench::new(text).stored("mock_object.a", &[("zone", "2")]);
    bench.mode = PlanMode::Destroy;
    check(bench, &["main.tf:4: Instance cannot be destroyed"]);
}

#[test]
fn what_is_carried_out_on_nodes_is_never_replaced() {
    let bench =
        Bench::new("resource \"mock_pool\" \"a\" {\n  zone = \"2\"\n}\n").stored("mock_pool.a", &[("zone", "1")]);
    check(bench, &["main.tf:1: Resource cannot be replaced", "zone cannot be changed in place"]);
    let mut bench = Bench::new("resource \"mock_pool\" \"a\" { }").stored("mock_pool.a", &[]);
    bench.replace = vec!["mock_pool.a".parse().unwrap()];
    check(bench, &["-replace asks for it"]);
    check(
        Bench::new("resource \"mock_pool\" \"a\" {\n  lifecycle {\n    create_before_destroy = true\n  }\n}"),
        &["Resource cannot be created before it is destroyed"],
    );
    // And never tainted.
    let planned = Bench::new("resource \"mock_pool\" \"a\" { }").tainted("mock_pool.a").planned();
    assert_eq!(planned.actions(), [""; 0]);
}

#[test]
fn a_typing_error_in_an_address_is_an_error() {
    let mut bench = Bench::new("resource \"mock_object\" \"abc\" { }");
    bench.targets = vec!["mock_object.abd".parse().unwrap()];
    check(bench, &["-target=mock_object.abd names nothing", "Did you mean -target='mock_object.abc'?"]);
    let mut bench = Bench::new("resource \"mock_object\" \"abc\" { }");
    bench.replace = vec!["mock_object.x".parse().unwrap()];
    check(bench, &["-replace=mock_object.x names nothing"]);
    let mut bench = Bench::new("resource \"mock_object\" \"abc\" { }");
    bench.targets = vec!["module.m".parse().unwrap()];
    check(bench, &["-target=module.m names nothing"]);
}

#[test]
fn another_cluster_stops_before_anything_is_read() {
    let mut bench = Bench::new("resource \"mock_object\" \"a\" { }").stored("mock_object.a", &[]);
    bench.world.lock().unwrap().cluster = Some("uid-2".into());
    let provider = "provider[\"registry.terraform.io/hashicorp/mock\"]".parse().unwrap();
    bench.snapshot.clusters.insert(provider, "uid-1".into());
    let world = bench.world.clone();
    check(bench, &["Another cluster", "uid-1", "uid-2"]);
    let calls = &world.lock().unwrap().calls;
    assert!(calls.iter().all(|call| call == "configure"), "{calls:?}");
}

#[test]
fn a_provider_that_contradicts_the_configuration_is_told() {
    let bench = Bench::new("resource \"mock_object\" \"a\" {\n  name = \"x\"\n}");
    bench.world.lock().unwrap().lies = true;
    check(bench, &["Provider produced invalid plan", "name: the configuration says \"x\", the plan \"a lie\""]);
}

#[test]
fn an_error_found_by_the_review_makes_the_plan_errored_and_has_its_place() {
    let bench = Bench::files(&[
        ("main.tf", "module \"m\" {\n  source = \"./m\"\n  parts  = {\n    big = { size = 3 }\n  }\n}\n"),
        ("m/main.tf", "variable \"parts\" { type = any }\nresource \"mock_object\" \"x\" {\n  parts = var.parts\n}\n"),
    ]);
    let at = Path::root().attr("parts").key("big").attr("size");
    bench.world.lock().unwrap().findings.push(mock::finding("module.m.mock_object.x", at));
    let plan = bench.plan().plan;
    assert!(plan.errored);
    let place = plan.review.findings[0].places[0].1.source.clone().unwrap();
    assert_eq!((place.file.as_str(), place.line, place.column), ("main.tf", 4, 20));
}

#[test]
fn infinite_numbers_are_refused_where_they_would_be_kept() {
    let module = ("m/main.tf", "output \"x\" { value = [1 / 0] }\n");
    for (text, expected) in [
        ("output \"o\" {\n  value = 1 / 0\n}\n", "main.tf:3: "),
        ("output \"o\" { value = toset([1, 1 / 0]) }\n", "\"o\" is infinite at"),
        ("output \"o\" { value = { a = { b = tolist([-1 / 0]) } } }\n", "\"o\" is infinite at a.b[0]"),
        ("output \"o\" {\n  value = sensitive([1 / 0])\n  sensitive = true\n}\n", "\"o\" is infinite at [0]"),
        ("output \"o\" { value = module.m }\n", "\"o\" is infinite at x[0]"),
        ("resource \"mock_object\" \"a\" {\n  parts = {\n    big = { size = 1 / 0 }\n  }\n}\n", "main.tf:4: "),
        ("resource \"mock_object\" \"a\" {\n  parts = { big = { size = module.m.x[0] } }\n}\n", "main.tf:3: "),
    ] {
        let text = format!("module \"m\" {{ source = \"./m\" }}\n{text}");
        check(Bench::files(&[("main.tf", &text), module]), &[expected]);
    }
    // What is not kept may be.
    let text = "module \"m\" { source = \"./m\" }\noutput \"o\" { value = module.m.x[0] > 1 }\n";
    assert!(!Bench::files(&[("main.tf", text), module]).plan().plan.errored);
}

#[test]
fn minus_zero_is_kept_as_zero() {
    let plan = Bench::new("output \"o\" { value = [-0, tostring(-0)] }").plan().plan;
    let value = plan.outputs["o"].after.clone();
    assert_eq!(engine_value::json::encode(&value).unwrap(), r#"[0,"-0"]"#);
}

#[test]
fn what_a_variable_lacks_is_told_where_it_is_declared() {
    check(
        Bench::new("variable \"v\" {\n  type = string\n}\noutput \"o\" { value = var.v }"),
        &["main.tf:1: No value for required variable", "-var='v=VALUE'"],
    );
    let bench = Bench::new("variable \"v\" {\n  type = number\n}\n").variable("v", Value::from("x"));
    check(bench, &["Invalid value for variable"]);
}

#[test]
fn two_policies_for_one_cluster_are_an_error() {
    let bench = Bench::new(
        "provider \"mock\" {\n  budget = 1\n}\nprovider \"mock\" {\n  alias  = \"b\"\n  budget = 2\n}\n\
         resource \"mock_pool\" \"a\" { }\nresource \"mock_pool\" \"b\" {\n  provider = mock.b\n}\n",
    );
    bench.world.lock().unwrap().cluster = Some("uid".into());
    check(bench, &["Two disruption policies for one cluster"]);
}

#[test]
fn what_nobody_can_destroy_says_who_could() {
    let mut bench = Bench::new("");
    bench.program = Bench::new("output \"x\" { value = 1 }").program;
    bench.store("mock_object.a", state::Slot::Current, &[], |_| {});
    let addr = "mock_object.a".parse().unwrap();
    let object = bench.snapshot.current(&addr).unwrap().clone();
    let alias = "provider[\"registry.terraform.io/hashicorp/mock\"].west".parse().unwrap();
    bench.snapshot.put(&addr, state::Slot::Current, alias, object);
    check(bench, &["Provider configuration not present", "mock\"].west"]);
}

fn check_validate(text: &str, expected: &[&str]) {
    let bench = Bench::new(text);
    let found = crate::validate(&bench.program);
    let told = super::told(&found, &bench.sources);
    assert_eq!(found.has_errors(), !expected.is_empty(), "{told}");
    for part in expected {
        assert!(told.contains(part), "{part:?} is not in:\n{told}");
    }
}

#[test]
fn validate_looks_at_everything_that_is_written_and_at_nothing_else() {
    check_validate(
        r#"
        variable "n" { type = number }
        resource "mock_object" "a" {
          count = var.n
          name  = "x${count.index}"
        }
        resource "mock_object" "b" {
          for_each = toset([for a in mock_object.a : a.id])
          name     = each.value
          any      = mock_object.a[3].id
        }
        output "o" { value = [for k, b in mock_object.b : b.name] }
        "#,
        &[],
    );
    check_validate(
        "resource \"mock_object\" \"a\" {\n  count = \"x\"\n}\n\
         resource \"mock_object\" \"b\" {\n  nme = 1\n}\n\
         resource \"mock_object\" \"c\" {\n  name = \"wrong\"\n}\n\
         locals {\n  unused = mock_object.c.nothing\n}\n\
         resource \"mock_pool\" \"p\" {\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n",
        &[
            "main.tf:2: Invalid count argument",
            "main.tf:5: Unsupported argument",
            "main.tf:8: Wrong name",
            "main.tf:11: Unsupported attribute",
            "main.tf:13: Resource cannot be created before it is destroyed",
        ],
    );
}

#[test]
fn an_interrupt_ends_planning_and_says_so() {
    let bench = Bench::new("resource \"mock_object\" \"a\" { }");
    bench.cancel.cancel();
    let output = bench.plan();
    assert!(output.plan.errored);
    assert!(super::told(&output.diagnostics, &bench.sources).contains("Interrupted: Planning was interrupted"));
    assert!(bench.world.lock().unwrap().calls.is_empty());
}

#[test]
fn an_error_is_told_once_although_providers_are_configured_twice() {
    let bench = Bench::new(
        "provider \"mock\" {\n  host = local.x\n}\nlocals {\n  x = 1 + \"a\"\n}\nresource \"mock_object\" \"a\" { }\n",
    )
    .stored("mock_object.a", &[]);
    let told = bench.told();
    assert_eq!(told.matches("main.tf:5").count(), 1, "{told}");
}

#[test]
fn an_unknown_provider_lists_those_that_there_are() {
    check(
        Bench::new("resource \"mok_object\" \"a\" { }"),
        &["main.tf:1: Unknown provider", "It has registry.terraform.io/hashicorp/mock.", "Did you mean \"mock\"?"],
    );
    let text = "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n";
    check(Bench::new(text), &["main.tf:3: Unknown provider: This release does not have registry.terraform.io/acme/x"]);
    check_validate(text, &["main.tf:3: Unknown provider"]);
}

#[test]
fn a_place_is_followed_to_the_line_of_the_variables_file() {
    let mut bench = Bench::new(
        "variable \"size\" { type = number }\nlocals {\n  part = { size = var.size }\n}\n\
         resource \"mock_object\" \"a\" {\n  parts = {\n    big = local.part\n  }\n}\n",
    );
    let file = bench.sources.add("terraform.tfvars", "# sizes\nsize = 3\n");
    let (mut values, wrong) = engine_lang::config::variable_values(file, "# sizes\nsize = 3\n");
    assert!(wrong.is_empty());
    let given = crate::Given::Written(values.remove("size").unwrap());
    std::sync::Arc::make_mut(&mut bench.program).variables.insert("size".into(), given);
    let at = Path::root().attr("parts").key("big").attr("size");
    bench.world.lock().unwrap().findings.push(mock::finding("mock_object.a", at));
    let plan = bench.plan().plan;
    let place = plan.review.findings[0].places[0].1.source.clone().unwrap();
    assert_eq!((place.file.as_str(), place.line), ("terraform.tfvars", 2));
}

#[test]
fn a_place_is_followed_through_each_value() {
    let bench = Bench::files(&[
        (
            "main.tf",
            "module \"m\" {\n  source   = \"./m\"\n  for_each = {\n    one = { all = {\n      k = { name = \"x\" } } }\n  }\n  all = each.value.all\n}\n",
        ),
        (
            "m/main.tf",
            "variable \"all\" { type = any }\nresource \"mock_object\" \"x\" {\n  for_each = var.all\n  name     = each.value.name\n}\n",
        ),
    ]);
    let at = Path::root().attr("name");
    bench.world.lock().unwrap().findings.push(mock::finding("module.m[\"one\"].mock_object.x[\"k\"]", at));
    let plan = bench.plan().plan;
    let place = plan.review.findings[0].places[0].1.source.clone().unwrap();
    assert_eq!((place.file.as_str(), place.line, place.column), ("main.tf", 5, 20));
}

#[test]
fn references_do_not_nest_a_value_without_end() {
    let mut text = "locals {\n  a0 = 1\n".to_owned();
    for i in 1..=2_000 {
        text.push_str(&format!("  a{i} = [local.a{}]\n", i - 1));
    }
    text.push_str("}\nresource \"mock_object\" \"a\" {\n  name = jsonencode(local.a2000)\n}\n");
    check(
        Bench::new(&text),
        &["main.tf:515: Value nested too deeply", "The value of local.a513 is nested more than 512 levels deep."],
    );
}
