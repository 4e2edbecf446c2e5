//! What goes wrong between the provider and a server, over real HTTP: it converges, or there is one clear error.

use std::{sync::Arc, time::Duration};

use engine_value::Value;
use http::Method;
use providers_api::{ErrorKind, Provider, ReadAnswer, ReadRequest};
use providers_sandbox::api::{AUTHENTICATED, Cause, Effect, Failure, Fault, Rbac, Renewal, User, When, Which};
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

use crate::world::{World, addr, value};

const TYPE: &str = "kubernetes_manifest";

fn map(namespace: &str, name: &str, value: &str) -> Json {
    let metadata = json!({"name": name, "namespace": namespace});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": value}})
}

fn requests(world: &World, maps: impl IntoIterator<Item = (String, String)>) -> Vec<ReadRequest> {
    let request = |(namespace, name): (String, String)| {
        let object = world.manifest(map(&namespace, &name, "1"));
        ReadRequest { addr: addr(TYPE), object, private: Vec::new() }
    };
    maps.into_iter().map(request).collect()
}

fn verbs(world: &World) -> Vec<(&'static str, String)> {
    let calls = world.running.api().calls().take();
    calls.into_iter().filter(|call| call.path.contains("configmaps")).map(|call| (call.verb, call.path)).collect()
}

/// Waits until so many requests were struck.
async fn struck(world: &World, times: u32) {
    let until = tokio::time::Instant::now() + Duration::from_secs(30);
    while world.running.api().faults().struck() < times {
        assert!(tokio::time::Instant::now() < until, "nothing was struck");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Faults that pass, each at every verb that a run uses.
fn passing() -> Vec<(&'static str, Effect)> {
    let before = |failure| Effect::Answer(When::Before, failure);
    vec![
        ("throttled", before(Failure::throttled(1))),
        ("busy", before(Failure::too_many_requests("later", &[]).with_retry_after(1))),
        ("unavailable", before(Failure::unavailable("starting"))),
        ("internal", before(Failure::internal("etcdserver: leader changed"))),
        ("timed out", before(Failure::timed_out())),
        ("timed out, and done", Effect::Answer(When::After, Failure::timed_out())),
        ("reset", Effect::Reset(When::Before)),
        ("reset, and done", Effect::Reset(When::After)),
        ("cut off", Effect::Cut(20)),
    ]
}

#[tokio::test]
async fn what_passes_is_waited_for() {
    let mut all = JoinSet::new();
    for (name, effect) in passing() {
        all.spawn(async move {
            let world = World::new().await;
            let faults = world.running.api().faults();
            let strike = |verb: &str, dry_run: bool| {
                let which = Which { dry_run: Some(dry_run), ..Which::new(verb, "configmaps") };
                faults.add(Fault::once(which, effect.clone()));
            };
            // A creation: planned, looked at, applied.
            strike("apply", true);
            strike("apply", false);
            strike("get", false);
            let created = world.apply(TYPE, None, &world.manifest(map("default", "a", "1"))).await;
            assert_eq!(faults.pending(), 0, "{name}");
            // An update, whose answer may be lost: read, planned, looked at, applied.
            strike("apply", true);
            strike("apply", false);
            strike("get", false);
            let changed = world.apply(TYPE, Some(&created), &world.manifest(map("default", "a", "2"))).await;
            assert_eq!(faults.pending(), 0, "{name}");
            let live = world.live("/api/v1/namespaces/default/configmaps/a").unwrap();
            assert_eq!(live["data"]["k"], "2", "{name}");
            strike("delete", false);
            let gone = world.destroy(TYPE, changed).await;
            assert!(gone.error.is_none(), "{name}: {:?}", gone.error);
            assert_eq!(world.live("/api/v1/namespaces/default/configmaps/a"), None, "{name}");
            assert_eq!(faults.pending(), 0, "{name}");
        });
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_restarts_while_an_object_is_applied_is_waited_for() {
    let world = World::new().await;
    let config = world.manifest(map("default", "a", "1"));
    let (before, planned) = world.plan(TYPE, None, &config).await;
    world.running.go_down().await;
    let (outcome, ()) = tokio::join!(world.carry_out(TYPE, before, planned.unwrap().object), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        world.running.come_back(Renewal::Certificate).await.unwrap();
    });
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    world.changes_nothing(TYPE, &outcome.now.unwrap().object, &config).await;
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_one_clear_error() {
    let world = World::new().await;
    let config = world.manifest(map("default", "a", "1"));
    world.running.api().faults().add(Fault::once(Which::new("apply", "configmaps"), Effect::Hang));
    let (planned, ()) = tokio::join!(world.plan(TYPE, None, &config), async {
        struck(&world, 1).await;
        // From here on nothing happens but time.
        tokio::time::pause();
    });
    tokio::time::resume();
    let issue = crate::world::only(planned.1);
    assert!(issue.detail.contains("no answer in 65 s"), "{issue:?}");
    assert!(issue.detail.to_lowercase().contains("configmap default/a"), "{issue:?}");
}

#[tokio::test]
async fn webhooks_that_refuse_or_do_not_answer_are_one_clear_error() {
    let world = World::new().await;
    let config = world.manifest(map("default", "a", "1"));
    let faults = world.running.api().faults();
    let which = Which::new("apply", "configmaps");
    let denied = Failure::webhook_denied("policy.example.com", "no maps here");
    faults.add(Fault::once(which.clone(), Effect::Answer(When::Before, denied)));
    let issue = crate::world::only(world.plan(TYPE, None, &config).await.1);
    assert!(issue.detail.contains("policy.example.com") && issue.detail.contains("no maps here"), "{issue:?}");
    let failed = Failure::webhook_failed("policy.example.com", "https://policy", "context deadline exceeded");
    faults.add(Fault::once(which, Effect::Answer(When::Before, failed)).times(Fault::ALWAYS));
    let (planned, ()) = tokio::join!(world.plan(TYPE, None, &config), async {
        struck(&world, 2).await;
        tokio::time::pause();
    });
    tokio::time::resume();
    let issue = crate::world::only(planned.1);
    assert!(issue.detail.contains("failed calling webhook \"policy.example.com\""), "{issue:?}");
    assert!(issue.hint.unwrap().contains("the pods of the webhook"));
    assert_eq!(faults.struck(), 4, "nothing of a plan brings it up: it is soon told");
    faults.clear();

    // An apply may have installed it: it is waited for as long as for anything else.
    let (before, planned) = world.plan(TYPE, None, &config).await;
    let starting = Failure::webhook_failed("policy.example.com", "https://policy", "connect: connection refused");
    let written = Which { dry_run: Some(false), ..Which::new("apply", "configmaps") };
    faults.add(Fault::once(written, Effect::Answer(When::Before, starting)).times(5));
    let (outcome, ()) = tokio::join!(world.carry_out(TYPE, before, planned.unwrap().object), async {
        struck(&world, 5).await;
        tokio::time::pause();
    });
    tokio::time::resume();
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
}

#[tokio::test]
async fn a_kind_that_goes_after_it_was_asked_about_takes_its_objects_with_it() {
    let world = World::new().await;
    let definition = |version: &str| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
                "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
                "versions": [{"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
    };
    world.apply(TYPE, None, &world.manifest(definition("v1"))).await;
    let mut things = Vec::new();
    for (namespace, name) in [("default", "a"), ("default", "b"), ("other", "a")] {
        if namespace == "other" {
            world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": namespace}})));
        }
        let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name, "namespace": namespace}});
        things.push(world.apply(TYPE, None, &world.manifest(thing)).await);
    }
    let read = async |things: &[Value]| {
        let request = |object: &Value| ReadRequest { addr: addr(TYPE), object: object.clone(), private: Vec::new() };
        world.instance.read(things.iter().map(request).collect(), world.call()).await
    };
    let all_there = |answers: &[ReadAnswer]| answers.iter().all(|answer| matches!(answer, ReadAnswer::Object(_)));
    assert!(all_there(&read(&things).await));

    // Another version of it, again and again: the objects are there, by another name. Lists and single ones.
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com";
    for (version, some) in [("v2", &things[..]), ("v1", &things[..2]), ("v2", &things[..1])] {
        let versions = json!({"spec": {"versions": definition(version)["spec"]["versions"]}});
        world.other(Method::PATCH, path, Some(versions));
        let answers = read(some).await;
        assert!(all_there(&answers), "{version}: {answers:?}");
    }
    world.other(Method::DELETE, path, None);
    for some in [&things[..], &things[..2], &things[..1]] {
        let answers = read(some).await;
        assert!(answers.iter().all(|answer| matches!(answer, ReadAnswer::Gone)), "{answers:?}");
    }
}

/// What an API server answers to a patch of which no object can be made: all of the object.
#[tokio::test]
async fn an_object_that_is_repeated_in_a_refusal_is_never_shown() {
    let world = World::new().await;
    let node = json!({"metadata": {"name": "gpu-01", "annotations": {"example.com/key": "hunter2"}}});
    world.other(Method::POST, "/api/v1/nodes", Some(node));
    let metadata = value(&json!([{"name": "gpu-01"}]));
    let taint = value(&json!([{"key": "example.com/a", "value": "b", "effect": "NoSchedule"}]));
    let config = world.config("kubernetes_node_taint", &[("metadata", metadata), ("taint", taint)]);
    let repeated = json!({"kind": "Node", "metadata": {"annotations": {"example.com/key": "hunter2"}, "name": "gpu-01"},
        "spec": {"taints": "x".repeat(80)}});
    let why = "json: cannot unmarshal string into Go struct field NodeSpec.spec.taints of type []v1.Taint";
    let value = format!("Invalid value: {}: {why}", json!(repeated.to_string()));
    let cause = Cause { field: "patch".to_owned(), reason: "FieldValueInvalid", message: value };
    let refused = Failure::invalid("", "", "", &[cause]);
    let faults = world.running.api().faults();
    faults.add(Fault::once(Which::new("patch", "nodes"), Effect::Answer(When::Before, refused.clone())));
    let (before, planned) = world.plan("kubernetes_node_taint", None, &config).await;
    let issue = crate::world::only(planned);
    assert!(issue.detail.contains(why) && !issue.detail.contains("hunter2"), "{issue:?}");

    let (_, planned) = world.plan("kubernetes_node_taint", None, &config).await;
    faults.add(Fault::once(Which::new("patch", "nodes"), Effect::Answer(When::Before, refused)));
    let outcome = world.carry_out("kubernetes_node_taint", before, planned.unwrap().object).await;
    let error = outcome.error.unwrap().to_string();
    assert!(error.contains(why) && !error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn groups_that_fail_hold_up_no_others() {
    let world = World::new().await;
    let faults = world.running.api().faults();
    faults.set_available("metrics.k8s.io", "v1beta1", false);
    let map = world.apply(TYPE, None, &world.manifest(map("default", "a", "1"))).await;
    let metrics = json!({"apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": "n"}});
    let metrics = world.manifest(metrics);
    let requests = [&metrics, &map, &metrics].map(|object| ReadRequest {
        addr: addr(TYPE),
        object: (*object).clone(),
        private: Vec::new(),
    });
    let before = faults.struck();
    let (answers, ()) = tokio::join!(world.instance.read(requests.to_vec(), world.call()), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        tokio::time::pause();
    });
    tokio::time::resume();
    assert_eq!(faults.struck(), before);
    assert!(matches!(answers[1], ReadAnswer::Object(_)), "{answers:?}");
    for answer in [&answers[0], &answers[2]] {
        // Never gone: nobody can tell.
        let ReadAnswer::Unreachable(error) = answer else { panic!("{answers:?}") };
        assert!(error.to_string().contains("metrics.k8s.io/v1beta1"), "{error}");
    }
}

#[tokio::test]
async fn many_objects_are_read_by_few_lists_of_bounded_pages() {
    let world = World::new().await;
    let mut wanted = Vec::new();
    for namespace in ["default", "one", "two"] {
        if namespace != "default" {
            world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": namespace}})));
        }
        for number in 0..400 {
            let name = format!("m-{number}");
            let path = format!("/api/v1/namespaces/{namespace}/configmaps");
            world.other(Method::POST, &path, Some(map(namespace, &name, namespace)));
            wanted.push((namespace.to_owned(), name));
        }
    }
    wanted.push(("two".to_owned(), "missing".to_owned()));
    let all = requests(&world, wanted.clone());
    let expected = |answers: &[ReadAnswer]| {
        for (answer, (namespace, name)) in answers.iter().zip(&wanted) {
            let found = match answer {
                ReadAnswer::Object(read) => {
                    engine_value::Path::root().attr("object").attr("data").attr("k").get(&read.object)
                }
                ReadAnswer::Gone => None,
                other => panic!("{other:?}"),
            };
            let expected = (name != "missing").then_some(namespace.as_str());
            assert_eq!(found.and_then(|value: Value| value.as_str().map(str::to_owned)).as_deref(), expected, "{name}");
        }
    };
    world.running.api().calls().take();
    expected(&world.instance.read(all.clone(), world.call()).await);
    // 1,200 and a few more that Kubernetes makes itself.
    let asked = verbs(&world);
    assert!(asked.iter().all(|asked| *asked == ("list", "/api/v1/configmaps".to_owned())), "{asked:?}");
    assert_eq!(asked.len(), 3, "{asked:?}");
    // The version of the first page is forgotten before the second: another list, from its beginning.
    let forgotten = Effect::Answer(When::Before, Failure::expired("The provided continue parameter is too old"));
    world.running.api().faults().add(Fault::once(Which::new("list", "configmaps"), forgotten.clone()).after(1));
    expected(&world.instance.read(all.clone(), world.call()).await);
    assert_eq!(verbs(&world).len(), 5);
    // Again and again.
    world
        .running
        .api()
        .faults()
        .add(Fault::once(Which::new("list", "configmaps"), forgotten).after(1).times(Fault::ALWAYS));
    let answers = world.instance.read(all, world.call()).await;
    let ReadAnswer::Unreachable(error) = &answers[0] else { panic!("{:?}", answers[0]) };
    assert!(error.to_string().contains("cannot list configmaps"), "{error}");
}

/// Lets a user do that with ConfigMaps of a namespace.
fn allow(world: &World, namespace: &str, user: &str, verbs: &[&str]) {
    let root = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}");
    let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs});
    world.other(Method::POST, &format!("{root}/roles"), Some(json!({"metadata": {"name": "maps"}, "rules": [rule]})));
    let group = "rbac.authorization.k8s.io";
    let binding = json!({
        "metadata": {"name": "maps"}, "roleRef": {"apiGroup": group, "kind": "Role", "name": "maps"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    });
    world.other(Method::POST, &format!("{root}/rolebindings"), Some(binding));
}

#[tokio::test]
async fn where_lists_are_forbidden_objects_are_read_by_narrower_lists_or_one_by_one() {
    let reader = User { name: "reader".to_owned(), groups: vec![AUTHENTICATED.to_owned()], ..User::default() };
    let narrow = [("list", "/api/v1/configmaps"), ("list", "/default/"), ("list", "/one/")];
    let single = [("get", "/default/configmaps/a"), ("get", "/default/configmaps/b"), ("get", "/default/configmaps/c")];
    for (verbs_in_default, by) in [(&["get", "list"][..], narrow.to_vec()), (&["get"], [&narrow[..], &single].concat())]
    {
        let world = World::with(Arc::new(Rbac), &reader).await;
        world.other(Method::POST, "/api/v1/namespaces", Some(json!({"metadata": {"name": "one"}})));
        allow(&world, "default", &reader.name, verbs_in_default);
        allow(&world, "one", &reader.name, &["get", "list"]);
        let mut wanted = Vec::new();
        for namespace in ["default", "one"] {
            for name in ["a", "b", "c"] {
                let path = format!("/api/v1/namespaces/{namespace}/configmaps");
                world.other(Method::POST, &path, Some(map(namespace, name, "1")));
                wanted.push((namespace.to_owned(), name.to_owned()));
            }
        }
        world.running.api().calls().take();
        let answers = world.instance.read(requests(&world, wanted), world.call()).await;
        assert!(answers.iter().all(|answer| matches!(answer, ReadAnswer::Object(_))), "{answers:?}");
        let asked = verbs(&world);
        assert_eq!(asked.len(), by.len(), "{asked:?}");
        for (verb, part) in by {
            assert!(
                asked.iter().any(|(asked, path)| *asked == verb && path.contains(part)),
                "{verb} {part}: {asked:?}"
            );
        }
    }
}

/// The role of the page on permissions.
const PERMISSIONS: &str = include_str!("../../../docs/permissions.md");

#[tokio::test]
async fn the_documented_role_suffices_to_plan_and_for_nothing_more() {
    let planner = User { name: "planner".to_owned(), groups: vec![AUTHENTICATED.to_owned()], ..User::default() };
    let world = World::with(Arc::new(Rbac), &planner).await;
    let yaml = PERMISSIONS.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let decoded = world.provider.call("manifest_decode_multi", &[Value::from(yaml)]).unwrap();
    for object in crate::world::json(&decoded).as_array().unwrap() {
        let plural = format!("{}s", object["kind"].as_str().unwrap().to_lowercase());
        let mut object = object.clone();
        if plural == "clusterrolebindings" {
            let subject = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": planner.name});
            object["subjects"] = json!([subject]);
        }
        world.other(Method::POST, &format!("/apis/rbac.authorization.k8s.io/v1/{plural}"), Some(object));
    }
    let path = "/api/v1/namespaces/default/configmaps";
    for name in ["a", "b"] {
        world.other(Method::POST, path, Some(map("default", name, "1")));
    }
    world.instance.identity(world.call()).await.unwrap();
    world.running.api().calls().take();
    let wanted = ["a", "b"].map(|name| ("default".to_owned(), name.to_owned()));
    let answers = world.instance.read(requests(&world, wanted), world.call()).await;
    assert!(answers.iter().all(|answer| matches!(answer, ReadAnswer::Object(_))), "{answers:?}");
    // What it would take to create an object cannot be asked, and the plan says so.
    let config = world.manifest(map("default", "new", "1"));
    let (before, planned) = world.plan(TYPE, None, &config).await;
    let planned = planned.unwrap();
    assert!(planned.unverified.is_some(), "{planned:?}");
    let outcome = world.carry_out(TYPE, before, planned.object).await;
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::Forbidden);
    assert!(world.running.api().calls().take().iter().all(|call| !call.has_written()));
}

#[tokio::test]
async fn a_token_that_expires_for_good_is_one_clear_error() {
    let world = World::new().await;
    let config = world.manifest(map("default", "a", "1"));
    world.apply(TYPE, None, &config).await;
    world.running.expire(&User::admin("platform"));
    let answers = world.instance.read(requests(&world, [("default".to_owned(), "a".to_owned())]), world.call()).await;
    let ReadAnswer::Failed(error) = &answers[0] else { panic!("{answers:?}") };
    assert_eq!(error.kind, ErrorKind::Forbidden);
    assert!(error.to_string().contains("does not accept these credentials"), "{error}");
    assert!(error.hint.as_ref().is_some_and(|hint| hint.contains("expired")), "{error:?}");
}
