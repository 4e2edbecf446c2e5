//! Cards are cut under running pods: exactly those end that the plan has shown.

use crate::setting::{FLEET, Setting};

const SLICE: &str = "nvidia.com/mig-3g.40gb";

/// From two equal slices a card to one of them and three small ones.
const SMALLER: &str = "-var=mig={\"3g.40gb\"=1,\"1g.10gb\"=3}";

#[test]
fn exactly_the_pods_of_the_plan_end() {
    let setting = Setting::cluster(FLEET);
    setting.converge(&[]);
    // On gpu-01 one card is full, and one has a free slice; on gpu-02 nobody has to go.
    for name in ["a", "b", "c"] {
        setting.run_pod(name, "gpu-01", SLICE);
    }
    setting.run_pod("d", "gpu-02", SLICE);
    let (pods, slices) = (setting.pods(), setting.slices());

    let plan = setting.run(&["plan", SMALLER]);
    let victims: Vec<&String> =
        pods.keys().filter(|pod| plan.stdout.contains(&format!("{} ", pod.replacen('/', "/pod/", 1)))).collect();
    assert_eq!(victims.len(), 1, "{}", plan.stdout);
    let victim = victims[0].as_str();
    assert!(["team-a/a", "team-a/b", "team-a/c"].contains(&victim), "{victim}");

    setting.script(async |script| drop(script.calls().take()));
    setting.converge(&[SMALLER]);
    let evictions = setting.script(async |script| script.calls().all());
    let evictions: Vec<String> =
        evictions.into_iter().filter(|call| call.path.ends_with("/eviction")).map(|call| call.path).collect();
    let path = format!("/api/v1/namespaces/team-a/pods/{}/eviction", victim.trim_start_matches("team-a/"));
    assert_eq!(evictions, [path]);

    let mut left = pods.clone();
    left.remove(victim);
    assert_eq!(setting.pods(), left, "the others run on, and are the same");
    // Every card keeps one of its slices, with those that use it.
    let now = setting.slices();
    let kept = slices.iter().filter(|(place, uuid)| now.get(*place) == Some(*uuid)).count();
    assert_eq!((kept, now.len()), (6, 24), "{slices:#?} {now:#?}");
}

#[test]
fn a_pod_that_nobody_was_shown_stops_its_node() {
    let setting = Setting::cluster(FLEET);
    setting.converge(&[]);
    for name in ["a", "b", "c"] {
        setting.run_pod(name, "gpu-01", SLICE);
    }
    setting.run(&["plan", SMALLER, "-out=p"]).check(0, &[]);
    // It takes the last free slice, which the plan destroys.
    setting.run_pod("late", "gpu-01", SLICE);
    let (pods, slices) = (setting.pods(), setting.slices());
    setting.run(&["apply", "p"]).check(1, &["Error holding gpu-01", "team-a/pod/late", "Plan again"]);
    let of_first = |slices: std::collections::BTreeMap<String, String>| -> Vec<(String, String)> {
        slices.into_iter().filter(|(place, _)| place.starts_with("gpu-01 ")).collect()
    };
    assert_eq!(of_first(setting.slices()), of_first(slices), "nothing was cut there");
    assert!(setting.pods().contains_key("team-a/late") && pods.contains_key("team-a/late"));

    // Four pods are on two cards that keep one such slice each: the next plan shows which two end, and goes on.
    let plan = setting.run(&["plan", SMALLER]);
    assert_eq!(plan.check(0, &[]).stdout.matches("(priority 0): 1 pod").count(), 2, "{}", plan.stdout);
    setting.converge(&[SMALLER]);
    assert_eq!(setting.pods().keys().filter(|pod| pod.starts_with("team-a/")).count(), 2);
}
