//! Type constraints of variables: `list(object({ a = string, b = optional(number, 1) }))`.

use std::{collections::BTreeMap, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics};
use engine_value::{Attr, Type};

use crate::eval::did_you_mean;
use crate::syntax::{Expr, Node};

/// A type, and what fills in for optional attributes that are absent or null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The type. `Type::Dynamic` is `any`.
    pub ty: Type,
    /// The defaults, if any attribute in it has one.
    pub defaults: Option<Arc<Defaults>>,
}

/// Defaults of optional attributes, along the structure of the type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// Of an object: the default of an attribute, a constant expression. It is converted to the attribute's type, and
    /// the attribute's own nested defaults are applied to it.
    pub values: BTreeMap<Arc<str>, Expr>,
    /// Of an object: defaults inside of its attributes.
    pub attributes: BTreeMap<Arc<str>, Defaults>,
    /// Of a tuple: defaults inside of its elements.
    pub places: BTreeMap<usize, Defaults>,
    /// Of a list, set or map: defaults inside of each element.
    pub elements: Option<Box<Defaults>>,
}

impl Constraint {
    /// `any`: what a variable without a type has.
    pub fn any() -> Self {
        Self { ty: Type::Dynamic, defaults: None }
    }

    /// The constraint that `expr` writes. What is wrong is reported, and `any` in its place.
    pub fn parse(expr: &Expr, diagnostics: &mut Diagnostics) -> Self {
        let (ty, defaults) = parse(expr, diagnostics);
        Self { ty, defaults: defaults.map(Arc::new) }
    }
}

const PRIMITIVES: [(&str, Type); 4] =
    [("string", Type::String), ("number", Type::Number), ("bool", Type::Bool), ("any", Type::Dynamic)];
const CONSTRUCTORS: [&str; 5] = ["list", "set", "map", "object", "tuple"];

type Parsed = (Type, Option<Defaults>);

fn parse(expr: &Expr, diagnostics: &mut Diagnostics) -> Parsed {
    let tree = expr.tree();
    match expr.node() {
        Node::Paren(inner) => parse(&expr.with(inner), diagnostics),
        Node::Traversal { root, steps } if steps.is_empty() => keyword(expr, tree.str(root), diagnostics),
        Node::Text(text) => quoted(expr, tree.str(text), diagnostics),
        Node::Call { name, args, expand: false } => {
            let args: Vec<Expr> = tree.exprs(args).iter().map(|id| expr.with(*id)).collect();
            constructor(expr, tree.str(name), &args, diagnostics)
        }
        _ => {
            let detail = "A type is written as string, number, bool, any, list(TYPE), set(TYPE), map(TYPE), \
                          object({ NAME = TYPE }) or tuple([TYPE, TYPE]).";
            invalid(expr, detail, diagnostics)
        }
    }
}

fn invalid(at: &Expr, detail: impl Into<String>, diagnostics: &mut Diagnostics) -> Parsed {
    diagnostics.push(Diagnostic::error("Invalid type specification", detail).at(at.span()));
    (Type::Dynamic, None)
}

fn keyword(expr: &Expr, word: &str, diagnostics: &mut Diagnostics) -> Parsed {
    if let Some((_, ty)) = PRIMITIVES.iter().find(|(name, _)| *name == word) {
        return (ty.clone(), None);
    }
    match word {
        // The spelling of old modules.
        "list" => (Type::list(Type::Dynamic), None),
        "map" => (Type::map(Type::Dynamic), None),
        "set" => invalid(expr, "The set type needs the type of its elements: set(TYPE).", diagnostics),
        "object" => invalid(expr, "The object type needs its attributes: object({ NAME = TYPE }).", diagnostics),
        "tuple" => invalid(expr, "The tuple type needs the types of its elements: tuple([TYPE, TYPE]).", diagnostics),
        _ => {
            let meant = did_you_mean(word, PRIMITIVES.iter().map(|(name, _)| *name).chain(CONSTRUCTORS));
            invalid(expr, format!("The keyword \"{word}\" is not a type.{meant}"), diagnostics)
        }
    }
}

/// `type = "string"` was how old modules wrote it; Terraform 1.11 rejects it too.
fn quoted(expr: &Expr, text: &str, diagnostics: &mut Diagnostics) -> Parsed {
    let (detail, hint) = match text {
        "string" | "number" | "bool" | "any" => ("Types are not quoted.".to_owned(), format!("Write type = {text}.")),
        "list" | "map" => ("Types are not quoted.".to_owned(), format!("Write type = {text}(string).")),
        _ => (format!("\"{text}\" is a quoted string, not a type."), "Remove the quotes.".to_owned()),
    };
    diagnostics.push(Diagnostic::error("Invalid quoted type constraints", detail).at(expr.span()).hint(hint));
    (Type::Dynamic, None)
}

fn constructor(expr: &Expr, name: &str, args: &[Expr], diagnostics: &mut Diagnostics) -> Parsed {
    match (name, args) {
        ("list" | "set" | "map", [element]) => {
            let (element, defaults) = parse(element, diagnostics);
            let ty = match name {
                "list" => Type::list(element),
                "set" => Type::set(element),
                _ => Type::map(element),
            };
            let defaults = defaults.map(|inner| Defaults { elements: Some(Box::new(inner)), ..Defaults::default() });
            (ty, defaults)
        }
        ("list" | "set" | "map", _) => {
            invalid(expr, format!("The {name} type has one argument, the type of its elements."), diagnostics)
        }
        ("tuple", [types]) => match types.unparenthesized().node() {
            Node::Tuple(elements) => tuple(types, types.tree().exprs(elements), diagnostics),
            _ => invalid(types, "The tuple type has one argument, a list of types in brackets.", diagnostics),
        },
        ("tuple", _) => invalid(expr, "The tuple type has one argument, a list of types in brackets.", diagnostics),
        ("object", [attributes]) => object(attributes, diagnostics),
        ("object", _) => invalid(expr, "The object type has one argument, its attributes in braces.", diagnostics),
        ("optional", _) => {
            invalid(expr, "\"optional\" can only stand directly at an attribute of an object type.", diagnostics)
        }
        ("string" | "number" | "bool" | "any", _) => {
            invalid(expr, format!("The type \"{name}\" has no arguments."), diagnostics)
        }
        _ => {
            let meant = did_you_mean(name, CONSTRUCTORS);
            invalid(expr, format!("\"{name}\" is not a type constructor.{meant}"), diagnostics)
        }
    }
}

fn tuple(at: &Expr, elements: &[crate::syntax::ExprId], diagnostics: &mut Diagnostics) -> Parsed {
    let mut types = Vec::new();
    let mut defaults = Defaults::default();
    for (place, id) in elements.iter().enumerate() {
        let (ty, inner) = parse(&at.with(*id), diagnostics);
        types.push(ty);
        if let Some(inner) = inner {
            defaults.places.insert(place, inner);
        }
    }
    let any = !defaults.places.is_empty();
    (Type::tuple(types), any.then_some(defaults))
}

fn object(expr: &Expr, diagnostics: &mut Diagnostics) -> Parsed {
    let inner = expr.unparenthesized();
    let Node::Object(items) = inner.node() else {
        return invalid(expr, "The object type has one argument, its attributes in braces.", diagnostics);
    };
    let mut attributes: BTreeMap<Arc<str>, Attr> = BTreeMap::new();
    let mut defaults = Defaults::default();
    for item in inner.tree().items(items) {
        let (key, value) = (inner.with(item.key), inner.with(item.value));
        let Some(name) = key.as_text() else {
            invalid(&key, "The name of an attribute is a plain word.", diagnostics);
            continue;
        };
        if attributes.contains_key(name) {
            invalid(&key, format!("The attribute \"{name}\" is already defined."), diagnostics);
            continue;
        }
        let (attribute, default, nested) = attribute(&value, diagnostics);
        attributes.insert(name.clone(), attribute);
        if let Some(default) = default {
            defaults.values.insert(name.clone(), default);
        }
        if let Some(nested) = nested {
            defaults.attributes.insert(name.clone(), nested);
        }
    }
    let any = !defaults.values.is_empty() || !defaults.attributes.is_empty();
    (Type::Object(Arc::new(attributes)), any.then_some(defaults))
}

/// `TYPE`, `optional(TYPE)` or `optional(TYPE, default)`.
fn attribute(expr: &Expr, diagnostics: &mut Diagnostics) -> (Attr, Option<Expr>, Option<Defaults>) {
    if let Node::Call { name, args, expand: false } = expr.node()
        && &**expr.tree().str(name) == "optional"
    {
        let args: Vec<Expr> = expr.tree().exprs(args).iter().map(|id| expr.with(*id)).collect();
        let (ty, default) = match &args[..] {
            [ty] => (ty, None),
            [ty, default] => (ty, Some(default.clone())),
            _ => {
                let detail = "optional has one or two arguments: the type of the attribute, and its default.";
                invalid(expr, detail, diagnostics);
                return (Attr { ty: Type::Dynamic, optional: true }, None, None);
            }
        };
        if let Some(default) = &default {
            super::shape::constant(default, diagnostics);
        }
        let (ty, nested) = parse(ty, diagnostics);
        return (Attr { ty, optional: true }, default, nested);
    }
    let (ty, nested) = parse(expr, diagnostics);
    (Attr::required(ty), None, nested)
}
