//! What is secret in `kubernetes_secret`.

use engine_model::plan::PlanMode;
use http::Method;
use serde_json::json;

use crate::{
    run::{Run, actions},
    world::World,
};

const PATH: &str = "/api/v1/namespaces/default/secrets/a";

fn secret(rest: &str) -> String {
    format!("resource \"kubernetes_secret\" \"x\" {{\nmetadata {{\n name = \"a\"\n}}\n{rest}\n}}\n")
}

fn write_only(value: &str, revision: u64, label: &str) -> String {
    let text = format!(
        "resource \"kubernetes_secret\" \"x\" {{\nmetadata {{\n name = \"a\"\n labels = {{ l = \"{label}\" }}\n}}\n\
         data_wo = {{ token = \"{value}\" }}\ndata_wo_revision = {revision}\n}}\n"
    );
    text
}

#[tokio::test]
async fn a_write_only_value_reaches_the_cluster_and_nothing_else() {
    let world = World::new().await;
    let run = Run::new(&world, &write_only("hunter2", 1, "a")).await;
    let plan = run.plan(PlanMode::Normal).await;
    let written = serde_json::to_string(&plan).unwrap();
    let told = written.find("hunter2").map(|at| &written[at.saturating_sub(200)..(at + 50).min(written.len())]);
    assert_eq!(told, None, "the plan has no secret");
    run.apply(plan).await;
    assert_eq!(world.live(PATH).unwrap()["data"], json!({"token": "aHVudGVyMg=="}));
    let state = state::v4::write(&run.snapshot().await);
    let journal = format!("{:?}", run.journal().await);
    for secret in ["hunter2", "aHVudGVyMg=="] {
        assert!(!state.contains(secret), "the state has no secret");
        assert!(!journal.contains(secret), "the journal has no secret");
    }
    assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0]);

    // Another value is seen by its revision alone, and it stays where something else changes.
    let run = run.edited(&world, &write_only("hunter3", 1, "a"));
    assert_eq!(actions(&run.plan(PlanMode::Normal).await), [""; 0]);
    let run = run.edited(&world, &write_only("hunter2", 1, "b"));
    assert_eq!(run.settle().await, ["kubernetes_secret.x update"]);
    assert_eq!(world.live(PATH).unwrap()["data"], json!({"token": "aHVudGVyMg=="}));
    let run = run.edited(&world, &write_only("hunter3", 2, "b"));
    assert_eq!(run.settle().await, ["kubernetes_secret.x update"]);
    assert_eq!(world.live(PATH).unwrap()["data"], json!({"token": "aHVudGVyMw=="}));
}

#[tokio::test]
async fn stored_content_is_sensitive_and_never_told() {
    let world = World::new().await;
    let run = Run::new(&world, &secret("data = { token = \"hunter2\" }\nbinary_data = { raw = \"/w==\" }")).await;
    run.settle().await;
    let plan = run.edited(&world, &secret("data = { token = \"hunter3\" }")).plan(PlanMode::Normal).await;
    for side in [&plan.changes[0].before, &plan.changes[0].after] {
        assert!(side.get("data").unwrap().marks.sensitive);
    }
    assert!(plan.changes[0].before.get("binary_data").unwrap().marks.sensitive);
    let wrong = run.edited(&world, &secret("binary_data = { raw = \"hunter2!\" }"));
    let (_, diagnostics) = wrong.try_plan(PlanMode::Normal).await;
    assert!(diagnostics.has_errors());
    assert!(!format!("{diagnostics:?}").contains("hunter2!"), "{diagnostics:?}");
}

#[tokio::test]
async fn the_token_that_kubernetes_makes_is_read() {
    let world = World::new().await;
    let token = "type = \"kubernetes.io/service-account-token\"\nwait_for_service_account_token = false";
    let text = format!(
        "resource \"kubernetes_secret\" \"x\" {{\nmetadata {{\n name = \"a\"\n annotations = \
         {{ \"kubernetes.io/service-account.name\" = \"default\" }}\n}}\n{token}\n}}\n"
    );
    let run = Run::new(&world, &text).await;
    run.apply(run.plan(PlanMode::Normal).await).await;
    world.other(Method::PATCH, PATH, Some(json!({"data": {"token": "dG9rZW4="}})));
    let plan = run.plan(PlanMode::Normal).await;
    assert_eq!(actions(&plan), [""; 0]);
    let data = plan.changes[0].after.get("data").unwrap().clone().unmark_deep().0;
    assert_eq!(data.get("token").or(data.as_map().unwrap().get("token")).unwrap().as_str(), Some("token"));
}

#[tokio::test]
async fn arguments_that_contradict_each_other_are_refused() {
    let world = World::new().await;
    for (rest, summary) in [
        ("data = {}\ndata_wo = {}\ndata_wo_revision = 1", "Conflicting arguments"),
        ("data_wo_revision = 1", "Missing argument"),
        ("data_wo = {}", "Missing argument"),
        ("data_wo = {}\ndata_wo_revision = 0", "Invalid revision"),
    ] {
        let (_, diagnostics) = Run::new(&world, &secret(rest)).await.try_plan(PlanMode::Normal).await;
        assert_eq!(diagnostics.iter().next().map(|error| error.summary.as_str()), Some(summary), "{rest}");
    }
}
