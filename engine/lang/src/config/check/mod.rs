//! Checks of a whole configuration that need no schema, and no values but constants.

use std::collections::BTreeSet;

use engine_diag::{Diagnostic, Diagnostics};

use super::Config;

mod call;
mod condition;
mod refactor;
mod reference;
mod variable;

/// Reports what is wrong with a configuration whose modules are loaded. A module that is called several times is
/// checked once; what depends on the caller is checked for each.
pub(super) fn check(config: &Config, diagnostics: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for (path, module) in config.modules() {
        if seen.insert(module.directory.clone()) {
            module.variables.values().for_each(|one| variable::check(one, diagnostics));
            reference::check(module, diagnostics);
            call::check(module, diagnostics);
        }
        if path.is_root() {
            for output in module.outputs.values().filter(|output| output.ephemeral) {
                let detail = "Outputs of the root module are kept and shown, so none of them is ephemeral.";
                diagnostics.push(Diagnostic::error("Ephemeral output not allowed", detail).at(output.span));
            }
        }
        call::providers(config, &path, module, diagnostics);
    }
}
