//! What the facts are about: names and files that expressions may use, the same for Terraform and for us.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::Arc,
};

use engine_diag::{Diagnostic, Diagnostics, FileId, Span};
use engine_model::host::Host;
use engine_value::{Marks, Refinements, Type, Unknown, Value};

use crate::{
    eval::{Entry, Files, Repetition, Scope, Stop, Subject, Surroundings, evaluate},
    syntax::parse_expression,
};

/// Local values, each as Terraform's configuration has it. Later ones may use earlier ones.
pub(super) const LOCALS: &str = include_str!("locals.tsv");

/// What the working directory is called in facts.
pub(super) const DIRECTORY: &str = "/work";

/// Files, by their path in the working directory.
pub(super) const FILES: &[(&str, &[u8])] = &[
    ("hello.txt", "Hällo\n".as_bytes()),
    ("empty.txt", b""),
    ("bytes.bin", &[0xff, 0x00, 0xfe]),
    ("bom.txt", "\u{feff}x".as_bytes()),
    ("crlf.txt", b"a\r\nb\r\n"),
    ("set/a.txt", b"a"),
    ("set/b.md", b"b"),
    ("set/.hidden", b"h"),
    ("set/sub/c.txt", b"c"),
    ("set/sub/deep/d.txt", b"d"),
    ("set/sub/deep/e[1].txt", b"e"),
    ("set/ü.txt", b"u"),
    ("t/plain.tmpl", b"hi ${name}!"),
    ("t/whole.tmpl", b"${value}"),
    ("t/for.tmpl", b"%{ for k, v in items ~}\n${k}=${v}\n%{ endfor ~}\n"),
    ("t/if.tmpl", b"%{ if on }yes%{ else }no%{ endif }"),
    ("t/escapes.tmpl", b"$${a} %%{b} \\n \"q\" ${\"x\\n${name}\"}"),
    ("t/functions.tmpl", b"${upper(name)} ${join(\",\", [for x in [1, 2] : x * 2])}"),
    ("t/file.tmpl", b"${file(\"hello.txt\")}"),
    ("t/itself.tmpl", b"${templatefile(\"t/itself.tmpl\", {})}"),
    ("t/string.tmpl", b"${templatestring(name, {})}"),
    ("t/missing.tmpl", b"line one\n${absent}"),
    ("t/attribute.tmpl", b"${name.x}"),
    ("t/path.tmpl", b"${path.module}"),
    ("t/unclosed.tmpl", b"one\n${name"),
    ("t/unknown.tmpl", b"${nofunction(name)}"),
    ("t/null.tmpl", b"${null}"),
    ("t/list.tmpl", b"${[name]}"),
    ("t/strip.tmpl", b"a\n  ${~ name ~}  \nb"),
    ("t/clock.tmpl", b"at ${timestamp()}"),
    ("t/bytes.tmpl", &[0xff, b'x']),
];

/// The scope of the facts.
pub(super) struct Setting {
    locals: BTreeMap<String, Value>,
    surroundings: Surroundings,
}

impl Setting {
    pub(super) fn new() -> Self {
        let surroundings = Surroundings {
            directory: Arc::from(DIRECTORY),
            home: Some(Arc::from("/home/me")),
            ..Surroundings::default()
        };
        let mut setting = Self { locals: BTreeMap::new(), surroundings };
        let unknown = |ty, refinements| Value::unknown_with(Unknown { ty, refinements, origin: None });
        for (name, text) in locals() {
            let value = match text {
                "terraform_data.u.id" => unknown(Type::String, Refinements::not_null()),
                "terraform_data.u.output" => unknown(Type::Dynamic, Refinements::default()),
                "var.e" => Value::string("eph").mark(Marks::EPHEMERAL),
                _ => setting.value_of(text).unwrap(),
            };
            setting.locals.insert(name.to_owned(), value);
        }
        setting
    }

    /// As at apply: who tells the time and gives random bytes is there.
    pub(super) fn with_host(mut self, host: Arc<dyn Host>) -> Self {
        self.surroundings.host = Some(host);
        self
    }

    pub(super) fn value_of(&self, text: &str) -> Result<Value, Diagnostics> {
        let (expr, diagnostics) = parse_expression(FileId(0), text);
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        match evaluate(&expr, self) {
            Ok(value) => Ok(value),
            Err(Stop::Failed(diagnostics)) => Err(diagnostics),
            Err(Stop::Blocked(never)) => match never {},
        }
    }
}

/// Names and expressions of [`LOCALS`].
pub(super) fn locals() -> impl Iterator<Item = (&'static str, &'static str)> {
    LOCALS.lines().filter(|line| !line.starts_with('#')).map(|line| line.split_once('\t').unwrap())
}

impl Scope for Setting {
    type Key = Infallible;

    fn repetition(&self, subject: &Subject, span: Span) -> Result<Repetition, Stop<Infallible>> {
        Err(Diagnostic::error("Undeclared", subject.text()).at(span).into())
    }

    fn resolve(&self, subject: &Subject, span: Span) -> Result<Value, Stop<Infallible>> {
        match subject {
            Subject::Local(name) if self.locals.contains_key(&**name) => Ok(self.locals[&**name].clone()),
            _ => Err(Diagnostic::error("Undeclared", subject.text()).at(span).into()),
        }
    }

    fn files(&self) -> &dyn Files {
        self
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }
}

impl Files for Setting {
    fn read(&self, path: &str) -> Result<Arc<[u8]>, String> {
        let path = path.strip_prefix("/work/").unwrap_or(path);
        let found = FILES.iter().find(|(name, _)| *name == path);
        found.map(|(_, bytes)| Arc::from(*bytes)).ok_or_else(|| "no such file".to_owned())
    }

    fn exists(&self, path: &str) -> Result<bool, String> {
        let below_file =
            FILES.iter().any(|(name, _)| path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')));
        if below_file {
            return Err("is not in a directory".to_owned());
        }
        match self.list(path)? {
            Some(_) => Err("is a directory, not a file".to_owned()),
            None => Ok(self.read(path).is_ok()),
        }
    }

    fn list(&self, directory: &str) -> Result<Option<Arc<[Entry]>>, String> {
        let directory = directory.strip_prefix("/work").map_or(directory, |rest| rest.trim_start_matches('/'));
        let prefix = match directory {
            "." | "" => String::new(),
            directory => format!("{directory}/"),
        };
        let mut entries = BTreeSet::new();
        for (path, _) in FILES {
            let Some(rest) = path.strip_prefix(&prefix) else { continue };
            entries.insert(match rest.split_once('/') {
                Some((name, _)) => Entry { name: name.into(), is_directory: true },
                None => Entry { name: rest.into(), is_directory: false },
            });
        }
        Ok((!entries.is_empty()).then(|| entries.into_iter().collect()))
    }
}
