//! The schema of a kind: an arena of nodes, compiled from JSON schemas (k8s-openapi's for built-in kinds, a custom
//! resource definition's for the rest), with what Kubernetes needs to know beside the types: which lists are maps or
//! sets, which maps and lists change only as a whole.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::rules::Rules;
use super::topology::{self, Topology};

/// A scalar's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
    /// A Kubernetes quantity; kept in canonical form.
    Quantity,
}

/// How the items of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    /// Not at all: the list changes as a whole.
    Atomic,
    /// By their value.
    Set,
    /// By these fields.
    Map(Vec<String>),
}

/// What a value may look like.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Anything: objects are merged by field, lists as a whole.
    Any,
    Scalar(Scalar),
    Map {
        /// The declared fields.
        fields: BTreeMap<String, Id>,
        /// The type of other fields; without it they are unknown.
        additional: Option<Id>,
        /// It changes as a whole.
        atomic: bool,
    },
    List {
        items: Id,
        kind: ListKind,
    },
}

/// A node's place in its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(u32);

#[derive(Clone, Debug)]
struct Node {
    shape: Shape,
    rules: Rules,
}

/// The arena.
#[derive(Clone, Debug, Default)]
pub(super) struct Schema {
    nodes: Vec<Node>,
    /// Whether any node has CEL rules.
    has_expressions: bool,
}

/// A node together with its arena.
#[derive(Clone, Copy, Debug)]
pub(super) struct Type<'a> {
    schema: &'a Schema,
    id: Id,
}

impl Schema {
    /// The node as a type to walk from.
    pub(super) fn at(&self, id: Id) -> Type<'_> {
        Type { schema: self, id }
    }

    fn add(&mut self, shape: Shape, rules: Rules) -> Id {
        self.has_expressions |= !rules.expressions.is_empty();
        self.nodes.push(Node { shape, rules });
        Id(u32::try_from(self.nodes.len() - 1).expect("a schema has fewer than 2^32 nodes"))
    }

    /// A type for anything.
    pub(super) fn any(&mut self) -> Id {
        self.add(Shape::Any, Rules::default())
    }

    /// A type for a plain scalar.
    pub(super) fn scalar(&mut self, scalar: Scalar) -> Id {
        self.add(Shape::Scalar(scalar), Rules::default())
    }

    /// The declared fields of a map, to add to them.
    pub(super) fn fields_mut(&mut self, id: Id) -> Option<&mut BTreeMap<String, Id>> {
        match &mut self.nodes[id.0 as usize].shape {
            Shape::Map { fields, .. } => Some(fields),
            _ => None,
        }
    }
}

impl<'a> Type<'a> {
    pub(super) fn shape(self) -> &'a Shape {
        &self.node().shape
    }

    pub(super) fn rules(self) -> &'a Rules {
        &self.node().rules
    }

    /// Another node of the same arena.
    pub(super) fn sibling(self, id: Id) -> Type<'a> {
        Type { schema: self.schema, id }
    }

    /// Whether the arena has CEL rules.
    pub(super) fn has_expressions(self) -> bool {
        self.schema.has_expressions
    }

    fn node(self) -> &'a Node {
        &self.schema.nodes[self.id.0 as usize]
    }

    /// The type of a field; none when the field is unknown. Below [`Shape::Any`] everything is `Any`.
    pub(super) fn field(self, name: &str) -> Option<Type<'a>> {
        match self.shape() {
            Shape::Any => Some(self),
            Shape::Map { fields, additional, .. } => {
                fields.get(name).copied().or(*additional).map(|id| Type { schema: self.schema, id })
            }
            Shape::Scalar(_) | Shape::List { .. } => None,
        }
    }

    /// Whether the field is declared by name (and not merely allowed).
    pub(super) fn declares(self, name: &str) -> bool {
        matches!(self.shape(), Shape::Map { fields, .. } if fields.contains_key(name))
    }

    /// The type of a list's items.
    pub(super) fn items(self) -> Option<Type<'a>> {
        match self.shape() {
            Shape::Any => Some(self),
            Shape::List { items, .. } => Some(Type { schema: self.schema, id: *items }),
            Shape::Scalar(_) | Shape::Map { .. } => None,
        }
    }
}

/// Compiles JSON schemas; named definitions are compiled once, so recursive ones are cycles in the arena.
pub(super) struct Compiler<'d> {
    pub(super) schema: Schema,
    definitions: &'d Map<String, Value>,
    known: BTreeMap<String, Id>,
}

impl<'d> Compiler<'d> {
    /// With definitions that `$ref` may name by the last part of its path.
    pub(super) fn new(definitions: &'d Map<String, Value>) -> Compiler<'d> {
        Compiler { schema: Schema::default(), definitions, known: BTreeMap::new() }
    }

    /// A named definition.
    pub(super) fn definition(&mut self, name: &str) -> Id {
        if let Some(id) = self.known.get(name) {
            return *id;
        }
        let id = self.schema.any();
        self.known.insert(name.to_owned(), id);
        if let Some(json) = self.definitions.get(name) {
            let compiled = self.compile_named(json, name);
            self.schema.nodes[id.0 as usize] = self.schema.nodes[compiled.0 as usize].clone();
        }
        id
    }

    /// A schema without a name.
    pub(super) fn compile(&mut self, json: &Value) -> Id {
        self.compile_named(json, "")
    }

    fn compile_named(&mut self, json: &Value, name: &str) -> Id {
        if let Some(reference) = json.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap_or(reference).to_owned();
            return self.definition(&name);
        }
        if name.ends_with(".api.resource.Quantity") {
            return self.schema.add(Shape::Scalar(Scalar::Quantity), Rules::default());
        }
        let mut shape = self.shape(json, name);
        let mut rules = Rules::of(json);
        let mut others = |field: &str| -> Vec<Id> {
            let list = json.get(field).and_then(Value::as_array).into_iter().flatten();
            list.map(|json| self.compile(json)).collect()
        };
        (rules.all_of, rules.any_of, rules.one_of) = (others("allOf"), others("anyOf"), others("oneOf"));
        rules.not = json.get("not").map(|json| self.compile(json));
        if let Shape::Map { fields, .. } = &mut shape
            && rules.embedded
        {
            self.add_object_fields(fields);
        }
        self.schema.add(shape, rules)
    }

    /// What every object has: type and metadata.
    pub(super) fn add_object_fields(&mut self, fields: &mut BTreeMap<String, Id>) {
        let metadata = self.definition(super::kinds::OBJECT_META);
        let text = self.schema.scalar(Scalar::String);
        fields.insert("metadata".to_owned(), metadata);
        fields.insert("apiVersion".to_owned(), text);
        fields.insert("kind".to_owned(), text);
    }

    fn shape(&mut self, json: &Value, name: &str) -> Shape {
        if json.get("x-kubernetes-int-or-string").and_then(Value::as_bool) == Some(true) {
            return Shape::Scalar(Scalar::IntOrString);
        }
        match json_type(json) {
            Some("string") => Shape::Scalar(Scalar::String),
            Some("integer") => Shape::Scalar(Scalar::Integer),
            Some("number") => Shape::Scalar(Scalar::Number),
            Some("boolean") => Shape::Scalar(Scalar::Boolean),
            Some("array") => {
                let items = match json.get("items") {
                    Some(items) => self.compile(items),
                    None => self.schema.any(),
                };
                Shape::List { items, kind: list_kind(json) }
            }
            Some("object") => self.map(json, name),
            _ => Shape::Any,
        }
    }

    fn map(&mut self, json: &Value, name: &str) -> Shape {
        let keeps_unknown = json.get("x-kubernetes-preserve-unknown-fields").and_then(Value::as_bool) == Some(true);
        let properties = json.get("properties").and_then(Value::as_object);
        let additional = match json.get("additionalProperties") {
            Some(Value::Bool(false)) => None,
            Some(Value::Bool(true)) => Some(self.schema.any()),
            Some(schema) => Some(self.compile(schema)),
            None if keeps_unknown => Some(self.schema.any()),
            // An object of which nothing is said (`FieldsV1`, `JSON` of k8s-openapi) holds anything.
            None if properties.is_none() && !name.is_empty() => return Shape::Any,
            None => None,
        };
        let mut fields = BTreeMap::new();
        for (field, json) in properties.into_iter().flatten() {
            let mut id = self.compile(json);
            if let Some(topology) = topology::of_field(name, field) {
                id = self.with_topology(id, topology);
            }
            if let Some(default) = topology::default_of(name, field) {
                self.schema.nodes[id.0 as usize].rules.default = Some(default.into());
            }
            fields.insert(field.clone(), id);
        }
        let atomic = json.get("x-kubernetes-map-type").and_then(Value::as_str) == Some("atomic")
            || topology::of_field(name, "") == Some(Topology::Atomic);
        Shape::Map { fields, additional, atomic }
    }

    /// The same type with another way to merge it: a node of its own, because the type may be shared.
    fn with_topology(&mut self, id: Id, topology: Topology) -> Id {
        let mut node = self.schema.nodes[id.0 as usize].clone();
        match (&mut node.shape, topology) {
            (Shape::List { kind, .. }, Topology::Set) => *kind = ListKind::Set,
            (Shape::List { kind, .. }, Topology::Keys(keys)) => {
                *kind = ListKind::Map(keys.iter().map(|key| (*key).to_owned()).collect());
            }
            (Shape::Map { atomic, .. }, Topology::Atomic) => *atomic = true,
            _ => {}
        }
        self.schema.add(node.shape, node.rules)
    }
}

fn json_type(json: &Value) -> Option<&str> {
    match json.get("type") {
        Some(Value::String(name)) => Some(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        // Inside `anyOf` and its kin nothing has a type.
        _ if json.get("properties").is_some() => Some("object"),
        _ if json.get("items").is_some() => Some("array"),
        _ => None,
    }
}

fn list_kind(json: &Value) -> ListKind {
    match json.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("set") => ListKind::Set,
        Some("map") => {
            let keys = json.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
            ListKind::Map(keys.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        _ => ListKind::Atomic,
    }
}
