//! Diagnostics in Terraform's JSON: what `validate -json` has, and every other command that writes JSON.

use engine_diag::{Diagnostic, FileId, Position, Source, Sources, Span};
use engine_lang::{
    functions,
    syntax::{self, Body, Node},
};
use engine_value::json::{Json, type_to_tree};

/// One diagnostic. A hint is the last sentence of the detail.
pub(crate) fn json(diagnostic: &Diagnostic, sources: &Sources) -> Json {
    let severity = if diagnostic.is_error() { "error" } else { "warning" };
    let hint = diagnostic.hint.iter().map(String::as_str);
    let detail = std::iter::once(&*diagnostic.detail).filter(|detail| !detail.is_empty()).chain(hint);
    let detail = detail.collect::<Vec<_>>().join(" ");
    let mut members =
        vec![("severity", severity.into()), ("summary", diagnostic.summary.as_str().into()), ("detail", text(&detail))];
    members.extend(diagnostic.address.iter().map(|address| ("address", text(address))));
    if let Some(span) = diagnostic.span {
        let source = sources.get(span.file);
        // Nothing is pointed at by the character that stands there.
        let end = if span.end > span.start { span.end } else { after(source, span.start) };
        let (from, to) = (source.position(span.start), source.position(end));
        let to = if to.line == from.line && to.column == from.column {
            Position { column: to.column + 1, byte: to.byte + 1, ..to }
        } else {
            to
        };
        let range = [("filename", text(&source.name)), ("start", position(from)), ("end", position(to))];
        members.push(("range", object(range)));
        members.push(("snippet", snippet(diagnostic, source, span, (from, to))));
    }
    object(members)
}

/// One past the character at that byte; the byte itself at the end of a line.
fn after(source: &Source, byte: u32) -> u32 {
    let rest = source.text.get(byte as usize..).unwrap_or_default();
    byte + rest.chars().next().filter(|c| *c != '\n' && *c != '\r').map_or(0, |c| c.len_utf8() as u32)
}

fn snippet(diagnostic: &Diagnostic, source: &Source, span: Span, (from, to): (Position, Position)) -> Json {
    let code = (from.line..=to.line).map(|line| source.line(line)).collect::<Vec<_>>().join("\n");
    let line_start = source.text.get(..from.byte as usize).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
    // A byte order mark is no part of the code.
    let mark = if line_start == 0 && source.text.starts_with('\u{feff}') { 3 } else { 0 };
    let offset = |byte: u32| number((byte as usize).saturating_sub(line_start + mark));
    let (file, _) = syntax::parse(FileId(0), &source.text);
    let values = diagnostic.values.iter();
    let values =
        values.map(|(traversal, statement)| object([("traversal", text(traversal)), ("statement", text(statement))]));
    let mut members = vec![
        ("context", context(&file, span).map_or(Json::Null, |context| text(&context))),
        ("code", text(code.trim_start_matches('\u{feff}'))),
        ("start_line", number(from.line as usize)),
        ("highlight_start_offset", offset(from.byte)),
        ("highlight_end_offset", offset(to.byte)),
        ("values", Json::Array(values.collect())),
    ];
    if diagnostic.summary.contains("function") {
        members.extend(called(&file, span).map(|name| ("function_call", function_call(&name))));
    }
    object(members)
}

/// The header of the block at the top of the file that it is in.
fn context(file: &Body, span: Span) -> Option<String> {
    let block = file.blocks().find(|block| holds(block.span(), span))?;
    let labels: String = block.labels().map(|(label, _)| format!(" {label:?}")).collect();
    Some(format!("{}{labels}", block.kind()))
}

/// The name of the function in whose call it is: of several the innermost.
fn called(file: &Body, span: Span) -> Option<String> {
    let mut body = file.clone();
    loop {
        let inner = body.blocks().find(|block| holds(block.span(), span)).map(|block| block.body());
        match inner {
            Some(inner) => body = inner,
            None => break,
        }
    }
    let value = body.attributes().map(|attribute| attribute.value()).find(|value| holds(value.span(), span))?;
    let calls = value.find(|node| matches!(node, Node::Call { .. }));
    let call = calls.into_iter().filter(|call| holds(call.span(), span)).min_by_key(|call| {
        let span = call.span();
        span.end - span.start
    })?;
    match call.node() {
        Node::Call { name, .. } => Some(call.tree().str(name).to_string()),
        _ => None,
    }
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn function_call(name: &str) -> Json {
    let core = name.strip_prefix("core::").unwrap_or(name);
    let mut members = vec![("called_as", text(name))];
    if let Some(signature) = functions::signatures().into_iter().find(|signature| signature.name == core) {
        let parameter =
            |one: &functions::ParameterSignature| object([("name", text(one.name)), ("type", type_to_tree(&one.ty))]);
        let mut of = vec![("name", text(core))];
        if !signature.parameters.is_empty() {
            of.push(("params", Json::Array(signature.parameters.iter().map(parameter).collect())));
        }
        of.extend(signature.variadic.iter().map(|one| ("variadic_param", parameter(one))));
        of.push(("return_type", type_to_tree(&signature.returns)));
        members.push(("signature", object(of)));
    }
    object(members)
}

fn position(position: Position) -> Json {
    object([
        ("line", number(position.line as usize)),
        ("column", number(position.column as usize)),
        ("byte", number(position.byte as usize)),
    ])
}

pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
}

pub(crate) fn text(text: &str) -> Json {
    Json::from(text)
}

pub(crate) fn number(number: usize) -> Json {
    Json::Number(number.to_string().into())
}
