//! Fields that cannot be changed: found by dry run, planned as a replacement for the reason that the server gives, carried
//! out; and what is merely wrong stays an error.

use engine_model::plan::{Plan, PlanMode};
use futures::future::join_all;
use serde_json::{Value as Json, json};

use crate::site::{Site, change, errors, everywhere, settle, unchanged};

/// An object of one kind that is to be changed where it cannot be.
struct Case {
    /// Does the sandbox serve the kind?
    in_sandbox: bool,
    /// What has to be there first.
    around: &'static str,
    /// `apiVersion`, `kind`, and whether it lies in a namespace.
    kind: (&'static str, &'static str, bool),
    before: Json,
    after: Json,
    /// The places that forbid it, and what the server says.
    forbids: (&'static [&'static str], &'static str),
    /// What is wrong whatever was there, and what the server says of it.
    wrong: (Json, &'static str),
}

fn case(kind: (&'static str, &'static str, bool), before: Json, after: Json) -> Case {
    Case { in_sandbox: true, around: "", kind, before, after, forbids: (&[], ""), wrong: (Json::Null, "") }
}

impl Case {
    fn real_only(self) -> Self {
        Self { in_sandbox: false, ..self }
    }

    fn forbids(self, paths: &'static [&'static str], why: &'static str) -> Self {
        Self { forbids: (paths, why), ..self }
    }

    fn wrong(self, content: Json, why: &'static str) -> Self {
        Self { wrong: (content, why), ..self }
    }

    /// The configuration with this content, under a name of its own.
    fn config(&self, number: usize, content: &Json) -> String {
        let (api_version, kind, is_namespaced) = self.kind;
        let mut manifest = content.clone();
        manifest["apiVersion"] = api_version.into();
        manifest["kind"] = kind.into();
        manifest["metadata"] = json!({"name": format!("NAMESPACE-{number}")});
        if is_namespaced {
            manifest["metadata"]["namespace"] = "NAMESPACE".into();
        }
        format!("{}resource \"kubernetes_manifest\" \"x\" {{\n  manifest = {manifest}\n}}\n", self.around)
    }
}

fn pods(label: &str, image: &str, restart: &str) -> Json {
    json!({"metadata": {"labels": {"app": label}},
        "spec": {"restartPolicy": restart, "containers": [{"name": "main", "image": image}]}})
}

fn job(image: &str, restart: &str) -> Json {
    json!({"spec": {"suspend": true, "template": {"spec": pods("a", image, restart)["spec"]}}})
}

fn deployment(selected: &str, label: &str) -> Json {
    json!({"spec": {"replicas": 0, "selector": {"matchLabels": {"app": selected}}, "template": pods(label, "a:1", "Always")}})
}

fn stateful_set(service: &str, size: &str, policy: &str) -> Json {
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}}}});
    json!({"spec": {"replicas": 0, "serviceName": service, "selector": {"matchLabels": {"app": "a"}},
        "podManagementPolicy": policy, "template": pods("a", "a:1", "Always"), "volumeClaimTemplates": [claim]}})
}

fn claim(class: &str, mode: &str, size: &str) -> Json {
    json!({"spec": {"storageClassName": class, "accessModes": [mode], "resources": {"requests": {"storage": size}}}})
}

fn service(address: &str, port: u32) -> Json {
    json!({"spec": {"clusterIP": address, "ports": [{"port": port}]}})
}

fn binding(role: &str, subject: &str) -> Json {
    let group = "rbac.authorization.k8s.io";
    json!({"roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": group, "kind": subject, "name": "jane"}]})
}

fn class(provisioner: &str, ty: &str, binding: &str) -> Json {
    json!({"provisioner": provisioner, "parameters": {"type": ty}, "volumeBindingMode": binding})
}

fn content(key: &str, value: &str) -> Json {
    json!({"data": {key: value}, "immutable": true})
}

fn pool(shard: &str, size: i64) -> Json {
    json!({"spec": {"shard": shard, "size": size}})
}

/// Its rules about changes are in words of their own; one that is not about changes is in those of Kubernetes.
const POOLS: &str = r#"resource "kubernetes_manifest" "definition" {
  manifest = {
    apiVersion = "apiextensions.k8s.io/v1"
    kind       = "CustomResourceDefinition"
    metadata   = { name = "pools.NAMESPACE.example.com" }
    spec = {
      group = "NAMESPACE.example.com"
      scope = "Namespaced"
      names = { plural = "pools", singular = "pool", kind = "Pool", listKind = "PoolList" }
      versions = [{
        name    = "v1"
        served  = true
        storage = true
        schema = { openAPIV3Schema = { type = "object", properties = { spec = {
          type = "object"
          properties = {
            shard = { type = "string", "x-kubernetes-validations" = [{ rule = "self == oldSelf", message = "a pool stays where it is" }] }
            size  = { type = "integer" }
          }
          "x-kubernetes-validations" = [
            { rule = "self.size >= oldSelf.size", messageExpression = "self.size > 1 ? 'it only grows' : 'it only grows, from two'" },
            { rule = "self.size > 0", message = "immutable pools need a size" },
          ]
        } } } }
      }]
    }
  }
}
"#;

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    const POOL: (&str, &str, bool) = ("NAMESPACE.example.com/v1", "Pool", true);
    const RBAC: &str = "rbac.authorization.k8s.io/v1";
    vec![
        case(("batch/v1", "Job", true), job("a:1", "Never"), job("a:2", "Never"))
            .forbids(&["manifest.spec.template"], ": Invalid value: field is immutable")
            .wrong(job("a:2", "Sometimes"), "restartPolicy: Unsupported value"),
        case(("apps/v1", "Deployment", true), deployment("a", "a"), deployment("b", "b"))
            .forbids(&["manifest.spec.selector"], "spec.selector: Invalid value: field is immutable")
            .wrong(deployment("b", "a"), "`selector` does not match template `labels`"),
        case(("apps/v1", "StatefulSet", true), stateful_set("a", "1Gi", "Parallel"), stateful_set("b", "1Gi", "Parallel")).real_only()
            .forbids(&["manifest.spec.serviceName"], "spec: Forbidden: updates to statefulset spec for fields other than")
            .wrong(stateful_set("b", "1Gi", "Sideways"), "podManagementPolicy: "),
        case(("apps/v1", "StatefulSet", true), stateful_set("a", "1Gi", "Parallel"), stateful_set("a", "2Gi", "Parallel")).real_only()
            .forbids(&["manifest.spec.volumeClaimTemplates"], "spec: Forbidden: updates to statefulset spec for fields other than")
            .wrong(stateful_set("a", "many", "Parallel"), "quantities must match"),
        case(("v1", "PersistentVolumeClaim", true), claim("a", "ReadWriteOnce", "1Gi"), claim("b", "ReadWriteMany", "1Gi")).real_only()
            .forbids(&["manifest.spec.accessModes", "manifest.spec.storageClassName"], "spec: Forbidden: spec is immutable after creation")
            .wrong(claim("a", "ReadSometimes", "1Gi"), "accessModes: Unsupported value"),
        case(("v1", "Service", true), service("10.96.0.101", 80), service("10.96.0.102", 80)).real_only()
            .forbids(&["manifest.spec.clusterIP"], "may not change once set")
            .wrong(service("10.96.0.102", 0), "spec.ports[0].port: Invalid value: must be between 1 and 65535"),
        case((RBAC, "RoleBinding", true), binding("view", "User"), binding("edit", "User"))
            .forbids(&["manifest.roleRef"], "cannot change roleRef")
            .wrong(binding("view", "Robot"), "subjects[0].kind: Unsupported value"),
        case((RBAC, "ClusterRoleBinding", false), binding("view", "User"), binding("edit", "User"))
            .forbids(&["manifest.roleRef"], "cannot change roleRef")
            .wrong(binding("view", "Robot"), "subjects[0].kind: Unsupported value"),
        case(("storage.k8s.io/v1", "StorageClass", false), class("a.example.com/x", "a", "Immediate"), class("a.example.com/x", "b", "Immediate")).real_only()
            .forbids(&["manifest.parameters"], "parameters: Invalid value: field is immutable")
            .wrong(class("a.example.com/x", "a", "Sometimes"), "volumeBindingMode: Unsupported value"),
        case(("storage.k8s.io/v1", "StorageClass", false), class("a.example.com/x", "a", "Immediate"), class("b.example.com/x", "a", "Immediate")).real_only()
            .forbids(&["manifest.provisioner"], "provisioner: Invalid value: field is immutable")
            .wrong(class("b x", "a", "Immediate"), "provisioner: Invalid value"),
        case(("v1", "Secret", true), content("k", "MQ=="), content("k", "Mg=="))
            .forbids(&["manifest.data"], "data: Forbidden: field is immutable when `immutable` is set")
            .wrong(content("k k", "Mg=="), "data[k k]: Invalid value"),
        case(("v1", "ConfigMap", true), content("k", "1"), content("k", "2"))
            .forbids(&["manifest.data"], "data: Forbidden: field is immutable when `immutable` is set")
            .wrong(content("k k", "2"), "data[k k]: Invalid value"),
        Case { around: POOLS, ..case(POOL, pool("a", 2), pool("b", 2)) }
            .forbids(&["manifest.spec.shard"], "spec.shard: Invalid value: a pool stays where it is")
            .wrong(pool("a", 0), "pools need a size"),
    ]
}

/// A rule about a change that is written for a whole.
fn shrinking() -> Case {
    Case { around: POOLS, ..case(("NAMESPACE.example.com/v1", "Pool", true), pool("a", 2), pool("a", 1)) }
        .forbids(&["manifest.spec"], "spec: Invalid value: it only grows, from two")
        .wrong(json!({"spec": {"shard": "a", "size": "many"}}), "size: ")
}

/// Which object it was when the plan was made.
fn uid(plan: &Plan) -> Json {
    let before = crate::world::json(&change(plan, "x").before.clone().unmark_deep().0);
    let uid = before.pointer("/object/metadata/uid").cloned().unwrap_or_default();
    assert!(uid.is_string(), "{before}");
    uid
}

/// What goes otherwise than it should.
async fn problems(site: &Site, number: usize, case: &Case) -> Vec<String> {
    let text = |content: &Json| site.named(&case.config(number, content));
    let run = site.run(&text(&case.before)).await;
    settle(&run).await;
    let then = |content: &Json| run.then([site.provider(site.admin())], &text(content));
    let mut problems = Vec::new();

    // The sandbox checks values by the schemas of definitions alone.
    if site.is_real() || !case.around.is_empty() {
        let (wrong, said) = &case.wrong;
        let told = errors(&then(wrong).try_plan(PlanMode::Normal).await.1);
        if !told.iter().any(|one| one.contains(said)) {
            problems.push(format!("{wrong} is refused: {told:?}"));
        }
    }

    let (paths, why) = case.forbids;
    let other = then(&case.after);
    let (plan, diagnostics) = other.try_plan(PlanMode::Normal).await;
    let Some(planned) = plan.changes.iter().find(|change| &*change.addr.name == "x") else {
        return vec![format!("{} is planned: {diagnostics:?}", case.after)];
    };
    let found: Vec<String> = planned.replace_paths.iter().map(ToString::to_string).collect();
    let told = planned.unverified.clone().unwrap_or_default();
    // The sandbox names a part, where a real server may name a part of that.
    let fits = found.len() == paths.len() && found.iter().zip(paths).all(|(found, path)| found.starts_with(path));
    if !planned.action.is_replace() || !fits || !told.contains(why) {
        problems.push(format!("{}: {:?} for {found:?}: {told}", case.after, planned.action));
        return problems;
    }
    let old = uid(&plan);
    other.apply(plan).await;
    unchanged(&other).await;
    if uid(&other.plan(PlanMode::Normal).await) == old {
        problems.push(format!("{}: it is still the old one", case.after));
    }
    problems
}

#[tokio::test]
async fn what_cannot_be_changed_is_replaced_and_what_is_wrong_is_not() {
    everywhere(async |site: &Site| {
        let cases = cases();
        let served = cases.iter().enumerate().filter(|(_, case)| case.in_sandbox || site.is_real());
        let found = join_all(served.map(|(number, case)| problems(site, number, case))).await.concat();
        assert_eq!(found, [""; 0]);
        // The definition is there already.
        assert_eq!(problems(site, cases.len(), &shrinking()).await, [""; 0]);
    })
    .await;
}

/// What is on its volume would be lost, and only the new size is wrong.
#[tokio::test]
async fn a_bound_claim_is_never_replaced_for_its_size() {
    everywhere(async |site: &Site| {
        if !site.is_real() {
            return;
        }
        let text = |size: &str| {
            let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": site.namespace}, "spec": {
                "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "none",
                "hostPath": {"path": "/nowhere"}, "claimRef": {"namespace": site.namespace, "name": "bound"}}});
            let mut claim = claim("none", "ReadWriteOnce", size);
            claim["apiVersion"] = "v1".into();
            claim["kind"] = "PersistentVolumeClaim".into();
            claim["metadata"] = json!({"name": "bound", "namespace": site.namespace});
            claim["spec"]["volumeName"] = site.namespace.clone().into();
            format!(
                "resource \"kubernetes_manifest\" \"volume\" {{\n  manifest = {volume}\n  computed_fields = [\"spec.claimRef\"]\n}}\n\
                 resource \"kubernetes_manifest\" \"x\" {{\n  depends_on = [kubernetes_manifest.volume]\n  manifest = {claim}\n  \
                 wait {{\n    rollout = true\n  }}\n}}\n"
            )
        };
        let run = site.run(&text("2Gi")).await;
        settle(&run).await;
        let smaller = run.then([site.provider(site.admin())], &text("1Gi"));
        let (plan, diagnostics) = smaller.try_plan(PlanMode::Normal).await;
        assert!(plan.changes.iter().all(|change| !change.action.is_replace()), "{:?}", plan.changes);
        let told = errors(&diagnostics);
        assert!(told.iter().any(|one| one.contains("field can not be less than")), "{told:?}");
        run.apply(run.plan(PlanMode::Destroy).await).await;
    })
    .await;
}
