//! `configuration`: what was written, with each expression as a constant or as the references in it. A constant that is
//! written where the schema, the variable or the output says *sensitive* is null unless secrets are asked for.

use std::collections::BTreeSet;

use engine_lang::{
    config::{Arguments, Config, Module, ModuleCall, ProviderName, Repeat, Resource, Variable},
    eval::{Subject, evaluate_constant, subject_of},
    syntax::{AttributeRef, Expr, ExprId, Node, Part, StepKind},
};
use engine_model::{
    address::{Mode, ModulePath},
    schema::{Attribute, AttributeType, Block},
};
use engine_value::json::{Json, to_tree};

use super::{modules, named, number, object, text};
use crate::Providers;

/// What everything here looks at.
#[derive(Clone, Copy)]
struct Context<'a> {
    config: &'a Config,
    providers: &'a Providers,
    show_sensitive: bool,
}

/// The member `configuration`.
pub(super) fn configuration(config: &Config, providers: &Providers, show_sensitive: bool) -> Json {
    let context = Context { config, providers, show_sensitive };
    let mut members = Vec::new();
    let provider_config = provider_configs(context);
    if !provider_config.is_empty() {
        members.push(("provider_config", named(provider_config.into_iter())));
    }
    members.push(("root_module", module(context, &ModulePath::root(), &config.root)));
    object(members)
}

fn provider_configs(context: Context<'_>) -> Vec<(String, Json)> {
    let Context { config, providers, .. } = context;
    let mut found = std::collections::BTreeMap::new();
    for (path, module) in config.modules() {
        for (name, block) in &module.providers {
            let addr = module.provider_addr(&name.name);
            let mut members = vec![("name", text(&*name.name)), ("full_name", text(addr.to_string()))];
            members.extend(name.alias.as_ref().map(|alias| ("alias", text(&**alias))));
            let required = module.settings.required_providers.get(&name.name);
            let version = required.and_then(|required| required.version.as_ref());
            members.extend(version.map(|(version, _)| ("version_constraint", text(version.to_string()))));
            if !path.is_root() {
                members.push(("module_address", text(path.to_string())));
            }
            if let Some(provider) = providers.get(&addr) {
                let expressions = expressions(context, &block.arguments, &provider.schemas().provider.block);
                members.extend(expressions.map(|expressions| ("expressions", expressions)));
            }
            found.insert(key(&path, name), object(members));
        }
        for resource in module.resources.values() {
            let Some(resolved) = config.provider(&path, &resource.provider_name()) else { continue };
            let addr = &resolved.addr;
            let name = ProviderName { name: addr.provider.ty.clone(), alias: addr.alias.clone() };
            found.entry(provider_key(config, &path, resource)).or_insert_with(|| {
                object([("name", text(&*name.name)), ("full_name", text(addr.provider.to_string()))])
            });
        }
    }
    found.into_iter().collect()
}

fn key(path: &ModulePath, name: &ProviderName) -> String {
    if path.is_root() { name.to_string() } else { format!("{path}:{name}") }
}

/// The member of `provider_config` that a resource means.
fn provider_key(config: &Config, path: &ModulePath, resource: &Resource) -> String {
    match config.provider(path, &resource.provider_name()) {
        Some(resolved) => {
            let name = resolved.block.map_or_else(
                || ProviderName { name: resolved.addr.provider.ty.clone(), alias: resolved.addr.alias.clone() },
                |block| block.name.clone(),
            );
            key(&resolved.addr.module, &name)
        }
        None => resource.provider_name().to_string(),
    }
}

fn module(context: Context<'_>, path: &ModulePath, module: &Module) -> Json {
    let mut members = Vec::new();
    if !module.outputs.is_empty() {
        let outputs = module.outputs.iter().map(|(name, output)| {
            let mut members = Vec::new();
            if output.sensitive {
                members.push(("sensitive", Json::Bool(true)));
            }
            members.push(("expression", context.expression(&output.value, output.sensitive)));
            members.extend(output.description.as_ref().map(|description| ("description", text(&**description))));
            members.extend(depends_on(&output.depends_on));
            (name.to_string(), object(members))
        });
        members.push(("outputs", named(outputs)));
    }
    if !module.resources.is_empty() {
        // Managed ones first, as Terraform has them.
        let of = |mode: Mode| module.resources.values().filter(move |resource| resource.name.mode == mode);
        let resources = of(Mode::Managed).chain(of(Mode::Data));
        let resources = resources.map(|one| resource(context, path, one)).collect();
        members.push(("resources", Json::Array(resources)));
    }
    if !module.calls.is_empty() {
        let calls = module.calls.values().map(|one| (one.name.to_string(), call(context, path, one)));
        members.push(("module_calls", named(calls)));
    }
    if !module.variables.is_empty() {
        members.push((
            "variables",
            named(module.variables.values().map(|one| (one.name.to_string(), variable(context, one)))),
        ));
    }
    object(members)
}

fn variable(context: Context<'_>, variable: &Variable) -> Json {
    let mut members = Vec::new();
    let hidden = variable.sensitive && !context.show_sensitive;
    let default = variable.default.as_ref().and_then(constant);
    let default = default.map(|default| if hidden { Json::Null } else { default });
    members.extend(default.map(|default| ("default", default)));
    members.extend(variable.description.as_ref().map(|description| ("description", text(&**description))));
    if variable.sensitive {
        members.push(("sensitive", Json::Bool(true)));
    }
    object(members)
}

fn resource(context: Context<'_>, path: &ModulePath, resource: &Resource) -> Json {
    let Context { config, providers, .. } = context;
    let name = &resource.name;
    let mut members = vec![
        ("address", text(name.to_string())),
        ("mode", text(modules::mode(name.mode))),
        ("type", text(&*name.ty)),
        ("name", text(&*name.name)),
        ("provider_config_key", text(provider_key(config, path, resource))),
    ];
    let provider = config.provider(path, &resource.provider_name()).map(|resolved| resolved.addr.provider);
    let schema = provider.and_then(|provider| providers.schema(&provider, name.mode, &name.ty).ok());
    if let Some(schema) = schema {
        let found = expressions(context, &resource.arguments, &schema.block);
        members.extend(found.map(|expressions| ("expressions", expressions)));
        members.push(("schema_version", number(schema.version)));
    }
    members.extend(repeat(&resource.repeat));
    members.extend(depends_on(&resource.depends_on));
    object(members)
}

fn call(context: Context<'_>, path: &ModulePath, call: &ModuleCall) -> Json {
    let mut members = vec![("source", text(&*call.source))];
    let variables = call.module.as_ref().map(|module| &module.variables);
    let is_sensitive = |name: &str| variables.and_then(|all| all.get(name)).is_some_and(|variable| variable.sensitive);
    let argument = |a: AttributeRef<'_>| (a.name().to_string(), context.expression(&a.value(), is_sensitive(a.name())));
    let arguments: Vec<_> = call.arguments.attributes().map(argument).collect();
    if !arguments.is_empty() {
        members.push(("expressions", named(sorted(arguments))));
    }
    members.extend(repeat(&call.repeat));
    if let Some(called) = &call.module {
        members.push(("module", module(context, &path.child(call.name.clone()), called)));
    }
    members.extend(call.version.as_ref().map(|(version, _)| ("version_constraint", text(version.to_string()))));
    members.extend(depends_on(&call.depends_on));
    object(members)
}

fn sorted(mut members: Vec<(String, Json)>) -> impl Iterator<Item = (String, Json)> {
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    members.into_iter()
}

fn repeat(repeat: &Repeat) -> Option<(&'static str, Json)> {
    match repeat {
        Repeat::Once => None,
        // Terraform leaves out what calls functions and refers to nothing.
        Repeat::Count(expr) | Repeat::ForEach(expr) if calls(expr) && expr.traversals().is_empty() => None,
        Repeat::Count(expr) => Some(("count_expression", expression(expr))),
        Repeat::ForEach(expr) => Some(("for_each_expression", expression(expr))),
    }
}

fn depends_on(references: &[Expr]) -> Option<(&'static str, Json)> {
    let texts = references.iter().filter_map(|reference| written(reference, usize::MAX)).map(text);
    (!references.is_empty()).then(|| ("depends_on", Json::Array(texts.collect())))
}

/// Arguments and nested blocks, by name.
fn expressions(context: Context<'_>, arguments: &Arguments, schema: &Block) -> Option<Json> {
    let (attributes, blocks) = arguments.by_schema(schema);
    let attributes = attributes.into_iter();
    let is_sensitive = |name: &str| schema.attributes.get(name).is_some_and(has_secret);
    let mut members: Vec<(String, Json)> =
        attributes.map(|a| (a.name().to_string(), context.expression(&a.value(), is_sensitive(a.name())))).collect();
    let mut nested: std::collections::BTreeMap<String, Vec<Json>> = std::collections::BTreeMap::new();
    for block in blocks {
        let Some(inner) = schema.blocks.get(block.kind()) else { continue };
        let arguments = Arguments { body: block.body(), meta: &[] };
        let json = expressions(context, &arguments, &inner.block).unwrap_or(Json::Object(Vec::new()));
        nested.entry(block.kind().to_string()).or_default().push(json);
    }
    members.extend(nested.into_iter().map(|(name, blocks)| (name, Json::Array(blocks))));
    (!members.is_empty()).then(|| named(sorted(members)))
}

/// Is it never shown, or a part of it?
fn has_secret(attribute: &Attribute) -> bool {
    attribute.sensitive
        || match &attribute.ty {
            AttributeType::Plain(_) => false,
            AttributeType::Nested { attributes, .. } => attributes.values().any(has_secret),
        }
}

impl Context<'_> {
    /// An expression whose value may be one that is never shown.
    fn expression(self, expr: &Expr, sensitive: bool) -> Json {
        if sensitive && !self.show_sensitive && expr.traversals().is_empty() {
            return object(constant(expr).map(|_| ("constant_value", Json::Null)));
        }
        expression(expr)
    }
}

/// The value of an expression that refers to nothing and calls nothing.
fn constant(expr: &Expr) -> Option<Json> {
    if calls(expr) {
        return None;
    }
    let value = evaluate_constant(expr).ok()?.unmark_deep().0;
    to_tree(&value, None).ok()
}

/// Does it call a function?
fn calls(expr: &Expr) -> bool {
    let tree = expr.tree();
    let mut todo: Vec<ExprId> = vec![expr.id()];
    while let Some(id) = todo.pop() {
        match tree.node(id) {
            Node::Call { .. } => return true,
            Node::Wrap(inner) | Node::Paren(inner) | Node::Unary { operand: inner, .. } => todo.push(inner),
            Node::Tuple(elements) => todo.extend(tree.exprs(elements)),
            Node::Object(items) => todo.extend(tree.items(items).iter().flat_map(|item| [item.key, item.value])),
            Node::For(it) => {
                let it = tree.for_expr(it);
                todo.extend([it.collection, it.value].into_iter().chain(it.key).chain(it.condition));
            }
            Node::Access { of, .. } => todo.push(of),
            Node::Splat { of, each } => todo.extend([of, each]),
            Node::Conditional { condition, then, otherwise } => todo.extend([condition, then, otherwise]),
            Node::Binary { left, right, .. } => todo.extend([left, right]),
            Node::Template(parts) => todo.extend(tree.parts(parts).iter().filter_map(|part| match part {
                Part::Interpolation(inner) => Some(*inner),
                Part::If { condition, .. } => Some(*condition),
                Part::For { collection, .. } => Some(*collection),
                Part::Text(_) => None,
            })),
            Node::Invalid
            | Node::Null
            | Node::Bool(_)
            | Node::Number(_)
            | Node::Text(_)
            | Node::Traversal { .. }
            | Node::SplatItem => {}
        }
    }
    false
}

/// An expression: its value where it refers to nothing, else what it refers to, each followed by what it is a part of.
fn expression(expr: &Expr) -> Json {
    let traversals = expr.traversals();
    if traversals.is_empty() {
        return match constant(expr) {
            Some(value) => object([("constant_value", value)]),
            None => object([]),
        };
    }
    let mut seen = BTreeSet::new();
    let mut references = Vec::new();
    for traversal in &traversals {
        for reference in prefixes(traversal) {
            if seen.insert(reference.clone()) {
                references.push(text(reference));
            }
        }
    }
    object([("references", Json::Array(references))])
}

/// A reference and what it is a part of, the longest first, down to what it names.
fn prefixes(traversal: &Expr) -> Vec<String> {
    let Ok((subject, _)) = subject_of(traversal) else { return Vec::new() };
    let Node::Traversal { steps, .. } = traversal.node() else { return Vec::new() };
    let is_key =
        |at: usize| matches!(traversal.tree().steps(steps).get(at).map(|step| step.kind), Some(StepKind::Index(_)));
    let least = match subject {
        Subject::Resource { mode: Mode::Data | Mode::Ephemeral, .. } => 2,
        Subject::Module { .. } if is_key(1) => 2,
        _ => 1,
    };
    // A module's output and its call are both named, but nothing beyond the output.
    let most = match subject {
        Subject::Module { .. } => steps.len().min(3),
        _ => steps.len(),
    };
    let mut found: Vec<String> = (least..=most).rev().filter_map(|length| written(traversal, length)).collect();
    found.dedup();
    found
}

/// A reference as it is written, up to so many steps, or up to the first key that is no constant.
fn written(traversal: &Expr, length: usize) -> Option<String> {
    let Node::Traversal { root, steps } = traversal.node() else { return None };
    let tree = traversal.tree();
    let mut text = tree.str(root).to_string();
    for step in tree.steps(steps).iter().take(length) {
        match step.kind {
            StepKind::Attr(name) => text.push_str(&format!(".{}", tree.str(name))),
            StepKind::Index(key) => match tree.node(key) {
                Node::Text(key) => text.push_str(&format!("[{:?}]", tree.str(key))),
                Node::Number(number) => text.push_str(&format!("[{}]", tree.number(number))),
                _ => return Some(text),
            },
        }
    }
    Some(text)
}

/// `relevant_attributes`: which attributes of resources something refers to.
pub(super) fn relevant_attributes(config: &Config) -> Json {
    let mut found: BTreeSet<(String, Vec<String>)> = BTreeSet::new();
    for (path, module) in config.modules() {
        for expr in all_expressions(module) {
            for traversal in expr.traversals() {
                let Ok((Subject::Resource { mode: Mode::Managed, .. }, _)) = subject_of(&traversal) else { continue };
                let Node::Traversal { steps, .. } = traversal.node() else { continue };
                let tree = traversal.tree();
                let steps = tree.steps(steps);
                let is_key = |at: usize| matches!(steps.get(at).map(|step| step.kind), Some(StepKind::Index(_)));
                let own = if is_key(1) { 2 } else { 1 };
                let Some(resource) = written(&traversal, own) else { continue };
                let attributes = steps.iter().skip(own).map_while(|step| match step.kind {
                    StepKind::Attr(name) => Some(tree.str(name).to_string()),
                    StepKind::Index(_) => None,
                });
                let resource = if path.is_root() { resource } else { format!("{path}.{resource}") };
                found.insert((resource, attributes.collect()));
            }
        }
    }
    let one = |(resource, attributes): (String, Vec<String>)| {
        let attribute = Json::Array(attributes.into_iter().map(text).collect());
        object([("resource", text(resource)), ("attribute", attribute)])
    };
    Json::Array(found.into_iter().map(one).collect())
}

fn all_expressions(module: &Module) -> Vec<Expr> {
    let mut found: Vec<Expr> = module.locals.values().map(|local| local.value.clone()).collect();
    found.extend(module.outputs.values().map(|output| output.value.clone()));
    let mut bodies = Vec::new();
    for resource in module.resources.values() {
        found.extend(resource.repeat.expr().cloned());
        found.extend(resource.arguments.attributes().map(|attribute| attribute.value()));
        bodies.extend(resource.arguments.blocks().map(|block| block.body()));
    }
    for call in module.calls.values() {
        found.extend(call.repeat.expr().cloned());
        found.extend(call.arguments.attributes().map(|attribute| attribute.value()));
    }
    while let Some(body) = bodies.pop() {
        found.extend(body.attributes().map(|attribute| attribute.value()));
        bodies.extend(body.blocks().map(|block| block.body()));
    }
    found
}
