//! One expression of the language over a live object, as `ready_when` and `fail_when` hold it: `self.status.phase ==
//! "Ready"`. It may refer to `self` alone and call what always gives the same; so it is a pure function of the object.

use std::{convert::Infallible, ops::Range, sync::Arc};

use engine_diag::{Diagnostic, Diagnostics, FileId, Span};
use engine_lang::{
    eval::{Files, Repetition, Scope, Stop, Subject, check_call, evaluate, is_absence, subject_of},
    syntax::{Expr, Node, parse_expression},
};
use engine_value::{Type, Value};
use serde_json::Value as Json;

use super::convert::from_json;

/// An expression over `self`. Invariant: it refers to nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    text: Arc<str>,
    expr: Expr,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Rule {}

/// What is wrong with the text of a rule, and which bytes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// As a sentence.
    pub(crate) what: String,
    /// Where in the text.
    pub(crate) at: Range<u32>,
}

/// Does a rule hold for an object?
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// Yes.
    Yes,
    /// Not as the object is, or it cannot be told yet; what stands against it.
    No(String),
    /// It cannot be asked; why.
    Broken(String),
}

/// A rule is a condition, not a program.
const LONGEST: usize = 4096;

/// Parts that are shown where a rule does not hold.
const SHOWN: usize = 4;

/// Functions whose result another call need not give again, or that ask something else than the object.
fn is_impure(name: &str) -> bool {
    matches!(
        name,
        "abspath"
            | "bcrypt"
            | "pathexpand"
            | "plantimestamp"
            | "templatefile"
            | "timestamp"
            | "uuid"
            | "templatestring"
    ) || name.starts_with("file")
}

impl Rule {
    /// Reads a rule, and checks what can be told of it without an object.
    pub(crate) fn parse(text: &str) -> Result<Self, Vec<Wrong>> {
        let all = 0..u32::try_from(text.len()).unwrap_or(u32::MAX);
        let whole = |what: &str| vec![Wrong { what: what.to_owned(), at: all.clone() }];
        if text.trim().is_empty() {
            return Err(whole("An expression over `self` is required."));
        }
        if text.len() > LONGEST {
            return Err(whole(&format!("An expression has at most {LONGEST} bytes.")));
        }
        let (expr, diagnostics) = parse_expression(FileId(0), text);
        if diagnostics.has_errors() {
            return Err(wrongs(&diagnostics, &all));
        }
        let mut wrong: Vec<Wrong> = expr.traversals().iter().filter_map(|part| foreign(part, text)).collect();
        wrong.extend(expr.find(|node| matches!(node, Node::Call { .. })).iter().filter_map(refused_call));
        if !wrong.is_empty() {
            return Err(wrong);
        }
        match evaluate(&expr, &Of(Value::unknown(Type::Dynamic))) {
            Ok(value) if matches!(value.type_of(), Type::Bool | Type::Dynamic) => Ok(Self { text: text.into(), expr }),
            Ok(value) => Err(whole(&not_bool(&value))),
            Err(Stop::Failed(diagnostics)) => Err(wrongs(&diagnostics, &all)),
            Err(Stop::Blocked(never)) => match never {},
        }
    }

    /// Does it hold for an object? What the object does not have yet makes it not hold.
    pub(crate) fn holds(&self, object: &Json) -> Holds {
        let hidden = |text: String| if is_secret(object) { format!("`{}`", self.text) } else { text };
        let scope = Of(from_json(object));
        match evaluate(&self.expr, &scope) {
            Ok(value) => match value.as_bool() {
                Some(true) => Holds::Yes,
                Some(false) => Holds::No(hidden(self.parts(&scope, "is false"))),
                None if value.is_null() => Holds::No(hidden(self.parts(&scope, "is null"))),
                None => Holds::Broken(format!("`{}`: {}", self.text, not_bool(&value))),
            },
            Err(Stop::Failed(errors)) if errors.iter().all(is_absence) => {
                Holds::No(hidden(self.parts(&scope, "asks for what is not there yet")))
            }
            Err(Stop::Failed(errors)) => {
                let why: Vec<String> = errors.iter().map(|error| self.told(error)).collect();
                Holds::Broken(hidden(format!("`{}`: {}", self.text, why.join(" "))))
            }
            Err(Stop::Blocked(never)) => match never {},
        }
    }

    /// Why it holds: the rule with the values of the parts that it asks for.
    pub(crate) fn reasons(&self, object: &Json) -> String {
        if is_secret(object) { format!("`{}`", self.text) } else { self.parts(&Of(from_json(object)), "is true") }
    }

    /// An error of the evaluation with the part of the text that it is about.
    fn told(&self, error: &Diagnostic) -> String {
        let part = error.span.and_then(|span| self.text.get(span.start as usize..span.end as usize));
        match part.filter(|part| *part != &*self.text) {
            Some(part) => format!("{} (`{part}`)", error.detail),
            None => error.detail.clone(),
        }
    }

    /// The rule with the values of the parts that it asks for.
    fn parts(&self, scope: &Of, verdict: &str) -> String {
        let mut parts: Vec<String> = Vec::new();
        for part in self.expr.traversals() {
            let span = part.span();
            let Some(text) = self.text.get(span.start as usize..span.end as usize) else { continue };
            let value = match evaluate(&part, scope) {
                Ok(value) => shown(&value),
                Err(_) => Some("not there".to_owned()),
            };
            let told = value.map(|value| format!("{text} is {value}"));
            parts.extend(told.filter(|told| !parts.contains(told)));
        }
        parts.truncate(SHOWN);
        if parts.is_empty() { format!("`{}` {verdict}", self.text) } else { parts.join(", ") }
    }
}

/// Is it one whose content is never shown?
fn is_secret(object: &Json) -> bool {
    object.get("kind").and_then(Json::as_str) == Some("Secret")
}

/// A value of one line; `None`: it is too much to show.
fn shown(value: &Value) -> Option<String> {
    if value.is_null() {
        return Some("null".to_owned());
    }
    let short = |text: &str| text.chars().count() <= 120 && !text.contains('\n');
    if let Some(text) = value.as_str() {
        return short(text).then(|| format!("{text:?}"));
    }
    if let Some(flag) = value.as_bool() {
        return Some(flag.to_string());
    }
    value.as_number().map(ToString::to_string)
}

fn not_bool(value: &Value) -> String {
    format!("It gives {}, and must give true or false.", value.type_of().friendly())
}

/// A reference to something else than `self`.
fn foreign(part: &Expr, text: &str) -> Option<Wrong> {
    let span = part.span();
    let at = span.start..span.end;
    match subject_of(part) {
        Ok((Subject::SelfObject, _)) => None,
        _ => {
            let name = text.get(span.start as usize..span.end as usize).unwrap_or_default();
            Some(Wrong { what: format!("{name:?}: only the live object, `self`, can be referred to here."), at })
        }
    }
}

fn refused_call(call: &Expr) -> Option<Wrong> {
    let Node::Call { name, .. } = call.node() else { return None };
    let name = call.tree().str(name);
    let core = name.strip_prefix("core::").unwrap_or(name);
    let span = call.span();
    let at = span.start..span.end;
    if core.contains("::") || is_impure(core) {
        let what = format!("The function {name:?} cannot be called here: only what always gives the same can.");
        return Some(Wrong { what, at });
    }
    check_call(call).map(|error| Wrong { what: error.detail, at })
}

fn wrongs(diagnostics: &Diagnostics, all: &Range<u32>) -> Vec<Wrong> {
    let one = |error: &Diagnostic| Wrong {
        what: if error.detail.is_empty() { format!("{}.", error.summary) } else { error.detail.clone() },
        at: error.span.map_or(all.clone(), |span| span.start..span.end),
    };
    diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).map(one).collect()
}

/// `self`, and nothing else.
struct Of(Value);

impl Scope for Of {
    type Key = Infallible;

    fn repetition(&self, _: &Subject, _: Span) -> Result<Repetition, Stop<Infallible>> {
        Ok(Repetition::Single)
    }

    fn resolve(&self, subject: &Subject, span: Span) -> Result<Value, Stop<Infallible>> {
        match subject {
            Subject::SelfObject => Ok(self.0.clone()),
            other => {
                let detail = format!("{} cannot be referred to here.", other.text());
                Err(Diagnostic::error("Invalid reference", detail).at(span).into())
            }
        }
    }

    fn files(&self) -> &dyn Files {
        self
    }
}

impl Files for Of {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("files cannot be read here".to_owned())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Err("cannot be looked at here".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, expected) in [
            ("self.status.phase == \"Ready\"", None),
            ("length([for c in self.status.conditions : c if c.type == \"Ready\"]) > 0", None),
            ("try(self.status.ready, false)", None),
            ("self.status.ready", None),
            ("", Some((0..0, "An expression over `self` is required."))),
            ("var.x == 1", Some((0..5, "\"var.x\": only the live object, `self`, can be referred to here."))),
            ("self.a == b", Some((10..11, "\"b\": only the live object, `self`, can be referred to here."))),
            (
                "self.a == lenght(self.b)",
                Some((10..24, "There is no function named \"lenght\". Did you mean \"length\"?")),
            ),
            (
                "file(\"a\") == self.a",
                Some((0..9, "The function \"file\" cannot be called here: only what always gives the same can.")),
            ),
            ("\"a${self.b}\"", Some((0..12, "It gives string, and must give true or false."))),
            ("1 + 1", Some((0..5, "It gives number, and must give true or false."))),
        ] {
            let found = Rule::parse(text).err().map(|mut wrong| wrong.remove(0));
            let expected = expected.map(|(at, what)| Wrong { what: what.to_owned(), at });
            assert_eq!(found, expected, "{text}");
        }
        let wrong = Rule::parse("self.a ==").unwrap_err();
        assert!(wrong[0].at.start >= 7, "{wrong:?}");
        assert!(Rule::parse(&"(".repeat(5000)).is_err());
    }

    #[test]
    fn what_is_not_there_yet_does_not_hold_and_is_no_error() {
        let object = json!({"status": {"phase": "Pending", "replicas": 2, "conditions": [
            {"type": "Ready", "status": "True"}], "empty": []}});
        let no = |what: &str| Holds::No(what.to_owned());
        for (text, expected) in [
            ("self.status.phase == \"Pending\"", Holds::Yes),
            ("self.status.phase == \"Ready\"", no("self.status.phase is \"Pending\"")),
            ("self.status.url != \"\"", no("self.status.url is not there")),
            ("self.status.empty[0].ip != \"\"", no("self.status.empty[0].ip is not there")),
            ("self.spec.a.b == 1 && true", no("self.spec.a.b is not there")),
            ("can(self.status.url) || self.status.replicas >= 2", Holds::Yes),
            ("[for c in self.status.conditions : c if c.type == \"Ready\"][0].status == \"True\"", Holds::Yes),
            (
                "[for c in self.status.conditions : c if c.type == \"Done\"][0].status == \"True\"",
                no(
                    "`[for c in self.status.conditions : c if c.type == \"Done\"][0].status == \"True\"` asks for what is not there \
                    yet",
                ),
            ),
            (
                "self.status.phase",
                Holds::Broken("`self.status.phase`: It gives string, and must give true or false.".to_owned()),
            ),
        ] {
            assert_eq!(Rule::parse(text).unwrap().holds(&object), expected, "{text}");
        }
        let broken = Rule::parse("self.status.phase + 1 > 2").unwrap().holds(&object);
        assert!(matches!(broken, Holds::Broken(_)), "{broken:?}");
    }

    #[test]
    fn the_content_of_a_secret_is_not_shown() {
        let object = json!({"kind": "Secret", "data": {"a": "aHVudGVy"}});
        let found = Rule::parse("self.data.a == \"b\"").unwrap().holds(&object);
        assert_eq!(found, Holds::No("`self.data.a == \"b\"`".to_owned()));
    }
}
