//! What fails fails alone, and the state says what exists.

use engine_model::event::Event;
use providers_api::ErrorKind;
use tests::{
    lab::Lab,
    mock::{call::Verb, fault::How, world::World},
};

const TWO_BRANCHES: &str = "resource \"mock_object\" \"a\" {}\nresource \"mock_object\" \"b\" {\n  value = mock_object.a.id\n}\n\
    resource \"mock_object\" \"c\" {}\nresource \"mock_object\" \"d\" {\n  value = mock_object.c.id\n}\noutput \"b\" {\n  value = mock_object.b.id\n}\noutput \"d\" {\n  value = mock_object.d.id\n}\n";

fn objects(lab: &Lab) -> Vec<String> {
    lab.world.contents().objects.into_keys().collect()
}

#[tokio::test]
async fn independent_branches_go_on() {
    let lab = Lab::new(&World::default());
    lab.world.fail(Verb::Create, "mock_object.a", How::Refused(ErrorKind::Permanent), 1);
    let run = lab.apply(TWO_BRANCHES).await;
    assert_eq!(
        run.words(),
        ["error: Error creating mock_object.a: The world refused to create mock_object.a. (mock_object.a)"]
    );
    assert_eq!(objects(&lab), ["mock_object.c/1", "mock_object.d/1"]);
    let skipped: Vec<String> = run
        .events
        .iter()
        .filter_map(|event| match event {
            Event::StepSkipped { step } => Some(format!("{step:?}")),
            _ => None,
        })
        .collect();
    assert_eq!(skipped.len(), 1, "{skipped:?}");
    let outputs: Vec<String> = run.applied().snapshot.outputs.keys().map(ToString::to_string).collect();
    assert_eq!(outputs, ["d"], "only what is known");
    lab.apply(TWO_BRANCHES).await.assert_done("going on");
    assert_eq!(objects(&lab).len(), 4);
    lab.assert_settled(TWO_BRANCHES, "going on").await;
}

#[tokio::test]
async fn what_is_transient_is_tried_again() {
    let lab = Lab::new(&World::default());
    let busy = How::Refused(ErrorKind::Transient { after: Some(std::time::Duration::ZERO) });
    lab.world.fail(Verb::Create, "mock_object.a", busy, 3);
    lab.apply(TWO_BRANCHES).await.assert_done("busy three times");
    let tries = lab.world.calls().iter().filter(|call| call.to_string() == "create mock_object.a").count();
    assert_eq!(tries, 4);
}

#[tokio::test]
async fn half_a_creation_is_tainted_and_made_anew() {
    for before in [false, true] {
        let lab = Lab::new(&World::default());
        let config = format!(
            "resource \"mock_object\" \"a\" {{\n  lifecycle {{\n    create_before_destroy = {before}\n  }}\n}}\n"
        );
        lab.world.fail(Verb::Create, "mock_object.a", How::Half, 1);
        let run = lab.apply(&config).await;
        assert_eq!(run.words().len(), 1);
        let draft = lab.plan(&config).await;
        let action = if before { "replace, new first," } else { "replace" };
        assert_eq!(draft.changes(), [format!("{action} mock_object.a (tainted)")]);
        lab.apply(&config).await.assert_done("made anew");
        assert_eq!(objects(&lab), ["mock_object.a/2"]);
        lab.assert_settled(&config, "made anew").await;
    }
}

#[tokio::test]
async fn half_an_update_is_seen_and_finished() {
    let config = |value: &str| {
        format!("resource \"mock_object\" \"a\" {{\n  value = \"{value}\"\n  number = {}\n}}\n", value.len())
    };
    let lab = Lab::new(&World::default());
    lab.apply(&config("x")).await.assert_done("the first apply");
    lab.world.fail(Verb::Update, "mock_object.a", How::Half, 1);
    assert_eq!(lab.apply(&config("yy")).await.words().len(), 1);
    // Half of it is in the state: no drift, and what is left differs from the configuration.
    let draft = lab.plan(&config("yy")).await;
    assert!(draft.plan.drift.is_empty());
    assert_eq!(draft.changes(), ["update mock_object.a (configuration number)"]);
    lab.apply(&config("yy")).await.assert_done("the other half");
    lab.assert_settled(&config("yy"), "the other half").await;
}

#[tokio::test]
async fn a_deletion_that_failed_is_tried_again() {
    for how in [How::Half, How::Refused(ErrorKind::Forbidden)] {
        let lab = Lab::new(&World::default());
        lab.apply(TWO_BRANCHES).await.assert_done("the first apply");
        lab.world.fail(Verb::Delete, "mock_object.b", how, 1);
        let run = lab.destroy(TWO_BRANCHES).await;
        assert_eq!(run.words().len(), 1);
        // a is still needed by b.
        assert_eq!(objects(&lab), ["mock_object.a/1", "mock_object.b/1"]);
        lab.destroy(TWO_BRANCHES).await.assert_done("again");
        assert_eq!(objects(&lab), Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_half_a_deletion_leaves_is_in_the_state() {
    let config = "resource \"mock_object\" \"a\" {\n  value = \"x\"\n}\n";
    let lab = Lab::new(&World::default());
    lab.apply(config).await.assert_done("the first apply");
    lab.world.fail(Verb::Delete, "mock_object.a", How::Half, 1);
    assert_eq!(lab.destroy(config).await.words().len(), 1);
    // No drift: the state knows what is left of it.
    let draft = lab.plan(config).await;
    assert!(draft.plan.drift.is_empty(), "{:?}", draft.plan.drift);
    assert_eq!(draft.changes(), ["update mock_object.a (configuration value)"]);
    lab.destroy(config).await.assert_done("the other half");
    assert_eq!(objects(&lab), Vec::<String>::new());
}

const REPLACED: &str = "resource \"mock_object\" \"a\" {\n  immutable = \"x\"\n  lifecycle {\n    create_before_destroy = true\n  }\n}\nresource \"mock_object\" \"b\" {\n  value = mock_object.a.id\n}\n";

#[tokio::test]
async fn what_was_replaced_and_not_destroyed_is_deposed_and_destroyed_next() {
    let lab = Lab::new(&World::default());
    lab.apply(REPLACED).await.assert_done("the first apply");
    let other = REPLACED.replace("\"x\"", "\"y\"");
    lab.world.fail(Verb::Delete, "mock_object.a", How::Refused(ErrorKind::Permanent), 1);
    let run = lab.apply(&other).await;
    assert_eq!(run.words().len(), 1, "{:#?}", run.words());
    assert_eq!(objects(&lab), ["mock_object.a/1", "mock_object.a/2", "mock_object.b/1"]);
    let deposed = |lab: &Lab| {
        let lab = lab.clone();
        async move { lab.snapshot().await.unwrap().resource(&"mock_object.a".parse().unwrap()).unwrap().deposed.len() }
    };
    assert_eq!(deposed(&lab).await, 1);
    let draft = lab.plan(&other).await;
    assert_eq!(draft.changes(), ["delete deposed mock_object.a (unfinished: 1 of 2 steps of a replacement)"]);
    lab.apply(&other).await.assert_done("the rest");
    assert_eq!(objects(&lab), ["mock_object.a/2", "mock_object.b/1"]);
    assert_eq!(deposed(&lab).await, 0);
    lab.assert_settled(&other, "the rest").await;
}

#[tokio::test]
async fn a_deposed_object_comes_back_where_its_successor_could_not_be_made() {
    let lab = Lab::new(&World::default());
    lab.apply(REPLACED).await.assert_done("the first apply");
    let other = REPLACED.replace("\"x\"", "\"y\"");
    lab.world.fail(Verb::Create, "mock_object.a", How::Refused(ErrorKind::Permanent), 1);
    assert_eq!(lab.apply(&other).await.words().len(), 1);
    let snapshot = lab.snapshot().await.unwrap();
    let resource = snapshot.resource(&"mock_object.a".parse().unwrap()).unwrap();
    assert!(resource.current.is_some() && resource.deposed.is_empty());
    assert_eq!(lab.plan(&other).await.changes().len(), 2, "as before: a is replaced, b follows");
    lab.assert_settled(REPLACED, "as it was").await;
    lab.destroy(&other).await.assert_done("destroy");
    assert_eq!(objects(&lab), Vec::<String>::new());
}

#[tokio::test]
async fn the_first_interrupt_starts_nothing_more() {
    let lab = Lab::new(&World::default());
    let cancel = lab.cancel.clone();
    lab.world.when(Verb::Create, "mock_object.a", move |_| cancel.cancel());
    let run = lab.apply(TWO_BRANCHES).await;
    assert_eq!(run.applied().stopped, Some(engine_apply::Stop::Interrupted));
    assert_eq!(run.words(), Vec::<String>::new());
    let there = objects(&lab);
    assert!(there.contains(&"mock_object.a/1".to_owned()), "what was running came to its end: {there:?}");
    assert!(!there.contains(&"mock_object.b/1".to_owned()), "{there:?}");
    let next = Lab { cancel: Default::default(), ..lab.clone() };
    next.apply(TWO_BRANCHES).await.assert_done("going on");
    next.assert_settled(TWO_BRANCHES, "going on").await;
}

#[tokio::test]
async fn an_interrupt_that_finds_nothing_left_stops_nothing() {
    let lab = Lab::new(&World::default());
    let config = "resource \"mock_object\" \"a\" {}\n";
    let cancel = lab.cancel.clone();
    lab.world.when(Verb::Create, "mock_object.a", move |_| cancel.cancel());
    let run = lab.apply(config).await;
    assert_eq!((run.applied().stopped, objects(&lab)), (None, vec!["mock_object.a/1".to_owned()]));
}

#[tokio::test]
async fn an_interruption_that_nobody_asked_for_is_an_error() {
    let lab = Lab::new(&World::default());
    lab.world.fail(Verb::Create, "mock_object.a", How::Refused(ErrorKind::Cancelled), 1);
    let run = lab.apply("resource \"mock_object\" \"a\" {}\n").await;
    assert_eq!(run.words().len(), 1, "{:#?}", run.words());
}

#[tokio::test]
async fn an_output_that_turns_out_wrong_is_told_once() {
    let lab = Lab::new(&World::default());
    let config = "resource \"mock_object\" \"a\" {}\nlocals {\n  n = tonumber(mock_object.a.id)\n}\n\
        output \"n\" {\n  value = local.n\n}\noutput \"m\" {\n  value = local.n\n}\noutput \"id\" {\n  value = mock_object.a.id\n}\n";
    let run = lab.apply(config).await;
    let words = run.words();
    assert_eq!(words.len(), 1, "{words:#?}");
    assert!(words[0].starts_with("error: ") && words[0].contains("cannot convert"), "{words:#?}");
    let outputs: Vec<String> = run.applied().snapshot.outputs.keys().map(ToString::to_string).collect();
    assert_eq!(outputs, ["id"]);
}

#[tokio::test]
async fn an_object_that_cannot_be_asked_stays_as_the_state_has_it() {
    let lab = Lab::new(&World::default());
    lab.apply(TWO_BRANCHES).await.assert_done("the first apply");
    lab.world.fail(Verb::Read, "mock_object.a", How::Refused(ErrorKind::Unreachable), 1);
    let draft = lab.plan(TWO_BRANCHES).await;
    assert_eq!(draft.changes(), Vec::<String>::new());
    assert!(
        draft.words()[0].starts_with("warning: Object could not be read: mock_object.a could not be read"),
        "{:?}",
        draft.words()
    );
    lab.world.fail(Verb::Read, "mock_object.a", How::Refused(ErrorKind::Forbidden), 1);
    let draft = lab.plan(TWO_BRANCHES).await;
    assert!(draft.plan.errored);
    assert!(draft.words()[0].starts_with("error: Object may not be read: "), "{:?}", draft.words());
}

#[tokio::test]
async fn a_plan_that_a_provider_refuses_is_errored_and_the_rest_is_planned() {
    let lab = Lab::new(&World::default());
    lab.world.refuse(Verb::Plan, "mock_object.a");
    let draft = lab.plan(TWO_BRANCHES).await;
    assert!(draft.plan.errored);
    assert_eq!(
        draft.words(),
        ["error: The world refused: the world refused to plan mock_object.a. (main.tf:1)"],
        "what hangs on it is not told again"
    );
    assert_eq!(draft.changes(), ["create mock_object.c (new)", "create mock_object.d (new)"]);
}
