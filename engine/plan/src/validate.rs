//! What is wrong with a configuration whatever the state and the world are: for `validate`.
//!
//! Evaluates everything with variables and objects unknown, so types, references, schemas and providers' own checks are
//! looked at, and nothing is read.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics};
use engine_lang::{
    config::{Config, IgnoreChanges, Module, Repeat, Resource},
    eval::Repetition,
    syntax::Node,
};
use engine_model::{
    address::{InstanceKey, Mode, ModuleAddr, ResourceAddr},
    schema::Usage,
};
use engine_value::{Marks, Secrets, Value};

use crate::{
    evaluation::{Evaluation, Key, Slot},
    expand::Expansion,
    planner::{issue_at, redacted, refuse_second},
    program::{Given, Program, block_addr},
    stored::mark_sensitive,
    worklist::Id,
};

/// Everything that is wrong with a configuration, in a deterministic order. Values of variables are not looked at.
pub fn validate(program: &Program) -> Diagnostics {
    let mut program = program.clone();
    program.variables = unknown_variables(&program.config);
    let program = Arc::new(program);
    let mut evaluation = Evaluation::validating(program.clone());
    evaluation.report(program.unmet_requirements());
    for (path, module) in program.config.modules() {
        // A module that is called many times is written once.
        let addr = path.0.iter().fold(ModuleAddr::root(), |addr, name| addr.child(name.clone(), None));
        want(&mut evaluation, &program, &addr, module);
    }
    loop {
        while let Some(id) = evaluation.advance() {
            outside(&mut evaluation, &program, id);
        }
        if !evaluation.break_cycle() {
            break;
        }
    }
    evaluation.into_diagnostics()
}

fn unknown_variables(config: &Config) -> std::collections::BTreeMap<Arc<str>, Given> {
    let unknown = |variable: &engine_lang::config::Variable| {
        let value = Value::unknown(variable.constraint.ty.without_optional());
        Given::Value(if variable.sensitive { value.mark(Marks::SENSITIVE) } else { value })
    };
    config.root.variables.iter().map(|(name, variable)| (name.clone(), unknown(variable))).collect()
}

/// Everything that a module declares, each block once.
fn want(evaluation: &mut Evaluation, program: &Program, addr: &ModuleAddr, module: &Module) {
    for name in module.variables.keys() {
        evaluation.want(&Key::Variable(addr.clone(), name.clone()));
    }
    for variable in module.variables.values().filter(|variable| !variable.validations.is_empty()) {
        evaluation.want(&Key::Validated(addr.clone(), variable.name.clone()));
    }
    for name in module.checks.keys() {
        evaluation.want(&Key::Check(addr.clone(), name.clone()));
    }
    for name in module.locals.keys() {
        evaluation.want(&Key::Local(addr.clone(), name.clone()));
    }
    for name in module.outputs.keys() {
        evaluation.want(&Key::Output(addr.clone(), name.clone()));
    }
    for name in module.providers.keys() {
        if let Some(resolved) = program.config.provider(&addr.path(), name) {
            evaluation.want(&Key::Provider(resolved.addr));
        }
    }
    for (name, resource) in &module.resources {
        let block = block_addr(addr, name);
        evaluation.want(&Key::Instances(block.clone()));
        evaluation.want(&Key::Needs(block.clone()));
        let instance = block.with_key(any_key(&resource.repeat));
        evaluation.want(&Key::Object(instance.clone()));
        if !resource.lifecycle.postconditions.is_empty() {
            evaluation.want(&Key::Postconditions(instance));
        }
    }
    for call in module.calls.values() {
        evaluation.want(&Key::Calls(addr.clone(), call.name.clone()));
        evaluation.want(&Key::Gate(addr.clone(), call.name.clone()));
    }
}

/// The key of the instance that stands for all.
fn any_key(repeat: &Repeat) -> Option<InstanceKey> {
    match repeat {
        Repeat::Once => None,
        Repeat::Count(_) => Expansion::Any(Repetition::Count).instance(None),
        Repeat::ForEach(_) => Expansion::Any(Repetition::ForEach).instance(None),
    }
}

fn outside(evaluation: &mut Evaluation, program: &Program, id: Id) {
    let Key::Object(addr) = evaluation.key(id).clone() else {
        evaluation.finish(id, Slot::Done, &[], false);
        return;
    };
    let arguments = Key::Arguments(addr.clone());
    if evaluation.wait(id, &[arguments.clone(), Key::Needs(addr.with_key(None))]) {
        return;
    }
    let config = evaluation.value(&arguments).cloned();
    let (Some(config), Some(schema)) = (config, schema(program, &addr)) else {
        evaluation.finish(id, Slot::Failed, &[arguments], false);
        return;
    };
    let found = check(program, &addr, &config);
    evaluation.report(found);
    // What only the provider decides is unknown, whatever there is.
    let object = crate::proposed(&schema.block, &Value::null(schema.block.value_type()), &config);
    evaluation.finish(id, Slot::Value(object), &[arguments], false);
}

fn schema<'a>(program: &'a Program, addr: &ResourceAddr) -> Option<&'a engine_model::schema::Schema> {
    program.resource(addr).and_then(|block| program.schema(addr, block).ok()).map(|(_, schema)| schema)
}

/// What `ignore_changes` names must be there, and be an argument.
fn ignored(program: &Program, addr: &ResourceAddr, block: &Resource) -> Vec<Diagnostic> {
    let IgnoreChanges::Paths(paths) = &block.lifecycle.ignore_changes else { return Vec::new() };
    let Ok((_, schema)) = program.schema(addr, block) else { return Vec::new() };
    let names = || schema.block.attributes.keys().chain(schema.block.blocks.keys()).map(|name| &**name);
    let mut found = Vec::new();
    for path in paths {
        let Node::Traversal { root, .. } = path.node() else { continue };
        let name = &**path.tree().str(root);
        let computed = schema.block.attributes.get(name).is_some_and(|a| a.usage == Usage::Computed);
        if computed {
            let detail = format!("Only the provider decides \"{name}\", so there is no change of it to ignore.");
            found.push(Diagnostic::warning("Redundant ignore_changes element", detail).at(path.span()));
        } else if !names().any(|known| known == name) {
            let detail = format!("{} has no argument or block \"{name}\".", addr.ty);
            let error = Diagnostic::error("Unsupported attribute", detail).at(path.span()).about(addr);
            found.push(match crate::providers::nearest(name, names()) {
                Some(near) => error.hint(format!("Did you mean \"{near}\"?")),
                None => error,
            });
        }
    }
    found
}

fn check(program: &Program, addr: &ResourceAddr, config: &Value) -> Vec<Diagnostic> {
    let Some(block) = program.resource(addr) else { return Vec::new() };
    let Ok(provider) = program.provider_of(addr, block) else { return Vec::new() };
    let Some(provider) = program.providers.get(&provider.provider) else { return Vec::new() };
    let bare = config.clone().unmark_deep().0;
    let mut found = ignored(program, addr, block);
    let issues = provider.validate_alone(addr.mode, &addr.ty, &bare);
    let marked = program.schema(addr, block).map(|(_, schema)| mark_sensitive(&schema.block, config.clone()));
    let secrets = Secrets::of(&marked.ok());
    found.extend(issues.into_iter().map(|issue| redacted(&secrets, issue_at(program, addr, issue))));
    if addr.mode == Mode::Managed && provider.has_operations(&addr.ty) {
        found.extend(refuse_second(block, addr));
    }
    found
}
