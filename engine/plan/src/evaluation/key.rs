//! What can be evaluated: one key per object of the configuration and module instance.

use std::{fmt, sync::Arc};

use engine_model::address::{ModuleAddr, ProviderConfigAddr, ResourceAddr};

use crate::depend::Subject;

/// Something that has a value, or that others wait for. Resource blocks are addresses without a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A variable of a module instance.
    Variable(ModuleAddr, Arc<str>),
    /// A local value.
    Local(ModuleAddr, Arc<str>),
    /// An output.
    Output(ModuleAddr, Arc<str>),
    /// Which instances a module call has.
    Calls(ModuleAddr, Arc<str>),
    /// All outputs of all instances of a module call.
    Module(ModuleAddr, Arc<str>),
    /// Everything in all instances of a module call: what `depends_on` means by it.
    Settled(ModuleAddr, Arc<str>),
    /// Everything in all instances of a module call and all that it declares: what a whole plan evaluates.
    Contents(ModuleAddr, Arc<str>),
    /// What `depends_on` of a module call names.
    Gate(ModuleAddr, Arc<str>),
    /// Which instances a resource block has.
    Instances(ResourceAddr),
    /// All objects of a resource block.
    Whole(ResourceAddr),
    /// What `depends_on` of a resource block names.
    Needs(ResourceAddr),
    /// The arguments of one instance.
    Arguments(ResourceAddr),
    /// The object of one instance. Comes from outside.
    Object(ResourceAddr),
    /// Whether a variable of a module instance has a value that its declaration allows.
    Validated(ModuleAddr, Arc<str>),
    /// Whether one instance is as its block says that it must be.
    Postconditions(ResourceAddr),
    /// Whether the conditions of a `check` block can be evaluated.
    Check(ModuleAddr, Arc<str>),
    /// The block of a provider configuration.
    Provider(ProviderConfigAddr),
    /// A provider, configured. Comes from outside.
    Configured(ProviderConfigAddr),
}

impl Key {
    /// Does its value come from outside?
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self, Self::Object(_) | Self::Configured(_))
    }

    /// What it is among the dependencies. Every key has another one, but arguments and their object, which are one.
    pub(crate) fn subject(&self) -> Subject {
        match self {
            Self::Object(addr) | Self::Arguments(addr) => Subject::Instance(addr.clone()),
            Self::Provider(addr) | Self::Configured(addr) => Subject::Provider(addr.clone()),
            other => Subject::Group(other.to_string().into()),
        }
    }
}

/// As error messages and groups name it.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let within = |f: &mut fmt::Formatter<'_>, module: &ModuleAddr| {
            if module.is_root() { Ok(()) } else { write!(f, "{module}.") }
        };
        let named = |f: &mut fmt::Formatter<'_>, module: &ModuleAddr, kind: &str, name: &str, what: &str| {
            within(f, module)?;
            write!(f, "{kind}.{name}{what}")
        };
        match self {
            Self::Variable(module, name) => named(f, module, "var", name, ""),
            Self::Local(module, name) => named(f, module, "local", name, ""),
            Self::Output(module, name) => named(f, module, "output", name, ""),
            Self::Calls(module, name) => named(f, module, "module", name, " (instances)"),
            Self::Module(module, name) => named(f, module, "module", name, ""),
            Self::Settled(module, name) => named(f, module, "module", name, " (everything in it)"),
            Self::Contents(module, name) => named(f, module, "module", name, " (contents)"),
            Self::Gate(module, name) => named(f, module, "module", name, " (depends_on)"),
            Self::Instances(block) => write!(f, "{block} (instances)"),
            Self::Whole(block) => write!(f, "{block}[*]"),
            Self::Needs(block) => write!(f, "{block} (depends_on)"),
            Self::Arguments(addr) => write!(f, "{addr} (arguments)"),
            Self::Object(addr) => write!(f, "{addr}"),
            Self::Validated(module, name) => named(f, module, "var", name, " (validation)"),
            Self::Postconditions(addr) => write!(f, "{addr} (postconditions)"),
            Self::Check(module, name) => named(f, module, "check", name, ""),
            Self::Provider(addr) => write!(f, "{addr}"),
            Self::Configured(addr) => write!(f, "{addr} (configured)"),
        }
    }
}
