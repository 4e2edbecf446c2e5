//! What is evaluated: a configuration with the values of its variables, the providers that it uses, and the files that
//! its functions read.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use engine_diag::{Diagnostic, Span};
use engine_lang::{
    config::{
        Assignment, Config, Module, ModuleCall, ProviderBlock, RequiredProvider, Resource, ResourceName, Version,
    },
    eval::{Files, Surroundings},
};
use engine_model::{
    address::{Mode, ModuleAddr, ProviderAddr, ProviderConfigAddr, ResourceAddr},
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
    /// What else functions find: the directory that the command was run in (`path.cwd`), the time of the plan.
    pub surroundings: Surroundings,
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

    /// Providers that modules use and that there are none of, in one message, and those that there are not in a version
    /// that is allowed.
    pub(crate) fn unmet_requirements(&self) -> Vec<Diagnostic> {
        let modules = self.config.modules();
        let mut directories = BTreeSet::new();
        let mut foreign = Foreign::default();
        let mut unmet = Vec::new();
        // A module that is called many times is written once.
        for (path, module) in modules.iter().filter(|(_, module)| directories.insert(module.directory.clone())) {
            for entry in module.settings.required_providers.values() {
                match self.providers.get(&entry.addr) {
                    None => foreign.note(&entry.addr, entry.span, None),
                    Some(_) => unmet.extend(other_version(entry)),
                }
            }
            let addr = path.0.iter().fold(ModuleAddr::root(), |addr, name| addr.child(name.clone(), None));
            for (name, resource) in &module.resources {
                if let Ok(config) = self.provider_of(&block_addr(&addr, name), resource)
                    && self.providers.get(&config.provider).is_none()
                {
                    foreign.note(&config.provider, resource.span, Some(&resource.name));
                }
            }
        }
        unmet.splice(0..0, foreign.told(&self.providers));
        unmet
    }

    /// Is it of a provider that there is none of? That is told for the whole configuration at once.
    pub(crate) fn is_foreign(&self, addr: &ResourceAddr, block: &Resource) -> bool {
        self.provider_of(addr, block).is_ok_and(|config| self.providers.get(&config.provider).is_none())
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

/// Providers that there are none of, with where they are asked for and the types that are used of them.
#[derive(Default)]
struct Foreign {
    places: Vec<Span>,
    types: BTreeMap<ProviderAddr, BTreeSet<String>>,
}

impl Foreign {
    fn note(&mut self, provider: &ProviderAddr, span: Span, resource: Option<&ResourceName>) {
        let is_new = !self.types.contains_key(provider);
        let types = self.types.entry(provider.clone()).or_default();
        let is_new = resource.map_or(is_new, |resource| {
            types.insert(match resource.mode {
                Mode::Managed => resource.ty.to_string(),
                Mode::Data => format!("data.{}", resource.ty),
                Mode::Ephemeral => format!("ephemeral.{}", resource.ty),
            })
        });
        if is_new {
            self.places.push(span);
        }
    }

    /// One message for all of them.
    fn told(self, providers: &Providers) -> Option<Diagnostic> {
        /// More places than these tell nothing new.
        const MOST: usize = 8;
        let (first, others) = self.places.split_first()?;
        let list: Vec<String> = self
            .types
            .iter()
            .map(|(provider, types)| {
                let types: Vec<&str> = types.iter().map(String::as_str).collect();
                if types.is_empty() { provider.to_string() } else { format!("{provider} ({})", types.join(", ")) }
            })
            .collect();
        let detail = format!("This release does not have {}. It has {}.", list.join(", "), providers.list());
        let plural = if self.types.len() > 1 { "s" } else { "" };
        let meant = self.types.keys().find_map(|provider| providers.nearest(provider));
        let mut error = Diagnostic::error(format!("Unknown provider{plural}"), detail).at(*first);
        for place in others.iter().take(MOST) {
            error = error.related(*place, "and here");
        }
        Some(match meant {
            Some(meant) => error.hint(format!("Did you mean {meant:?}?")),
            None => error.hint(
                "To check such a configuration, write their schemas to a file (terraform providers schema -json), and give \
                 validate -schemas=FILE.",
            ),
        })
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
