//! A configuration: what the files of a root module and of the modules that it calls declare.
//!
//! Plain data with the place of everything. Expressions are kept as syntax: nothing but constants is evaluated here, and
//! no provider is asked. Reads from a [`SourceTree`], never from a disk.

use std::sync::Arc;

use engine_model::address::{ModulePath, ProviderConfigAddr};

mod arguments;
mod call;
mod check;
mod check_block;
mod condition;
mod constraint;
mod declare;
mod depends;
mod endpoint;
mod json;
mod load;
mod module;
mod module_source;
mod output;
mod overriding;
mod provider;
mod provisioner;
mod refactor;
mod refuse;
mod resource;
mod settings;
mod shape;
mod source;
mod tfvars;
mod variable;
mod version;

pub use arguments::Arguments;
pub use call::ModuleCall;
pub use check_block::Check;
pub use condition::Condition;
pub use constraint::{Constraint, Defaults};
pub use depends::Repeat;
pub use endpoint::Endpoint;
pub use load::{called_modules, load, module_calls};
pub use module::Module;
pub use module_source::{
    DEFAULT_REGISTRY, ModuleSource, Package, PackageKind, RegistryModule, RemoteModule, shown_url,
};
pub use output::{Local, Output};
pub use provider::{ProviderBlock, ProviderName, ProviderRef, RequiredProvider, implied_provider};
pub use refactor::{Import, Moved, Removed};
pub use refuse::not_executed;
pub use resource::{IgnoreChanges, Lifecycle, Resource, ResourceName};
pub use settings::{Backend, BackendKind, Settings, language_version};
pub use source::{Directory, Installed, ROOT, SourceTree, join};
pub use tfvars::{Assignment, automatic_order, variable_values};
pub use variable::Variable;
pub use version::{Version, VersionConstraints};

/// A whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The root module; the others are in its calls.
    pub root: Arc<Module>,
}

/// The provider configuration that a name means in some module, looked up along the calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedProvider<'a> {
    /// Its address.
    pub addr: ProviderConfigAddr,
    /// The block that configures it. `None`: there is none, and the default configuration is an empty one.
    pub block: Option<&'a ProviderBlock>,
}

impl Config {
    /// The module at a path.
    pub fn module(&self, path: &ModulePath) -> Option<&Arc<Module>> {
        path.0.iter().try_fold(&self.root, |module, name| module.calls.get(name)?.module.as_ref())
    }

    /// The file that `backend "local"` keeps the state in; `None`: it says none, and the usual one is meant.
    pub fn state_path(&self) -> Option<&str> {
        match &self.root.settings.backend.as_ref()?.kind {
            BackendKind::Local { path } => path.as_deref(),
        }
    }

    /// All modules with their paths, each before those that it calls, calls in the order of their names.
    pub fn modules(&self) -> Vec<(ModulePath, &Arc<Module>)> {
        let mut found = Vec::new();
        let mut todo = vec![(ModulePath::root(), &self.root)];
        while let Some((path, module)) = todo.pop() {
            for call in module.calls.values().rev() {
                todo.extend(call.module.as_ref().map(|called| (path.child(call.name.clone()), called)));
            }
            found.push((path, module));
        }
        found
    }

    /// The provider configuration that `name` means in the module at `path`: a block there, what the call passes, or,
    /// for default configurations, that of the calling module. `None`: an alias that nobody declares or passes, or no
    /// such module.
    pub fn provider(&self, path: &ModulePath, name: &ProviderName) -> Option<ResolvedProvider<'_>> {
        let mut name = name.clone();
        let mut length = path.0.len();
        let provider = self.module(path)?.provider_addr(&name.name);
        loop {
            let here = ModulePath(path.0[..length].into());
            let block = self.module(&here)?.providers.get(&name);
            if block.is_some() || (length == 0 && name.alias.is_none()) {
                let addr = ProviderConfigAddr { module: here, provider, alias: name.alias.clone() };
                return Some(ResolvedProvider { addr, block });
            }
            length = length.checked_sub(1)?;
            let caller = self.module(&ModulePath(path.0[..length].into()))?;
            let call = caller.calls.get(&path.0[length])?;
            name = match call.providers.get(&name) {
                Some(passed) => passed.to.clone(),
                None if name.alias.is_some() => return None,
                None => {
                    // The caller may know the same provider by another name.
                    let mut known = caller.settings.required_providers.iter();
                    let known = known.find(|(_, entry)| entry.addr == provider).map(|(name, _)| name);
                    ProviderName { name: known.unwrap_or(&provider.ty).clone(), alias: None }
                }
            };
        }
    }
}
