//! What is evaluated: a configuration with the values of its variables, the providers that it uses, and the files that
//! its functions read.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Span};
use engine_lang::{
    config::{
        Assignment, Config, Module, ModuleCall, ProviderBlock, RequiredProvider, Resource, ResourceName, Version,
    },
    eval::Files,
};
use engine_model::{
    address::{ModuleAddr, ProviderConfigAddr, ResourceAddr},
    schema::Schema,
};
use engine_value::Value;

use crate::Providers;

/// What is evaluated.
#[derive(Clone)]
pub struct Program {
    /// The configuration, loaded without errors.
    pub config: Config,
    /// Values of variables of the root module, by name: of several for one variable the one that wins.
    pub variables: BTreeMap<Arc<str>, Given>,
    /// The providers that are compiled in.
    pub providers: Providers,
    /// The files that functions read. Whoever implements it records them for the plan file.
    pub files: Arc<dyn Files + Send + Sync>,
    /// `path.cwd`: the directory that the command was run in, absolute.
    pub directory: Arc<str>,
    /// `terraform.workspace`.
    pub workspace: Arc<str>,
}

/// A value that is given to a variable of the root module. Text of the command line or the environment is one or the
/// other: see [`crate::given_text`].
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// As an expression, such as in a file of variable values.
    Written(Assignment),
    /// As a value: text as it is, or what a saved plan holds.
    Value(Value),
}

/// The directory of the root module, as paths of modules have it.
pub(crate) const ROOT: &str = ".";

impl Program {
    /// The module that an instance is one of.
    pub(crate) fn module(&self, addr: &ModuleAddr) -> Option<&Module> {
        let mut module = &self.config.root;
        for step in addr.0.iter() {
            module = module.calls.get(&step.name)?.module.as_ref()?;
        }
        Some(module)
    }

    /// The call that makes a module instance, and the module that it stands in.
    pub(crate) fn call(&self, addr: &ModuleAddr) -> Option<(ModuleAddr, &ModuleCall)> {
        let (caller, step) = addr.call()?;
        let call = self.module(&caller)?.calls.get(&step.name)?;
        Some((caller, call))
    }

    /// Where the value of a variable of the root module is given, if that is in a file.
    pub(crate) fn given_at(&self, name: &str) -> Option<Span> {
        match self.variables.get(name)? {
            Given::Written(assignment) => Some(assignment.value.span()),
            Given::Value(_) => None,
        }
    }

    /// The block of a resource.
    pub(crate) fn resource(&self, addr: &ResourceAddr) -> Option<&Resource> {
        self.module(&addr.module)?.resources.get(&resource_name(addr))
    }

    /// The provider configuration that a resource block uses.
    pub(crate) fn provider_of(
        &self,
        addr: &ResourceAddr,
        block: &Resource,
    ) -> Result<ProviderConfigAddr, Box<Diagnostic>> {
        let name = block.provider_name();
        let span = block.provider.as_ref().map_or(block.span, |reference| reference.span);
        match self.config.provider(&addr.module.path(), &name) {
            Some(resolved) => Ok(resolved.addr),
            None => {
                let detail = format!(
                    "{} uses the provider configuration {name}, which this module neither declares nor is passed.",
                    block.name
                );
                let error = Diagnostic::error("Provider configuration not present", detail).at(span);
                let hint = format!("Declare it in a provider \"{}\" block with that alias.", name.name);
                Err(Box::new(error.hint(hint)))
            }
        }
    }

    /// The schema of a resource block of the configuration, and its provider configuration.
    ///
    /// # Errors
    /// An unknown provider or type, at the block.
    pub(crate) fn schema(
        &self,
        addr: &ResourceAddr,
        block: &Resource,
    ) -> Result<(ProviderConfigAddr, &Schema), Box<Diagnostic>> {
        let provider = self.provider_of(addr, block)?;
        let schema = self.providers.schema(&provider.provider, addr.mode, &addr.ty);
        schema.map(|schema| (provider, schema)).map_err(|error| Box::new(error.at(block.span)))
    }

    /// Providers that modules require and that there are none of, or not in a version that they allow, each at its entry.
    pub(crate) fn unmet_requirements(&self) -> Vec<Diagnostic> {
        let modules = self.config.modules();
        let mut directories = std::collections::BTreeSet::new();
        // A module that is called many times is written once.
        let once = modules.iter().filter(|(_, module)| directories.insert(module.directory.clone()));
        let entries = once.flat_map(|(_, module)| module.settings.required_providers.values());
        let unmet = entries.filter_map(|entry| match self.providers.get(&entry.addr) {
            None => Some(self.providers.missing(&entry.addr).at(entry.span)),
            Some(_) => other_version(entry),
        });
        unmet.collect()
    }

    /// The block of a provider configuration; `None`: there is none, so it is empty.
    pub(crate) fn provider_block(&self, addr: &ProviderConfigAddr) -> Option<&ProviderBlock> {
        let module = self.config.module(&addr.module)?;
        module
            .providers
            .iter()
            .find(|(name, _)| name.alias == addr.alias && module.provider_addr(&name.name) == addr.provider)
            .map(|(_, block)| block)
    }
}

/// Our own providers have our own version. Those that keep the schema of another's are used under that one's constraints,
/// which say nothing about ours.
fn other_version(entry: &RequiredProvider) -> Option<Diagnostic> {
    let (allowed, span) = entry.version.as_ref().filter(|_| &*entry.addr.namespace == "sliceform")?;
    let own = Version::parse(env!("CARGO_PKG_VERSION")).expect("the version of a package is one");
    if allowed.allow(&own) {
        return None;
    }
    let detail = format!("{} has the version {own} in this release, and \"{allowed}\" is required.", entry.addr);
    let error = Diagnostic::error("Unsupported provider version", detail).at(*span);
    Some(error.hint("Use a release of Sliceform that has it, or allow this one."))
}

/// What a resource is called within its module.
pub(crate) fn resource_name(addr: &ResourceAddr) -> ResourceName {
    ResourceName { mode: addr.mode, ty: addr.ty.clone(), name: addr.name.clone() }
}

/// The address of a resource block in a module instance, without a key.
pub(crate) fn block_addr(module: &ModuleAddr, name: &ResourceName) -> ResourceAddr {
    ResourceAddr { module: module.clone(), mode: name.mode, ty: name.ty.clone(), name: name.name.clone(), key: None }
}
