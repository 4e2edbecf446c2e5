//! The quick start against a real cluster, whose kubeconfig the configuration's providers read themselves.

use std::collections::BTreeMap;

use http::Request;
use kube::Client;
use serde_json::{Value, json};
use tests::command::Desk;
use tests::control_plane::ControlPlane;

use crate::{root, tour};

/// What the quick start is about, by kind and name, without what changes by itself.
async fn found(client: &Client) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for path in [
        "/api/v1/namespaces",
        "/api/v1/nodes",
        "/api/v1/resourcequotas",
        "/apis/sliceform.io/v1alpha1/gpunodes",
        "/api/v1/pods",
    ] {
        let list: Value = client.request(Request::get(path).body(Vec::new()).unwrap()).await.unwrap();
        for object in list["items"].as_array().unwrap() {
            let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
            let offered = object["status"]["allocatable"].as_object().into_iter().flatten();
            // A resource that was offered once lingers with 0, as kubelets leave it.
            let offered: BTreeMap<&String, &Value> = offered.filter(|(_, amount)| **amount != "0").collect();
            let layouts = object["status"]["cards"].as_array().into_iter().flatten().map(|card| &card["layout"]);
            let what = json!({
                "uid": text("uid"), "labels": object["metadata"]["labels"], "taints": object["spec"]["taints"],
                "unschedulable": object["spec"]["unschedulable"], "hard": object["spec"]["hard"],
                "offered": offered, "layouts": layouts.collect::<Vec<_>>(), "phase": object["status"]["phase"],
            });
            found.insert(format!("{path}/{}/{}", text("namespace"), text("name")), what);
        }
    }
    found
}

#[tokio::test]
async fn the_quick_start_is_applied_and_leaves_everything_as_it_was() {
    let Some(plane) = ControlPlane::alone(Default::default()).await else { return };
    let desk = Desk::new();
    tour::prepare(&root(), &desk.path(""));
    let fleet = plane.join(&desk.path("fleet"), None).await;
    let client = plane.client().await;
    let maker = plane.user("maker", &["system:masters"]).await;
    let planner = plane.user("planner", &["system:masters"]).await;
    let chdir = "-chdir=examples/quickstart";
    let before = found(&client).await;

    let planned = desk.run(&planner, &[chdir, "plan", "-out=p", "-detailed-exitcode"]).await.check(2);
    assert!(planned.contains("Plan: 4 to add, 0 to change, 0 to destroy."), "{planned}");
    desk.run(&maker, &[chdir, "apply", "p"]).await.check(0);
    let applied = found(&client).await;
    let offered = &applied["/api/v1/nodes//gpu-02"]["offered"];
    assert_eq!(offered["nvidia.com/mig-1g.10gb"], "3", "{offered}");
    desk.run(&planner, &[chdir, "plan", "-detailed-exitcode"]).await.check(0);
    desk.run(&planner, &[chdir, "plan", "-detailed-exitcode", "-refresh-only"]).await.check(0);
    desk.run(&planner, &[chdir, "plan", "-destroy"]).await.check(0);
    let change = "-var=tenants={team-b={slices={\"nvidia.com/mig-2g.20gb\"=1}}}";
    desk.run(&planner, &[chdir, "plan", "-detailed-exitcode", change]).await.check(2);
    assert_eq!(found(&client).await, applied, "plans have changed something");
    let requests = plane.requests_of("planner");
    let writes: Vec<_> = requests.iter().filter(|request| request.is_write()).collect();
    assert!(!requests.is_empty() && writes.is_empty(), "{writes:#?}");

    desk.run(&maker, &[chdir, "destroy", "-auto-approve"]).await.check(0);
    assert_eq!(found(&client).await, before);
    fleet.close().await.unwrap();
}
