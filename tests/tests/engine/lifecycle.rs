//! What happens to an object, and why: each row is one configuration after another in the same world.

use std::sync::Arc;

use engine_model::plan::PlanMode;
use engine_value::Value;
use tests::{
    lab::{How, Lab},
    mock::world::World,
};

/// A configuration: what is planned, what the provider is asked to write, what there is then.
type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);

/// One configuration after another.
async fn check(steps: &[Row<'_>]) {
    let lab = Lab::new(&World::default());
    for (config, changes, writes, objects) in steps {
        let draft = lab.plan(config).await;
        assert_eq!(draft.words(), Vec::<String>::new(), "{config}");
        assert_eq!(draft.changes(), *changes, "{config}");
        assert_eq!(lab.world.take_writes(), Vec::<String>::new(), "a plan writes nothing: {config}");
        lab.apply(config).await.assert_done(config);
        assert_eq!(lab.world.take_writes(), *writes, "{config}");
        let there: Vec<String> = lab.world.contents().objects.into_keys().collect();
        assert_eq!(there, *objects, "{config}");
        lab.assert_settled(config, config).await;
    }
    let last = steps.last().expect("a step").0;
    lab.destroy(last).await.assert_done("destroy");
    assert!(lab.world.contents().objects.is_empty(), "destroy leaves nothing");
    let snapshot = lab.snapshot().await.expect("a state");
    assert!(snapshot.resources().is_empty() && snapshot.outputs.is_empty(), "destroy leaves nothing");
}

const ONE: &str = "resource \"mock_object\" \"a\" {\n  value = \"one\"\n}\n";

#[tokio::test]
async fn an_object_comes_changes_and_goes() {
    check(&[
        (ONE, &["create mock_object.a (new)"], &["create mock_object.a"], &["mock_object.a/1"]),
        (
            "resource \"mock_object\" \"a\" {\n  value = \"two\"\n}\n",
            &["update mock_object.a (configuration value)"],
            &["update mock_object.a"],
            &["mock_object.a/1"],
        ),
        (
            "resource \"mock_object\" \"a\" {\n  value = \"two\"\n  immutable = \"x\"\n}\n",
            &["replace mock_object.a (immutable immutable)"],
            &["delete mock_object.a", "create mock_object.a"],
            &["mock_object.a/2"],
        ),
        (
            "resource \"mock_object\" \"a\" {\n  immutable = \"y\"\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n",
            &["replace, new first, mock_object.a (immutable immutable)"],
            &["create mock_object.a", "delete mock_object.a"],
            &["mock_object.a/3"],
        ),
        (
            "output \"x\" {\n  value = 1\n}\n",
            &["delete mock_object.a (orphan(noresourceconfig))"],
            &["delete mock_object.a"],
            &[],
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_is_no_longer_repeated_is_an_orphan_with_its_reason() {
    let keys = |keys: &str| {
        format!("resource \"mock_object\" \"a\" {{\n  for_each = toset([{keys}])\n  value = each.key\n}}\n")
    };
    let (both, one) = (keys("\"x\", \"y\""), keys("\"y\""));
    check(&[
        (
            &both,
            &["create mock_object.a[\"x\"] (new)", "create mock_object.a[\"y\"] (new)"],
            &["create mock_object.a[\"x\"]", "create mock_object.a[\"y\"]"],
            &["mock_object.a[\"x\"]/1", "mock_object.a[\"y\"]/1"],
        ),
        (
            &one,
            &["delete mock_object.a[\"x\"] (orphan(eachkey))"],
            &["delete mock_object.a[\"x\"]"],
            &["mock_object.a[\"y\"]/1"],
        ),
        (
            "resource \"mock_object\" \"a\" {\n  count = 2\n}\n",
            &[
                "create mock_object.a[0] (new)",
                "create mock_object.a[1] (new)",
                "delete mock_object.a[\"y\"] (orphan(wrongrepetition))",
            ],
            &["create mock_object.a[0]", "create mock_object.a[1]", "delete mock_object.a[\"y\"]"],
            &["mock_object.a[0]/1", "mock_object.a[1]/1"],
        ),
        (
            "resource \"mock_object\" \"a\" {\n  count = 1\n}\n",
            &["delete mock_object.a[1] (orphan(countindex))"],
            &["delete mock_object.a[1]"],
            &["mock_object.a[0]/1"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn drift_is_seen_and_put_right() {
    let lab = Lab::new(&World::default());
    lab.apply(ONE).await.assert_done("the first apply");
    lab.world.drift("mock_object.a/1", "value", "by hand");
    let seen = lab.plan_how(ONE, How { mode: PlanMode::RefreshOnly, ..How::default() }).await;
    assert_eq!(seen.changes(), Vec::<String>::new());
    assert_eq!(seen.plan.drift.len(), 1);
    assert!(seen.plan.changes_anything());
    assert_eq!(lab.plan(ONE).await.changes(), ["update mock_object.a (drift value)"]);
    lab.apply(ONE).await.assert_done("the repair");
    lab.assert_settled(ONE, "repaired").await;

    lab.world.edit(|contents| contents.objects.clear());
    let draft = lab.plan(ONE).await;
    assert_eq!(draft.changes(), ["create mock_object.a (drift )"]);
    assert_eq!(draft.plan.drift.len(), 1);
    lab.apply(ONE).await.assert_done("made again");
    lab.assert_settled(ONE, "made again").await;
}

#[tokio::test]
async fn refresh_only_takes_over_what_was_done_by_hand() {
    let lab = Lab::new(&World::default());
    lab.apply(ONE).await.assert_done("the first apply");
    lab.world.drift("mock_object.a/1", "value", "by hand");
    lab.world.take_writes();
    let refresh = How { mode: PlanMode::RefreshOnly, ..How::default() };
    lab.apply_how(ONE, refresh.clone()).await.assert_done("refresh-only");
    assert_eq!(lab.world.take_writes(), Vec::<String>::new());
    assert!(!lab.plan_how(ONE, refresh).await.plan.changes_anything());
    // What was drift is now what the state has, so it is the configuration that differs.
    assert_eq!(lab.plan(ONE).await.changes(), ["update mock_object.a (configuration value)"]);
}

#[tokio::test]
async fn a_data_source_is_read_at_once_or_when_what_it_needs_is_there() {
    let lab = Lab::new(&World::default());
    lab.world.edit(|contents| {
        contents.values.extend([("k".into(), "found".into()), ("mock_object.a/1".into(), "late".into())])
    });
    let at_once = "data \"mock_value\" \"v\" {\n  key = \"k\"\n}\nresource \"mock_object\" \"a\" {\n  value = data.mock_value.v.result\n}\n";
    let draft = lab.plan(at_once).await;
    assert_eq!(draft.changes(), ["create mock_object.a (new)"]);
    assert_eq!(draft.plan.changes.last().unwrap().after.get("value"), Some(&Value::from("found")));
    lab.apply(at_once).await.assert_done("at once");
    lab.assert_settled(at_once, "at once").await;
    lab.destroy(at_once).await.assert_done("destroy");

    let lab = Lab::new(&World::default());
    lab.world.edit(|contents| contents.values.extend([("mock_object.a/1".into(), "late".into())]));
    let late = "resource \"mock_object\" \"a\" {}\ndata \"mock_value\" \"v\" {\n  key = mock_object.a.id\n}\n\
                resource \"mock_object\" \"b\" {\n  value = data.mock_value.v.result\n}\noutput \"v\" {\n  value = data.mock_value.v.result\n}\n";
    let draft = lab.plan(late).await;
    assert_eq!(
        draft.changes(),
        ["read data.mock_value.v (readunknown)", "create mock_object.a (new)", "create mock_object.b (new)"]
    );
    let run = lab.apply(late).await;
    run.assert_done("late");
    assert_eq!(run.applied().snapshot.outputs["v"].decoded().unwrap(), Value::from("late"));
    lab.assert_settled(late, "late").await;
}

#[tokio::test]
async fn a_data_source_behind_depends_on_waits_for_changes_alone() {
    let lab = Lab::new(&World::default());
    lab.world.edit(|contents| contents.values.extend([("k".into(), "found".into())]));
    let config = |value: &str| {
        format!(
            "resource \"mock_object\" \"a\" {{\n  value = \"{value}\"\n}}\ndata \"mock_value\" \"v\" {{\n  key = \"k\"\n  depends_on = [mock_object.a]\n}}\n"
        )
    };
    assert_eq!(
        lab.plan(&config("x")).await.changes(),
        ["read data.mock_value.v (readpending)", "create mock_object.a (new)"]
    );
    lab.apply(&config("x")).await.assert_done("the first apply");
    lab.assert_settled(&config("x"), "nothing pending").await;
    assert_eq!(
        lab.plan(&config("y")).await.changes(),
        ["read data.mock_value.v (readpending)", "update mock_object.a (configuration value)"]
    );
}

#[tokio::test]
async fn unknown_values_become_known_on_the_way() {
    let lab = Lab::new(&World::default());
    let config = "resource \"mock_object\" \"a\" {\n  value = \"abc\"\n}\nresource \"mock_object\" \"b\" {\n  value = \"of ${mock_object.a.id}\"\n  number = mock_object.a.size\n}\noutput \"o\" {\n  value = mock_object.b.value\n}\n";
    lab.apply(config).await.assert_done("the first apply");
    let object = &lab.world.contents().objects["mock_object.b/1"];
    assert_eq!(object.arguments["value"], Value::from("of mock_object.a/1"));
    assert_eq!(object.arguments["number"], Value::int(3));
    assert_eq!(lab.snapshot().await.unwrap().outputs["o"].decoded().unwrap(), Value::from("of mock_object.a/1"));
    lab.assert_settled(config, "unknowns").await;
}

#[tokio::test]
async fn replace_and_taint_make_an_object_anew() {
    let lab = Lab::new(&World::default());
    lab.apply(ONE).await.assert_done("the first apply");
    let how = How { replace: vec!["mock_object.a".parse().unwrap()], ..How::default() };
    assert_eq!(lab.plan_how(ONE, how.clone()).await.changes(), ["replace mock_object.a (requested)"]);
    lab.apply_how(ONE, how).await.assert_done("-replace");
    let there: Vec<String> = lab.world.contents().objects.into_keys().collect();
    assert_eq!(there, ["mock_object.a/2"]);
    lab.assert_settled(ONE, "-replace").await;
}

#[tokio::test]
async fn prevent_destroy_refuses_whatever_would_destroy() {
    let lab = Lab::new(&World::default());
    let kept = |immutable: &str| {
        format!(
            "resource \"mock_object\" \"a\" {{\n  immutable = \"{immutable}\"\n  lifecycle {{\n    prevent_destroy = true\n  }}\n}}\n"
        )
    };
    lab.apply(&kept("x")).await.assert_done("the first apply");
    let expected =
        "error: Instance cannot be destroyed: mock_object.a has prevent_destroy set, and this plan would destroy it.";
    for draft in [lab.plan(&kept("y")).await, lab.plan_how(&kept("x"), How::destroy()).await] {
        assert!(draft.plan.errored);
        let words = draft.words();
        assert_eq!(words.len(), 1, "{words:?}");
        assert!(words[0].starts_with(expected), "{words:?}");
        assert!(words[0].ends_with("(main.tf:4)"), "{words:?}");
    }
    lab.assert_settled(&kept("x"), "nothing was done").await;
}

#[tokio::test]
async fn a_target_is_planned_with_what_it_needs_and_nothing_else() {
    let lab = Lab::new(&World::default());
    let config = "resource \"mock_object\" \"a\" {}\nresource \"mock_object\" \"b\" {\n  value = mock_object.a.id\n}\nresource \"mock_object\" \"c\" {}\n";
    let how = |target: &str| How { targets: vec![target.parse().unwrap()], ..How::default() };
    let draft = lab.plan_how(config, how("mock_object.b")).await;
    assert_eq!(draft.changes(), ["create mock_object.a (new)", "create mock_object.b (new)"]);
    assert!(draft.plan.incomplete.is_some());
    let typo = lab.plan_how(config, how("mock_object.d")).await;
    assert!(typo.plan.errored, "a target that names nothing");
}

#[tokio::test]
async fn an_alias_is_a_provider_of_its_own() {
    let lab = Lab::new(&World::default());
    let config = "provider \"mock\" {}\nprovider \"mock\" {\n  alias = \"west\"\n  cluster = \"cluster-2\"\n}\nresource \"mock_object\" \"a\" {}\nresource \"mock_object\" \"b\" {\n  provider = mock.west\n}\n";
    lab.apply(config).await.assert_done("the first apply");
    let clusters = lab.snapshot().await.unwrap().clusters;
    let clusters: Vec<String> = clusters.iter().map(|(provider, cluster)| format!("{provider}: {cluster}")).collect();
    assert_eq!(
        clusters,
        [
            "provider[\"registry.terraform.io/hashicorp/mock\"]: cluster-1",
            "provider[\"registry.terraform.io/hashicorp/mock\"].west: cluster-2"
        ]
    );
    lab.assert_settled(config, "aliases").await;
    lab.destroy(config).await.assert_done("destroy");
}

#[tokio::test]
async fn another_cluster_behind_the_same_provider_stops_the_run_before_it_reads() {
    let lab = Lab::new(&World::default());
    let config = |cluster: &str| format!("provider \"mock\" {{\n  cluster = \"{cluster}\"\n}}\n{ONE}");
    lab.apply(&config("cluster-1")).await.assert_done("the first apply");
    let calls = lab.world.calls().len();
    let draft = lab.plan(&config("cluster-2")).await;
    assert!(draft.plan.errored);
    let words = draft.words();
    assert!(words[0].starts_with("error: Another cluster: "), "{words:?}");
    let calls: Vec<String> = lab.world.calls()[calls..].iter().map(ToString::to_string).collect();
    assert!(!calls.iter().any(|call| call.starts_with("read") || call.starts_with("plan")), "{calls:?}");
}

#[tokio::test]
async fn a_plan_for_another_cluster_does_not_bind_the_state_to_it() {
    let lab = Lab::new(&World::default());
    let mut draft = lab.plan(ONE).await;
    // As if the cluster had been made anew between plan and apply.
    let mut plan = (*draft.plan).clone();
    plan.clusters.values_mut().for_each(|cluster| *cluster = "cluster-0".into());
    draft.plan = Arc::new(plan);
    let words = lab.apply_draft(&draft).await.unwrap().words();
    assert!(words[0].starts_with("error: Another cluster: "), "{words:?}");
    assert_eq!(lab.world.contents().objects.len(), 0);
    lab.apply(ONE).await.assert_done("a plan for the cluster that is there");
    let clusters = lab.snapshot().await.unwrap().clusters;
    assert_eq!(clusters.into_values().map(|cluster| cluster.to_string()).collect::<Vec<_>>(), ["cluster-1"]);
}

#[tokio::test]
async fn a_provider_that_is_known_only_at_apply_is_held_to_the_cluster_of_the_state() {
    let lab = Lab::new(&World::default());
    let config = |cluster: &str, more: &str| {
        format!(
            "provider \"mock\" {{}}\nprovider \"mock\" {{\n  alias = \"west\"\n  cluster = {cluster}\n}}\nresource \
             \"mock_object\" \"a\" {{\n  provider = mock.west\n}}\n{more}"
        )
    };
    lab.apply(&config("\"cluster-1\"", "")).await.assert_done("the first apply");
    let more = "resource \"mock_object\" \"x\" {}\nresource \"mock_object\" \"b\" {\n  provider = mock.west\n}\n";
    let draft = lab.plan(&config("mock_object.x.id", more)).await;
    assert!(!draft.plan.errored, "{:?}", draft.words());
    let words = lab.apply_draft(&draft).await.unwrap().words();
    assert!(words.iter().any(|word| word.starts_with("error: Another cluster: ")), "{words:?}");
    let objects: Vec<String> = lab.world.contents().objects.keys().map(ToString::to_string).collect();
    assert_eq!(objects.len(), 2, "nothing was made there: {objects:?}");
}

#[tokio::test]
async fn a_plan_is_applied_once_and_only_to_the_state_that_it_was_made_from() {
    let lab = Lab::new(&World::default());
    let (first, second) = (lab.plan(ONE).await, lab.plan(ONE).await);
    lab.apply_draft(&first).await.unwrap().assert_done("the plan");
    assert_eq!(
        lab.apply_draft(&first).await.err().unwrap(),
        "This plan has been applied already, or its apply was begun."
    );
    assert!(lab.apply_draft(&second).await.is_err());
    lab.assert_settled(ONE, "stale plans").await;
}

#[tokio::test]
async fn modules_count_and_for_each_come_and_go_together() {
    let both = "module \"m\" {\n  source = \"./m\"\n  for_each = toset([\"x\", \"y\"])\n  name = each.key\n}\noutput \"ids\" {\n  value = [for m in module.m : m.id]\n}\n";
    let one = both.replace("\"x\", \"y\"", "\"y\"");
    let module = "variable \"name\" {\n  type = string\n}\nresource \"mock_object\" \"a\" {\n  count = 2\n  value = \"${var.name}${count.index}\"\n}\noutput \"id\" {\n  value = mock_object.a[1].id\n}\n";
    let lab = Lab::new(&World::default());
    let files = |root: &str| format!("{root}-- m/main.tf --\n{module}");
    lab.apply(&files(both)).await.assert_done("both");
    assert_eq!(lab.world.contents().objects.len(), 4);
    let draft = lab.plan(&files(&one)).await;
    assert_eq!(
        draft.changes(),
        [
            "delete module.m[\"x\"].mock_object.a[0] (orphan(nomodule))",
            "delete module.m[\"x\"].mock_object.a[1] (orphan(nomodule))"
        ]
    );
    lab.apply(&files(&one)).await.assert_done("one");
    assert_eq!(lab.world.contents().objects.len(), 2);
    lab.assert_settled(&files(&one), "one").await;
}
