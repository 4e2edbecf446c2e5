//! Types as JSON: `"string"`, `["list", "string"]`, `["object", {"a": "bool"}]`.

use std::{collections::BTreeMap, sync::Arc};

use crate::{Attr, Type, json::Json};

/// The type as Terraform's files have it. Optional attributes are listed as a third element of an object.
pub fn type_to_tree(ty: &Type) -> Json {
    let of = |kind: &str, inner: Json| Json::Array(vec![Json::from(kind), inner]);
    match ty {
        Type::Dynamic => "dynamic".into(),
        Type::Bool => "bool".into(),
        Type::Number => "number".into(),
        Type::String => "string".into(),
        Type::List(element) => of("list", type_to_tree(element)),
        Type::Set(element) => of("set", type_to_tree(element)),
        Type::Map(element) => of("map", type_to_tree(element)),
        Type::Tuple(elements) => of("tuple", Json::Array(elements.iter().map(type_to_tree).collect())),
        Type::Object(attributes) => {
            let types = attributes.iter().map(|(name, attr)| (name.as_ref().into(), type_to_tree(&attr.ty))).collect();
            let optional: Vec<Json> = attributes
                .iter()
                .filter(|(_, attr)| attr.optional)
                .map(|(name, _)| Json::from(name.as_ref()))
                .collect();
            let mut parts = vec![Json::from("object"), Json::Object(types)];
            if !optional.is_empty() {
                parts.push(Json::Array(optional));
            }
            Json::Array(parts)
        }
    }
}

/// The type that a tree stands for; `None` if it is none.
pub fn type_from_tree(tree: &Json) -> Option<Type> {
    match tree {
        Json::String(name) => match name.as_ref() {
            "dynamic" => Some(Type::Dynamic),
            "bool" => Some(Type::Bool),
            "number" => Some(Type::Number),
            "string" => Some(Type::String),
            _ => None,
        },
        Json::Array(parts) => match (parts.first()?.as_str()?, &parts[1..]) {
            ("list", [element]) => Some(Type::list(type_from_tree(element)?)),
            ("set", [element]) => Some(Type::set(type_from_tree(element)?)),
            ("map", [element]) => Some(Type::map(type_from_tree(element)?)),
            ("tuple", [Json::Array(elements)]) => {
                elements.iter().map(type_from_tree).collect::<Option<Vec<_>>>().map(Type::tuple)
            }
            ("object", [Json::Object(attributes), rest @ ..]) => {
                let optional: &[Json] = match rest {
                    [] => &[],
                    [Json::Array(names)] => names,
                    _ => return None,
                };
                let mut types: BTreeMap<Arc<str>, Attr> = BTreeMap::new();
                for (name, ty) in attributes {
                    types.insert(Arc::from(name.as_ref()), Attr::required(type_from_tree(ty)?));
                }
                for name in optional {
                    types.get_mut(name.as_str()?)?.optional = true;
                }
                Some(Type::Object(Arc::new(types)))
            }
            _ => None,
        },
        _ => None,
    }
}
