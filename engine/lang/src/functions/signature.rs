//! What functions take and give, for documentation and editors: in Rust, and as `metadata functions -json` has it.

use engine_value::{
    Type, Value,
    json::{self, Json},
};

use crate::functions::{FAMILIES, Function, Parameter};

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Its name, without `core::`.
    pub name: &'static str,
    /// What it gives, in a sentence.
    pub description: &'static str,
    /// Its parameters in order.
    pub parameters: Vec<ParameterSignature>,
    /// The parameter of any number of further arguments.
    pub variadic: Option<ParameterSignature>,
    /// The type of its result; [`Type::Dynamic`] where that depends on the arguments.
    pub returns: Type,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterSignature {
    /// Its name.
    pub name: &'static str,
    /// What it is for, where its name does not tell.
    pub description: Option<&'static str>,
    /// Its type.
    pub ty: Type,
    /// May the argument be null?
    pub nullable: bool,
}

/// The signatures of all functions, by name.
pub fn signatures() -> Vec<Signature> {
    let mut all: Vec<Signature> = FAMILIES.iter().flat_map(|family| family.iter()).map(of).chain(forms()).collect();
    all.sort_by_key(|signature| signature.name);
    all
}

/// What `metadata functions -json` prints: every function by its name, and again under `core::`.
pub fn metadata() -> Json {
    let signatures = signatures();
    let named = |prefix: &str| -> Vec<(Box<str>, Json)> {
        signatures.iter().map(|one| (format!("{prefix}{}", one.name).into(), one.to_json())).collect()
    };
    let mut all = named("");
    all.extend(named("core::"));
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    Json::Object(vec![("format_version".into(), "1.0".into()), ("function_signatures".into(), Json::Object(all))])
}

impl Signature {
    /// The signature as `metadata functions -json` has it.
    fn to_json(&self) -> Json {
        let mut members: Vec<(Box<str>, Json)> = vec![
            ("description".into(), self.description.into()),
            ("return_type".into(), json::type_to_tree(&self.returns)),
        ];
        if !self.parameters.is_empty() {
            let parameters = self.parameters.iter().map(ParameterSignature::to_json).collect();
            members.push(("parameters".into(), Json::Array(parameters)));
        }
        members.extend(self.variadic.iter().map(|parameter| ("variadic_parameter".into(), parameter.to_json())));
        Json::Object(members)
    }
}

impl ParameterSignature {
    fn to_json(&self) -> Json {
        let mut members: Vec<(Box<str>, Json)> = vec![("name".into(), self.name.into())];
        members.extend(self.description.map(|description| ("description".into(), description.into())));
        if self.nullable {
            members.push(("is_nullable".into(), true.into()));
        }
        members.push(("type".into(), json::type_to_tree(&self.ty)));
        Json::Object(members)
    }
}

/// Functions of whose results Terraform says no type. Here each has one, and only this page of the documentation has none.
const OPEN: &[&str] = &["contains", "format", "formatlist", "index", "parseint", "sum"];

fn of(function: &Function) -> Signature {
    let parameters = || function.parameters.iter().chain(&function.variadic);
    // What is still open where nothing is known of the arguments depends on them.
    let unknown: Vec<Value> = parameters().map(|parameter| Value::unknown(parameter.ty())).collect();
    Signature {
        name: function.name,
        description: function.description,
        parameters: function.parameters.iter().map(parameter).collect(),
        variadic: function.variadic.as_ref().map(parameter),
        returns: match (function.returns)(&unknown) {
            Ok(ty) if !OPEN.contains(&function.name) => ty,
            _ => Type::Dynamic,
        },
    }
}

fn parameter(parameter: &Parameter) -> ParameterSignature {
    ParameterSignature {
        name: parameter.name,
        description: parameter.description,
        ty: parameter.ty(),
        nullable: parameter.takes_null,
    }
}

/// The functions whose arguments may fail, so that they are forms of expressions.
fn forms() -> [Signature; 2] {
    let argument = |name| ParameterSignature { name, description: None, ty: Type::Dynamic, nullable: false };
    [
        Signature {
            name: "can",
            description: "Can an expression be evaluated without an error?",
            parameters: vec![argument("expression")],
            variadic: None,
            returns: Type::Bool,
        },
        Signature {
            name: "try",
            description: "The value of the first expression that can be evaluated without an error.",
            parameters: Vec::new(),
            variadic: Some(argument("expressions")),
            returns: Type::Dynamic,
        },
    ]
}
