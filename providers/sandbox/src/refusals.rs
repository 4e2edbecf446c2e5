//! A script of refusals: what the API will not let through, how often, and what it says.

use std::sync::{Arc, Mutex, PoisonError};

use crate::api::{Attributes, Authorizer, Decision, User};

/// Calls that are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The verb: `create`, `patch`, `delete` and so on.
    pub verb: String,
    /// The resource by its plural, with its subresource: `gpunodes/status`.
    pub resource: String,
    /// The object's name; none: any.
    pub name: Option<String>,
    /// How many such calls.
    pub times: u32,
    /// What the caller is told.
    pub why: String,
}

/// All that are to come. Clones are the same script.
#[derive(Clone, Debug, Default)]
pub struct Refusals(Arc<Mutex<Vec<Refusal>>>);

impl Refusals {
    /// Adds one.
    pub fn add(&self, refusal: Refusal) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(refusal);
    }

    fn due(&self, attributes: &Attributes<'_>) -> Option<String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let resource = match attributes.subresource {
            "" => attributes.resource.to_owned(),
            part => format!("{}/{part}", attributes.resource),
        };
        let concerns = |one: &Refusal| {
            one.verb == attributes.verb
                && one.resource == resource
                && one.name.as_ref().is_none_or(|name| name == attributes.name)
        };
        let index = all.iter().position(concerns)?;
        all[index].times = all[index].times.saturating_sub(1);
        Some(if all[index].times == 0 { all.remove(index).why } else { all[index].why.clone() })
    }
}

/// The script before an authoriser.
pub(crate) struct Scripted<A> {
    pub(crate) script: Refusals,
    pub(crate) then: A,
}

impl<A: Authorizer> Authorizer for Scripted<A> {
    fn authorize(&self, user: &User, attributes: &Attributes<'_>) -> Decision {
        match self.script.due(attributes) {
            Some(why) => Decision::Deny(why),
            None => self.then.authorize(user, attributes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::MastersOnly;

    #[test]
    fn what_is_in_the_script_is_refused_so_often() {
        let script = Refusals::default();
        let rules = Scripted { script: script.clone(), then: MastersOnly };
        let patch = |name| Attributes {
            verb: "patch",
            group: "sliceform.io",
            resource: "gpunodes",
            subresource: "status",
            namespace: "",
            name,
        };
        script.add(Refusal {
            verb: "patch".to_owned(),
            resource: "gpunodes/status".to_owned(),
            name: Some("a".to_owned()),
            times: 2,
            why: "not today".to_owned(),
        });
        let admin = User::admin("x");
        assert_eq!(rules.authorize(&admin, &patch("b")), Decision::Allow);
        let refused = Decision::Deny("not today".to_owned());
        assert_eq!(rules.authorize(&admin, &patch("a")), refused);
        assert_eq!(rules.authorize(&admin, &patch("a")), refused);
        assert_eq!(rules.authorize(&admin, &patch("a")), Decision::Allow);
    }
}
