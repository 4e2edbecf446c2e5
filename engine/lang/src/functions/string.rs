//! Functions of text.

use engine_value::{Data, Refinements, Type, Unknown, Value};
use unicode_segmentation::UnicodeSegmentation;

use crate::functions::{CallError, Function, Parameter, Returns, Run, call::unknown_from, regular};

const STR: Parameter = Parameter::string("str");

pub(super) const FUNCTIONS: &[Function] = &[
    of_text("chomp", "A text without the line ends at its end.", |args, _| {
        Ok(Value::string(text(&args[0]).trim_end_matches(['\n', '\r'])))
    }),
    of_text("lower", "A text with all letters as small letters.", |args, _| {
        Ok(Value::string(text(&args[0]).chars().map(lower).collect::<String>()))
    }),
    of_text("upper", "A text with all letters as capital letters.", |args, _| {
        Ok(Value::string(text(&args[0]).chars().map(upper).collect::<String>()))
    }),
    of_text("title", "A text in which every word begins with a capital letter.", |args, _| {
        Ok(Value::string(title(text(&args[0]))))
    }),
    of_text("trimspace", "A text without spaces and line ends at its beginning and its end.", |args, _| {
        Ok(Value::string(text(&args[0]).trim()))
    }),
    of_text("strrev", "A text with its characters in the opposite order.", |args, _| {
        Ok(Value::string(text(&args[0]).graphemes(true).rev().collect::<String>()))
    }),
    Function {
        name: "startswith",
        description: "Does a text begin with another?",
        parameters: &[STR.unknown(), Parameter::string("prefix")],
        variadic: None,
        returns: |_| Ok(Type::Bool),
        run: |args, _| starts_with(&args[0], text(&args[1])),
    },
    of_two(
        "endswith",
        "Does a text end with another?",
        "suffix",
        |_| Ok(Type::Bool),
        |args, _| Ok(Value::bool(text(&args[0]).ends_with(text(&args[1])))),
    ),
    of_two(
        "strcontains",
        "Is a text part of another?",
        "substr",
        |_| Ok(Type::Bool),
        |args, _| Ok(Value::bool(text(&args[0]).contains(text(&args[1])))),
    ),
    of_two(
        "trim",
        "A text without the given characters at its beginning and its end.",
        "cutset",
        |_| Ok(Type::String),
        |args, _| {
            let cut = text(&args[1]);
            Ok(Value::string(text(&args[0]).trim_matches(|c| cut.contains(c))))
        },
    ),
    of_two(
        "trimprefix",
        "A text without another at its beginning.",
        "prefix",
        |_| Ok(Type::String),
        |args, _| {
            let whole = text(&args[0]);
            Ok(Value::string(whole.strip_prefix(text(&args[1])).unwrap_or(whole)))
        },
    ),
    of_two(
        "trimsuffix",
        "A text without another at its end.",
        "suffix",
        |_| Ok(Type::String),
        |args, _| {
            let whole = text(&args[0]);
            Ok(Value::string(whole.strip_suffix(text(&args[1])).unwrap_or(whole)))
        },
    ),
    Function {
        name: "indent",
        description: "A text in which every line but the first is indented.",
        parameters: &[Parameter::number("spaces").described("How many spaces."), STR],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| {
            let spaces = args[0].as_number().and_then(engine_value::Number::to_usize);
            let spaces =
                spaces.ok_or_else(|| CallError::argument(0, "a whole number that is not negative is required"))?;
            Ok(Value::string(text(&args[1]).replace('\n', &format!("\n{}", " ".repeat(spaces)))))
        },
    },
    Function {
        name: "substr",
        description: "Some characters of a text, by offset and length. A negative offset counts from the end; the length -1 takes all.",
        parameters: &[STR, Parameter::number("offset"), Parameter::number("length")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| part_of(args),
    },
    Function {
        name: "split",
        description: "The parts of a text between the occurrences of a separator.",
        parameters: &[Parameter::string("separator"), STR],
        variadic: None,
        returns: |_| Ok(Type::list(Type::String)),
        run: |args, _| Ok(split(text(&args[0]), text(&args[1]))),
    },
    Function {
        name: "join",
        description: "The elements of lists of texts as one text, with a separator between them.",
        parameters: &[Parameter::string("separator").described("What stands between two elements.")],
        variadic: Some(Parameter::list_of_string("lists").described("Lists of texts.")),
        returns: |_| Ok(Type::String),
        run: |args, _| join(args),
    },
    Function {
        name: "replace",
        description: "A text in which every occurrence of a part is replaced. A part between slashes is a regular expression.",
        parameters: &[STR, Parameter::string("substr"), Parameter::string("replace")],
        variadic: None,
        returns: |_| Ok(Type::String),
        run: |args, _| replace(text(&args[0]), text(&args[1]), text(&args[2])),
    },
];

const fn of_text(name: &'static str, description: &'static str, run: Run) -> Function {
    Function { name, description, parameters: &[STR], variadic: None, returns: |_| Ok(Type::String), run }
}

const fn of_two(
    name: &'static str,
    description: &'static str,
    second: &'static str,
    returns: Returns,
    run: Run,
) -> Function {
    // Tables of parameters are constants, so each name of a second parameter has its own.
    const SUFFIX: &[Parameter] = &[STR, Parameter::string("suffix")];
    const PREFIX: &[Parameter] = &[STR, Parameter::string("prefix")];
    const SUBSTR: &[Parameter] = &[STR, Parameter::string("substr")];
    const CUTSET: &[Parameter] = &[STR, Parameter::string("cutset").described("The characters, in any order.")];
    let parameters = match second.as_bytes() {
        b"suffix" => SUFFIX,
        b"prefix" => PREFIX,
        b"substr" => SUBSTR,
        _ => CUTSET,
    };
    Function { name, description, parameters, variadic: None, returns, run }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// How many characters people see: grapheme clusters.
pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() && !text.contains('\r') { text.len() } else { text.graphemes(true).count() }
}

fn starts_with(whole: &Value, prefix: &str) -> Result<Value, CallError> {
    let Data::Unknown(unknown) = &whole.data else { return Ok(Value::bool(text(whole).starts_with(prefix))) };
    if let Some(known) = &unknown.refinements.prefix {
        if known.starts_with(prefix) {
            return Ok(Value::bool(true));
        }
        if !prefix.starts_with(known.as_ref()) {
            return Ok(Value::bool(false));
        }
    }
    Ok(Value::unknown_with(Unknown::never_null(Type::Bool).from_origin(unknown.origin)))
}

/// One character for one, as Go maps: `ß` has no capital letter, and a final sigma is one like any other.
fn upper(c: char) -> char {
    // Greek letters with a iota below have one as a capital letter, too.
    match c {
        'ᾀ'..='ᾇ' | 'ᾐ'..='ᾗ' | 'ᾠ'..='ᾧ' => return char::from_u32(u32::from(c) + 8).unwrap_or(c),
        'ᾳ' | 'ῃ' | 'ῳ' => return char::from_u32(u32::from(c) + 9).unwrap_or(c),
        _ => {}
    }
    let mut mapped = c.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// One character for one. The only letter with more, `İ`, becomes `i`.
fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Capital letters at the beginnings of words, where any ASCII character but letters, digits and `_` ends a word.
fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        out.push(if inside { c } else { title_letter(c) });
        inside = c.is_alphanumeric() || c == '_' || !c.is_ascii() && !c.is_whitespace();
    }
    out
}

/// The letters that are two in one have a third form, in which only the first is a capital.
fn title_letter(c: char) -> char {
    match c {
        'Ǆ'..='ǆ' => 'ǅ',
        'Ǉ'..='ǉ' => 'ǈ',
        'Ǌ'..='ǌ' => 'ǋ',
        'Ǳ'..='ǳ' => 'ǲ',
        c => upper(c),
    }
}

/// Offset and length count grapheme clusters; a negative offset counts from the end, a length of -1 is all the rest.
fn part_of(args: &[Value]) -> Result<Value, CallError> {
    let int = |at: usize| args[at].as_i64().ok_or_else(|| CallError::argument(at, "a whole number is required"));
    let (offset, wanted) = (int(1)?, int(2)?);
    let clusters: Vec<&str> = text(&args[0]).graphemes(true).collect();
    let total = clusters.len() as i64;
    let start = if offset < 0 { (offset + total).max(0) } else { offset.min(total) };
    let end = if wanted < 0 { total } else { start.saturating_add(wanted).min(total) };
    Ok(Value::string(clusters[start as usize..end.max(start) as usize].concat()))
}

fn split(separator: &str, whole: &str) -> Value {
    let parts: Vec<Value> = if separator.is_empty() {
        whole.chars().map(|c| Value::string(c.to_string())).collect()
    } else {
        whole.split(separator).map(Value::string).collect()
    };
    Value::list(Type::String, parts)
}

fn join(args: &[Value]) -> Result<Value, CallError> {
    let (separator, lists) = args.split_first().expect("the separator is a parameter");
    if lists.is_empty() {
        return Err(CallError::new("at least one list is required"));
    }
    let mut parts = Vec::new();
    for (at, list) in lists.iter().enumerate() {
        if list.has_unknown() {
            return Ok(unknown_from(Type::String, Refinements::not_null(), lists));
        }
        for (index, element) in list.as_sequence().unwrap_or_default().iter().enumerate() {
            match element.as_str() {
                Some(text) => parts.push(text),
                None => {
                    let which = if lists.len() > 1 { format!(" of list {}", at + 1) } else { String::new() };
                    let message = format!("element {index}{which} is null; cannot concatenate null values");
                    return Err(CallError::argument(at + 1, message));
                }
            }
        }
    }
    Ok(Value::string(parts.join(text(separator))))
}

/// A pattern between slashes is a regular expression; `$1` and `${name}` in the replacement are its groups.
fn replace(whole: &str, pattern: &str, replacement: &str) -> Result<Value, CallError> {
    let expression = pattern.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|_| pattern.len() > 1);
    let Some(expression) = expression else { return Ok(Value::string(whole.replace(pattern, replacement))) };
    let pattern = regular::Pattern::new(expression)
        .map_err(|why| CallError::argument(1, format!("invalid regular expression: {why}")))?;
    Ok(Value::string(pattern.replace(whole, replacement)))
}
