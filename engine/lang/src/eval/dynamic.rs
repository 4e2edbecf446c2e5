//! `dynamic` blocks: one block for each element of a collection.

use std::sync::Arc;

use engine_diag::{Diagnostic, Span};
use engine_model::schema::{Block, Nesting};
use engine_value::{Data, Marks, Number, Type, Value, convert};

use crate::{
    eval::{
        Scope, Stop,
        decode::{Decoder, unsupported_block},
        expression::Gather,
        iterate::Elements,
    },
    syntax::{BlockRef, Body, Expr, Node},
};

/// One nested block, wherever it comes from.
pub(super) enum Occurrence {
    Known {
        value: Value,
        label: Option<Arc<str>>,
        span: Span,
    },
    /// How many there are is not known; the value tells what that waits for.
    Unknown {
        value: Value,
        span: Span,
    },
}

impl Occurrence {
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Known { span, .. } | Self::Unknown { span, .. } => *span,
        }
    }
}

fn invalid(summary: &str, detail: impl Into<String>, span: Span) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(summary, detail).at(span))
}

/// The parts of a `dynamic` block.
struct Dynamic<'b> {
    kind: &'b str,
    for_each: Expr,
    iterator: Arc<str>,
    labels: Vec<Expr>,
    content: Body,
    span: Span,
}

impl<S: Scope> Decoder<'_, S> {
    pub(super) fn dynamic<'b>(
        &mut self,
        block: BlockRef<'b>,
        schema: &Block,
    ) -> Result<(&'b str, Vec<Occurrence>), Stop<S::Key>> {
        let dynamic = parse(block)?;
        let Some(nested) = schema.blocks.get(dynamic.kind) else {
            let span = block.labels().next().map_or(block.kind_span(), |(_, span)| span);
            return Err(unsupported_block(dynamic.kind, span, schema).into());
        };
        let collection = self.evaluate(&dynamic.for_each)?;
        let marks = collection.marks;
        let span = dynamic.span;
        let Some(elements) = elements(&collection, dynamic.for_each.span())? else {
            return Ok((dynamic.kind, vec![Occurrence::Unknown { value: collection, span }]));
        };
        let mut gather = Gather::new();
        let mut occurrences = Vec::with_capacity(elements.len());
        for (key, value) in elements {
            let iterator = Value::object([("key", key.mark(marks)), ("value", value.mark(marks))]);
            self.bound.push((Arc::clone(&dynamic.iterator), iterator));
            let label = match nested.nesting {
                Nesting::Map => self.label(&dynamic),
                _ => Ok(None),
            };
            let value = self.body(&dynamic.content, &[], &nested.block);
            self.bound.pop();
            let label = gather.take(label)?.flatten();
            if let Some(value) = gather.take(value)? {
                occurrences.push(Occurrence::Known { value: value.mark(marks), label, span });
            }
        }
        gather.finish()?;
        Ok((dynamic.kind, occurrences))
    }

    fn label(&self, dynamic: &Dynamic<'_>) -> Result<Option<Arc<str>>, Stop<S::Key>> {
        let [label] = dynamic.labels.as_slice() else { return Ok(None) };
        let value = self.evaluate(label)?;
        let summary = "Invalid dynamic block label";
        if value.is_null() {
            return Err(invalid(summary, "Cannot use a null value as a dynamic block label.", label.span()).into());
        }
        let text = convert(&value, &Type::String).map_err(|error| {
            invalid(summary, format!("Cannot use this value as a dynamic block label: {error}."), label.span())
        })?;
        match (&text.data, text.marks == Marks::NONE) {
            (Data::String(text), true) => Ok(Some(Arc::clone(text))),
            (Data::String(_), false) => {
                Err(invalid(summary, "Cannot use a sensitive value as a dynamic block label.", label.span()).into())
            }
            _ => {
                let detail = "This value is not yet known. Dynamic block labels must be immediately-known values.";
                Err(invalid(summary, detail, label.span()).into())
            }
        }
    }
}

fn parse(block: BlockRef<'_>) -> Result<Dynamic<'_>, Box<Diagnostic>> {
    let mut labels = block.labels();
    let (Some((kind, _)), None) = (labels.next(), labels.next()) else {
        let detail = "A dynamic block has one label: the type of the blocks that it makes.";
        return Err(invalid("Invalid dynamic block", detail, block.header()));
    };
    let body = block.body();
    let mut for_each = None;
    let mut iterator = Arc::clone(kind);
    let mut label_exprs = Vec::new();
    for attribute in body.attributes() {
        match attribute.name().as_ref() {
            "for_each" => for_each = Some(attribute.value()),
            "iterator" => match attribute.value().as_keyword() {
                Some(name) => iterator = Arc::clone(name),
                None => {
                    let detail = "Dynamic iterator must be a single variable name.";
                    return Err(invalid("Invalid expression", detail, attribute.value().span()));
                }
            },
            "labels" => {
                let list = attribute.value().unparenthesized();
                match list.node() {
                    Node::Tuple(elements) => {
                        label_exprs = list.tree().exprs(elements).iter().map(|id| list.with(*id)).collect();
                    }
                    _ => return Err(invalid("Invalid expression", "A list of labels is required.", list.span())),
                }
            }
            other => {
                let detail = format!("An argument named \"{other}\" is not expected in a dynamic block.");
                return Err(invalid("Unsupported argument", detail, attribute.name_span()));
            }
        }
    }
    let Some(for_each) = for_each else {
        let detail = "The argument \"for_each\" is required, but no definition was found.";
        return Err(invalid("Missing required argument", detail, body.lacks()));
    };
    let mut contents = body.blocks();
    let content = match (contents.next(), contents.next()) {
        (Some(content), None) if content.kind().as_ref() == "content" => content.body(),
        (Some(other), None) => {
            let detail = format!(
                "Blocks of type \"{}\" are not expected here; a dynamic block has one \"content\" block.",
                other.kind()
            );
            return Err(invalid("Unsupported block type", detail, other.kind_span()));
        }
        (None, _) => {
            return Err(invalid("Missing content block", "A dynamic block has one \"content\" block.", body.lacks()));
        }
        (Some(_), Some(second)) => {
            return Err(invalid(
                "Extraneous block",
                "A dynamic block has only one \"content\" block.",
                second.header(),
            ));
        }
    };
    Ok(Dynamic { kind, for_each, iterator, labels: label_exprs, content, span: block.header() })
}

/// Keys and elements; `None` if they are not known yet.
fn elements(collection: &Value, span: Span) -> Result<Option<Elements>, Box<Diagnostic>> {
    let summary = "Invalid dynamic for_each value";
    match &collection.data {
        Data::Null(_) => Err(invalid(summary, "Cannot use a null value in for_each.", span)),
        Data::List(_, elements) | Data::Tuple(elements) => {
            let key = |at: usize| Value::number(Number::from(at));
            Ok(Some(elements.iter().enumerate().map(|(at, element)| (key(at), element.clone())).collect()))
        }
        Data::Set(_, elements) if elements.iter().all(Value::is_wholly_known) => {
            Ok(Some(elements.iter().map(|element| (element.clone(), element.clone())).collect()))
        }
        Data::Set(..) => Ok(None),
        Data::Map(_, elements) | Data::Object(elements) => Ok(Some(
            elements.iter().map(|(key, element)| (Data::String(Arc::clone(key)).into(), element.clone())).collect(),
        )),
        Data::Unknown(unknown) if !unknown.ty.is_primitive() => Ok(None),
        _ => {
            let ty = collection.type_of().friendly();
            Err(invalid(
                summary,
                format!("Cannot use a {ty} value in for_each. An iterable collection is required."),
                span,
            ))
        }
    }
}
