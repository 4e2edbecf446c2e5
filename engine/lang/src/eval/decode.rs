//! Blocks to objects, by their schemas.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Span};
use engine_model::schema::{Attribute, AttributeType, Block, NestedBlock, Nesting, Usage};
use engine_value::{Attr, Data, Path, Step, Type, Value, convert};

use crate::{
    config::Arguments,
    eval::{
        Scope, Stop, by_schema, did_you_mean,
        dynamic::Occurrence,
        expression::{Evaluator, Gather, Outcome, failed_conversion},
        place,
    },
    syntax::{AttributeRef, BlockRef, Body, Expr},
};

/// The object that a block makes: of the schema's [`value_type`](Block::value_type), with null for every argument that is
/// absent and for what only the provider knows. `dynamic` blocks are expanded; one whose `for_each` is not known makes the
/// blocks of its kind unknown as a whole.
///
/// # Errors
/// See [`Stop`]. All that is wrong in the block is told at once, if nothing in it is blocked.
pub fn decode<S: Scope>(arguments: &Arguments, schema: &Block, scope: &S) -> Outcome<S::Key> {
    Decoder { scope, bound: Vec::new() }.body(&arguments.body, arguments.meta, schema)
}

pub(super) struct Decoder<'a, S> {
    pub(super) scope: &'a S,
    /// Iterators of the `dynamic` blocks around.
    pub(super) bound: Vec<(Arc<str>, Value)>,
}

impl<S: Scope> Decoder<'_, S> {
    pub(super) fn evaluate(&self, expr: &Expr) -> Outcome<S::Key> {
        let mut evaluator = Evaluator::new(expr.tree(), self.scope);
        evaluator.bound.clone_from(&self.bound);
        evaluator.eval(expr.id())
    }

    /// What stands between the braces of a block.
    pub(super) fn body(&mut self, body: &Body, meta: &[&str], schema: &Block) -> Outcome<S::Key> {
        let mut gather = Gather::new();
        let mut given: BTreeMap<&str, AttributeRef<'_>> = BTreeMap::new();
        let (attributes, blocks) = by_schema(body, schema);
        for attribute in attributes {
            let name = attribute.name().as_ref();
            if meta.contains(&name) {
                continue;
            }
            if schema.attributes.contains_key(name) {
                if let Some(first) = given.insert(name, attribute) {
                    gather.push(redefined(attribute, first));
                }
            } else {
                gather.push(unsupported_argument(attribute, schema));
            }
        }
        let mut object = BTreeMap::new();
        for (name, attribute) in &schema.attributes {
            let value = self.attribute(name, attribute, given.get(name.as_ref()).copied(), body);
            if let Some(value) = gather.take(value)? {
                object.insert(Arc::clone(name), value);
            }
        }
        let mut found: BTreeMap<&str, Vec<Occurrence>> = BTreeMap::new();
        for block in blocks {
            if meta.contains(&block.kind().as_ref()) {
                continue;
            }
            let occurrences = self.occurrences(block, schema);
            if let Some((name, occurrences)) = gather.take(occurrences)? {
                found.entry(name).or_default().extend(occurrences);
            }
        }
        for (name, nested) in &schema.blocks {
            let occurrences = found.remove(name.as_ref()).unwrap_or_default();
            let value = self.hold(name, nested, occurrences, body);
            if let Some(value) = gather.take(value)? {
                object.insert(Arc::clone(name), value);
            }
        }
        gather.finish()?;
        Ok(Data::Object(Arc::new(object)).into())
    }

    fn attribute(
        &self,
        name: &str,
        schema: &Attribute,
        given: Option<AttributeRef<'_>>,
        body: &Body,
    ) -> Outcome<S::Key> {
        let Some(given) = given else {
            if schema.usage == Usage::Required {
                return Err(missing_argument(name, body.lacks()).into());
            }
            return Ok(Value::null(schema.value_type()));
        };
        let expr = given.value();
        let value = self.evaluate(&expr)?;
        if schema.usage == Usage::Computed {
            if value.is_null() {
                return Ok(Value::null(schema.value_type()));
            }
            return Err(unconfigurable(name, given.span()).into());
        }
        if schema.usage == Usage::Required && value.is_null() {
            return Err(missing_argument(name, expr.span()).into());
        }
        let mut gather = Gather::new();
        check_nested(&value, schema, &mut Path::root(), &expr, &mut gather);
        gather.finish()?;
        convert(&value, &constraint(schema)).map_err(|error| {
            let mut diagnostic = failed_conversion(&expr, &error, &format!("value for attribute \"{name}\""));
            let mut evaluator = Evaluator::new(expr.tree(), self.scope);
            evaluator.bound.clone_from(&self.bound);
            evaluator.explain(&mut diagnostic, expr.id());
            diagnostic.into()
        })
    }

    /// The occurrences of a nested block, as the schema holds them.
    fn hold(&self, name: &str, nested: &NestedBlock, occurrences: Vec<Occurrence>, body: &Body) -> Outcome<S::Key> {
        let ty = nested.block.value_type();
        let unknown = occurrences.iter().find_map(|occurrence| match occurrence {
            Occurrence::Unknown { value, .. } => Some(value),
            Occurrence::Known { .. } => None,
        });
        let known = occurrences.iter().filter(|o| matches!(o, Occurrence::Known { .. })).count() as u64;
        if unknown.is_none() && known < nested.min_items.max(u64::from(is_required(nested))) {
            return Err(too_few(name, nested, body.lacks()).into());
        }
        let single = matches!(nested.nesting, Nesting::Single | Nesting::Group);
        let most = if single { 1 } else { nested.max_items };
        if most > 0 && known > most {
            let spans: Vec<Span> = occurrences.iter().map(Occurrence::span).collect();
            return Err(too_many(name, nested, most, &spans).into());
        }
        if let Some(value) = unknown {
            let held = match nested.nesting {
                Nesting::Single | Nesting::Group => ty,
                Nesting::List => Type::list(ty),
                Nesting::Set => Type::set(ty),
                Nesting::Map => Type::map(ty),
            };
            return Ok(super::expression::unknown_like(value, held));
        }
        let known = occurrences.into_iter().filter_map(|occurrence| match occurrence {
            Occurrence::Known { value, label, span } => Some((value, label, span)),
            Occurrence::Unknown { .. } => None,
        });
        match nested.nesting {
            Nesting::Single => Ok(known.map(|(value, ..)| value).next().unwrap_or_else(|| Value::null(ty))),
            Nesting::Group => Ok(known.map(|(value, ..)| value).next().unwrap_or_else(|| empty(&nested.block))),
            Nesting::List => Ok(Value::list(ty, known.map(|(value, ..)| value).collect())),
            Nesting::Set => Ok(Value::set(ty, known.map(|(value, ..)| value).collect())),
            Nesting::Map => {
                let mut map: BTreeMap<Arc<str>, Value> = BTreeMap::new();
                for (value, label, span) in known {
                    let Some(label) = label else {
                        let detail = format!("All {name} blocks must have 1 label: the key of the block.");
                        return Err(Diagnostic::error(format!("Missing key for {name}"), detail).at(span).into());
                    };
                    if map.insert(Arc::clone(&label), value).is_some() {
                        let detail = format!("There is already a {name} block with the key \"{label}\".");
                        return Err(Diagnostic::error(format!("Duplicate {name} block"), detail).at(span).into());
                    }
                }
                Ok(Value::map(ty, map))
            }
        }
    }

    /// What a block in the source stands for: itself, or what a `dynamic` block makes.
    fn occurrences<'b>(
        &mut self,
        block: BlockRef<'b>,
        schema: &Block,
    ) -> Result<(&'b str, Vec<Occurrence>), Stop<S::Key>> {
        let kind = block.kind().as_ref();
        if kind == "dynamic" && !schema.blocks.contains_key("dynamic") {
            return self.dynamic(block, schema);
        }
        let Some(nested) = schema.blocks.get(kind) else {
            return Err(unsupported_block(kind, block.kind_span(), schema).into());
        };
        let mut labels = block.labels();
        let label = match nested.nesting {
            Nesting::Map => labels.next().map(|(label, _)| Arc::clone(label)),
            _ => None,
        };
        if let Some((_, span)) = labels.next() {
            let detail = match nested.nesting {
                Nesting::Map => format!("Only 1 label (the key of the block) is expected for {kind} blocks."),
                _ => format!("No labels are expected for {kind} blocks."),
            };
            return Err(Diagnostic::error(format!("Extraneous label for {kind}"), detail).at(span).into());
        }
        let value = self.body(&block.body(), &[], &nested.block)?;
        Ok((kind, vec![Occurrence::Known { value, label, span: block.header() }]))
    }
}

/// A block that is held as one and of which one is needed.
fn is_required(nested: &NestedBlock) -> bool {
    matches!(nested.nesting, Nesting::Single) && nested.min_items > 0
}

/// The value of a block that is not there, held as a group.
fn empty(block: &Block) -> Value {
    let attributes = block.attributes.iter().map(|(name, a)| (Arc::clone(name), Value::null(a.value_type())));
    let blocks = block.blocks.iter().map(|(name, nested)| {
        let ty = nested.block.value_type();
        let value = match nested.nesting {
            Nesting::Single => Value::null(ty),
            Nesting::Group => empty(&nested.block),
            Nesting::List => Value::list(ty, Vec::new()),
            Nesting::Set => Value::set(ty, Vec::new()),
            Nesting::Map => Value::map(ty, std::iter::empty::<(&str, Value)>()),
        };
        (Arc::clone(name), value)
    });
    Data::Object(Arc::new(attributes.chain(blocks).collect())).into()
}

/// The type constraint of an attribute: in nested objects, what need not be given is optional.
fn constraint(attribute: &Attribute) -> Type {
    match &attribute.ty {
        AttributeType::Plain(ty) => ty.clone(),
        AttributeType::Nested { nesting, attributes } => {
            let object = Type::Object(Arc::new(
                attributes
                    .iter()
                    .map(|(name, a)| {
                        let optional = a.usage != Usage::Required;
                        (Arc::clone(name), Attr { ty: constraint(a), optional })
                    })
                    .collect(),
            ));
            match nesting {
                Nesting::Single | Nesting::Group => object,
                Nesting::List => Type::list(object),
                Nesting::Set => Type::set(object),
                Nesting::Map => Type::map(object),
            }
        }
    }
}

/// Reports attributes of nested objects that the schema does not have, which conversion would drop in silence, and ones
/// that only the provider gives.
fn check_nested(value: &Value, schema: &Attribute, at: &mut Path, expr: &Expr, gather: &mut Gather) {
    let AttributeType::Nested { nesting, attributes } = &schema.ty else { return };
    let objects: Vec<(Option<Step>, &Value)> = match (nesting, &value.data) {
        (Nesting::Single | Nesting::Group, _) => vec![(None, value)],
        (Nesting::Map, Data::Map(..) | Data::Object(_)) => {
            value.steps().into_iter().map(Some).zip(value.parts()).collect()
        }
        (Nesting::List | Nesting::Set, Data::List(..) | Data::Set(..) | Data::Tuple(_)) => {
            (0..).map(|index| Some(Step::Index(index))).zip(value.parts()).collect()
        }
        _ => return,
    };
    for (step, object) in objects {
        let depth = at.0.len();
        at.0.extend(step);
        if let Data::Object(given) = &object.data {
            for (name, part) in given.iter() {
                at.0.push(Step::Attr(Arc::clone(name)));
                match attributes.get(name) {
                    None => {
                        let meant = did_you_mean(name, attributes.keys().map(AsRef::as_ref));
                        let detail = format!("An attribute named \"{name}\" is not expected here.{meant}");
                        let span = place::in_expression(expr, at);
                        gather.push(Diagnostic::error("Unsupported attribute", detail).at(span));
                    }
                    Some(attribute) if attribute.usage == Usage::Computed && !part.is_null() => {
                        gather.push(unconfigurable(name, place::in_expression(expr, at)));
                    }
                    Some(attribute) => check_nested(part, attribute, at, expr, gather),
                }
                at.0.pop();
            }
        }
        at.0.truncate(depth);
    }
}

fn redefined(again: AttributeRef<'_>, first: AttributeRef<'_>) -> Diagnostic {
    let detail = format!("The argument \"{}\" is already set. Each argument may be set only once.", again.name());
    let diagnostic = Diagnostic::error("Attribute redefined", detail).at(again.name_span());
    diagnostic.related(first.name_span(), "first set here")
}

fn unsupported_argument(attribute: AttributeRef<'_>, schema: &Block) -> Diagnostic {
    let name = attribute.name();
    let meant = if schema.blocks.contains_key(name) {
        format!(" Did you mean to define a block of type \"{name}\"?")
    } else {
        did_you_mean(name, schema.attributes.keys().map(AsRef::as_ref))
    };
    let detail = format!("An argument named \"{name}\" is not expected here.{meant}");
    Diagnostic::error("Unsupported argument", detail).at(attribute.name_span())
}

pub(super) fn unsupported_block(kind: &str, span: Span, schema: &Block) -> Diagnostic {
    let meant = if schema.attributes.contains_key(kind) {
        format!(" Did you mean to define argument \"{kind}\"? If so, use the equals sign to assign it a value.")
    } else {
        did_you_mean(kind, schema.blocks.keys().map(AsRef::as_ref))
    };
    let detail = format!("Blocks of type \"{kind}\" are not expected here.{meant}");
    Diagnostic::error("Unsupported block type", detail).at(span)
}

fn missing_argument(name: &str, span: Span) -> Diagnostic {
    let detail = format!("The argument \"{name}\" is required, but no definition was found.");
    Diagnostic::error("Missing required argument", detail).at(span)
}

fn unconfigurable(name: &str, span: Span) -> Diagnostic {
    let detail = format!(
        "Can't configure a value for \"{name}\": its value will be decided automatically based on the result of applying \
         this configuration."
    );
    Diagnostic::error("Value for unconfigurable attribute", detail).at(span)
}

fn too_few(name: &str, nested: &NestedBlock, span: Span) -> Diagnostic {
    match nested.nesting {
        Nesting::Single | Nesting::Group => {
            let detail = format!("A block of type \"{name}\" is required here.");
            Diagnostic::error(format!("Missing {name} block"), detail).at(span)
        }
        _ => {
            let detail = format!("At least {} \"{name}\" blocks are required.", nested.min_items);
            Diagnostic::error(format!("Insufficient {name} blocks"), detail).at(span)
        }
    }
}

fn too_many(name: &str, nested: &NestedBlock, most: u64, spans: &[Span]) -> Diagnostic {
    let at = spans.get(most as usize).or(spans.last()).copied();
    let diagnostic = match nested.nesting {
        Nesting::Single | Nesting::Group => {
            let detail = format!("Only one {name} block is allowed.");
            Diagnostic::error(format!("Duplicate {name} block"), detail)
        }
        _ => {
            let detail = format!("No more than {most} \"{name}\" blocks are allowed.");
            Diagnostic::error(format!("Too many {name} blocks"), detail)
        }
    };
    let diagnostic = diagnostic.at_opt(at);
    match spans.first() {
        Some(first) if Some(*first) != at => diagnostic.related(*first, "the first one is here"),
        _ => diagnostic,
    }
}
