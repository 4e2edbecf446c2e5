//! The names that cases may use: what Terraform is told that they are, and what they are to us.

use engine_value::{Data, Marks, Refinements, Type, Unknown, Value};

/// Values that are known: name, the expression that makes it.
pub const KNOWN: &[(&str, &str)] = &[
    ("str", "\"abc\""),
    ("num", "3"),
    ("yes", "true"),
    ("nul", "null"),
    ("nstr", "tostring(null)"),
    ("nlist", "tolist(null)"),
    ("list", "tolist([\"x\", \"y\", \"z\"])"),
    ("nums", "tolist([3, 1, 2])"),
    ("set", "toset([\"q\", \"p\"])"),
    ("map", "tomap({ a = \"1\", b = \"2\" })"),
    ("tup", "[1, \"two\", true]"),
    ("obj", "{ a = 1, b = \"bee\", c = [1, 2] }"),
    ("objs", "tolist([{ k = \"a\", v = 1 }, { k = \"b\", v = 2 }, { k = \"a\", v = 3 }])"),
    ("elist", "tolist([])"),
    ("emap", "tomap({})"),
    ("ss", "sensitive(\"sec\")"),
    ("sn", "sensitive(5)"),
    ("sl", "sensitive(tolist([\"s\", \"t\"]))"),
    ("sm", "sensitive(tomap({ a = \"1\" }))"),
    ("so", "{ a = sensitive(\"x\"), b = 2 }"),
];

/// Values of these types that are not known, and may turn out to be null.
pub const UNKNOWN: &[(&str, &str)] = &[
    ("us", "string"),
    ("un", "number"),
    ("ub", "bool"),
    ("ul", "list(string)"),
    ("um", "map(number)"),
    ("ut", "set(string)"),
    ("uo", "object({ a = string, b = number })"),
    ("up", "tuple([string, number])"),
];

/// The values of the names in [`UNKNOWN`], of `id` (a text that is not null) and of `any` (of no known type).
pub fn unknown(name: &str) -> Option<Value> {
    let object = || Type::object([("a", Type::String), ("b", Type::Number)]);
    let (ty, refinements) = match name {
        "id" => (Type::String, Refinements::not_null()),
        "any" => (Type::Dynamic, Refinements::default()),
        "us" => (Type::String, Refinements::default()),
        "un" => (Type::Number, Refinements::default()),
        "ub" => (Type::Bool, Refinements::default()),
        "ul" => (Type::list(Type::String), Refinements::default()),
        "um" => (Type::map(Type::Number), Refinements::default()),
        "ut" => (Type::set(Type::String), Refinements::default()),
        "uo" => (object(), Refinements::default()),
        "up" => (Type::tuple([Type::String, Type::Number]), Refinements::default()),
        "su" => {
            let unknown = Unknown { ty: Type::String, refinements: Refinements::not_null(), origin: None };
            return Some(Value::unknown_with(unknown).mark(Marks::SENSITIVE));
        }
        _ => return None,
    };
    Some(Data::Unknown(std::sync::Arc::new(Unknown { ty, refinements, origin: None })).into())
}
