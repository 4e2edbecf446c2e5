//! What names mean at one place of the configuration: the evaluator's scope.
//!
//! Where a value is not there yet, a placeholder stands in and the key is noted, so that one pass finds everything that
//! an expression waits for: an expression with a thousand references is evaluated twice, not a thousand times. Whoever
//! made the view throws the result away if anything was missing.

use std::{cell::RefCell, convert::Infallible, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_lang::{
    config::{Module, Repeat},
    eval::{Files, Repetition, Scope, Stop, Subject, Surroundings, undeclared},
};
use engine_model::{
    address::{InstanceKey, ModuleAddr, ResourceAddr},
    schema::Function,
};
use engine_value::{Type, Value};
use providers_api::Provider;

use super::{Key, Node, Slot};
use crate::{
    expand::{Each, Expansion},
    program::{Program, ROOT, block_addr},
    worklist::{Id, Worklist},
};

/// What is not there yet, and what was used.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Not there yet.
    pub(super) missing: Vec<Key>,
    /// There.
    pub(super) used: Vec<Id>,
    /// Is any of what was used a failure that has been told?
    pub(super) failed: bool,
    /// What is doubtful.
    pub(super) warnings: Vec<Diagnostic>,
}

/// What names mean in one module instance, perhaps in one instance of a block in it.
pub(super) struct View<'a> {
    pub(super) program: &'a Program,
    pub(super) list: &'a Worklist<Key>,
    pub(super) nodes: &'a [Node],
    pub(super) addr: &'a ModuleAddr,
    pub(super) module: &'a Module,
    /// Where `count` and `each` come from: the instances, and which of them.
    pub(super) instance: Option<(Key, Option<InstanceKey>)>,
    /// The resource block that is evaluated: it may not refer to itself.
    pub(super) own: Option<&'a ResourceAddr>,
    /// What `self` is.
    pub(super) self_object: Option<Value>,
    pub(super) asked: RefCell<Asked>,
}

impl View<'_> {
    /// What is there under a key; notes it either way.
    pub(super) fn look(&self, key: Key) -> Option<&Slot> {
        let mut asked = self.asked.borrow_mut();
        match self.list.find(&key).filter(|id| self.list.is_done(*id)) {
            Some(id) => {
                asked.used.push(id);
                let slot = &self.nodes[id.0 as usize].slot;
                if matches!(slot, Slot::Failed) {
                    asked.failed = true;
                    return None;
                }
                Some(slot)
            }
            None => {
                asked.missing.push(key);
                None
            }
        }
    }

    /// The value under a key, or a placeholder.
    pub(super) fn value(&self, key: Key) -> Value {
        match self.look(key) {
            Some(Slot::Value(value)) => value.clone(),
            _ => placeholder(),
        }
    }

    /// The instances under a key.
    pub(super) fn expansion(&self, key: Key) -> Option<Arc<Expansion>> {
        match self.look(key) {
            Some(Slot::Expansion(expansion)) => Some(expansion.clone()),
            _ => None,
        }
    }

    /// Is something missing, so that the result is thrown away anyhow?
    fn is_idle(&self) -> bool {
        let asked = self.asked.borrow();
        asked.failed || !asked.missing.is_empty()
    }

    /// What the instance knows of itself.
    fn each(&self, span: Span, wanted: &str) -> Result<Option<Each>, Box<Diagnostic>> {
        let argument = if wanted == "count" { "count" } else { "for_each" };
        let none = || {
            let detail = format!(
                "The \"{wanted}\" object can be used only in \"module\", \"resource\" and \"data\" blocks, and only where \
                 the argument \"{argument}\" is set."
            );
            let summary = format!("Reference to \"{wanted}\" in context without {argument}");
            Box::new(Diagnostic::error(summary, detail).at(span))
        };
        let Some((instances, key)) = &self.instance else { return Err(none()) };
        let Some(expansion) = self.expansion(instances.clone()) else { return Ok(None) };
        match (expansion.each(key.as_ref()), wanted) {
            (Some(each @ (Each::Index(_) | Each::Any(Repetition::Count))), "count")
            | (Some(each @ (Each::Element(..) | Each::Any(Repetition::ForEach))), "each") => Ok(Some(each)),
            _ => Err(none()),
        }
    }

    fn resource(&self, block: ResourceAddr, repeat: &Repeat, key: Option<&InstanceKey>, span: Span) -> Outcome {
        if self.own == Some(&block) {
            let detail = format!("The configuration of {block} may not refer to itself.");
            return Err(Diagnostic::error("Self-referential block", detail).at(span).into());
        }
        match (repeat, key) {
            (Repeat::Once, _) => Ok(self.value(Key::Object(block))),
            (_, Some(key)) => {
                let Some(expansion) = self.expansion(Key::Instances(block.clone())) else { return Ok(placeholder()) };
                let key = Some(key.clone());
                if expansion.orphan(key.as_ref()).is_some() {
                    return Err(no_instance(&block.to_string(), &expansion, key.as_ref(), span).into());
                }
                Ok(self.value(Key::Object(block.with_key(expansion.instance(key)))))
            }
            // The key may itself be a placeholder: the whole is asked for only once everything else is there.
            (_, None) if self.is_idle() => Ok(placeholder()),
            (_, None) => Ok(self.value(Key::Whole(block))),
        }
    }

    fn called(&self, name: &Arc<str>, key: Option<&InstanceKey>, output: Option<&Arc<str>>, span: Span) -> Outcome {
        let subject = Subject::Module { name: name.clone(), key: None, output: None };
        let Some(call) = self.module.calls.get(name) else { return Err(self.unknown(&subject, span).into()) };
        let Some(module) = &call.module else {
            self.asked.borrow_mut().failed = true;
            return Ok(placeholder());
        };
        if let Some(output) = output.filter(|output| !module.outputs.contains_key(*output)) {
            let near = crate::providers::nearest(output, module.outputs.keys().map(|name| &**name));
            let meant = near.map_or(String::new(), |near| format!(" Did you mean \"{near}\"?"));
            let detail = format!("This object does not have an attribute named \"{output}\".{meant}");
            return Err(Diagnostic::error("Unsupported attribute", detail).at(span).into());
        }
        let key = match (&call.repeat, key) {
            (Repeat::Once, _) => None,
            (_, None) if self.is_idle() => return Ok(placeholder()),
            (_, None) => return Ok(self.value(Key::Module(self.addr.clone(), name.clone()))),
            (_, Some(key)) => {
                let calls = Key::Calls(self.addr.clone(), name.clone());
                let Some(expansion) = self.expansion(calls) else { return Ok(placeholder()) };
                if expansion.orphan(Some(key)).is_some() {
                    return Err(no_instance(&format!("module.{name}"), &expansion, Some(key), span).into());
                }
                expansion.module(Some(key.clone()))
            }
        };
        let child = self.addr.child(name.clone(), key);
        match output {
            Some(output) => Ok(self.value(Key::Output(child, output.clone()))),
            None => Ok(self.outputs(&child, module)),
        }
    }

    /// All outputs of one module instance.
    pub(super) fn outputs(&self, child: &ModuleAddr, module: &Module) -> Value {
        let outputs = module.outputs.keys().map(|name| (name, self.value(Key::Output(child.clone(), name.clone()))));
        Value::object(outputs.collect::<Vec<_>>())
    }

    fn unknown(&self, subject: &Subject, span: Span) -> Diagnostic {
        let names: Vec<String> = match subject {
            Subject::Variable(_) => self.module.variables.keys().map(ToString::to_string).collect(),
            Subject::Local(_) => self.module.locals.keys().map(ToString::to_string).collect(),
            Subject::Module { .. } => self.module.calls.keys().map(ToString::to_string).collect(),
            _ => self.module.resources.keys().map(ToString::to_string).collect(),
        };
        let module = if self.addr.is_root() { "the root module".to_owned() } else { self.addr.path().to_string() };
        undeclared(subject, names.iter().map(String::as_str), &module).at(span)
    }

    fn path(&self, name: &str) -> Value {
        match name {
            "module" => Value::from(&*self.module.directory),
            "root" => Value::from(ROOT),
            _ => Value::from(&*self.program.surroundings.directory),
        }
    }
}

type Outcome = Result<Value, Stop<Infallible>>;

impl Scope for View<'_> {
    type Key = Infallible;

    fn repetition(&self, subject: &Subject, span: Span) -> Result<Repetition, Stop<Infallible>> {
        let repeat = match subject {
            Subject::Module { name, .. } => self.module.calls.get(name).map(|call| &call.repeat),
            Subject::Resource { mode, ty, name, .. } => {
                let name = engine_lang::config::ResourceName { mode: *mode, ty: ty.clone(), name: name.clone() };
                self.module.resources.get(&name).map(|resource| &resource.repeat)
            }
            _ => return Ok(Repetition::Single),
        };
        match repeat {
            Some(Repeat::Once) => Ok(Repetition::Single),
            Some(Repeat::Count(_)) => Ok(Repetition::Count),
            Some(Repeat::ForEach(_)) => Ok(Repetition::ForEach),
            None => Err(self.unknown(subject, span).into()),
        }
    }

    fn resolve(&self, subject: &Subject, span: Span) -> Outcome {
        match subject {
            Subject::Variable(name) if self.module.variables.contains_key(name) => {
                Ok(self.value(Key::Variable(self.addr.clone(), name.clone())))
            }
            Subject::Local(name) if self.module.locals.contains_key(name) => {
                Ok(self.value(Key::Local(self.addr.clone(), name.clone())))
            }
            Subject::Resource { mode, ty, name, key } => {
                let name = engine_lang::config::ResourceName { mode: *mode, ty: ty.clone(), name: name.clone() };
                match self.module.resources.get(&name) {
                    Some(block) => self.resource(block_addr(self.addr, &name), &block.repeat, key.as_ref(), span),
                    None => Err(self.unknown(subject, span).into()),
                }
            }
            Subject::Module { name, key, output } => self.called(name, key.as_ref(), output.as_ref(), span),
            Subject::CountIndex => Ok(match self.each(span, "count")? {
                Some(Each::Index(index)) => Value::from(i64::try_from(index).unwrap_or(i64::MAX)),
                Some(_) => Value::unknown(Type::Number),
                None => placeholder(),
            }),
            Subject::EachKey => Ok(match self.each(span, "each")? {
                Some(Each::Element(key, _)) => Value::from(&*key),
                Some(_) => Value::unknown(Type::String),
                None => placeholder(),
            }),
            Subject::EachValue => Ok(match self.each(span, "each")? {
                Some(Each::Element(_, value)) => value,
                _ => placeholder(),
            }),
            Subject::Path(name) => Ok(self.path(name)),
            Subject::Terraform(name) if **name == *"workspace" => Ok(Value::from(&*self.program.workspace)),
            Subject::Variable(_) | Subject::Local(_) => Err(self.unknown(subject, span).into()),
            Subject::SelfObject if self.self_object.is_some() => {
                Ok(self.self_object.clone().unwrap_or_else(placeholder))
            }
            Subject::SelfObject | Subject::Terraform(_) | Subject::Run(_) => {
                let detail = format!("\"{}\" cannot be used here.", subject.text());
                Err(Diagnostic::error("Invalid reference", detail).at(span).into())
            }
        }
    }

    fn files(&self) -> &dyn Files {
        &*self.program.files
    }

    fn surroundings(&self) -> &Surroundings {
        &self.program.surroundings
    }

    fn provider_function(&self, name: &str) -> Result<&Function, Vec<String>> {
        let Some((local, function, provider)) = self.provider_of(name) else { return Err(Vec::new()) };
        let functions = &provider.schemas().functions;
        functions
            .get(function)
            .ok_or_else(|| functions.keys().map(|name| format!("provider::{local}::{name}")).collect())
    }

    fn call_provider(&self, name: &str, arguments: &[Value]) -> Result<Value, (Option<usize>, String)> {
        match self.provider_of(name) {
            Some((_, function, provider)) => provider.call(function, arguments),
            None => Err((None, format!("there is no function {name:?}"))),
        }
    }
}

impl View<'_> {
    /// The local name of the provider, its function, and the provider itself.
    fn provider_of<'n>(&self, name: &'n str) -> Option<(&'n str, &'n str, &Arc<dyn Provider>)> {
        let (local, function) = name.strip_prefix("provider::")?.split_once("::")?;
        let provider = self.program.providers.get(&self.module.provider_addr(local))?;
        Some((local, function, provider))
    }
}

fn no_instance(of: &str, expansion: &Expansion, key: Option<&InstanceKey>, span: Span) -> Diagnostic {
    let key = key.map_or(String::new(), |key| format!("[{key}]"));
    let has = match expansion {
        Expansion::Single | Expansion::Any(_) => "It has one instance, without a key.".to_owned(),
        Expansion::Count(0) => "It has no instances, as its count is 0.".to_owned(),
        Expansion::Count(1) => "It has one instance, 0.".to_owned(),
        Expansion::Count(count) => format!("It has the instances 0 to {}.", count - 1),
        Expansion::ForEach(elements) if elements.is_empty() => "It has no instances, as its for_each is empty.".into(),
        Expansion::ForEach(elements) => {
            const MOST: usize = 10;
            let keys: Vec<String> = elements.keys().take(MOST).map(|key| format!("{key:?}")).collect();
            let more = if elements.len() > MOST { ", …" } else { "" };
            format!("It has the instances {}{more}.", keys.join(", "))
        }
    };
    Diagnostic::error("Invalid index", format!("{of}{key} does not exist. {has}")).at(span)
}

/// Stands in for what is not there yet. It fits everywhere.
fn placeholder() -> Value {
    Value::unknown(Type::Dynamic)
}

/// The diagnostics of a stop: a view never blocks.
pub(super) fn failures(stop: Stop<Infallible>) -> Diagnostics {
    match stop {
        Stop::Blocked(never) => match never {},
        Stop::Failed(diagnostics) => diagnostics,
    }
}
