//! The block of a provider configuration: its own arguments, or those that another provider lends it.

use engine_diag::{Diagnostic, Diagnostics};
use engine_lang::{config::ProviderName, eval::place_of};
use engine_model::{
    address::ProviderConfigAddr,
    schema::{Block, Usage},
};
use engine_value::Value;

use super::{
    Slot,
    values::{Made, decode},
    view::View,
};
use crate::{program::Program, stored::empty_object};

/// A provider block: an object of its schema's type, checked by its provider.
pub(super) fn provider(program: &Program, view: &View<'_>, addr: &ProviderConfigAddr) -> Made {
    let Some(provider) = program.providers.get(&addr.provider) else {
        return Err(program.providers.missing(&addr.provider).into());
    };
    let schema = &provider.schemas().provider.block;
    let block = program.provider_block(addr);
    let value = match block {
        Some(block) => decode(&block.arguments, schema, view)?,
        None => match schema.attributes.iter().find(|(_, attribute)| attribute.usage == Usage::Required) {
            None => empty_object(schema),
            Some((name, _)) => {
                let detail = format!("{addr} needs the argument \"{name}\", and has no provider block.");
                let error = Diagnostic::error("Provider configuration missing", detail);
                return Err(error.hint(format!("Add a provider \"{}\" block.", addr.provider.ty)).into());
            }
        },
    };
    let value = match provider.borrows_from() {
        Some(lender) => borrowed(program, view, addr, schema, lender, value)?,
        None => value,
    };
    if !view.asked.borrow().missing.is_empty() {
        return Ok(Slot::Value(value));
    }
    let bare = value.clone().unmark_deep().0;
    let found = provider.validate_provider(&bare).into_iter().map(|issue| {
        let inner = block.and_then(|block| place_of(&block.arguments, schema, &issue.path));
        let span = inner.or_else(|| block.map(|block| block.span));
        let mut found = Diagnostic::new(issue.severity, issue.summary, issue.detail).at_opt(span).about(addr);
        found.hint = issue.hint;
        found
    });
    let (errors, warnings): (Vec<_>, Vec<_>) = found.partition(Diagnostic::is_error);
    view.asked.borrow_mut().warnings.extend(warnings);
    if errors.is_empty() { Ok(Slot::Value(value)) } else { Err(Diagnostics(errors)) }
}

/// The arguments that two providers share, from the lender's default configuration in the same module, where the
/// borrower's own block gives none of them: half of one connection and half of another would lead nowhere.
fn borrowed(
    program: &Program,
    view: &View<'_>,
    addr: &ProviderConfigAddr,
    schema: &Block,
    lender: &str,
    own: Value,
) -> Result<Value, Diagnostics> {
    let name = ProviderName { name: lender.into(), alias: None };
    let Some(found) = program.config.provider(&addr.module, &name) else { return Ok(own) };
    let (Some(lender), Some(block)) = (program.providers.get(&found.addr.provider), found.block) else {
        return Ok(own);
    };
    let lent = &lender.schemas().provider.block;
    let has = |block: &Block, name: &str| block.attributes.contains_key(name) || block.blocks.contains_key(name);
    let is_shared = |name: &str| has(schema, name) && has(lent, name);
    let is_given = |value: &Value| !value.is_null() && value.as_sequence().is_none_or(|elements| !elements.is_empty());
    let parts = own.as_map().cloned().unwrap_or_default();
    if parts.iter().any(|(name, value)| is_shared(name) && is_given(value)) {
        return Ok(own);
    }
    let lent = decode(&block.arguments, lent, view)?;
    let taken = |name: &str| if is_shared(name) { lent.get(name).cloned() } else { None };
    Ok(Value::object(parts.iter().map(|(name, value)| (name, taken(name).unwrap_or_else(|| value.clone())))))
}
