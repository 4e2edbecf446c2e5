//! The specification suite of HCL: `HCL_SPECSUITE=…/hcl/specsuite cargo test -p tests-differential --test specification`.
//!
//! The suite is not part of this repository. Each case is a file, what has to be decoded from it (`.hcldec`), and what must
//! come of it (`.t`): a value, or errors with the ranges of their places.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, its helpers too")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use engine_diag::{Diagnostic, Diagnostics, FileId, Source, Span};
use engine_lang::{
    config::Constraint,
    eval::{Files, Repetition, Scope, Stop, Subject, evaluate, undeclared},
    syntax::{BlockRef, Body, Expr, parse},
};
use engine_value::{Type, Value, convert};

/// Variables by name: a case refers to them by a single word, which the language of modules never does.
struct Variables(Vec<(String, Value)>);

impl Scope for Variables {
    type Key = ();

    fn repetition(&self, subject: &Subject, span: Span) -> Result<Repetition, Stop<()>> {
        Err(undeclared(subject, [], "the case").at(span).into())
    }

    fn resolve(&self, subject: &Subject, span: Span) -> Result<Value, Stop<()>> {
        match subject {
            Subject::Local(name) => {
                let found = self.0.iter().find(|(known, _)| *known == **name);
                Ok(found.map(|(_, value)| value.clone()).unwrap())
            }
            _ => Err(undeclared(subject, [], "the case").at(span).into()),
        }
    }

    fn files(&self) -> &dyn Files {
        self
    }
}

impl Files for Variables {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("there are no files".to_owned())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Ok(false)
    }
}

fn value(expr: &Expr, variables: &Variables) -> Result<Value, Diagnostics> {
    evaluate(expr, variables).map_err(|stop| match stop {
        Stop::Failed(diagnostics) => diagnostics,
        Stop::Blocked(()) => panic!("nothing is waited for"),
    })
}

fn constant(expr: &Expr) -> Value {
    value(expr, &Variables(Vec::new())).unwrap()
}

fn constraint(expr: &Expr) -> Type {
    let mut diagnostics = Diagnostics::new();
    let found = Constraint::parse(expr, &mut diagnostics);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    found.ty
}

fn text(body: &Body, name: &str) -> Option<String> {
    body.attribute(name).map(|attribute| constant(&attribute.value()).as_str().unwrap().to_owned())
}

/// The one block of a specification that says how a part is decoded.
fn inner(body: &Body) -> BlockRef<'_> {
    body.blocks().next().unwrap()
}

/// What may stand in a body, by the specification of it.
fn expected(spec: BlockRef<'_>, attributes: &mut Vec<String>, blocks: &mut Vec<String>) {
    let body = spec.body();
    let name = |key: &str| text(&body, key).or_else(|| spec.labels().next().map(|(label, _)| label.to_string()));
    match &**spec.kind() {
        "attr" => attributes.extend(name("name")),
        "block" | "block_list" | "block_map" => blocks.extend(name("block_type")),
        "object" => body.blocks().for_each(|block| expected(block, attributes, blocks)),
        "literal" => {}
        kind => panic!("a specification of kind {kind}"),
    }
}

fn decode_body(body: &Body, spec: BlockRef<'_>, variables: &Variables, errors: &mut Diagnostics) -> Value {
    let (mut attributes, mut blocks) = (Vec::new(), Vec::new());
    expected(spec, &mut attributes, &mut blocks);
    for attribute in body.attributes().filter(|attribute| !attributes.contains(&attribute.name().to_string())) {
        errors.push(Diagnostic::error("Unsupported argument", "").at(attribute.name_span()));
    }
    for block in body.blocks().filter(|block| !blocks.contains(&block.kind().to_string())) {
        errors.push(Diagnostic::error("Unsupported block type", "").at(block.kind_span()));
    }
    decode(body, spec, variables, errors)
}

fn decode(body: &Body, spec: BlockRef<'_>, variables: &Variables, errors: &mut Diagnostics) -> Value {
    let how = spec.body();
    let label = || spec.labels().next().map(|(label, _)| label.to_string()).unwrap();
    let kind = |block: &BlockRef<'_>, wanted: &str| &**block.kind() == wanted;
    match &**spec.kind() {
        "literal" => constant(&how.attribute("value").unwrap().value()),
        "object" => {
            let parts: Vec<(String, Value)> = how
                .blocks()
                .map(|part| (part.labels().next().unwrap().0.to_string(), decode(body, part, variables, errors)))
                .collect();
            Value::object(parts)
        }
        "attr" => {
            let name = text(&how, "name").unwrap_or_else(label);
            let ty = how.attribute("type").map_or(Type::Dynamic, |attribute| constraint(&attribute.value()));
            let Some(attribute) = body.attribute(&name) else { return Value::null(ty) };
            match value(&attribute.value(), variables) {
                Ok(value) => convert(&value, &ty).unwrap_or_else(|error| {
                    let error = Diagnostic::error("Incorrect attribute value type", error.to_string());
                    errors.push(error.at(attribute.value().span()));
                    Value::unknown(ty)
                }),
                Err(found) => {
                    errors.extend(found);
                    Value::unknown(ty)
                }
            }
        }
        "block" => {
            let wanted = text(&how, "block_type").unwrap_or_else(label);
            match body.blocks().find(|block| kind(block, &wanted)) {
                Some(block) => decode_body(&block.body(), inner(&how), variables, errors),
                None => Value::null(Type::Dynamic),
            }
        }
        "block_list" => {
            let wanted = text(&how, "block_type").unwrap_or_else(label);
            let found = body.blocks().filter(|block| kind(block, &wanted));
            let values: Vec<Value> =
                found.map(|block| decode_body(&block.body(), inner(&how), variables, errors)).collect();
            Value::tuple(values)
        }
        "block_map" => {
            let wanted = text(&how, "block_type").unwrap_or_else(label);
            let found = body.blocks().filter(|block| kind(block, &wanted));
            let values: Vec<(String, Value)> = found
                .map(|block| {
                    let key = block.labels().next().unwrap().0.to_string();
                    (key, decode_body(&block.body(), inner(&how), variables, errors))
                })
                .collect();
            let element = values.first().map_or(Type::Dynamic, |(_, value)| value.type_of());
            Value::map(element, values)
        }
        kind => panic!("a specification of kind {kind}"),
    }
}

fn read(path: &Path) -> (String, Body, Diagnostics) {
    let text = fs::read_to_string(path).unwrap();
    let (body, diagnostics) = parse(FileId(0), &text);
    (text, body, diagnostics)
}

/// A variable as the word that it is in the suite, and as the reference that it has to be here. Places do not move, but
/// after it on its line; no case with variables compares places.
fn with_references(text: &str, variables: &Variables) -> String {
    variables.0.iter().fold(text.to_owned(), |text, (name, _)| {
        text.replace(&format!("${{{name}}}"), &format!("${{local.{name}}}"))
            .replace(&format!(" in {name} }}"), &format!(" in local.{name} }}"))
    })
}

type Place = (u32, u32, u32);

fn position(body: &Body) -> Place {
    let number =
        |name: &str| u32::try_from(constant(&body.attribute(name).unwrap().value()).as_i64().unwrap()).unwrap();
    (number("line"), number("column"), number("byte"))
}

fn case(expectation: &Path) -> Result<(), String> {
    let (_, wanted, _) = read(expectation);
    let (_, spec, found) = read(&expectation.with_extension("hcldec"));
    assert!(!found.has_errors(), "{found:?}");
    let mut variables = Variables(Vec::new());
    if let Some(block) = spec.blocks().find(|block| &**block.kind() == "variables") {
        let body = block.body();
        variables.0.extend(body.attributes().map(|a| (a.name().to_string(), constant(&a.value()))));
    }
    let root = spec.blocks().find(|block| &**block.kind() != "variables").unwrap();
    let text = with_references(&fs::read_to_string(expectation.with_extension("hcl")).unwrap(), &variables);
    let (body, mut errors) = parse(FileId(0), &text);
    let mut decoded = None;
    if !errors.has_errors() {
        decoded = Some(decode_body(&body, root, &variables, &mut errors));
    }
    let source = Source::new("input", text.as_str());
    let place = |byte: u32| {
        let position = source.position(byte);
        (position.line, position.column, byte)
    };
    let mut is: Vec<(Place, Place)> = errors
        .iter()
        .filter(|error| error.is_error())
        .map(|error| error.span.map_or(((0, 0, 0), (0, 0, 0)), |span| (place(span.start), place(span.end))))
        .collect();
    let mut must: Vec<(Place, Place)> = Vec::new();
    for block in wanted.blocks().filter(|block| &**block.kind() == "diagnostics") {
        for error in block.body().blocks() {
            let at = |name: &str| {
                let body = error.body();
                let block = body.blocks().find(|block| &**block.kind() == name).unwrap();
                position(&block.body())
            };
            must.push((at("from"), at("to")));
        }
    }
    is.sort_unstable();
    must.sort_unstable();
    if is != must {
        return Err(format!("errors at {is:?} in place of {must:?}: {errors:?}"));
    }
    let ty = wanted.attribute("result_type").map(|attribute| constraint(&attribute.value()));
    if let (Some(result), Some(decoded)) = (wanted.attribute("result"), &decoded) {
        let mut result = constant(&result.value());
        if let Some(ty) = &ty {
            result = convert(&result, ty).map_err(|error| error.to_string())?;
        }
        if result != *decoded {
            return Err(format!("{decoded:?}\nin place of\n{result:?}"));
        }
    }
    match (&ty, &decoded) {
        (Some(ty), Some(decoded)) if decoded.type_of() != *ty => Err(format!("{} in place of {ty}", decoded.type_of())),
        _ => Ok(()),
    }
}

fn cases(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(cases(&path));
        } else if path.extension().is_some_and(|extension| extension == "t") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_case_is_as_specified() {
    let Some(directory) = std::env::var_os("HCL_SPECSUITE") else {
        eprintln!("SKIPPED: the specification suite of HCL; set HCL_SPECSUITE to its folder to run it");
        return;
    };
    let all = cases(&Path::new(&directory).join("tests"));
    assert!(all.len() >= 15, "{} cases", all.len());
    let wrong: Vec<String> =
        all.iter().filter_map(|path| case(path).err().map(|why| format!("{}: {why}", path.display()))).collect();
    assert!(wrong.is_empty(), "{} of {} cases\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

/// The driver finds what is wrong: a value, a type, an error and its place.
#[test]
fn a_case_can_fail() {
    let directory = std::env::temp_dir().join(format!("specification-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let check = |input: &str, expectation: &str| {
        fs::write(directory.join("x.hcl"), input).unwrap();
        fs::write(directory.join("x.hcldec"), "object {\n  attr \"a\" {\n    type = string\n  }\n}\n").unwrap();
        fs::write(directory.join("x.t"), expectation).unwrap();
        case(&directory.join("x.t"))
    };
    let error = "diagnostics {\n  error {\n    from {\n      line = 1\n      column = 1\n      byte = 0\n    }\n    to {\n      line = 1\n      column = 2\n      byte = 1\n    }\n  }\n}\n";
    assert_eq!(check("a = 1\n", "result = { a = \"1\" }\n"), Ok(()));
    assert!(check("a = 1\n", "result = { a = \"2\" }\n").is_err());
    assert!(check("a = 1\n", "result_type = object({ a = number })\n").is_err());
    assert_eq!(check("b = 1\n", error), Ok(()));
    assert!(check("bb = 1\n", error).is_err());
    assert!(check("a = 1\n", error).is_err());
    fs::remove_dir_all(directory).unwrap();
}
