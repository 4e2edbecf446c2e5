//! What a fleet becomes: simulated hardware, and the objects that a cluster has of it from its first moment.

use std::collections::{BTreeMap, BTreeSet};

use engine_model::name::GpuUuid;
use kube::CustomResourceExt;
use providers_agent_api::{GpuNode, LEASE_NAMESPACE};
use providers_simulator::{CardRequest, Fleet as Hardware, Node, Refusal, UnknownProduct};
use serde_json::{Value, json};

use super::{CardsSpec, Fleet, InstanceWish, NodeSpec, Owner, PodSpec};
use crate::names::{BUSY, ENDS_AFTER, STOPS_AFTER};

/// The first process id of processes that belong to no pod.
const FOREIGN_PID: u32 = 4000;

/// A fleet that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmade {
    /// The catalog does not know a card.
    #[error(transparent)]
    Product(#[from] UnknownProduct),
    /// The instances of a card do not fit on it.
    #[error(
        "node {node}: MIG profile {profile} cannot be made on a {product} after the instances before it: {refusal}"
    )]
    Instance {
        /// The node.
        node: String,
        /// The card.
        product: String,
        /// The profile.
        profile: String,
        /// What the driver says.
        refusal: Refusal,
    },
}

/// The hardware of a fleet. The same fleet makes the same hardware.
pub(crate) fn simulated(fleet: &Fleet) -> Result<Hardware, Unmade> {
    let mut hardware = Hardware::default();
    for spec in &fleet.nodes {
        hardware.nodes.insert(spec.name.clone(), node(spec)?);
    }
    Ok(hardware)
}

fn node(spec: &NodeSpec) -> Result<Node, Unmade> {
    let requests: Vec<CardRequest> =
        spec.cards.iter().map(|cards| CardRequest { product: cards.product.clone(), count: cards.count }).collect();
    let mut node = Node::new(&spec.name, &spec.driver, &requests)?;
    let kinds = spec.cards.iter().flat_map(|cards| std::iter::repeat_n(cards, cards.count));
    let cards: Vec<(GpuUuid, &CardsSpec)> = node.cards.iter().map(|card| card.uuid.clone()).zip(kinds).collect();
    let mut pid = FOREIGN_PID;
    for (uuid, cards) in cards {
        for wish in &cards.instances {
            cut(&mut node, &uuid, *wish).map_err(|refusal| Unmade::Instance {
                node: spec.name.clone(),
                product: cards.product.to_string(),
                profile: wish.profile.to_string(),
                refusal,
            })?;
        }
        if cards.mig && cards.instances.is_empty() {
            // Nothing runs on a new card, so nothing can be in the way.
            let _ = node.set_mig_mode(&uuid, true);
        }
        if cards.held {
            for device in devices_of(&node, &uuid) {
                pid += 1;
                node.set_processes(&device, &[pid]);
            }
        }
    }
    // Last, since a machine without passthrough has made it what it is.
    node.passthrough = spec.passthrough;
    Ok(node)
}

fn cut(node: &mut Node, card: &GpuUuid, wish: InstanceWish) -> Result<(), Refusal> {
    node.set_mig_mode(card, true)?;
    let geometry = node.card(card)?.geometry().ok_or(Refusal::NotSupported)?;
    let info = geometry.profile(wish.profile).ok_or(Refusal::InvalidArgument)?;
    let id = node.create_gpu_instance(card, info.gi_profile_id, wish.start)?;
    node.create_compute_instance(card, id, info.compute_slices).map(|_| ())
}

/// The card's slices, or the card itself.
fn devices_of(node: &Node, uuid: &GpuUuid) -> Vec<String> {
    let card = node.cards.iter().find(|card| card.uuid == *uuid);
    let slices: Vec<String> = card
        .into_iter()
        .flat_map(|card| card.mig_devices())
        .map(|device| device.compute_instance.uuid.clone())
        .collect();
    if slices.is_empty() { vec![uuid.to_string()] } else { slices }
}

/// An object to create: the collection's path, and the object. In an order in which each finds what it names.
pub(crate) fn objects(fleet: &Fleet) -> Vec<(String, Value)> {
    let mut objects = vec![namespace(LEASE_NAMESPACE)];
    objects.extend(fleet.nodes.iter().map(|spec| ("/api/v1/nodes".to_owned(), node_object(spec))));
    let namespaces: BTreeSet<&str> = fleet.pods.iter().map(|pod| pod.namespace.as_str()).collect();
    objects.extend(namespaces.into_iter().map(namespace));
    let priorities: BTreeSet<i32> = fleet.pods.iter().filter_map(|pod| pod.priority).collect();
    objects.extend(priorities.into_iter().map(priority_class));
    objects
}

/// The definitions that every sandbox has: our node resource, and the sandbox's own.
pub(crate) fn definitions() -> Vec<(String, Value)> {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned();
    let crd = serde_json::to_value(GpuNode::crd()).expect("a definition has only text keys, so it is always JSON");
    vec![(path.clone(), crd), (path, crate::cluster::execution_definition())]
}

fn namespace(name: &str) -> (String, Value) {
    ("/api/v1/namespaces".to_owned(), json!({"metadata": {"name": name}}))
}

fn class_name(priority: i32) -> String {
    if priority < 0 { format!("priority-minus-{}", priority.unsigned_abs()) } else { format!("priority-{priority}") }
}

fn priority_class(priority: i32) -> (String, Value) {
    let object = json!({"metadata": {"name": class_name(priority)}, "value": priority});
    ("/apis/scheduling.k8s.io/v1/priorityclasses".to_owned(), object)
}

fn node_object(spec: &NodeSpec) -> Value {
    let mut labels: BTreeMap<&str, &str> = BTreeMap::from([
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/hostname", spec.name.as_str()),
        ("kubernetes.io/os", "linux"),
    ]);
    labels.extend(spec.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    // What a server of this size has; nothing here counts it.
    let amounts = json!({"cpu": "128", "memory": "1056Gi", "ephemeral-storage": "1800Gi", "pods": "110"});
    let mut object = json!({
        "metadata": {"name": spec.name, "labels": labels},
        "spec": {},
        "status": {
            "capacity": amounts, "allocatable": amounts,
            "nodeInfo": {
                "architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": crate::names::KUBELET_VERSION,
                "kubeProxyVersion": "", "machineID": "", "systemUUID": "", "bootID": "", "osImage": "simulated",
                "kernelVersion": "simulated", "containerRuntimeVersion": "simulated://0",
            },
        },
    });
    if spec.unschedulable {
        object["spec"]["unschedulable"] = true.into();
    }
    if !spec.ready {
        object["spec"]["taints"] = json!([{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]);
    }
    object
}

/// What a pod belongs to, outermost first: the collection's path and the object of each. Each is the controller of the
/// next; the last of the pod.
pub(crate) fn owners(pod: &PodSpec) -> Vec<(String, Value)> {
    let labels = json!({"app": pod.owner.as_ref().map_or(pod.name.as_str(), Owner::name)});
    // A pod that takes another's place is like it.
    let mut all_labels = json!(pod.labels);
    all_labels["app"] = labels["app"].clone();
    let mut metadata = json!({"labels": all_labels});
    let mut annotations = annotations(pod);
    annotations.remove(ENDS_AFTER);
    if !annotations.is_empty() {
        metadata["annotations"] = json!(annotations);
    }
    let template = json!({"metadata": metadata, "spec": pod_spec(pod)});
    let apps = |plural: &str| format!("/apis/apps/v1/namespaces/{}/{plural}", pod.namespace);
    let workload = |name: &str| {
        json!({
            "metadata": {"name": name},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
        })
    };
    match &pod.owner {
        None => Vec::new(),
        Some(Owner::ReplicaSet(name)) => vec![(apps("replicasets"), workload(name))],
        Some(Owner::Deployment(name)) => {
            vec![(apps("deployments"), workload(name)), (apps("replicasets"), workload(&format!("{name}-1")))]
        }
        Some(Owner::Job(name)) => {
            let mut template = template;
            template["spec"]["restartPolicy"] = "Never".into();
            // Without this the server would want the selector that Kubernetes generates with the job's UID.
            let selector = json!({"matchLabels": labels});
            let spec = json!({"manualSelector": true, "selector": selector, "template": template});
            let path = format!("/apis/batch/v1/namespaces/{}/jobs", pod.namespace);
            vec![(path, json!({"metadata": {"name": name}, "spec": spec}))]
        }
    }
}

impl Owner {
    /// Its name, which is also the label `app` of its pods.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Deployment(name) | Self::ReplicaSet(name) | Self::Job(name) => name,
        }
    }
}

fn annotations(pod: &PodSpec) -> BTreeMap<&'static str, String> {
    let mut annotations = BTreeMap::new();
    if let Some(ends_after) = pod.ends_after_ms {
        annotations.insert(ENDS_AFTER, format!("{ends_after}ms"));
    }
    if pod.stops_after_ms > 0 {
        annotations.insert(STOPS_AFTER, format!("{}ms", pod.stops_after_ms));
    }
    if pod.busy {
        annotations.insert(BUSY, "true".to_owned());
    }
    annotations
}

/// The pod itself; `controller` is the object that owns it.
pub(crate) fn pod_object(pod: &PodSpec, controller: Option<&Value>) -> Value {
    let mut labels = pod.labels.clone();
    if let Some(owner) = &pod.owner {
        labels.insert("app".to_owned(), owner.name().to_owned());
    }
    let annotations = annotations(pod);
    let mut object = json!({
        "metadata": {"namespace": pod.namespace, "name": pod.name, "labels": labels, "annotations": annotations},
        "spec": pod_spec(pod),
    });
    if matches!(pod.owner, Some(Owner::Job(_))) {
        object["spec"]["restartPolicy"] = "Never".into();
    }
    if let Some(controller) = controller {
        object["metadata"]["ownerReferences"] = json!([reference(controller)]);
    }
    object
}

/// The reference by which an object names its controller.
pub(crate) fn reference(controller: &Value) -> Value {
    json!({
        "apiVersion": controller["apiVersion"], "kind": controller["kind"], "name": controller["metadata"]["name"],
        "uid": controller["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
    })
}

fn pod_spec(pod: &PodSpec) -> Value {
    let mut spec = json!({
        "containers": [{
            "name": "main", "image": "example.com/workload:1",
            "resources": {"limits": pod.resources, "requests": pod.resources},
        }],
    });
    if !pod.node_selector.is_empty() {
        spec["nodeSelector"] = json!(pod.node_selector);
    }
    if let Some(priority) = pod.priority {
        spec["priorityClassName"] = class_name(priority).into();
    }
    spec
}
