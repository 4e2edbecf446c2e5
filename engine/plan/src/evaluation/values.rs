//! How each kind of key gets its value.

use std::{cell::RefCell, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, Span};
use engine_lang::{
    config::{Module, ModuleCall, Output, Repeat, Variable},
    eval::{Repetition, Subject, evaluate, subject_of},
    syntax::Expr,
};
use engine_model::address::{InstanceKey, ModuleAddr, ProviderConfigAddr, ResourceAddr};
use engine_value::{Data, Marks, Type, Value};

use super::{
    Evaluation, Key, Slot,
    condition::{self, Purpose},
    ephemeral, numbers, provider, spans,
    view::{Asked, View, failures},
};
use crate::{
    expand::{self, Expansion},
    program::{Given, Program, block_addr},
    variables,
    worklist::Id,
};

/// How deeply a value may be nested: as deeply as one expression may be. References could add to it without end, and what
/// walks a value walks it down to its last part.
const MAX_NESTING: usize = 512;

/// Is it something whose value an expression of its own makes?
fn is_named(key: &Key) -> bool {
    matches!(key, Key::Variable(..) | Key::Local(..) | Key::Output(..) | Key::Arguments(_))
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    value.parts().any(|part| levels == 0 || is_deeper(part, levels - 1))
}

fn too_deep(program: &Program, key: &Key) -> Diagnostic {
    let detail = format!("The value of {} is nested more than {MAX_NESTING} levels deep.", spans::name(key));
    Diagnostic::error("Value nested too deeply", detail)
        .at_opt(spans::declared(program, key))
        .hint("Lists and objects that hold each other grow with each reference; keep them beside each other instead.")
}

/// What a step comes to: what is there now, or what is wrong.
pub(super) type Made = Result<Slot, Diagnostics>;

impl Evaluation {
    /// Evaluates a key that was handed out, as far as that goes now.
    pub(super) fn step(&mut self, id: Id) {
        let program = self.program.clone();
        let key = self.list.key(id).clone();
        let (made, asked) = self.make(&program, &key);
        if !asked.missing.is_empty() {
            let ids: Vec<Id> = asked.missing.iter().map(|key| self.want(key)).collect();
            self.list.wait(id, &ids);
            return;
        }
        let pending = self.gathers(&key) && asked.used.iter().any(|used| self.carries(*used));
        let slot = match made {
            _ if asked.failed => Slot::Failed,
            Ok(Slot::Value(value)) if is_named(&key) && is_deeper(&value, MAX_NESTING) => {
                self.report(Diagnostics::from(too_deep(&program, &key)));
                Slot::Failed
            }
            Ok(slot) => {
                self.report(asked.warnings);
                slot
            }
            Err(diagnostics) => {
                self.report(diagnostics);
                Slot::Failed
            }
        };
        self.finish_with(id, slot, asked.used, pending);
    }

    /// Does `depends_on` look through it at objects?
    fn gathers(&self, key: &Key) -> bool {
        matches!(key, Key::Whole(_) | Key::Settled(..) | Key::Gate(..) | Key::Needs(_))
    }

    fn carries(&self, id: Id) -> bool {
        let key = self.list.key(id);
        (matches!(key, Key::Object(_)) || self.gathers(key)) && self.nodes[id.0 as usize].pending
    }

    fn make(&self, program: &Program, key: &Key) -> (Made, Asked) {
        let module = match key {
            Key::Variable(module, _)
            | Key::Local(module, _)
            | Key::Output(module, _)
            | Key::Calls(module, _)
            | Key::Module(module, _)
            | Key::Settled(module, _)
            | Key::Contents(module, _)
            | Key::Validated(module, _)
            | Key::Check(module, _)
            | Key::Gate(module, _) => module.clone(),
            Key::Instances(addr)
            | Key::Whole(addr)
            | Key::Needs(addr)
            | Key::Arguments(addr)
            | Key::Postconditions(addr)
            | Key::Object(addr) => addr.module.clone(),
            Key::Provider(addr) | Key::Configured(addr) => without_keys(addr),
        };
        let Some(config) = program.module(&module) else {
            return (Ok(Slot::Failed), Asked::default());
        };
        let mut view = self.view(program, &module, config);
        let made = match key {
            Key::Variable(_, name) => self.variable(program, &mut view, name),
            Key::Local(_, name) => match config.locals.get(name) {
                Some(local) => expression(&view, &local.value),
                None => Ok(Slot::Failed),
            },
            Key::Output(_, name) => match config.outputs.get(name) {
                Some(declared) => output(&view, declared, !self.validating),
                None => Ok(Slot::Failed),
            },
            Key::Calls(_, name) => match config.calls.get(name) {
                Some(call) => self.expand(&view, &call.repeat, &Key::Module(module.clone(), name.clone())),
                None => Ok(Slot::Failed),
            },
            Key::Module(_, name) => match config.calls.get(name).and_then(|call| Some((call, call.module.as_ref()?))) {
                Some((_, called)) => Ok(whole_module(&view, name, called)),
                None => Ok(Slot::Failed),
            },
            Key::Settled(_, name) => {
                match config.calls.get(name).and_then(|call| Some((call, call.module.as_ref()?))) {
                    Some((_, called)) => Ok(settled_module(&view, name, called)),
                    None => Ok(Slot::Failed),
                }
            }
            Key::Contents(_, name) => {
                match config.calls.get(name).and_then(|call| Some((call, call.module.as_ref()?))) {
                    Some((_, called)) => Ok(contents(&view, name, called)),
                    None => Ok(Slot::Failed),
                }
            }
            Key::Gate(_, name) => match config.calls.get(name) {
                Some(call) => named(&view, &call.depends_on),
                None => Ok(Slot::Failed),
            },
            Key::Instances(addr) => self.instances_of(program, &mut view, addr),
            Key::Whole(addr) => Ok(whole(&view, addr)),
            Key::Needs(addr) => match program.resource(addr) {
                Some(block) => named(&view, &block.depends_on),
                None => Ok(Slot::Failed),
            },
            Key::Arguments(addr) => self.arguments_of(program, &mut view, addr),
            Key::Validated(_, name) => match config.variables.get(name) {
                Some(variable) => self.validated(program, &view, variable),
                None => Ok(Slot::Failed),
            },
            Key::Postconditions(addr) => self.postconditions(program, &mut view, addr),
            Key::Check(_, name) => condition::check(&view, name),
            Key::Provider(addr) => provider::provider(program, &view, addr),
            Key::Object(_) | Key::Configured(_) => Ok(Slot::Failed),
        };
        (made, view.asked.into_inner())
    }

    pub(super) fn view<'a>(&'a self, program: &'a Program, addr: &'a ModuleAddr, module: &'a Module) -> View<'a> {
        View {
            program,
            list: &self.list,
            nodes: &self.nodes,
            addr,
            module,
            instance: None,
            own: None,
            self_object: None,
            asked: RefCell::new(Asked::default()),
        }
    }

    fn variable(&self, program: &Program, view: &mut View<'_>, name: &Arc<str>) -> Made {
        let Some(variable) = view.module.variables.get(name) else { return Ok(Slot::Failed) };
        let Some((caller, call)) = program.call(view.addr) else {
            return root_variable(program, view, variable);
        };
        let Some(argument) = call.arguments.body.attribute(name) else {
            return default_of(view, variable, || missing_argument(call, name));
        };
        let Some(config) = program.module(&caller) else { return Ok(Slot::Failed) };
        let mut outer = self.view(program, &caller, config);
        outer.instance = Some((Key::Calls(caller.clone(), call.name.clone()), last_key(view.addr)));
        let value = evaluate(&argument.value(), &outer).map_err(failures);
        view.asked = outer.asked;
        given(view, variable, value?, argument.value().span())
    }

    fn expand(&self, view: &View<'_>, repeat: &Repeat, what: &Key) -> Made {
        let waits_for = |value: &Value| self.waits_for(value);
        if self.validating {
            return any_instances(view, repeat, what);
        }
        let expansion = match repeat {
            Repeat::Once => Ok(Expansion::Single),
            Repeat::Count(expr) => {
                let value = evaluate(expr, view).map_err(failures)?;
                expand::count(&value, waits_for).map_err(|error| error.at(expr.span()))
            }
            Repeat::ForEach(expr) => {
                let value = evaluate(expr, view).map_err(failures)?;
                expand::for_each(&value, waits_for).map_err(|error| error.at(expr.span()))
            }
        };
        expansion.map(|expansion| Slot::Expansion(Arc::new(expansion))).map_err(|error| error.about(what).into())
    }

    fn instances_of<'a>(&self, program: &'a Program, view: &mut View<'a>, addr: &'a ResourceAddr) -> Made {
        let Some(block) = program.resource(addr) else { return Ok(Slot::Failed) };
        if program.is_foreign(addr, block) {
            // Told for the whole configuration at once.
            return Ok(Slot::Failed);
        }
        // Asked here, so that an unknown type is told once per block.
        program.schema(addr, block)?;
        view.own = Some(addr);
        let made = self.expand(view, &block.repeat, &Key::Object(addr.clone()));
        view.own = None;
        made
    }

    fn arguments_of<'a>(&self, program: &'a Program, view: &mut View<'a>, addr: &'a ResourceAddr) -> Made {
        let Some(block) = program.resource(addr) else { return Ok(Slot::Failed) };
        let own = addr.with_key(None);
        let Some(expansion) = view.expansion(Key::Instances(own.clone())) else { return Ok(Slot::Failed) };
        if expansion.orphan(addr.key.as_ref()).is_some() {
            return Ok(Slot::Failed);
        }
        let (_, schema) = program.schema(addr, block)?;
        let inner = View {
            instance: Some((Key::Instances(own.clone()), addr.key.clone())),
            own: Some(&own),
            self_object: None,
            asked: RefCell::new(view.asked.take()),
            ..*view
        };
        let failed = "Resource precondition failed";
        let purpose = Purpose { failed, kind: "precondition", at: None, told: !self.validating };
        let held = condition::hold(&inner, &block.lifecycle.preconditions, &purpose);
        let decoded = decode(&block.arguments, &schema.block, &inner);
        view.asked = inner.asked;
        held.map_err(|diagnostics| about(diagnostics, addr))?;
        if let Ok(value) = &decoded {
            ephemeral::in_arguments(&block.arguments, &schema.block, value)
                .map_err(|diagnostics| about(diagnostics, addr))?;
        }
        let kept = decoded.and_then(|value| numbers::in_arguments(&block.arguments, &schema.block, value));
        kept.map(Slot::Value).map_err(|diagnostics| about(diagnostics, addr))
    }
}

/// Decodes a body by its schema.
pub(super) fn decode(
    arguments: &engine_lang::config::Arguments,
    block: &engine_model::schema::Block,
    view: &View<'_>,
) -> Result<Value, Diagnostics> {
    engine_lang::eval::decode(arguments, block, view).map_err(failures)
}

fn about(diagnostics: Diagnostics, addr: &ResourceAddr) -> Diagnostics {
    Diagnostics(diagnostics.into_iter().map(|one| if one.address.is_some() { one } else { one.about(addr) }).collect())
}

/// The module instance that a provider block is in: modules with provider blocks are called once.
fn without_keys(addr: &ProviderConfigAddr) -> ModuleAddr {
    addr.module.0.iter().fold(ModuleAddr::root(), |module, name| module.child(name.clone(), None))
}

fn last_key(module: &ModuleAddr) -> Option<InstanceKey> {
    module.call().and_then(|(_, step)| step.key.clone())
}

/// Whichever instances there are; what is wrong with how they are told is wrong whichever there are.
fn any_instances(view: &View<'_>, repeat: &Repeat, what: &Key) -> Made {
    let Some(expr) = repeat.expr() else { return Ok(Slot::Expansion(Arc::new(Expansion::Single))) };
    let value = evaluate(expr, view).map_err(failures)?;
    let is_for_each = matches!(repeat, Repeat::ForEach(_));
    if is_for_each && let Some(unknown) = value.as_unknown() {
        let ty = &unknown.ty;
        if matches!(ty, Type::List(_) | Type::Tuple(_) | Type::String | Type::Number | Type::Bool) {
            let detail = format!("A map, or a set of strings, is required; this is a {}.", ty.friendly());
            let error = Diagnostic::error("Invalid for_each argument", detail).at(expr.span());
            return Err(error.about(what).hint("Make a set of a list with toset().").into());
        }
    }
    // Marks are wrong whatever the value is.
    let known = value.is_known() || value.marks.ephemeral || (value.marks.sensitive && is_for_each);
    let (repetition, told) = match repeat {
        Repeat::Count(_) => (Repetition::Count, known.then(|| expand::count(&value, |_| None))),
        _ if matches!(value.data, Data::Set(..)) && value.has_unknown() => (Repetition::ForEach, None),
        _ => (Repetition::ForEach, known.then(|| expand::for_each(&value, |_| None))),
    };
    if let Some(Err(error)) = told {
        return Err(error.at(expr.span()).about(what).into());
    }
    Ok(Slot::Expansion(Arc::new(Expansion::Any(repetition))))
}

fn expression(view: &View<'_>, expr: &Expr) -> Made {
    evaluate(expr, view).map(Slot::Value).map_err(failures)
}

fn missing_argument(call: &ModuleCall, name: &str) -> Diagnostic {
    let detail =
        format!("The module \"{}\" requires the argument \"{name}\", which this call does not set.", call.name);
    Diagnostic::error("Missing required argument", detail).at(call.span)
}

fn root_variable(program: &Program, view: &View<'_>, variable: &Variable) -> Made {
    match program.variables.get(&variable.name) {
        Some(Given::Value(value)) => given(view, variable, value.clone(), variable.span),
        Some(Given::Written(assignment)) => {
            let value = evaluate(&assignment.value, view).map_err(failures)?;
            given(view, variable, value, assignment.value.span())
        }
        None => default_of(view, variable, || {
            let detail = format!("The root module requires the variable \"{}\", and no value is given.", variable.name);
            Diagnostic::error("No value for required variable", detail)
                .at(variable.span)
                .hint(format!("Give it with -var='{}=VALUE', in terraform.tfvars, or as TF_VAR_{0}.", variable.name))
        }),
    }
}

/// A value that was given, or the default where null stands for it.
fn given(view: &View<'_>, variable: &Variable, value: Value, span: Span) -> Made {
    if value.is_null() && !variable.nullable {
        return default_of(view, variable, || {
            let detail = format!("The variable \"{}\" must not be null.", variable.name);
            Diagnostic::error("Invalid value for variable", detail)
                .at(span)
                .related(variable.span, "it is declared here")
        });
    }
    let value = variables::finished(variable, &value, span)?;
    Ok(Slot::Value(ephemeral::of_variable(variable, value, span)?))
}

fn default_of(view: &View<'_>, variable: &Variable, missing: impl FnOnce() -> Diagnostic) -> Made {
    let Some(default) = &variable.default else { return Err(missing().into()) };
    let value = evaluate(default, view).map_err(failures)?;
    let value = variables::finished(variable, &value, default.span())?;
    Ok(Slot::Value(ephemeral::of_variable(variable, value, default.span())?))
}

fn output(view: &View<'_>, output: &Output, told: bool) -> Made {
    let failed = "Module output value precondition failed";
    condition::hold(view, &output.preconditions, &Purpose { failed, kind: "precondition", at: None, told })?;
    let value = evaluate(&output.value, view).map_err(failures);
    named(view, &output.depends_on)?;
    let mut value = value?;
    let span = output.value.span();
    value = ephemeral::of_output(output, view.addr.is_root(), value)?;
    if view.addr.is_root() {
        if value.contains_sensitive() && !output.sensitive {
            let detail = format!("The output \"{}\" holds a sensitive value, and outputs are shown.", output.name);
            let error = Diagnostic::error("Output refers to sensitive values", detail).at(span);
            return Err(error.hint("Mark it with sensitive = true.").into());
        }
        value = numbers::of_output(output, value)?;
    }
    if output.sensitive {
        value = value.mark(Marks::SENSITIVE);
    }
    Ok(Slot::Value(value))
}

/// All outputs of all instances.
fn whole_module(view: &View<'_>, name: &Arc<str>, called: &Module) -> Slot {
    let Some(expansion) = view.expansion(Key::Calls(view.addr.clone(), name.clone())) else { return Slot::Failed };
    let outputs = |key| view.outputs(&view.addr.child(name.clone(), key), called);
    Slot::Value(assembled(&expansion, outputs))
}

/// Everything in all instances.
fn settled_module(view: &View<'_>, name: &Arc<str>, called: &Module) -> Slot {
    let Some(expansion) = view.expansion(Key::Calls(view.addr.clone(), name.clone())) else { return Slot::Failed };
    for key in expansion.keys() {
        let child = view.addr.child(name.clone(), expansion.module(key));
        for resource in called.resources.keys() {
            view.look(Key::Whole(block_addr(&child, resource)));
        }
        for call in called.calls.keys() {
            view.look(Key::Settled(child.clone(), call.clone()));
        }
        for output in called.outputs.keys() {
            view.look(Key::Output(child.clone(), output.clone()));
        }
    }
    Slot::Done
}

/// Everything in all instances, and everything that they declare, used or not.
fn contents(view: &View<'_>, name: &Arc<str>, called: &Module) -> Slot {
    let Some(expansion) = view.expansion(Key::Calls(view.addr.clone(), name.clone())) else { return Slot::Failed };
    for key in expansion.keys() {
        for key in declared(&view.addr.child(name.clone(), key), called) {
            view.look(key);
        }
    }
    Slot::Done
}

/// Everything that a module instance declares.
pub(crate) fn declared(module: &ModuleAddr, config: &Module) -> Vec<Key> {
    let variables = config.variables.keys().map(|name| Key::Variable(module.clone(), name.clone()));
    let validated = config.variables.values().filter(|variable| !variable.validations.is_empty());
    let validated = validated.map(|variable| Key::Validated(module.clone(), variable.name.clone()));
    let locals = config.locals.keys().map(|name| Key::Local(module.clone(), name.clone()));
    let resources = config.resources.iter().map(|(name, block)| match block.repeat {
        Repeat::Once => Key::Object(block_addr(module, name)),
        Repeat::Count(_) | Repeat::ForEach(_) => Key::Whole(block_addr(module, name)),
    });
    let outputs = config.outputs.keys().map(|name| Key::Output(module.clone(), name.clone()));
    let calls = config.calls.keys().map(|name| Key::Contents(module.clone(), name.clone()));
    variables.chain(validated).chain(locals).chain(resources).chain(outputs).chain(calls).collect()
}

fn whole(view: &View<'_>, addr: &ResourceAddr) -> Slot {
    let Some(expansion) = view.expansion(Key::Instances(addr.clone())) else { return Slot::Failed };
    Slot::Value(assembled(&expansion, |key| view.value(Key::Object(addr.with_key(key)))))
}

/// One value of all instances: a tuple by `count`, an object by `for_each`.
fn assembled(expansion: &Expansion, instance: impl Fn(Option<InstanceKey>) -> Value) -> Value {
    match expansion {
        Expansion::Single => instance(None),
        Expansion::Any(_) => Value::unknown(Type::Dynamic),
        Expansion::Count(_) => Value::tuple(expansion.keys().into_iter().map(instance)),
        Expansion::ForEach(elements) => {
            Value::object(elements.keys().map(|key| (key, instance(Some(InstanceKey::String(key.clone()))))))
        }
    }
}

/// Everything that references without a value name, as `depends_on` has them.
fn named(view: &View<'_>, references: &[Expr]) -> Made {
    let mut wrong = Diagnostics::new();
    for reference in references {
        let (subject, span) = match subject_of(reference) {
            Ok(found) => found,
            Err(error) => {
                wrong.push(*error);
                continue;
            }
        };
        match subject {
            Subject::Resource { mode, ty, name, .. } => {
                let name = engine_lang::config::ResourceName { mode, ty, name };
                let block = block_addr(view.addr, &name);
                match view.module.resources.get(&name) {
                    Some(resource) if resource.repeat == Repeat::Once => view.look(Key::Object(block)),
                    Some(_) => view.look(Key::Whole(block)),
                    None => {
                        wrong.push(not_there(&name.to_string(), span));
                        None
                    }
                };
            }
            Subject::Module { name, .. } if view.module.calls.contains_key(&name) => {
                view.look(Key::Settled(view.addr.clone(), name));
            }
            Subject::Variable(name) if view.module.variables.contains_key(&name) => {
                view.look(Key::Variable(view.addr.clone(), name));
            }
            Subject::Local(name) if view.module.locals.contains_key(&name) => {
                view.look(Key::Local(view.addr.clone(), name));
            }
            other => wrong.push(not_there(&other.text(), span)),
        }
    }
    if wrong.is_empty() { Ok(Slot::Done) } else { Err(wrong) }
}

fn not_there(text: &str, span: Span) -> Diagnostic {
    let detail = format!("\"{text}\" is not declared in this module, so nothing can depend on it.");
    Diagnostic::error("Reference to undeclared resource", detail).at(span)
}
