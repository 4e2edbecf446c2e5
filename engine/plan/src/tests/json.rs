//! Plan and state JSON.

use engine_model::plan::PlanMode;
use engine_value::{Value, json::Json};

use super::{Bench, mock};
use crate::json::{PlanView, outputs_json, state_json};

fn json(bench: &Bench, show_sensitive: bool) -> Json {
    let output = bench.plan();
    let view = PlanView {
        plan: &output.plan,
        snapshot: &bench.snapshot,
        config: &bench.program.config,
        providers: &bench.program.providers,
        show_sensitive,
    };
    view.to_json()
}

fn at<'a>(json: &'a Json, path: &[&str]) -> &'a Json {
    path.iter().fold(json, |json, step| match (json, step.parse::<usize>()) {
        (Json::Array(elements), Ok(index)) => &elements[index],
        _ => json.get(step).unwrap_or_else(|| panic!("no {step} in {json}")),
    })
}

fn secret() -> Bench {
    Bench::new(
        r#"
        variable "s" {
          type      = string
          sensitive = true
        }
        resource "mock_object" "a" {
          name = var.s
          any  = [mock_object.b.id, 1]
        }
        resource "mock_object" "b" { }
        output "s" {
          value     = var.s
          sensitive = true
        }
        "#,
    )
    .variable("s", Value::from("hunter2"))
}

#[test]
fn a_change_is_encoded_as_terraform_does() {
    let json = json(&secret(), true);
    let change = at(&json, &["resource_changes", "0", "change"]);
    let expected = "{\"actions\":[\"create\"],\"before\":null,\
        \"after\":{\"any\":[null,1],\"name\":\"hunter2\",\"parts\":null,\"secret\":null,\"zone\":null},\
        \"after_unknown\":{\"any\":[true,false],\"id\":true},\
        \"before_sensitive\":false,\"after_sensitive\":{\"any\":[false,false],\"name\":true,\"secret\":true}}";
    assert_eq!(change.to_string(), expected);
    assert_eq!(
        at(&json, &["planned_values", "outputs", "s"]).to_string(),
        r#"{"sensitive":true,"type":"string","value":"hunter2"}"#
    );
    let configuration = at(&json, &["configuration", "root_module", "resources", "0", "expressions", "any"]);
    assert_eq!(configuration.to_string(), r#"{"references":["mock_object.b.id","mock_object.b"]}"#);
}

#[test]
fn secrets_are_left_out_unless_they_are_asked_for() {
    for (mode, stored) in [(PlanMode::Normal, false), (PlanMode::Normal, true), (PlanMode::Destroy, true)] {
        let mut bench = secret();
        bench.mode = mode;
        if stored {
            bench.store("mock_object.a", state::Slot::Current, &[("name", "hunter2")], |object| {
                object.sensitive = vec![engine_value::Path::root().attr("name")];
            });
            let output = state::Output::of(Value::from("hunter2"), true).unwrap();
            bench.snapshot.outputs.insert("s".into(), output);
        }
        assert!(!json(&bench, false).to_string().contains("hunter2"), "{mode:?}");
        assert!(json(&bench, true).to_string().contains("hunter2"), "{mode:?}");
        if stored {
            let shown = |show| state_json(&bench.snapshot, &bench.program.providers, show).unwrap().to_string();
            assert!(!shown(false).contains("hunter2") && shown(true).contains("hunter2"));
            assert!(outputs_json(&bench.snapshot).to_string().contains("hunter2"), "it is asked for by name");
        }
    }
}

#[test]
fn what_is_ours_is_under_one_key() {
    let bench = Bench::new(r#"resource "mock_pool" "a" { name = "x" }"#).stored("mock_pool.a", &[("name", "y")]);
    bench.world.lock().unwrap().findings.push(mock::finding("mock_pool.a", engine_value::Path::root().attr("name")));
    let json = json(&bench, false);
    let ours = at(&json, &["sliceform"]);
    let reason = at(ours, &["reasons", "mock_pool.a"]);
    assert_eq!(reason.to_string(), r#"{"kind":"configuration","paths":[["name"]]}"#);
    assert_eq!(at(ours, &["operations", "0", "node"]).as_str(), Some("n1"));
    assert!(at(ours, &["operations", "0"]).get("payload").is_none());
    assert_eq!(at(ours, &["holds", "0", "node"]).as_str(), Some("n1"));
    assert_eq!(at(ours, &["findings", "0", "severity"]).as_str(), Some("error"));
    assert_eq!(at(&json, &["errored"]), &Json::Bool(true));
    assert_eq!(at(&json, &["applyable"]), &Json::Bool(false));
}

#[test]
fn action_reasons_are_terraforms() {
    let mut bench = Bench::new(
        r#"
        resource "mock_object" "fixed" { zone = "2" }
        resource "mock_object" "asked" { }
        resource "mock_object" "count" { count = 0 }
        data "mock_data" "later" { input = mock_object.asked.id }
        "#,
    )
    .stored("mock_object.fixed", &[("zone", "1")])
    .stored("mock_object.asked", &[])
    .stored("mock_object.count[0]", &[])
    .stored("mock_object.gone", &[])
    .tainted("mock_object.bad");
    bench.replace = vec!["mock_object.asked".parse().unwrap()];
    let json = json(&bench, false);
    let Json::Array(changes) = at(&json, &["resource_changes"]) else { panic!() };
    let reasons: Vec<(&str, &str)> = changes
        .iter()
        .map(|change| {
            (change.get("address").unwrap().as_str().unwrap(), change.get("action_reason").unwrap().as_str().unwrap())
        })
        .collect();
    let expected = [
        ("data.mock_data.later", "read_because_config_unknown"),
        ("mock_object.asked", "replace_by_request"),
        ("mock_object.bad", "delete_because_no_resource_config"),
        ("mock_object.count[0]", "delete_because_count_index"),
        ("mock_object.fixed", "replace_because_cannot_update"),
        ("mock_object.gone", "delete_because_no_resource_config"),
    ];
    assert_eq!(reasons, expected);
    assert_eq!(at(&changes[4], &["change", "replace_paths"]).to_string(), r#"[["zone"]]"#);
}
