//! Faults by script: what goes wrong between a client and the API, at which requests, how often. A fault that has struck
//! often enough is gone.
//!
//! They strike requests that come over the wire; what the sandbox does in its own process (the simulated fleet) passes.

mod effect;
mod gate;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::inquiry::Inquiry;
pub use effect::{Effect, When};
pub use gate::Gate;

/// Something that will go wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    /// At which requests.
    pub which: Which,
    /// How many such requests are let through first.
    pub after: u32,
    /// How many requests it strikes then; [`Fault::ALWAYS`] for all.
    pub times: u32,
    /// What happens.
    pub effect: Effect,
}

/// Requests by what they ask. Everything that is not said fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Which {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `apply`, `delete`, `deletecollection`; `patch` fits an apply,
    /// too.
    pub verb: Option<String>,
    /// API group; empty for the core group.
    pub group: Option<String>,
    /// The plural, with the subresource: `gpunodes/status`. Without it documents such as `/apis` fit, too.
    pub resource: Option<String>,
    /// The object's namespace.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: Option<String>,
    /// What the path begins with: `/openapi`.
    pub path: Option<String>,
    /// The user's name.
    pub user: Option<String>,
    /// Dry runs only, or all but dry runs.
    pub dry_run: Option<bool>,
}

impl Which {
    /// Requests of this verb for this resource.
    pub fn new(verb: &str, resource: &str) -> Self {
        Self { verb: Some(verb.to_owned()), resource: Some(resource.to_owned()), ..Self::default() }
    }

    /// Requests whose path begins so.
    pub fn path(path: &str) -> Self {
        Self { path: Some(path.to_owned()), ..Self::default() }
    }

    /// The same for the object of this name.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// The same of this user alone.
    #[must_use]
    pub fn user(self, user: &str) -> Self {
        Self { user: Some(user.to_owned()), ..self }
    }

    /// The same for dry runs alone, or for all but these.
    #[must_use]
    pub fn dry_run(self, dry_run: bool) -> Self {
        Self { dry_run: Some(dry_run), ..self }
    }

    fn fits(&self, inquiry: &Inquiry) -> bool {
        let same = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
        let verb = self.verb.as_deref();
        let of_resource = |resource: &str| inquiry.resource() == resource;
        verb.is_none_or(|verb| verb == inquiry.verb || (verb == "patch" && inquiry.verb == "apply"))
            && same(&self.group, &inquiry.group)
            && self.resource.as_deref().is_none_or(of_resource)
            && same(&self.namespace, &inquiry.namespace)
            && same(&self.name, &inquiry.name)
            && self.path.as_deref().is_none_or(|path| inquiry.path.starts_with(path))
            && same(&self.user, &inquiry.user)
            && self.dry_run.is_none_or(|dry_run| dry_run == inquiry.dry_run)
    }
}

impl Fault {
    /// As many times as there are requests.
    pub const ALWAYS: u32 = u32::MAX;

    /// A fault that strikes the next such request.
    pub fn once(which: Which, effect: Effect) -> Self {
        Self { which, after: 0, times: 1, effect }
    }

    /// The same, so many times.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self { times, ..self }
    }

    /// The same, after so many requests that pass.
    #[must_use]
    pub fn after(self, after: u32) -> Self {
        Self { after, ..self }
    }
}

/// All that are to come. Clones are the same script.
#[derive(Clone, Debug, Default)]
pub struct Faults(Arc<Mutex<Script>>);

#[derive(Debug, Default)]
struct Script {
    faults: Vec<Fault>,
    /// How many requests were struck.
    struck: u32,
    /// Group and version of aggregated APIs whose server does not answer.
    unavailable: BTreeSet<(String, String)>,
}

impl Faults {
    /// Adds one. Those that were added before it come first.
    pub fn add(&self, fault: Fault) {
        self.lock().faults.push(fault);
    }

    /// Takes back all that have not struck yet, and makes every API available.
    pub fn clear(&self) {
        let mut script = self.lock();
        script.faults.clear();
        script.unavailable.clear();
    }

    /// How many faults are still to come.
    pub fn pending(&self) -> usize {
        self.lock().faults.len()
    }

    /// How many requests have been struck.
    pub fn struck(&self) -> u32 {
        self.lock().struck
    }

    /// An aggregated API whose server is down, or up again: discovery lists it (marked stale in the aggregated form), and
    /// whatever is asked of it is answered with 503. It need not be one that the sandbox serves: `metrics.k8s.io`.
    pub fn set_available(&self, group: &str, version: &str, available: bool) {
        let api = (group.to_owned(), version.to_owned());
        let unavailable = &mut self.lock().unavailable;
        if available {
            unavailable.remove(&api);
        } else {
            unavailable.insert(api);
        }
    }

    /// The aggregated APIs that are down.
    pub(super) fn unavailable(&self) -> BTreeSet<(String, String)> {
        self.lock().unavailable.clone()
    }

    /// Takes the effect on this request, if any.
    pub(super) fn due(&self, inquiry: &Inquiry) -> Option<Effect> {
        let mut script = self.lock();
        for index in 0..script.faults.len() {
            let fault = &mut script.faults[index];
            if !fault.which.fits(inquiry) {
                continue;
            }
            if fault.after > 0 {
                fault.after -= 1;
                continue;
            }
            if fault.times != Fault::ALWAYS {
                fault.times = fault.times.saturating_sub(1);
            }
            let effect = fault.effect.clone();
            if fault.times == 0 {
                script.faults.remove(index);
            }
            script.struck += 1;
            return Some(effect);
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(name: &str) -> Inquiry {
        Inquiry {
            verb: "apply",
            group: "sliceform.io".to_owned(),
            plural: "gpunodes".to_owned(),
            subresource: "status".to_owned(),
            name: name.to_owned(),
            path: format!("/apis/sliceform.io/v1alpha1/gpunodes/{name}/status"),
            user: "someone".to_owned(),
            ..Inquiry::default()
        }
    }

    #[test]
    fn what_is_in_the_script_strikes_so_often_after_so_many() {
        let faults = Faults::default();
        let which = Which::new("patch", "gpunodes/status").name("a");
        faults.add(Fault::once(which, Effect::Hang).times(2).after(1));
        let strikes = |name: &str| faults.due(&patch(name)).is_some();
        assert_eq!(
            [strikes("b"), strikes("a"), strikes("a"), strikes("a"), strikes("a")],
            [false, false, true, true, false]
        );
        assert_eq!((faults.pending(), faults.struck()), (0, 2));
    }

    #[test]
    fn what_is_not_said_fits() {
        for (which, fits) in [
            (Which::default(), true),
            (Which::path("/apis/sliceform.io"), true),
            (Which::path("/openapi"), false),
            (Which::default().user("someone"), true),
            (Which::default().user("another"), false),
            (Which::default().dry_run(true), false),
            (Which::new("patch", "gpunodes"), false),
            (Which::new("update", "gpunodes/status"), false),
        ] {
            assert_eq!(which.fits(&patch("a")), fits, "{which:?}");
        }
    }
}
