//! Terraform's JSON of plans, states and outputs, as other tools read it.
//!
//! Everything of ours is under one extra key, `sliceform`. Secrets are null unless they are asked for; what is sensitive
//! is marked as Terraform marks it. Numbers keep every digit. Writes no file.

mod change;
mod configuration;
mod modules;
mod ours;
pub mod schema;
mod state;

use ::state::{Slot, Snapshot, TERRAFORM_VERSION};
use engine_lang::config::Config;
use engine_model::{
    address::Mode,
    change::{Action, OutputChange},
    plan::Plan,
};
use engine_value::json::{Json, known_part, to_tree, type_to_tree};

pub use state::{outputs_json, state_json};

use crate::Providers;
use modules::Modules;

/// A plan as it is shown.
#[derive(Clone, Copy)]
pub struct PlanView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The state that it was made from.
    pub snapshot: &'a Snapshot,
    /// The configuration that it was made from.
    pub config: &'a Config,
    /// Who has the schemas.
    pub providers: &'a Providers,
    /// Are secrets shown?
    pub show_sensitive: bool,
}

impl PlanView<'_> {
    /// Terraform's plan JSON, format 1.2.
    pub fn to_json(&self) -> Json {
        let plan = self.plan;
        let show = self.show_sensitive;
        let mut members = vec![("format_version", text("1.2")), ("terraform_version", text(TERRAFORM_VERSION))];
        if !plan.variables.is_empty() {
            members.push(("variables", self.variables()));
        }
        members.push(("planned_values", self.planned_values()));
        if !plan.drift.is_empty() {
            let drift = plan.drift.iter().map(|drift| change::drift(drift, show)).collect();
            members.push(("resource_drift", Json::Array(drift)));
        }
        // Data that was read while planning is no change, and neither is what the state just forgets.
        let shown = plan.changes.iter().filter(|change| {
            let is_read = change.addr.mode != Mode::Managed && change.action == Action::NoOp;
            !is_read && (!change.before.is_null() || !change.after.is_null())
        });
        let changes: Vec<Json> = shown.map(|change| change::resource(change, show)).collect();
        // What would be empty is left out, as in Terraform.
        if !changes.is_empty() {
            members.push(("resource_changes", Json::Array(changes)));
        }
        if !plan.outputs.is_empty() {
            let outputs = plan.outputs.iter().map(|(name, output)| (name.to_string(), change::output(output, show)));
            members.push(("output_changes", named(outputs)));
        }
        members.extend(self.prior_state().map(|prior| ("prior_state", prior)));
        members.push(("configuration", configuration::configuration(self.config, self.providers, show)));
        let relevant = configuration::relevant_attributes(self.config);
        if relevant != Json::Array(Vec::new()) {
            members.push(("relevant_attributes", relevant));
        }
        members.push(("timestamp", text(&*plan.timestamp)));
        members.push(("applyable", Json::Bool(!plan.errored && plan.changes_anything())));
        members.push(("complete", Json::Bool(!plan.errored && plan.incomplete.is_none())));
        members.push(("errored", Json::Bool(plan.errored)));
        members.push(("sliceform", ours::ours(plan)));
        object(members)
    }

    fn variables(&self) -> Json {
        named(self.plan.variables.iter().filter(|(_, variable)| !variable.ephemeral).map(|(name, variable)| {
            let redact = variable.sensitive && !self.show_sensitive;
            let value = if redact { None } else { known_part(&variable.value, false) };
            (name.to_string(), object([("value", value.unwrap_or(Json::Null))]))
        }))
    }

    fn planned_values(&self) -> Json {
        let mut modules = Modules::default();
        for change in self.plan.changes.iter().filter(|change| change.deposed.is_none() && !change.after.is_null()) {
            if change.addr.mode != Mode::Managed && change.action == Action::NoOp {
                continue;
            }
            let provider = change.provider.provider.to_string();
            let resource = state::of_object(
                &change.addr,
                &provider,
                change.schema_version,
                &change.after,
                None,
                self.show_sensitive,
            );
            modules.add(&change.addr, resource);
        }
        let outputs = self.plan.outputs.iter().filter(|(_, output)| output.action != Action::Delete);
        let outputs: Vec<_> = outputs.map(|(name, output)| (name.to_string(), self.planned_output(output))).collect();
        let mut members = Vec::new();
        if !outputs.is_empty() {
            members.push(("outputs", named(outputs.into_iter())));
        }
        members.push(("root_module", modules.root()));
        object(members)
    }

    fn planned_output(&self, output: &OutputChange) -> Json {
        let mut members = vec![("sensitive", Json::Bool(output.sensitive))];
        if output.after.is_wholly_known() {
            let redact = output.sensitive && !self.show_sensitive;
            let value = if redact { Json::Null } else { to_tree(&output.after, None).unwrap_or(Json::Null) };
            members.push(("type", type_to_tree(&output.after.type_of())));
            members.push(("value", value));
        }
        object(members)
    }

    /// The state as it was read; outputs as they would be from that, as far as they are known.
    fn prior_state(&self) -> Option<Json> {
        let mut modules = Modules::default();
        let mut any = false;
        for change in &self.plan.changes {
            let is_read = change.addr.mode != Mode::Managed && change.action == Action::NoOp;
            let value = if is_read { &change.after } else { &change.before };
            if value.is_null() {
                continue;
            }
            any = true;
            let slot = change.deposed.clone().map_or(Slot::Current, Slot::Deposed);
            let known = change.previous.as_ref().unwrap_or(&change.addr);
            let stored = self.snapshot.resource(known).and_then(|resource| resource.object(&slot));
            let provider = change.provider.provider.to_string();
            let remembered = stored.map(|stored| (&slot, stored));
            let show = self.show_sensitive;
            let resource = state::of_object(&change.addr, &provider, change.schema_version, value, remembered, show);
            modules.add(&change.addr, resource);
        }
        let outputs: Vec<_> = self
            .plan
            .outputs
            .iter()
            .filter_map(|(name, output)| {
                let known = output.after.is_wholly_known() && !output.after.is_null();
                let value = if known { &output.after } else { &output.before };
                if value.is_null() {
                    return None;
                }
                let redact = output.sensitive && !self.show_sensitive;
                let json = if redact { Json::Null } else { to_tree(value, None).unwrap_or(Json::Null) };
                let members = [
                    ("sensitive", Json::Bool(output.sensitive)),
                    ("value", json),
                    ("type", type_to_tree(&value.type_of())),
                ];
                Some((name.to_string(), object(members)))
            })
            .collect();
        (any || !outputs.is_empty()).then(|| state::whole(named(outputs.into_iter()), modules.root()))
    }
}

/// An object of these members, in this order.
fn object(members: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

/// An object whose members are named by the user.
fn named(members: impl Iterator<Item = (String, Json)>) -> Json {
    Json::Object(members.map(|(name, value)| (name.into(), value)).collect())
}

fn text(text: impl AsRef<str>) -> Json {
    Json::String(text.as_ref().into())
}

fn number(number: u64) -> Json {
    Json::Number(number.to_string().into())
}
