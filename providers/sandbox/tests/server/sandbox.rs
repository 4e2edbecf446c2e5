//! What only the sandbox has: its record of calls, agents' rights, its files, and kubectl by hand.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use providers_sandbox::api::{AgentRules, Rbac, Setup, User};
use providers_sandbox::store::{Key, Store};
use serde_json::{Value, json};

use crate::cluster::{Cluster, apply, client, config_map, create, get, object, refusal, resource, setup};

#[tokio::test]
async fn the_record_tells_reads_dry_runs_and_writes_apart() {
    let cluster = Cluster::start().await;
    let api = cluster.config_maps();
    cluster.running.api().calls().take();
    let before = cluster.running.api().store().revision();
    api.list(&Default::default()).await.unwrap();
    let dry = PatchParams::apply("a").dry_run();
    api.patch("m", &dry, &Patch::Apply(config_map("m", json!({"k": "1"})))).await.unwrap();
    let calls = cluster.running.api().calls().take();
    assert!(calls.iter().all(|call| !call.has_written()), "{calls:?}");
    let seen: Vec<_> = calls.iter().map(|call| (call.verb, call.user.as_str(), call.dry_run, call.code)).collect();
    assert_eq!(seen, [("list", "test", false, 200), ("apply", "test", true, 201)]);
    assert_eq!(cluster.running.api().store().revision(), before, "a dry run does not move the clock");
    apply(&api, "a", config_map("m", json!({"k": "1"}))).await.unwrap();
    assert!(cluster.running.api().calls().all()[0].has_written());
    cluster.stop().await;
}

fn gpu_node_definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gpunodes.sliceform.io"},
        "spec": {
            "group": "sliceform.io", "scope": "Cluster", "names": {"plural": "gpunodes", "kind": "GpuNode", "shortNames": ["gn"]},
            "versions": [{
                "name": "v1alpha1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                "additionalPrinterColumns": [
                    {"name": "Boot", "type": "string", "jsonPath": ".status.bootId"},
                    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                ],
            }],
        },
    })
}

fn agents() -> Setup {
    let rules = || AgentRules {
        group: "sliceform.io".to_owned(),
        plural: "gpunodes".to_owned(),
        lease_namespace: "kube-node-lease".to_owned(),
        others: Rbac,
    };
    Setup { authorizer: Arc::new(rules()), admission: vec![Arc::new(rules())], ..setup() }
}

#[tokio::test]
async fn an_agent_writes_its_own_objects_only() {
    let cluster = Cluster::over(Arc::new(Store::in_memory()), agents()).await;
    create(&cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), gpu_node_definition()).await;
    let agent = client(&cluster.running, &User::agent("gpu-01")).await;
    let nodes: kube::Api<DynamicObject> =
        kube::Api::all_with(agent.clone(), &resource("sliceform.io", "v1alpha1", "GpuNode"));
    let node = |name: &str, spec: Value| {
        object(
            json!({"apiVersion": "sliceform.io/v1alpha1", "kind": "GpuNode", "metadata": {"name": name}, "spec": spec}),
        )
    };
    let create = PostParams::default();
    let forbidden = |result: Result<DynamicObject, kube::Error>| {
        let (code, _, message) = refusal(result);
        assert_eq!(code, 403, "{message}");
        message
    };
    let other = forbidden(nodes.create(&create, &node("gpu-02", json!({}))).await);
    assert!(other.contains("the agent of node \"gpu-01\" writes objects of that name only"), "{other}");
    let with_spec = forbidden(nodes.create(&create, &node("gpu-01", json!({"operation": {"id": "1"}}))).await);
    assert!(with_spec.contains("without spec"), "{with_spec}");
    nodes.create(&create, &node("gpu-01", json!({}))).await.unwrap();
    nodes.get("gpu-01").await.unwrap();
    forbidden(nodes.get("gpu-02").await);
    assert_eq!(refusal(nodes.list(&Default::default()).await).0, 403);
    nodes.list(&kube::api::ListParams::default().fields("metadata.name=gpu-01")).await.unwrap();
    let spec = Patch::Merge(json!({"spec": {"x": 1}}));
    forbidden(nodes.patch("gpu-01", &Default::default(), &spec).await);
    let status = Patch::Merge(json!({"status": {"bootId": "b"}, "spec": {"x": 1}}));
    let written = nodes.patch_status("gpu-01", &Default::default(), &status).await.unwrap();
    assert_eq!((&written.data["status"], written.data.get("spec")), (&json!({"bootId": "b"}), Some(&json!({}))));
    assert_eq!(refusal(nodes.delete("gpu-01", &Default::default()).await).0, 403);

    let lease = |name: &str| {
        object(json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}}))
    };
    let leases: kube::Api<DynamicObject> =
        kube::Api::namespaced_with(agent.clone(), "kube-node-lease", &resource("coordination.k8s.io", "v1", "Lease"));
    leases.create(&create, &lease("gpu-01")).await.unwrap();
    let renew = Patch::Merge(json!({"spec": {"holderIdentity": "gpu-01"}}));
    leases.patch("gpu-01", &Default::default(), &renew).await.unwrap();
    forbidden(leases.create(&create, &lease("gpu-02")).await);
    let maps: kube::Api<DynamicObject> = kube::Api::namespaced_with(agent, "case", &resource("", "v1", "ConfigMap"));
    assert_eq!(refusal(maps.list(&Default::default()).await).0, 403);
    cluster.stop().await;
}

#[tokio::test]
async fn pods_on_nodes_wait_for_their_kubelet() {
    let graceful = Setup { graceful_pods: true, ..setup() };
    let cluster = Cluster::over(Arc::new(Store::in_memory()), graceful).await;
    let pods = cluster.api("", "v1", "Pod");
    for (name, node) in [("running", json!("gpu-01")), ("waiting", Value::Null)] {
        let spec =
            json!({"nodeName": node, "containers": [{"name": "c", "image": "i"}], "terminationGracePeriodSeconds": 20});
        create(&pods, json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})).await;
        pods.delete(name, &Default::default()).await.unwrap();
    }
    assert!(pods.get_opt("waiting").await.unwrap().is_none());
    let running = get(&pods, "running").await;
    assert_eq!(
        running["metadata"]["deletionTimestamp"], "2026-01-02T03:04:25Z",
        "the clock of the world, and twenty seconds"
    );
    assert_eq!(running["metadata"]["deletionGracePeriodSeconds"], 20);
    let end = kube::api::DeleteParams { grace_period_seconds: Some(0), ..Default::default() };
    pods.delete("running", &end).await.unwrap();
    assert!(pods.get_opt("running").await.unwrap().is_none());
    cluster.stop().await;
}

#[tokio::test]
async fn who_has_no_token_is_turned_away() {
    let cluster = Cluster::start().await;
    let text =
        cluster.running.kubeconfig(&User::admin("test")).replace(&cluster.running.token(&User::admin("test")), "wrong");
    let kubeconfig = kube::config::Kubeconfig::from_yaml(&text).unwrap();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &Default::default()).await.unwrap();
    let stranger = kube::Client::try_from(config).unwrap();
    assert_eq!(refusal(stranger.apiserver_version().await).0, 401);
    cluster.stop().await;
}

#[tokio::test]
async fn the_world_is_there_again_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Arc::new(Store::open(dir.path()).unwrap());
    let cluster = Cluster::over(open(), setup()).await;
    let made = apply(&cluster.config_maps(), "a", config_map("m", json!({"k": "1"}))).await.unwrap();
    let system = get(&cluster.global("", "v1", "Namespace"), "kube-system").await;
    cluster.stop().await;

    let cluster = Cluster::over(open(), setup()).await;
    let api = cluster.config_maps();
    assert_eq!(get(&api, "m").await, made);
    assert_eq!(get(&cluster.global("", "v1", "Namespace"), "kube-system").await, system, "the cluster is the same one");
    let old = api.watch(&Default::default(), "1").await.unwrap();
    let events: Vec<_> = futures::TryStreamExt::try_collect(old).await.unwrap();
    assert!(matches!(&events[..], [kube::api::WatchEvent::Error(status)] if status.code == 410), "{events:?}");
    create(&api, config_map("n", json!({}))).await;
    cluster.stop().await;
}

#[tokio::test]
async fn same_commands_on_same_worlds_give_the_same_objects() {
    let mut worlds = Vec::new();
    for _ in 0..2 {
        let cluster = Cluster::start().await;
        let generated = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "g-"}});
        create(&cluster.config_maps(), generated).await;
        let store = cluster.running.api().store().clone();
        let objects: BTreeMap<Key, Value> = store
            .read()
            .list_after(Key::new("", "", ""))
            .map(|(key, object)| (key.clone(), (**object).clone()))
            .collect();
        worlds.push(objects);
        cluster.stop().await;
    }
    assert_eq!(worlds[0], worlds[1]);
}

/// Runs kubectl; its output, or what went wrong.
fn kubectl(config: &std::path::Path, args: &str) -> Result<String, String> {
    let output =
        Command::new("kubectl").arg("--kubeconfig").arg(config).args(args.split_whitespace()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// What kubectl does with parts of objects, and with objects that come and go.
async fn scaled_watched_and_described(cluster: &Cluster, run: &impl Fn(&str) -> Result<String, String>) {
    let labels = json!({"app": "x"});
    let spec = json!({
        "replicas": 0, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    });
    let set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "r"}, "spec": spec});
    create(&cluster.api("apps", "v1", "ReplicaSet"), set).await;
    let log = json!({"sandbox.sliceform.io/log": "hello\nworld\n"});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "talks", "annotations": log},
        "spec": {"nodeName": "gpu-01", "containers": [{"name": "c", "image": "i"}]},
    });
    let pods = cluster.api("", "v1", "Pod");
    create(&pods, pod).await;
    let error = run("logs talks -n case").unwrap_err();
    assert!(error.contains("is waiting to start: ContainerCreating"), "{error}");
    let running = json!({"status": {"phase": "Running", "containerStatuses": [{
        "name": "c", "image": "i", "imageID": "", "restartCount": 0, "ready": true,
        "state": {"running": {"startedAt": "2026-01-02T03:04:05Z"}},
    }]}});
    pods.patch_status("talks", &PatchParams::default(), &Patch::Merge(running)).await.unwrap();
    for (args, answer) in [
        ("scale rs r -n case --replicas=2", "replicaset.apps/r scaled"),
        ("scale rs r -n case --current-replicas=2 --replicas=0", "replicaset.apps/r scaled"),
        ("logs talks -n case", "hello\nworld"),
        ("logs talks -n case -c c --tail=1", "world"),
        ("logs talks -n case --all-containers --timestamps --tail=1", "2026-01-02T03:04:05Z world"),
        ("get pod talks -n case --watch --request-timeout=1s --no-headers", "talks"),
        ("get rs -n case -w --request-timeout=1s --no-headers", "r"),
        ("describe pod talks -n case", "Name:             talks"),
        ("describe rs r -n case", "Name:         r"),
        ("describe crd gpunodes.sliceform.io", "Name:         gpunodes.sliceform.io"),
        ("describe gpunode gpu-01", "Name:         gpu-01"),
        ("explain gpunode.metadata.name", "GROUP:      sliceform.io"),
        ("explain crd.spec.versions.schema", "GROUP:      apiextensions.k8s.io"),
        ("explain deployment.spec.replicas", "GROUP:      apps"),
        ("get --raw /openapi/v3", "{\"paths\":"),
        ("delete pod talks -n case --wait=true", "pod \"talks\" deleted"),
        ("delete rs r -n case --cascade=foreground", "replicaset.apps \"r\" deleted"),
    ] {
        let found = run(args).unwrap_or_else(|error| panic!("{args}: {error}"));
        assert!(found.trim().starts_with(answer), "{args}: {found}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_works() {
    if Command::new("kubectl").arg("version").arg("--client").output().is_err() {
        println!("SKIPPED: kubectl is not on the path; kubectl_works checks nothing");
        return;
    }
    let cluster = Cluster::start().await;
    create(&cluster.global("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), gpu_node_definition()).await;
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-01"},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.37.0"}},
    });
    create(&cluster.global("", "v1", "Node"), node).await;
    let gpu_node = json!({"apiVersion": "sliceform.io/v1alpha1", "kind": "GpuNode", "metadata": {"name": "gpu-01"}});
    create(&cluster.global("sliceform.io", "v1alpha1", "GpuNode"), gpu_node).await;
    let pods = cluster.api("", "v1", "Pod");
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"nodeName": "gpu-01", "containers": [{"name": "c", "image": "i"}]},
    });
    create(&pods, pod).await;
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("kubeconfig");
    std::fs::write(&config, cluster.running.kubeconfig(&User::admin("kubectl"))).unwrap();
    std::fs::write(
        dir.path().join("map.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-kubectl\ndata:\n  k: \"1\"\n",
    )
    .unwrap();
    let map = dir.path().join("map.yaml");
    let map = map.display();
    let wrong = dir.path().join("wrong.yaml");
    std::fs::write(&wrong, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: wrong\ndta:\n  k: \"1\"\n").unwrap();

    let cache = format!("--cache-dir={}", dir.path().join("cache").display());
    let run = |args: &str| kubectl(&config, &format!("{args} {cache}"));
    let columns = |text: String| -> Vec<Vec<String>> {
        text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    assert_eq!(
        columns(run("get nodes").unwrap()),
        [vec!["NAME", "STATUS", "ROLES", "AGE", "VERSION"], vec!["gpu-01", "Ready", "<none>", "0s", "v1.37.0"]]
    );
    assert_eq!(columns(run("get gpunodes").unwrap())[1][0], "gpu-01");
    assert_eq!(columns(run("get gn gpu-01 -o name").unwrap())[0], ["gpunode.sliceform.io/gpu-01"]);
    assert!(run("api-resources").unwrap().contains("gpunodes"));
    for (args, answer) in [
        (format!("apply -f {map}"), "configmap/from-kubectl created"),
        (format!("apply -f {map}"), "configmap/from-kubectl unchanged"),
        (format!("apply --server-side --field-manager=x -f {map}"), "configmap/from-kubectl serverside-applied"),
        (format!("diff -f {map}"), ""),
        ("label configmap from-kubectl a=b".to_owned(), "configmap/from-kubectl labeled"),
        ("cordon gpu-01".to_owned(), "node/gpu-01 cordoned"),
        ("taint nodes gpu-01 a=b:NoSchedule".to_owned(), "node/gpu-01 tainted"),
        ("wait --for=condition=Ready node/gpu-01 --timeout=30s".to_owned(), "node/gpu-01 condition met"),
        ("create namespace n1".to_owned(), "namespace/n1 created"),
        ("create quota q -n n1 --hard=requests.nvidia.com/gpu=1".to_owned(), "resourcequota/q created"),
        ("create configmap c -n n1 --from-literal=k=v".to_owned(), "configmap/c created"),
        ("create serviceaccount a -n n1".to_owned(), "serviceaccount/a created"),
        ("create priorityclass pc --value=7 --description=d".to_owned(), "priorityclass.scheduling.k8s.io/pc created"),
        ("drain gpu-01 --force".to_owned(), "node/gpu-01 already cordoned"),
        ("uncordon gpu-01".to_owned(), "node/gpu-01 uncordoned"),
        ("delete namespace n1".to_owned(), "namespace \"n1\" deleted"),
        ("delete configmap from-kubectl".to_owned(), "configmap \"from-kubectl\" deleted"),
    ] {
        let found = run(&args).unwrap_or_else(|error| panic!("{args}: {error}"));
        assert!(found.trim().starts_with(answer), "{args}: {found}");
    }
    assert_eq!(pods.list(&Default::default()).await.unwrap().items.len(), 0, "the drain has evicted the pod");
    assert!(run("create job j --image=i -- true").unwrap().contains("job.batch/j created"));
    assert!(run("create deployment d --image=i --replicas=2").unwrap().contains("deployment.apps/d created"));
    let error = run("create secret generic s --from-literal=a=b").unwrap_err();
    assert!(error.contains("the sandbox reads protobuf of a few kinds only"), "{error}");
    for (args, answer) in [
        ("create serviceaccount reader", "serviceaccount/reader created"),
        ("create role r --verb=get,list --resource=pods", "role.rbac.authorization.k8s.io/r created"),
        (
            "create rolebinding r --role=r --serviceaccount=default:reader",
            "rolebinding.rbac.authorization.k8s.io/r created",
        ),
        ("auth can-i list pods", "yes"),
        ("auth can-i list pods --as=system:serviceaccount:default:reader", "yes"),
    ] {
        let found = run(args).unwrap_or_else(|error| panic!("{args}: {error}"));
        assert!(found.trim().starts_with(answer), "{args}: {found}");
    }
    let token = run("create token reader").unwrap();
    let as_reader = |args: &str| run(&format!("{args} --token={}", token.trim()));
    assert!(as_reader("auth whoami -o jsonpath={.status.userInfo.username}").unwrap().ends_with(":default:reader"));
    assert!(as_reader("get pods").is_ok());
    assert!(as_reader("auth can-i --list").unwrap().contains("pods"));
    let error = as_reader("get secrets").unwrap_err();
    assert!(
        error.contains("User \"system:serviceaccount:default:reader\" cannot list resource \"secrets\""),
        "{error}"
    );
    let error = run(&format!("create -f {}", wrong.display())).unwrap_err();
    assert!(error.contains("unknown field \"dta\""), "{error}");
    let error = run("get pods missing").unwrap_err();
    assert_eq!(error.trim(), "Error from server (NotFound): pods \"missing\" not found");
    assert!(run("describe node gpu-01").unwrap().contains("a=b:NoSchedule"));
    assert!(run("explain pod.spec.nodeName").unwrap().contains("nodeName"));
    scaled_watched_and_described(&cluster, &run).await;
    cluster.stop().await;
}
