//! What the evaluator must be told from outside.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_model::schema::Function;
use engine_value::Value;

use crate::eval::{Subject, Surroundings, surroundings::NOTHING};

/// Why evaluation ended without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop<K> {
    /// A value is not there yet. Evaluate again when it is.
    Blocked(K),
    /// The expression is wrong; at least one of these is an error.
    Failed(Diagnostics),
}

impl<K> From<Diagnostic> for Stop<K> {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Failed(diagnostic.into())
    }
}

impl<K> From<Box<Diagnostic>> for Stop<K> {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self::from(*diagnostic)
    }
}

impl<K> From<Diagnostics> for Stop<K> {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Failed(diagnostics)
    }
}

/// How a resource or module call is repeated: what stands in its block, not how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// One, without a key.
    Single,
    /// By `count`: a tuple, keys are numbers.
    Count,
    /// By `for_each`: an object, keys are strings.
    ForEach,
}

/// What names mean at the place where an expression stands: in one module instance, perhaps in one instance of a
/// resource.
pub trait Scope {
    /// What a value that is not there yet is waited for by.
    type Key;

    /// How the resource or module call is repeated that a [`Subject::Resource`] or [`Subject::Module`] names. Asked before
    /// it is resolved, so that its key can be evaluated first.
    ///
    /// # Errors
    /// [`Stop::Failed`] if it is not declared ([`undeclared`](crate::eval::undeclared) makes the message).
    fn repetition(&self, subject: &Subject, span: Span) -> Result<Repetition, Stop<Self::Key>>;

    /// The value of what a reference names, or what it waits for.
    ///
    /// With a key, of that instance alone; it is of the kind that [`Scope::repetition`] told. Without one, of the whole: an
    /// object if it is single, a tuple or an object of instances otherwise. A [`Subject::Module`] with an output is that
    /// output.
    ///
    /// # Errors
    /// [`Stop::Blocked`] if it is not there yet; [`Stop::Failed`] if it is not declared, has no such instance, or may not
    /// be used here (`self`, `count`, `each`).
    fn resolve(&self, subject: &Subject, span: Span) -> Result<Value, Stop<Self::Key>>;

    /// The files that `file()` and its kin read.
    fn files(&self) -> &dyn Files;

    /// What else functions find around the run.
    fn surroundings(&self) -> &Surroundings {
        &NOTHING
    }

    /// The signature of a function of a provider, `provider::NAME::FUNCTION`.
    ///
    /// # Errors
    /// There is none: the whole names of those that the provider has.
    fn provider_function(&self, name: &str) -> Result<&Function, Vec<String>> {
        let _ = name;
        Err(Vec::new())
    }

    /// Calls a function of a provider that has a signature, with known arguments of its parameters' types, without marks.
    ///
    /// # Errors
    /// What is wrong, as a fragment, with the argument that it is about.
    fn call_provider(&self, name: &str, arguments: &[Value]) -> Result<Value, (Option<usize>, String)> {
        let _ = arguments;
        Err((None, format!("there is no function {name:?}")))
    }
}

/// The files that functions read. Whoever implements it records them: a plan file holds every one, and a saved plan is
/// applied from those.
pub trait Files {
    /// The content of a file. A relative path is one from the working directory.
    ///
    /// # Errors
    /// Why it cannot be read, as a fragment.
    fn read(&self, path: &str) -> Result<Arc<[u8]>, String>;

    /// Is there a regular file?
    ///
    /// # Errors
    /// Why that cannot be told, or what is there instead, as the end of a sentence: `is a directory, not a file`.
    fn exists(&self, path: &str) -> Result<bool, String>;

    /// What is in a directory, in the order of names; `None` if there is no such directory.
    ///
    /// # Errors
    /// Why that cannot be told, as a fragment.
    fn list(&self, directory: &str) -> Result<Option<Arc<[Entry]>>, String> {
        Err(format!("\"{directory}\" cannot be listed here"))
    }
}

/// What stands in a directory. Links count as what they lead to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// A directory? Else a regular file; what is neither is not listed.
    pub is_directory: bool,
}
