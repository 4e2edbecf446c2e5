//! Operations on nodes: holds, waves, gates, what is left unfinished, what is taken over.

use engine_model::{event::Event, execution::Step, name::NodeName, operation::Victim};
use providers_api::ErrorKind;
use tests::{
    lab::Lab,
    mock::{call::Verb, fault::How, world::World},
};

fn world(count: usize) -> World {
    let names: Vec<String> = (1..=count).map(|i| format!("n{i}")).collect();
    World::with_nodes(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

fn list(nodes: &[usize]) -> String {
    nodes.iter().map(|i| format!("\"n{i}\"")).collect::<Vec<_>>().join(", ")
}

/// A provider that may hold so many nodes, and resources by name, setting and nodes.
fn config(most: &str, resources: &[(&str, &str, &[usize], &str)]) -> String {
    let mut text = format!("provider \"mock\" {{\n  max_unavailable = \"{most}\"\n}}\n");
    for (name, to, nodes, more) in resources {
        text.push_str(&format!(
            "resource \"mock_node_change\" \"{name}\" {{\n  setting = \"{name}\"\n  to = \"{to}\"\n  nodes = [{}]\n{more}}}\n",
            list(nodes)
        ));
    }
    text
}

fn settings(world: &World, setting: &str) -> Vec<String> {
    let contents = world.contents();
    let set =
        contents.nodes.iter().filter_map(|(name, node)| node.settings.get(setting).map(|to| format!("{name}={to}")));
    set.collect()
}

fn held(world: &World) -> Vec<String> {
    let contents = world.contents();
    contents.nodes.iter().filter(|(_, node)| node.held_by.is_some()).map(|(name, _)| name.to_string()).collect()
}

#[tokio::test]
async fn two_resources_that_meet_hold_each_node_once() {
    let lab = Lab::new(&world(3));
    let config = config("1", &[("a", "x", &[1, 2, 3], ""), ("b", "y", &[1, 2, 3], "")]);
    let draft = lab.plan(&config).await;
    assert_eq!(draft.words(), Vec::<String>::new());
    assert_eq!((draft.plan.operations.len(), draft.plan.holds.len()), (6, 3));
    assert_eq!(draft.waves(), ["n1", "n2", "n3"]);
    lab.apply(&config).await.assert_done("the first apply");
    let mut writes = lab.world.take_writes();
    // The two operations on a node have no order between them.
    writes.chunks_mut(4).for_each(|node| node[1..3].sort());
    let node = |i: usize| {
        [
            format!("hold n{i}"),
            format!("operate set a to x on n{i}"),
            format!("operate set b to y on n{i}"),
            format!("release n{i}"),
        ]
    };
    assert_eq!(writes, [node(1), node(2), node(3)].concat());
    assert_eq!(lab.world.most_held(), 1);
    lab.assert_settled(&config, "three waves").await;
    lab.destroy(&config).await.assert_done("destroy");
    assert_eq!((settings(&lab.world, "a"), settings(&lab.world, "b")), (Vec::new(), Vec::new()));
    assert!(lab.snapshot().await.unwrap().resources().is_empty());
}

#[tokio::test]
async fn a_failed_gate_leaves_later_nodes_without_a_single_write() {
    let lab = Lab::new(&world(3));
    let config = config("1", &[("a", "x", &[1, 2, 3], ""), ("b", "y", &[1, 2, 3], "")]);
    lab.world.edit(|contents| contents.nodes.get_mut(&NodeName::from("n1")).unwrap().ill = Some("no kubelet".into()));
    let run = lab.apply(&config).await;
    let words = run.words();
    assert!(
        words[0].starts_with("error: Wave 1 is not healthy: n1: no kubelet. The 2 nodes of later waves"),
        "{words:#?}"
    );
    let writes = lab.world.take_writes();
    assert!(writes.iter().all(|write| write.ends_with("n1")), "{writes:?}");
    assert_eq!(writes.len(), 3, "the node stays held: {writes:?}");
    assert_eq!(held(&lab.world), ["n1"]);
    assert_eq!(run.applied().snapshot.held.len(), 1);

    // The node is well again: the next plan goes on, takes the hold over, and gives the node back.
    lab.world.heal();
    let draft = lab.plan(&config).await;
    assert_eq!(
        draft.changes(),
        [
            "update mock_node_change.a (unfinished: 1 of 3 nodes)",
            "update mock_node_change.b (unfinished: 1 of 3 nodes)"
        ]
    );
    lab.apply(&config).await.assert_done("going on");
    assert_eq!(held(&lab.world), Vec::<String>::new());
    assert_eq!(lab.snapshot().await.unwrap().held.len(), 0);
    assert_eq!(settings(&lab.world, "a"), ["n1=x", "n2=x", "n3=x"]);
    lab.assert_settled(&config, "after the gate").await;
}

#[tokio::test]
async fn three_of_ten_nodes_done_are_known_and_the_next_run_does_the_other_seven() {
    let lab = Lab::new(&world(10));
    let nodes: Vec<usize> = (1..=10).collect();
    let config = config("1", &[("a", "x", &nodes, "")]);
    let fourth = lab.plan(&config).await.waves()[3].clone();
    lab.world.fail(Verb::Operate, &format!("set a to x on {fourth}"), How::Refused(ErrorKind::Timeout), 1);
    let run = lab.apply(&config).await;
    let words = run.words();
    assert!(words[0].starts_with(&format!("error: Error on {fourth}: set a to x: ")), "{words:#?}");
    assert!(words[1].contains("3 of 10 operations of mock_node_change.a are done"), "{words:#?}");
    assert!(words[1].contains(&format!("{fourth} is still held")), "{words:#?}");
    // The state has the approved configuration, and what each node is.
    let stored = lab.snapshot().await.unwrap();
    let object = stored.current(&"mock_node_change.a".parse().unwrap()).unwrap();
    let text = object.attributes.to_string();
    assert_eq!(text.matches("\":\"x\"").count(), 3 + 1, "three nodes, and `to`: {text}");
    assert_eq!(text.matches("\"n").count() - 1, 10 + 3, "ten nodes, three of them done: {text}");

    lab.world.take_writes();
    let draft = lab.plan(&config).await;
    assert_eq!(draft.changes(), ["update mock_node_change.a (unfinished: 3 of 10 nodes)"]);
    assert_eq!(draft.plan.operations.len(), 7);
    lab.apply(&config).await.assert_done("the other seven");
    let writes = lab.world.take_writes();
    assert_eq!(writes.iter().filter(|write| write.starts_with("operate")).count(), 7, "{writes:?}");
    assert_eq!(held(&lab.world), Vec::<String>::new());
    lab.assert_settled(&config, "ten nodes").await;
}

#[tokio::test]
async fn holds_stay_within_the_budget() {
    for (most, domains, unavailable, expected) in [
        ("1", false, 0, vec!["n1", "n2", "n3", "n4", "n5", "n6"]),
        ("2", false, 0, vec!["n1 n2", "n3 n4", "n5 n6"]),
        ("50%", false, 0, vec!["n1 n2 n3", "n4 n5 n6"]),
        ("10%", false, 0, vec!["n1", "n2", "n3", "n4", "n5", "n6"]),
        // Odd and even nodes are two domains: a wave stays inside one.
        ("2", true, 0, vec!["n1 n3", "n2 n4", "n5", "n6"]),
        ("3", false, 1, vec!["n1 n2", "n3 n4", "n5 n6"]),
    ] {
        let lab = Lab::new(&world(6));
        lab.world.edit(|contents| {
            for (i, node) in contents.nodes.values_mut().enumerate() {
                node.domain = domains.then(|| format!("zone-{}", i % 2));
            }
            for i in 0..unavailable {
                let away = tests::mock::world::Node { unavailable: true, ..Default::default() };
                contents.nodes.insert(format!("away{i}").as_str().into(), away);
            }
        });
        let mut config = config(most, &[("a", "x", &[1, 2, 3, 4, 5, 6], "")]);
        if domains {
            config = config.replace("max_unavailable", "failure_domain = \"zone\"\n  max_unavailable");
        }
        let mut waves = lab.plan(&config).await.waves();
        waves.sort();
        let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        expected.sort();
        assert_eq!(waves, expected, "{most}, domains {domains}, {unavailable} away");
        lab.apply(&config).await.assert_done(most);
        let most_held = expected.iter().map(|wave| wave.split(' ').count()).max().unwrap();
        assert_eq!(lab.world.most_held(), most_held, "{most}, domains {domains}, {unavailable} away");
    }
}

#[tokio::test]
async fn a_budget_that_others_have_used_up_stops_apply() {
    for (away, expected) in [(0, false), (1, true)] {
        let lab = Lab::new(&world(2));
        lab.world.edit(|contents| {
            for i in 0..away {
                let away = tests::mock::world::Node { unavailable: true, ..Default::default() };
                contents.nodes.insert(format!("away{i}").as_str().into(), away);
            }
        });
        let draft = lab.plan(&config("1", &[("a", "x", &[1, 2], "")])).await;
        assert_eq!(engine_apply::used_up(&draft.plan), expected, "{:?}", draft.plan.review.findings);
    }
}

#[tokio::test]
async fn a_node_that_is_still_ill_is_not_given_back() {
    let lab = Lab::new(&world(2));
    let config = config("1", &[("a", "x", &[1, 2], "")]);
    lab.world.edit(|contents| contents.nodes.get_mut(&NodeName::from("n1")).unwrap().ill = Some("no kubelet".into()));
    assert!(!lab.apply(&config).await.words().is_empty());
    // Nothing is left to do on n1, so no gate stands before its release.
    assert_eq!(lab.plan(&config).await.plan.given_back.len(), 1);
    let words = lab.apply(&config).await.words();
    assert!(words[0].contains("n1 is not healthy"), "{words:#?}");
    assert_eq!(held(&lab.world), ["n1"]);
    assert_eq!(settings(&lab.world, "a"), ["n1=x"], "later nodes wait until it is well");
    lab.world.heal();
    lab.apply(&config).await.assert_done("healed");
    lab.assert_settled(&config, "healed").await;
}

#[tokio::test]
async fn nodes_that_are_still_held_use_up_the_budget() {
    let config = config("1", &[("a", "x", &[1, 2, 3], "")]);
    // What is done on the node and it could not be given back; what is not done on it.
    for (verb, about) in [(Verb::Release, "n2"), (Verb::Operate, "set a to x on n2")] {
        let lab = Lab::new(&world(3));
        lab.world.edit(|contents| {
            drop(contents.nodes.get_mut(&NodeName::from("n1")).unwrap().settings.insert("a".into(), "x".into()))
        });
        lab.world.fail(verb, about, How::Refused(ErrorKind::Permanent), 1);
        assert!(!lab.apply(&config).await.words().is_empty());
        assert_eq!(held(&lab.world), ["n2"]);
        // Somebody undid n1, which would be first.
        lab.world.edit(|contents| contents.nodes.get_mut(&NodeName::from("n1")).unwrap().settings.clear());
        lab.apply(&config).await.assert_done("going on");
        assert_eq!(lab.world.most_held(), 1, "{about}");
        assert_eq!(held(&lab.world), Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_disrupts_nobody_holds_nobody() {
    let lab = Lab::new(&world(3));
    let config = config("1", &[("a", "x", &[1, 2, 3], "  kind = \"none\"\n")]);
    let draft = lab.plan(&config).await;
    assert_eq!((draft.plan.operations.len(), draft.plan.holds.len(), draft.plan.waves.len()), (3, 0, 0));
    lab.apply(&config).await.assert_done("the first apply");
    assert_eq!(lab.world.most_held(), 0);
    lab.assert_settled(&config, "no holds").await;
}

#[tokio::test]
async fn a_dependency_between_two_resources_holds_on_every_node() {
    let lab = Lab::new(&world(2));
    let config = config("2", &[("a", "x", &[1, 2], "  depends_on = [mock_node_change.b]\n"), ("b", "y", &[1, 2], "")]);
    let draft = lab.plan(&config).await;
    assert_eq!(draft.words(), Vec::<String>::new());
    assert_eq!(draft.waves(), ["n1 n2"], "one hold per node, although one depends on the other");
    let step = |setting: &str, node: &str| {
        let on_node =
            |o: &&engine_model::operation::Operation| o.node.as_str() == node && o.id.as_str().starts_with(setting);
        Step::Operation(draft.plan.operations.iter().find(on_node).unwrap().id.clone())
    };
    for node in ["n1", "n2"] {
        assert!(draft.comes_before(&step("b", node), &step("a", node)), "{node}");
    }
    lab.apply(&config).await.assert_done("the first apply");
    lab.assert_settled(&config, "projected").await;
    // On the way back it is the other way round, on every node again.
    lab.world.take_writes();
    lab.destroy(&config).await.assert_done("destroy");
    let writes = lab.world.take_writes();
    for node in ["n1", "n2"] {
        let at =
            |what: &str| writes.iter().position(|write| *write == format!("operate set {what} to nothing on {node}"));
        assert!(at("a").unwrap() < at("b").unwrap(), "{node}: {writes:?}");
    }
    assert_eq!(writes.iter().filter(|write| write.starts_with("hold")).count(), 2, "{writes:?}");
}

#[tokio::test]
async fn one_of_two_that_meet_goes_and_the_other_stays() {
    let lab = Lab::new(&world(2));
    let both = config("2", &[("a", "x", &[1, 2], "  depends_on = [mock_node_change.b]\n"), ("b", "y", &[1, 2], "")]);
    lab.apply(&both).await.assert_done("both");
    // What depended on it goes, and it changes itself; what it depended on goes, and it lets go of it and changes.
    for rest in [config("2", &[("b", "z", &[1, 2], "")]), config("2", &[("a", "z", &[1, 2], "")])] {
        let next =
            Lab::with(&lab.world.copy(), std::sync::Arc::new(state::MemoryStore::new(lab.snapshot().await)), None);
        let draft = next.plan(&rest).await;
        assert_eq!(draft.words(), Vec::<String>::new());
        assert_eq!(draft.plan.holds.len(), 2, "one hold per node");
        next.apply(&rest).await.assert_done("one");
        next.assert_settled(&rest, "one").await;
    }
}

#[tokio::test]
async fn nodes_that_depend_on_each_other_crosswise_are_an_error_that_names_the_cycle() {
    let lab = Lab::new(&world(2));
    let after = |name: &str| format!("  depends_on = [mock_object.{name}]\n");
    let mut config = config(
        "2",
        &[("a", "x", &[1], ""), ("b", "x", &[2], &after("ab")), ("c", "x", &[2], ""), ("d", "x", &[1], &after("cd"))],
    );
    // Each object needs all of one change, and the other change needs it before its first hold.
    for (object, needs) in [("ab", "a"), ("cd", "c")] {
        config.push_str(&format!(
            "resource \"mock_object\" \"{object}\" {{\n  map = mock_node_change.{needs}.applied\n}}\n"
        ));
    }
    let draft = lab.plan(&config).await;
    assert!(draft.plan.errored);
    let words = draft.words();
    assert_eq!(words.len(), 1, "{words:#?}");
    assert!(words[0].starts_with("error: Cycle: "), "{words:?}");
    for part in ["hold of n1", "hold of n2", "mock_object.ab", "mock_object.cd"] {
        assert!(words[0].contains(part), "{part}: {words:?}");
    }
    assert_eq!(lab.world.take_writes(), Vec::<String>::new());
}

#[tokio::test]
async fn two_policies_for_one_cluster_are_an_error() {
    let lab = Lab::new(&world(2));
    let config = "provider \"mock\" {\n  max_unavailable = \"1\"\n}\nprovider \"mock\" {\n  alias = \"b\"\n  max_unavailable = \"2\"\n}\n\
        resource \"mock_node_change\" \"a\" {\n  setting = \"a\"\n  to = \"x\"\n  nodes = [\"n1\"]\n}\n\
        resource \"mock_node_change\" \"b\" {\n  provider = mock.b\n  setting = \"b\"\n  to = \"x\"\n  nodes = [\"n2\"]\n}\n";
    let draft = lab.plan(config).await;
    assert!(draft.plan.errored);
    assert!(draft.words()[0].starts_with("error: Two disruption policies for one cluster"), "{:?}", draft.words());
}

#[tokio::test]
async fn operations_of_an_aliased_provider_are_carried_out_by_it() {
    let lab = Lab::new(&world(2));
    let config = "provider \"mock\" {\n  alias = \"b\"\n  max_unavailable = \"1\"\n}\n\
        resource \"mock_node_change\" \"b\" {\n  provider = mock.b\n  setting = \"b\"\n  to = \"x\"\n  nodes = [\"n1\", \"n2\"]\n}\n";
    lab.apply(config).await.assert_done("the first apply");
    assert_eq!(settings(&lab.world, "b"), ["n1=x", "n2=x"]);
    lab.assert_settled(config, "an alias").await;
}

#[tokio::test]
async fn a_resource_with_operations_is_never_replaced() {
    let lab = Lab::new(&world(1));
    let plain = config("1", &[("a", "x", &[1], "")]);
    lab.apply(&plain).await.assert_done("the first apply");
    let how = tests::lab::How { replace: vec!["mock_node_change.a".parse().unwrap()], ..Default::default() };
    let draft = lab.plan_how(&plain, how).await;
    assert!(draft.words()[0].starts_with("error: Resource cannot be replaced: "), "{:?}", draft.words());
    let before = config("1", &[("a", "x", &[1], "  lifecycle {\n    create_before_destroy = true\n  }\n")]);
    let draft = lab.plan(&before).await;
    assert!(
        draft.words()[0].starts_with("error: Resource cannot be created before it is destroyed"),
        "{:?}",
        draft.words()
    );
}

#[tokio::test]
async fn exactly_the_victims_of_the_plan_are_evicted() {
    let pod = |name: &str| Victim {
        namespace: "team".into(),
        owner_kind: "job".into(),
        owner_name: name.into(),
        priority: 0,
        count: 1,
    };
    let lab = Lab::new(&world(2));
    let put = |node: &str, name: &str| {
        lab.world.edit(|contents| contents.nodes.get_mut(&NodeName::from(node)).unwrap().pods.push(pod(name)));
    };
    put("n1", "train");
    let config = config("1", &[("a", "x", &[1, 2], "")]);
    let draft = lab.plan(&config).await;
    let victims: Vec<String> = draft
        .plan
        .holds
        .iter()
        .map(|hold| format!("{}: {:?}", hold.node, hold.victims.iter().map(Victim::owner).collect::<Vec<_>>()))
        .collect();
    assert_eq!(victims, ["n1: [\"team/job/train\"]", "n2: []"]);
    // Somebody else comes between approval and apply: that node stops, and its operation is not made.
    put("n2", "late");
    let run = lab.apply_draft(&draft).await.unwrap();
    assert!(run.words()[0].contains("team/job/late was not among the victims"), "{:#?}", run.words());
    assert_eq!(settings(&lab.world, "a"), ["n1=x"]);
    assert_eq!(lab.world.contents().nodes[&NodeName::from("n2")].pods.len(), 1);
}

#[tokio::test]
async fn excluded_nodes_are_listed_and_left_alone() {
    let lab = Lab::new(&world(2));
    let config = config("1", &[("a", "x", &[1, 2, 9], "")]);
    lab.world.edit(|contents| {
        contents.nodes.get_mut(&NodeName::from("n2")).unwrap().excluded =
            Some(engine_model::operation::ExclusionReason::AgentDown);
    });
    let draft = lab.plan(&config).await;
    let excluded: Vec<String> = draft.plan.excluded.iter().map(|e| format!("{} {:?}", e.node, e.why)).collect();
    assert_eq!(excluded, ["n2 AgentDown", "n9 Vanished"]);
    lab.apply(&config).await.assert_done("the first apply");
    assert_eq!(settings(&lab.world, "a"), ["n1=x"]);
    // Left alone is no drift, and nothing to do.
    lab.assert_settled(&config, "two excluded").await;
    lab.world.edit(|contents| contents.nodes.get_mut(&NodeName::from("n2")).unwrap().excluded = None);
    assert_eq!(lab.plan(&config).await.plan.operations.len(), 1, "it is back");
}

#[tokio::test]
async fn what_needs_a_change_on_nodes_waits_until_the_last_node_is_settled() {
    let lab = Lab::new(&world(2));
    let mut text = config("1", &[("a", "x", &[1, 2], "  depends_on = [mock_object.before]\n")]);
    text.push_str("resource \"mock_object\" \"before\" {}\nresource \"mock_object\" \"after\" {\n  map = mock_node_change.a.applied\n}\n");
    lab.apply(&text).await.assert_done("the first apply");
    let writes = lab.world.take_writes();
    assert_eq!(writes.first().unwrap(), "create mock_object.before");
    assert_eq!(writes.last().unwrap(), "create mock_object.after");
    assert_eq!(writes.len(), 2 + 6, "{writes:?}");
    lab.assert_settled(&text, "before and after").await;
}

#[tokio::test]
async fn an_interrupt_in_a_wave_ends_the_node_and_starts_no_other() {
    let lab = Lab::new(&world(3));
    let config = config("1", &[("a", "x", &[1, 2, 3], "")]);
    let cancel = lab.cancel.clone();
    lab.world.when(Verb::Operate, "set a to x on n1", move |_| cancel.cancel());
    let run = lab.apply(&config).await;
    assert_eq!(run.applied().stopped, Some(engine_apply::Stop::Interrupted));
    assert!(run.events.contains(&Event::Interrupted));
    assert_eq!(settings(&lab.world, "a"), ["n1=x"], "what was running came to its end");
    let writes = lab.world.take_writes();
    assert!(writes.iter().all(|write| write.ends_with("n1")), "{writes:?}");

    let stored = lab.snapshot().await.unwrap();
    let text = stored.current(&"mock_node_change.a".parse().unwrap()).unwrap().attributes.to_string();
    assert_eq!(text.matches("\":\"x\"").count(), 1 + 1, "what is done is in the state, and `to`: {text}");

    let next = Lab { cancel: Default::default(), ..lab.clone() };
    assert_eq!(next.plan(&config).await.changes(), ["update mock_node_change.a (unfinished: 1 of 3 nodes)"]);
    next.apply(&config).await.assert_done("going on");
    assert_eq!(held(&lab.world), Vec::<String>::new());
    next.assert_settled(&config, "after the interrupt").await;
}

#[tokio::test]
async fn unfinished_work_that_is_no_longer_wanted_is_given_up_and_the_node_given_back() {
    let lab = Lab::new(&world(3));
    let wanted = config("1", &[("a", "x", &[1, 2, 3], "")]);
    lab.world.fail(Verb::Operate, "set a to x on n1", How::Refused(ErrorKind::Permanent), 1);
    let run = lab.apply(&wanted).await;
    assert!(!run.words().is_empty());
    assert_eq!(held(&lab.world), ["n1"]);
    // Another configuration: nothing is to be done on n1 any more.
    let other = config("1", &[("a", "x", &[2, 3], "")]);
    let draft = lab.plan(&other).await;
    assert_eq!(draft.words(), Vec::<String>::new());
    assert_eq!(draft.plan.given_back.len(), 1, "{:?}", draft.plan.given_back);
    lab.apply(&other).await.assert_done("the other");
    assert_eq!(held(&lab.world), Vec::<String>::new());
    assert_eq!(lab.snapshot().await.unwrap().held.len(), 0);
    lab.assert_settled(&other, "given back").await;
}
