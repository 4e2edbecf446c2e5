//! Checks of a whole configuration that need no schema, and no values but constants.

use std::collections::BTreeSet;

use engine_diag::Diagnostics;

use super::Config;

mod call;
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
        call::providers(config, &path, module, diagnostics);
    }
}
