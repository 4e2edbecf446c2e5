//! Module calls: their arguments are variables of the module, and the provider configurations that are named on the way
//! are declared or passed.

use engine_diag::{Diagnostic, Diagnostics};
use engine_model::address::ModulePath;

use crate::syntax::Expr;

use crate::config::{Config, Module, ModuleCall, ProviderRef, shape::unsupported_argument};

/// Reports what is wrong with the calls of a module, wherever the module itself is called from.
pub(super) fn check(module: &Module, diagnostics: &mut Diagnostics) {
    for call in module.calls.values() {
        if let Some(called) = &call.module {
            arguments(call, called, diagnostics);
            passed(call, called, diagnostics);
        }
    }
}

/// The arguments of a call against the variables of the module.
fn arguments(call: &ModuleCall, called: &Module, diagnostics: &mut Diagnostics) {
    for attribute in call.arguments.attributes() {
        if !called.variables.contains_key(attribute.name()) {
            let known = called.variables.keys().map(|name| &**name);
            let diagnostic = unsupported_argument(attribute.name(), known).at(attribute.name_span());
            let hint = format!("The module in \"{}\" declares no such variable.", called.directory);
            diagnostics.push(diagnostic.hint(hint));
        }
    }
    for variable in called.variables.values().filter(|variable| variable.default.is_none()) {
        if call.arguments.body.attribute(&variable.name).is_none() {
            let detail = format!("The argument \"{}\" is required, but no definition was found.", variable.name);
            let diagnostic = Diagnostic::error("Missing required argument", detail).at(call.span);
            diagnostics.push(diagnostic.related(variable.span, "the variable, which has no default"));
        }
    }
    let depended = call.depends_on.first().map(Expr::span);
    if let Some(at) = call.repeat.span().or(depended)
        && let Some(provider) = called.providers.values().find(|provider| !provider.is_empty())
    {
        let detail = format!(
            "The module in \"{}\" configures providers itself, and cannot be called with count, for_each or depends_on: \
             its instances would need different configurations.",
            called.directory
        );
        let diagnostic = Diagnostic::error("Module cannot be repeated", detail).at(at);
        let diagnostic = diagnostic.related(provider.span, "the provider is configured here");
        diagnostics.push(diagnostic.hint("Configure the provider here, and pass it with \"providers\"."));
    }
}

/// What the called module needs from its caller is passed, and nothing that it does not know.
fn passed(call: &ModuleCall, called: &Module, diagnostics: &mut Diagnostics) {
    for required in called.settings.required_providers.values() {
        for alias in required.configuration_aliases.iter().filter(|alias| !call.providers.contains_key(&alias.to)) {
            let detail = format!(
                "The module in \"{}\" needs the provider configuration \"{}\" from its caller.",
                called.directory, alias.to
            );
            let diagnostic = Diagnostic::error("Missing required provider configuration", detail).at(call.span);
            let hint = format!("Add providers = {{ {} = {} }} to the call.", alias.to, required.addr.ty);
            diagnostics.push(diagnostic.related(alias.span, "required here").hint(hint));
        }
    }
    for provider in called.providers.values().filter(|provider| provider.is_empty()) {
        let detail = "An empty provider block in a module that is called means the configuration of the caller. It was \
                      written before there was required_providers.";
        let diagnostic = Diagnostic::warning("Redundant empty provider block", detail).at(provider.span);
        diagnostics.push(diagnostic.hint("Remove the block, and name the provider in required_providers."));
    }
    for (inner, passed) in &call.providers {
        let required = called.settings.required_providers.get(&inner.name);
        let known = match inner.alias {
            None => {
                required.is_some()
                    || called.resources.values().any(|resource| resource.provider_name().name == inner.name)
            }
            Some(_) => {
                called.providers.contains_key(inner)
                    || required.is_some_and(|one| one.configuration_aliases.iter().any(|alias| alias.to == *inner))
            }
        };
        if !known {
            let detail = format!("The module in \"{}\" names no provider \"{}\".", called.directory, inner.name);
            let diagnostic = Diagnostic::warning("Reference to undefined provider", detail).at(passed.span);
            diagnostics.push(diagnostic.hint("Name it in required_providers of that module, or do not pass it."));
        }
    }
}

/// Provider configurations that the module at a path names are declared there, or passed on the way to it.
pub(super) fn providers(config: &Config, path: &ModulePath, module: &Module, diagnostics: &mut Diagnostics) {
    let named = module.resources.values().filter_map(|resource| resource.provider.as_ref());
    let passed = module.calls.values().flat_map(|call| call.providers.values());
    for reference in named.chain(passed).filter(|reference| config.provider(path, &reference.to).is_none()) {
        diagnostics.push(not_present(reference));
    }
}

fn not_present(reference: &ProviderRef) -> Diagnostic {
    let detail = format!("There is no provider configuration \"{}\" in this module.", reference.to);
    let hint = match &reference.to.alias {
        Some(alias) => format!(
            "Declare it with provider \"{}\" {{ alias = \"{alias}\" }}, or pass it with \"providers\" of the module \
             call.",
            reference.to.name
        ),
        None => "Declare it with a provider block.".to_owned(),
    };
    Diagnostic::error("Provider configuration not present", detail).at(reference.span).hint(hint)
}
