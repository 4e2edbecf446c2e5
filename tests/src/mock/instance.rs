//! The half that speaks to the world: dispatches by type, and works on nodes.

use async_trait::async_trait;
use engine_model::{
    address::ProviderAddr,
    name::{ClusterIdentity, NodeName},
    operation::OperationKind,
    policy::DisruptionPolicy,
};
use engine_value::{Path, Value};
use providers_api::{
    Applied, ApplyRequest, Call, DataRequest, ErrorKind, GateRequest, Health, HoldRequest, Instance, Issue,
    OperateRequest, Operations, Outcome, PlanRequest, Planned, PlannedChange, ProviderError, ReadAnswer, ReadRequest,
    RecoverRequest, Recovery,
};

use super::{
    call::Verb,
    fault::How,
    node_change::{self, Payload},
    object,
    world::{Node, World},
};

pub(super) struct MockInstance {
    pub(super) addr: ProviderAddr,
    pub(super) world: World,
    pub(super) cluster: String,
    pub(super) policy: DisruptionPolicy,
}

fn conflict(what: String) -> ProviderError {
    ProviderError::new(ErrorKind::Conflict, what)
}

impl MockInstance {
    /// Changes a node, unless the world is to refuse that.
    fn on_node(
        &self,
        verb: Verb,
        name: &NodeName,
        about: &str,
        change: impl FnOnce(&mut Node) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        let fault = self.world.called(verb, about);
        let error = fault.as_ref().map(|how| how.error(about));
        if let (Some(How::Refused(_) | How::Says(..)), Some(error)) = (&fault, error) {
            return Err(error);
        }
        self.world.edit(|contents| match contents.nodes.get_mut(name) {
            Some(node) => change(node),
            None => Err(conflict(format!("{name} is gone"))),
        })?;
        match fault {
            Some(how) => Err(how.error(about)),
            None => Ok(()),
        }
    }
}

fn payload(json: &serde_json::Value) -> Result<Payload, ProviderError> {
    serde_json::from_value(json.clone())
        .map_err(|error| ProviderError::permanent("the payload is not what was given").caused_by(error))
}

#[async_trait]
impl Instance for MockInstance {
    async fn identity(&self, _: Call<'_>) -> Result<Option<ClusterIdentity>, ProviderError> {
        match self.world.called(Verb::Identity, &self.cluster) {
            Some(how) => Err(how.error("say who it is")),
            None => Ok(Some(ClusterIdentity::from(self.cluster.as_str()))),
        }
    }

    fn policy(&self) -> DisruptionPolicy {
        self.policy.clone()
    }

    async fn read(&self, requests: Vec<ReadRequest>, _: Call<'_>) -> Vec<ReadAnswer> {
        let read = |request: &ReadRequest| match &*request.addr.ty {
            node_change::TYPE => node_change::read(&self.world, request),
            _ => object::read(&self.world, request),
        };
        requests.iter().map(read).collect()
    }

    async fn plan(&self, request: PlanRequest, _: Call<'_>) -> Result<Planned, Vec<Issue>> {
        if let Some(how) = self.world.called(Verb::Plan, &request.addr.to_string()) {
            let error = how.error(&format!("plan {}", request.addr));
            return Err(vec![Issue::error(Path::root(), "The world refused", format!("{error}."))]);
        }
        match &*request.addr.ty {
            node_change::TYPE => node_change::plan(&self.world, &request),
            _ => Ok(object::plan(&request)),
        }
    }

    async fn operations(&self, changes: &[PlannedChange], _: Call<'_>) -> Result<Operations, ProviderError> {
        match self.world.called(Verb::Operations, &self.cluster) {
            Some(how) => Err(how.error("tell its nodes")),
            None => Ok(node_change::operations(&self.addr, &self.world, changes)),
        }
    }

    async fn apply(&self, request: ApplyRequest, call: Call<'_>) -> Outcome<Applied> {
        match &*request.change.addr.ty {
            // It only reads, and an interrupt ends what only reads.
            node_change::TYPE if call.cancel.is_cancelled() => {
                Outcome::failed(None, ProviderError::new(ErrorKind::Cancelled, "interrupted while reading"))
            }
            node_change::TYPE => node_change::settle(&self.world, &request),
            _ => object::apply(&self.world, &request),
        }
    }

    async fn hold(&self, request: HoldRequest, _: Call<'_>) -> Result<(), ProviderError> {
        let hold = &request.hold;
        let result = self.on_node(Verb::Hold, &hold.node, hold.node.as_str(), |node| {
            if let Some(by) = &node.held_by
                && *by != request.plan
                && hold.takes_over.as_ref() != Some(by)
            {
                return Err(conflict(format!("{} is held by plan {by}", hold.node)));
            }
            node.held_by = Some(request.plan.clone());
            if let Some(pod) = node.pods.iter().find(|pod| !hold.victims.contains(pod)) {
                return Err(conflict(format!("{} was not among the victims that were approved", pod.owner())));
            }
            node.pods.clear();
            Ok(())
        });
        self.world.count_held();
        result
    }

    async fn operate(&self, request: OperateRequest, _: Call<'_>) -> Result<(), ProviderError> {
        let operation = &request.operation;
        let Payload { setting, from, to } = payload(&operation.payload)?;
        let about = format!("{} on {}", operation.summary, operation.node);
        self.on_node(Verb::Operate, &operation.node, &about, |node| {
            if operation.kind != OperationKind::None && node.held_by.as_ref() != Some(&request.plan) {
                return Err(conflict(format!("{} is not held by this plan", operation.node)));
            }
            if request.fence < node.fence {
                return Err(conflict(format!("{} has obeyed a later run", operation.node)));
            }
            node.fence = request.fence;
            let now = node.settings.get(&setting).cloned();
            if now != from && now != to {
                return Err(conflict(format!("{setting} on {} is no longer what it was", operation.node)));
            }
            match to {
                Some(to) => drop(node.settings.insert(setting, to)),
                None => drop(node.settings.remove(&setting)),
            }
            Ok(())
        })
    }

    async fn release(&self, request: HoldRequest, _: Call<'_>) -> Result<(), ProviderError> {
        let name = &request.hold.node;
        self.on_node(Verb::Release, name, name.as_str(), |node| match &node.held_by {
            Some(_) if request.operations.is_empty() && node.ill.is_some() => {
                Err(conflict(format!("{name} is not healthy")))
            }
            Some(by) if *by != request.plan => Err(conflict(format!("{name} is held by plan {by}"))),
            _ => {
                node.held_by = None;
                Ok(())
            }
        })
    }

    async fn gate(&self, request: GateRequest, _: Call<'_>) -> Result<Health, ProviderError> {
        let nodes: Vec<&str> = request.wave.nodes.iter().map(NodeName::as_str).collect();
        if let Some(how) = self.world.called(Verb::Gate, &nodes.join(" ")) {
            return Err(how.error("look at a wave"));
        }
        let contents = self.world.contents();
        let ill = request.wave.nodes.iter().filter_map(|name| {
            let why = contents.nodes.get(name)?.ill.clone()?;
            Some((name.clone(), why))
        });
        let ill: Vec<_> = ill.collect();
        Ok(if ill.is_empty() { Health::Healthy } else { Health::Unhealthy(ill) })
    }

    async fn recover(&self, request: RecoverRequest, _: Call<'_>) -> Recovery {
        let operation = &request.operation;
        if let Some(how) = self.world.called(Verb::Recover, operation.id.as_str()) {
            return Recovery::Unknown(how.error("tell what became of an operation"));
        }
        let Payload { setting, to, .. } = match payload(&operation.payload) {
            Ok(payload) => payload,
            Err(error) => return Recovery::Unknown(error),
        };
        let contents = self.world.contents();
        let now = contents.nodes.get(&operation.node).and_then(|node| node.settings.get(&setting)).cloned();
        if now == to { Recovery::Done } else { Recovery::NotStarted }
    }

    async fn data(&self, request: DataRequest, _: Call<'_>) -> Result<Value, Vec<Issue>> {
        let key = request.config.get("key").cloned().unwrap_or_else(|| Value::string(""));
        if let Some(how) = self.world.called(Verb::Data, &request.addr.to_string()) {
            let error = how.error(&format!("read {}", request.addr));
            return Err(vec![Issue::error(Path::root(), "The world refused", format!("{error}."))]);
        }
        let contents = self.world.contents();
        match key.as_str().and_then(|key| contents.values.get(key)) {
            Some(value) => Ok(Value::object([("key", key), ("result", Value::string(value))])),
            None => {
                let detail = format!("The world has no value {:?}.", key.as_str().unwrap_or_default());
                Err(vec![Issue::error(Path::root().attr("key"), "No such value", detail)])
            }
        }
    }
}
