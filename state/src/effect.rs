//! Effects: what a step does to the state, as small as it can be said. The journal holds them, and carrying them out is
//! the only way from one snapshot to the next; so what is folded later is what was done then.

use std::sync::Arc;

use engine_model::{
    address::{DeposedKey, ProviderConfigAddr, ResourceAddr},
    event::HeldNode,
    name::{ClusterIdentity, NodeName},
};
use engine_value::{Type, json::Json};
use serde::{Deserialize, Serialize};

use crate::{
    Object, Output, Slot, Snapshot,
    patch::{self, Edit},
    v4,
};

/// What a step does to the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// An object comes to be, or changes. Made by [`Effect::object`].
    Object {
        /// Which resource.
        addr: ResourceAddr,
        /// Which of its objects.
        slot: Slot,
        /// Who looks after it now.
        provider: ProviderConfigAddr,
        /// Edits of the object as the file has it; from an empty object where it is new.
        edits: Vec<Edit>,
    },
    /// An object is gone, or forgotten.
    Remove {
        /// Which resource.
        addr: ResourceAddr,
        /// Which of its objects.
        slot: Slot,
    },
    /// The current object becomes a deposed one: its replacement is about to be made.
    Depose {
        /// Which resource.
        addr: ResourceAddr,
        /// The name of the deposed object.
        key: DeposedKey,
    },
    /// A deposed object is the current one again: nothing of its replacement came to be.
    Restore {
        /// Which resource.
        addr: ResourceAddr,
        /// The name of the deposed object.
        key: DeposedKey,
    },
    /// A resource gets another address.
    Rename {
        /// The old one.
        from: ResourceAddr,
        /// The new one.
        to: ResourceAddr,
    },
    /// An output of the root module has this value.
    Output {
        /// Its name.
        name: Arc<str>,
        /// Its value.
        value: Json,
        /// Its type.
        ty: Type,
        /// Never shown.
        sensitive: bool,
    },
    /// An output of the root module is gone, or null.
    NoOutput(Arc<str>),
    /// A provider configuration belongs to this cluster.
    Cluster(ProviderConfigAddr, ClusterIdentity),
    /// A node is held; with what was done on it so far.
    Held(ProviderConfigAddr, HeldNode),
    /// A node is given back.
    Released(ProviderConfigAddr, NodeName),
    /// Checks came out so.
    Checks(Json),
}

/// An effect that does not fit the snapshot: the journal belongs to another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EffectError {
    /// An edit does not fit the object.
    #[error("the change of {addr} does not fit: {why}")]
    Edit {
        /// Of which resource.
        addr: ResourceAddr,
        /// What does not fit.
        why: String,
    },
    /// There is nothing to do it to, or its place is taken.
    #[error("{what} of {addr} does not fit what the state has there")]
    Missing {
        /// Of which resource.
        addr: ResourceAddr,
        /// What was to be done: "the move".
        what: &'static str,
    },
}

impl Effect {
    /// An object is this afterwards. `before`: what the snapshot has in that place.
    pub fn object(
        addr: ResourceAddr,
        slot: Slot,
        provider: ProviderConfigAddr,
        before: Option<&Object>,
        after: &Object,
    ) -> Self {
        let before = before.map_or_else(|| Json::Object(Vec::new()), v4::write_object);
        let edits = patch::diff(&before, &v4::write_object(after));
        Self::Object { addr, slot, provider, edits }
    }

    /// An output is this afterwards.
    pub fn output(name: Arc<str>, output: Option<Output>) -> Self {
        match output {
            Some(Output { value, ty, sensitive }) => Self::Output { name, value, ty, sensitive },
            None => Self::NoOutput(name),
        }
    }
}

impl Snapshot {
    /// Carries out an effect.
    ///
    /// # Errors
    /// It does not fit, and nothing was done.
    pub fn apply(&mut self, effect: &Effect) -> Result<(), EffectError> {
        let fits = |done: bool, addr: &ResourceAddr, what| {
            if done { Ok(()) } else { Err(EffectError::Missing { addr: addr.clone(), what }) }
        };
        match effect {
            Effect::Object { addr, slot, provider, edits } => {
                let object = edited(self.resource(addr).and_then(|resource| resource.object(slot)), edits)
                    .map_err(|why| EffectError::Edit { addr: addr.clone(), why })?;
                self.put(addr, slot.clone(), provider.clone(), object);
            }
            Effect::Remove { addr, slot } => drop(self.remove(addr, slot)),
            Effect::Depose { addr, key } => fits(self.depose(addr, key.clone()), addr, "deposing the object")?,
            Effect::Restore { addr, key } => fits(self.restore(addr, key), addr, "restoring the object")?,
            Effect::Rename { from, to } => fits(self.rename(from, to), from, "the move")?,
            Effect::Output { name, value, ty, sensitive } => {
                let output = Output { value: value.clone(), ty: ty.clone(), sensitive: *sensitive };
                self.outputs.insert(name.clone(), output);
            }
            Effect::NoOutput(name) => drop(self.outputs.remove(name)),
            Effect::Cluster(provider, cluster) => drop(self.clusters.insert(provider.clone(), cluster.clone())),
            Effect::Held(provider, held) => {
                self.held.insert((provider.clone(), held.node.clone()), held.clone());
            }
            Effect::Released(provider, node) => drop(self.held.remove(&(provider.clone(), node.clone()))),
            Effect::Checks(results) => self.check_results = results.clone(),
        }
        Ok(())
    }
}

fn edited(before: Option<&Object>, edits: &[Edit]) -> Result<Object, String> {
    let mut json = before.map_or_else(|| Json::Object(Vec::new()), v4::write_object);
    patch::apply(&mut json, edits).map_err(|error| error.to_string())?;
    v4::read_object(&json).map_err(|error| error.to_string())
}
