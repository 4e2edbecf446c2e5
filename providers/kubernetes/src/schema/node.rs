//! A schema, and the parts of it that stand for the parts of a body.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::source::{OBJECT_META, builtin};

/// So many references are followed to a part of a schema: more is a circle.
const HOPS: usize = 16;

/// The name of the schema of quantities, which have a spelling of their own.
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";

/// A document of schemas by name.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) schemas: Map<String, Json>,
    /// Is it of a definition? Then an object has only the fields that are declared, keeps what it is given as it is
    /// spelled, and gets the defaults that are declared. In the documents of built-in kinds an object without
    /// declared fields may have any, the server spells values in its own way, and defaults are those of Go.
    pub(super) is_definition: bool,
    /// Does any of them have rules?
    pub(super) has_rules: bool,
    /// Does any list say how its items are told apart?
    pub(super) tells_lists: bool,
}

impl Document {
    pub(super) fn schema(&self, name: &str) -> Option<&Json> {
        self.schemas.get(name)
    }
}

/// The schema of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(super) document: Arc<Document>,
    pub(super) name: Arc<str>,
    /// Do its objects lie in namespaces? `None`: the document does not tell.
    pub(crate) namespaced: Option<bool>,
}

impl Schema {
    /// Does it tell how items of lists are told apart? Not every API server does.
    pub(crate) fn tells_lists(&self) -> bool {
        self.node().is_some_and(|node| node.tells_lists())
    }

    /// Is it one of those that are compiled in?
    pub(crate) fn is_builtin(&self) -> bool {
        std::ptr::eq(&*self.document, builtin().document())
    }

    /// The whole object.
    pub(super) fn node(&self) -> Option<Node<'_>> {
        Node::of(&self.document, self.document.schema(&self.name)?)
    }
}

/// A part of a schema: what a part of an object must be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    document: &'a Document,
    json: &'a Map<String, Json>,
    /// The last reference that led here.
    name: Option<&'a str>,
}

/// What a field is.
pub(super) enum Field<'a> {
    /// Declared.
    Declared(Node<'a>),
    /// It may be anything.
    Free,
    /// There is none of that name.
    Unknown,
}

/// How items of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListType<'a> {
    /// Not at all: it is owned and changed as a whole.
    Atomic,
    /// By their value.
    Set,
    /// By these fields.
    Map(Vec<&'a str>),
}

/// What a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
    Quantity,
}

impl<'a> Node<'a> {
    fn of(document: &'a Document, json: &'a Json) -> Option<Self> {
        let (mut document, mut json, mut name) = (document, json.as_object()?, None);
        for _ in 0..HOPS {
            let alone = json.get("allOf").and_then(Json::as_array).filter(|all| all.len() == 1);
            let reference = json.get("$ref").or_else(|| alone?.first()?.get("$ref")).and_then(Json::as_str);
            let Some(reference) = reference else { return Some(Self { document, json, name }) };
            let target = reference.rsplit('/').next().unwrap_or(reference);
            name = Some(target);
            json = match document.schema(target) {
                Some(found) => found.as_object()?,
                None => {
                    document = builtin().document();
                    document.schema(target)?.as_object()?
                }
            };
        }
        None
    }

    fn part(&self, json: &'a Json) -> Option<Node<'a>> {
        Node::of(self.document, json)
    }

    /// Does the document have rules?
    pub(super) fn has_rules(&self) -> bool {
        self.document.has_rules
    }

    /// The part of the schema itself.
    pub(super) fn json(&self) -> Json {
        Json::Object(self.json.clone())
    }

    /// A keyword of the schema.
    pub(super) fn keyword(&self, name: &str) -> Option<&'a Json> {
        self.json.get(name)
    }

    /// A keyword that is a list of schemas.
    pub(super) fn alternatives(&self, name: &str) -> Vec<Node<'a>> {
        let parts = self.keyword(name).and_then(Json::as_array).into_iter().flatten();
        parts.filter_map(|part| self.part(part)).collect()
    }

    /// A keyword that is a schema.
    pub(super) fn inner(&self, name: &str) -> Option<Node<'a>> {
        self.part(self.keyword(name)?)
    }

    fn is(&self, name: &str) -> bool {
        self.keyword(name).and_then(Json::as_bool).unwrap_or(false)
    }

    /// Is it the metadata of an object?
    pub(super) fn is_metadata(&self) -> bool {
        self.name == Some(OBJECT_META)
    }

    /// Does any list in the document say how its items are told apart?
    pub(super) fn tells_lists(&self) -> bool {
        self.document.tells_lists
    }

    /// Is it of a definition?
    pub(super) fn is_of_definition(&self) -> bool {
        self.document.is_definition
    }

    /// What a value must be.
    pub(super) fn ty(&self) -> Type {
        if self.name == Some(QUANTITY) {
            return Type::Quantity;
        }
        let format = self.keyword("format").and_then(Json::as_str);
        if self.is("x-kubernetes-int-or-string") || format == Some("int-or-string") {
            return Type::IntOrString;
        }
        match self.keyword("type").and_then(Json::as_str) {
            Some("object") => Type::Object,
            Some("array") => Type::Array,
            Some("string") => Type::String,
            Some("integer") => Type::Integer,
            Some("number") => Type::Number,
            Some("boolean") => Type::Boolean,
            _ => Type::Any,
        }
    }

    /// A field of an object.
    pub(super) fn field(&self, name: &str) -> Field<'a> {
        let properties = self.keyword("properties").and_then(Json::as_object);
        if let Some(declared) = properties.and_then(|properties| properties.get(name)) {
            return self.part(declared).map_or(Field::Free, Field::Declared);
        }
        let is_object = self.is("x-kubernetes-embedded-resource") && matches!(name, "apiVersion" | "kind" | "metadata");
        if is_object {
            let meta = builtin().document().schema(OBJECT_META).filter(|_| name == "metadata");
            return meta.and_then(|meta| Node::of(builtin().document(), meta)).map_or(Field::Free, Field::Declared);
        }
        match self.keyword("additionalProperties") {
            Some(Json::Bool(true)) => return Field::Free,
            Some(declared @ Json::Object(_)) => return self.part(declared).map_or(Field::Free, Field::Declared),
            _ => {}
        }
        let any = self.ty() == Type::Any && properties.is_none();
        let open = properties.is_none() && !self.document.is_definition;
        if any || open || self.is("x-kubernetes-preserve-unknown-fields") { Field::Free } else { Field::Unknown }
    }

    /// The names of the declared fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a String> + use<'a> {
        self.keyword("properties").and_then(Json::as_object).into_iter().flat_map(Map::keys)
    }

    /// Fields that must be there.
    pub(super) fn required(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.keyword("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
    }

    /// What each item of a list must be.
    pub(super) fn items(&self) -> Option<Node<'a>> {
        self.inner("items")
    }

    /// How items of the list are told apart.
    pub(super) fn list_type(&self) -> ListType<'a> {
        match self.keyword("x-kubernetes-list-type").and_then(Json::as_str) {
            Some("set") => ListType::Set,
            Some("map") => {
                let keys = self.keyword("x-kubernetes-list-map-keys").and_then(Json::as_array);
                ListType::Map(keys.into_iter().flatten().filter_map(Json::as_str).collect())
            }
            _ => ListType::Atomic,
        }
    }

    /// Is the object owned and changed as a whole?
    pub(super) fn is_atomic(&self) -> bool {
        self.keyword("x-kubernetes-map-type").and_then(Json::as_str) == Some("atomic")
    }

    /// What a field is where it is left out. Go's zero values, which documents of built-in kinds are full of, are none.
    pub(super) fn default(&self) -> Option<&'a Json> {
        let default = self.keyword("default")?;
        let says_nothing = match default {
            Json::Null | Json::Bool(false) => true,
            Json::String(text) => text.is_empty(),
            Json::Number(number) => number.as_f64() == Some(0.0),
            Json::Object(fields) => fields.is_empty(),
            _ => false,
        };
        (self.document.is_definition || !says_nothing).then_some(default)
    }
}
