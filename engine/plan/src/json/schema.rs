//! Schemas of providers as `providers schema -json` has them, written and read.
//!
//! What Terraform's providers say of their types and ours do not (deprecations) is left out when reading.

use std::{collections::BTreeMap, sync::Arc};

use engine_model::{
    address::ProviderAddr,
    schema::{Attribute, AttributeType, Block, Function, NestedBlock, Nesting, ProviderSchemas, Schema, Usage},
};
use engine_value::{
    Type,
    json::{Json, type_from_tree, type_to_tree},
};

use crate::Providers;

/// Writes the schemas of all providers.
pub fn write(providers: &Providers) -> Json {
    let all = providers.iter().map(|provider| (provider.addr().to_string(), schemas(provider.schemas())));
    object([("format_version", "1.0".into()), ("provider_schemas", Json::Object(named(all)))])
}

fn schemas(all: &ProviderSchemas) -> Json {
    let mut members = vec![("provider", schema(&all.provider))];
    for (name, schemas) in [
        ("resource_schemas", &all.resources),
        ("data_source_schemas", &all.data),
        ("ephemeral_resource_schemas", &all.ephemeral),
    ] {
        if !schemas.is_empty() {
            members.push((name, Json::Object(named(schemas.iter().map(|(ty, one)| (ty.to_string(), schema(one)))))));
        }
    }
    if !all.functions.is_empty() {
        let functions = all.functions.iter().map(|(name, one)| (name.to_string(), function(one)));
        members.push(("functions", Json::Object(named(functions))));
    }
    object(members)
}

fn schema(schema: &Schema) -> Json {
    object([("version", Json::Number(schema.version.to_string().into())), ("block", block(&schema.block))])
}

fn block(of: &Block) -> Json {
    let mut members = Vec::new();
    if !of.attributes.is_empty() {
        members.push(("attributes", attributes(&of.attributes)));
    }
    if !of.blocks.is_empty() {
        let blocks = of.blocks.iter().map(|(name, nested)| (name.to_string(), nested_block(nested)));
        members.push(("block_types", Json::Object(named(blocks))));
    }
    described(&mut members, &of.description);
    object(members)
}

fn nested_block(nested: &NestedBlock) -> Json {
    let mut members = vec![("nesting_mode", nesting_name(nested.nesting).into()), ("block", block(&nested.block))];
    for (name, items) in [("min_items", nested.min_items), ("max_items", nested.max_items)] {
        if items > 0 {
            members.push((name, Json::Number(items.to_string().into())));
        }
    }
    object(members)
}

fn attributes(all: &BTreeMap<Arc<str>, Attribute>) -> Json {
    Json::Object(named(all.iter().map(|(name, one)| (name.to_string(), attribute(one)))))
}

fn attribute(of: &Attribute) -> Json {
    let mut members = vec![match &of.ty {
        AttributeType::Plain(ty) => ("type", type_to_tree(ty)),
        AttributeType::Nested { nesting, attributes: inner } => {
            let nested = [("attributes", attributes(inner)), ("nesting_mode", nesting_name(*nesting).into())];
            ("nested_type", object(nested))
        }
    }];
    described(&mut members, &of.description);
    let usage: &[&'static str] = match of.usage {
        Usage::Required => &["required"],
        Usage::Optional => &["optional"],
        Usage::OptionalComputed => &["optional", "computed"],
        Usage::Computed => &["computed"],
    };
    members.extend(usage.iter().map(|name| (*name, Json::Bool(true))));
    for (name, is) in [("sensitive", of.sensitive), ("write_only", of.write_only)] {
        if is {
            members.push((name, Json::Bool(true)));
        }
    }
    object(members)
}

fn function(of: &Function) -> Json {
    let parameter = |name: &str, ty: &Type| object([("name", name.into()), ("type", type_to_tree(ty))]);
    let mut members = Vec::new();
    if !of.description.is_empty() {
        members.push(("description", of.description.as_str().into()));
    }
    members.push(("return_type", type_to_tree(&of.returns)));
    if !of.parameters.is_empty() {
        let parameters = of.parameters.iter().map(|(name, ty)| parameter(name, ty)).collect();
        members.push(("parameters", Json::Array(parameters)));
    }
    members.extend(of.variadic.iter().map(|ty| ("variadic_parameter", parameter("more", ty))));
    object(members)
}

fn described(members: &mut Vec<(&'static str, Json)>, description: &str) {
    if !description.is_empty() {
        members.push(("description", description.into()));
    }
    members.push(("description_kind", if description.is_empty() { "plain" } else { "markdown" }.into()));
}

fn nesting_name(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single => "single",
        Nesting::Group => "group",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
    }
}

fn object<'a>(members: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

fn named(members: impl Iterator<Item = (String, Json)>) -> Vec<(Box<str>, Json)> {
    members.map(|(name, value)| (name.into(), value)).collect()
}

/// Why a document is none of schemas: where, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: expected {expected}")]
pub struct SchemaError {
    /// The names of members on the way there.
    pub place: String,
    /// What should be there.
    pub expected: &'static str,
}

/// Reads the schemas of providers.
///
/// # Errors
/// The first thing that is no schema.
pub fn read(json: &Json) -> Result<Vec<(ProviderAddr, ProviderSchemas)>, SchemaError> {
    let place = Place { text: String::new() };
    let version = json.get("format_version").and_then(Json::as_str).unwrap_or_default();
    if !version.starts_with("1.") {
        return Err(place.at("format_version").wrong("a version 1.x"));
    }
    // Without providers, Terraform leaves the member out.
    let Some(all) = json.get("provider_schemas") else { return Ok(Vec::new()) };
    let place = place.at("provider_schemas");
    let read = |(addr, one): &(Box<str>, Json)| {
        let place = place.at(addr);
        let addr = addr.parse().map_err(|_| place.wrong("the address of a provider"))?;
        Ok((addr, read_schemas(&place, one)?))
    };
    place.members(all)?.iter().map(read).collect()
}

/// Where in the document something stands.
struct Place {
    text: String,
}

impl Place {
    fn at(&self, name: &str) -> Self {
        let dot = if self.text.is_empty() { "" } else { "." };
        Self { text: format!("{}{dot}{name}", self.text) }
    }

    fn wrong(&self, expected: &'static str) -> SchemaError {
        SchemaError { place: self.text.clone(), expected }
    }

    fn members<'j>(&self, json: &'j Json) -> Result<&'j [(Box<str>, Json)], SchemaError> {
        match json {
            Json::Object(members) => Ok(members),
            _ => Err(self.wrong("an object")),
        }
    }

    /// The members of a member that may be missing, each read.
    fn map<T>(
        &self,
        json: &Json,
        name: &str,
        read: impl Fn(&Self, &Json) -> Result<T, SchemaError>,
    ) -> Result<BTreeMap<Arc<str>, T>, SchemaError> {
        let Some(all) = json.get(name) else { return Ok(BTreeMap::new()) };
        let place = self.at(name);
        place.members(all)?.iter().map(|(name, one)| Ok((Arc::from(&**name), read(&place.at(name), one)?))).collect()
    }
}

fn read_schemas(place: &Place, json: &Json) -> Result<ProviderSchemas, SchemaError> {
    place.members(json)?;
    Ok(ProviderSchemas {
        provider: json.get("provider").map_or(Ok(Schema::default()), |one| read_schema(&place.at("provider"), one))?,
        resources: place.map(json, "resource_schemas", read_schema)?,
        data: place.map(json, "data_source_schemas", read_schema)?,
        ephemeral: place.map(json, "ephemeral_resource_schemas", read_schema)?,
        functions: place.map(json, "functions", read_function)?,
    })
}

fn read_schema(place: &Place, json: &Json) -> Result<Schema, SchemaError> {
    let version = match json.get("version") {
        None => 0,
        Some(version) => read_count(&place.at("version"), version)?,
    };
    let block = json.get("block").map_or(Ok(Block::default()), |block| read_block(&place.at("block"), block))?;
    Ok(Schema { version, block })
}

fn read_block(place: &Place, json: &Json) -> Result<Block, SchemaError> {
    place.members(json)?;
    Ok(Block {
        attributes: place.map(json, "attributes", read_attribute)?,
        blocks: place.map(json, "block_types", read_nested_block)?,
        description: description(json),
    })
}

fn read_nested_block(place: &Place, json: &Json) -> Result<NestedBlock, SchemaError> {
    let count = |name: &str| json.get(name).map_or(Ok(0), |count| read_count(&place.at(name), count));
    Ok(NestedBlock {
        nesting: read_nesting(place, json)?,
        block: json.get("block").map_or(Ok(Block::default()), |block| read_block(&place.at("block"), block))?,
        min_items: count("min_items")?,
        max_items: count("max_items")?,
    })
}

fn read_attribute(place: &Place, json: &Json) -> Result<Attribute, SchemaError> {
    let is = |name: &str| json.get(name) == Some(&Json::Bool(true));
    let ty = match (json.get("type"), json.get("nested_type")) {
        (Some(ty), _) => AttributeType::Plain(read_type(&place.at("type"), ty)?),
        (None, Some(nested)) => {
            let place = place.at("nested_type");
            let attributes = place.map(nested, "attributes", read_attribute)?;
            AttributeType::Nested { nesting: read_nesting(&place, nested)?, attributes }
        }
        (None, None) => return Err(place.wrong("\"type\" or \"nested_type\"")),
    };
    let usage = match (is("required"), is("optional"), is("computed")) {
        (true, ..) => Usage::Required,
        (_, true, true) => Usage::OptionalComputed,
        (_, true, _) => Usage::Optional,
        (_, _, true) => Usage::Computed,
        _ => return Err(place.wrong("\"required\", \"optional\" or \"computed\"")),
    };
    let (sensitive, write_only) = (is("sensitive"), is("write_only"));
    Ok(Attribute { ty, usage, sensitive, write_only, default: None, description: description(json) })
}

fn read_function(place: &Place, json: &Json) -> Result<Function, SchemaError> {
    let type_of = |place: &Place, json: &Json| match json.get("type") {
        Some(ty) => read_type(&place.at("type"), ty),
        None => Err(place.wrong("\"type\"")),
    };
    let mut parameters = Vec::new();
    if let Some(Json::Array(all)) = json.get("parameters") {
        for one in all {
            let name = one.get("name").and_then(Json::as_str).unwrap_or_default();
            parameters.push((Arc::from(name), type_of(&place.at(name), one)?));
        }
    }
    let variadic = json.get("variadic_parameter").map(|one| type_of(&place.at("variadic_parameter"), one));
    let returns = json.get("return_type").ok_or_else(|| place.wrong("\"return_type\""))?;
    Ok(Function {
        parameters,
        variadic: variadic.transpose()?,
        returns: read_type(&place.at("return_type"), returns)?,
        description: description(json),
    })
}

fn read_nesting(place: &Place, json: &Json) -> Result<Nesting, SchemaError> {
    match json.get("nesting_mode").and_then(Json::as_str) {
        Some("single") => Ok(Nesting::Single),
        Some("group") => Ok(Nesting::Group),
        Some("list") => Ok(Nesting::List),
        Some("set") => Ok(Nesting::Set),
        Some("map") => Ok(Nesting::Map),
        _ => Err(place.at("nesting_mode").wrong("single, group, list, set or map")),
    }
}

fn read_type(place: &Place, json: &Json) -> Result<Type, SchemaError> {
    type_from_tree(json).ok_or_else(|| place.wrong("a type"))
}

fn read_count(place: &Place, json: &Json) -> Result<u64, SchemaError> {
    match json {
        Json::Number(digits) => digits.parse().map_err(|_| place.wrong("a whole number")),
        _ => Err(place.wrong("a whole number")),
    }
}

fn description(json: &Json) -> String {
    json.get("description").and_then(Json::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use engine_value::json;

    use super::*;

    const ALL: &str = r#"{"format_version":"1.0","provider_schemas":{"registry.terraform.io/acme/x":{"provider":{"version":0,"block":{"attributes":{"url":{"type":"string","description":"Where.","description_kind":"markdown","required":true,"sensitive":true}},"description_kind":"plain"}},"resource_schemas":{"x_thing":{"version":3,"block":{"attributes":{"id":{"type":"string","description_kind":"plain","computed":true},"many":{"nested_type":{"attributes":{"a":{"type":["list",["object",{"b":"bool"}]],"description_kind":"plain","optional":true,"computed":true}},"nesting_mode":"map"},"description_kind":"plain","optional":true,"write_only":true}},"block_types":{"part":{"nesting_mode":"list","block":{"description_kind":"plain"},"min_items":1,"max_items":2}},"description":"A thing.","description_kind":"markdown"}}},"functions":{"f":{"return_type":"dynamic","parameters":[{"name":"a","type":"number"}],"variadic_parameter":{"name":"more","type":"string"}}}}}}"#;

    #[test]
    fn what_is_read_is_written_the_same() {
        let read = read(&json::read(ALL).unwrap()).unwrap();
        let [(addr, all)] = &read[..] else { panic!("{read:?}") };
        assert_eq!(addr.to_string(), "registry.terraform.io/acme/x");
        assert_eq!(all.resources["x_thing"].block.blocks["part"].max_items, 2);
        let written = object([
            ("format_version", "1.0".into()),
            ("provider_schemas", Json::Object(named([(addr.to_string(), schemas(all))].into_iter()))),
        ]);
        assert_eq!(written.to_string(), ALL);
    }

    #[test]
    fn what_is_no_schema_is_named_with_its_place() {
        for (from, to, expected) in [
            (r#""format_version":"1.0""#, r#""format_version":"2.0""#, "format_version: expected a version 1.x"),
            (r#""version":3"#, r#""version":"3""#, "x_thing.version: expected a whole number"),
            (r#""nesting_mode":"list""#, r#""nesting_mode":"heap""#, "part.nesting_mode: expected single, group,"),
            (r#""type":"number""#, r#""type":"digit""#, "functions.f.a.type: expected a type"),
            (r#","computed":true},"many""#, r#"},"many""#, r#"id: expected "required", "optional" or "computed""#),
        ] {
            let changed = ALL.replacen(from, to, 1);
            assert_ne!(changed, ALL, "{from}");
            let error = read(&json::read(&changed).unwrap()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
