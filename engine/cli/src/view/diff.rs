//! The difference of two values, as a plan shows it: what changes in full, what does not as a count.

use engine_value::{
    Path, Step, Value,
    diff::{Change, Diff, Parts, diff},
};

use super::{
    style::Paint,
    value::{SENSITIVE, UNKNOWN, hcl, key, pad, width},
};

/// Unchanged attributes that are shown all the same, since people know an object by them.
const IDENTIFYING: [&str; 2] = ["id", "name"];

/// Renders the attributes of an object, before and after.
pub(crate) struct DiffView<'a> {
    pub(crate) paint: Paint,
    /// Paths that force a replacement.
    pub(crate) forces: &'a [Path],
}

struct Line {
    symbol: &'static str,
    name: String,
    text: String,
}

impl DiffView<'_> {
    /// The attributes of two objects, one line or more each, indented for the inside of a resource block.
    pub(crate) fn attributes(&self, before: Option<&Value>, after: Option<&Value>) -> String {
        let diff = diff(before.filter(|v| !v.is_null()), after.filter(|v| !v.is_null()));
        let mut out = String::new();
        if let Parts::Attributes(parts) | Parts::Elements(parts) = &diff.parts {
            self.named(parts, 4, &Path::root(), true, "attribute", &mut out);
        }
        out
    }

    /// All attributes of an object that are not null, as a block of configuration has them.
    pub(crate) fn plain(&self, object: &Value) -> String {
        let attributes: Vec<(String, &Value)> = object
            .as_map()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (key(name), value))
            .collect();
        let columns = attributes.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        attributes.iter().map(|(name, value)| format!("    {} = {}\n", pad(name, columns), hcl(value, 4))).collect()
    }

    fn named(
        &self,
        parts: &[(std::sync::Arc<str>, Diff)],
        indent: usize,
        at: &Path,
        top: bool,
        kind: &str,
        out: &mut String,
    ) {
        let mut lines = Vec::new();
        let mut hidden = 0;
        for (name, part) in parts {
            let shown = part.is_change() || (top && IDENTIFYING.contains(&&**name));
            if is_nothing(part) {
                continue;
            }
            if !shown {
                hidden += 1;
                continue;
            }
            let step = if kind == "attribute" { Step::Attr(name.clone()) } else { Step::Key(name.clone()) };
            let path = at.clone().step(step);
            let text = self.part(part, indent, &path) + &self.forced(part, &path);
            lines.push(Line { symbol: symbol(part.change), name: key(name), text });
        }
        let columns = lines.iter().map(|line| width(&line.name)).max().unwrap_or(0);
        for line in lines {
            let name = pad(&line.name, columns);
            out.push_str(&format!("{:indent$}{} {name} = {}\n", "", self.symbol(line.symbol), line.text));
        }
        self.hidden(hidden, kind, indent, out);
    }

    fn hidden(&self, count: usize, kind: &str, indent: usize, out: &mut String) {
        if count > 0 {
            let plural = if count == 1 { "" } else { "s" };
            let text = self.paint.dim(&format!("# ({count} unchanged {kind}{plural} hidden)"));
            out.push_str(&format!("{:pad$}{text}\n", "", pad = indent + 4));
        }
    }

    fn symbol(&self, symbol: &'static str) -> String {
        format!("{:>pad$}", self.paint.symbol(symbol), pad = 3 + self.paint.symbol(symbol).len() - symbol.len())
    }

    fn forced(&self, part: &Diff, path: &Path) -> String {
        if part.is_change() && self.forces.contains(path) {
            return format!(" {}", self.paint.color(anstyle::AnsiColor::Red, "# forces replacement"));
        }
        String::new()
    }

    /// What stands behind `=`.
    fn part(&self, part: &Diff, indent: usize, path: &Path) -> String {
        if part.sensitive {
            return SENSITIVE.to_owned();
        }
        let inner = indent + 4;
        let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "null".to_owned(), |v| hcl(v, inner));
        let composite = !matches!(part.parts, Parts::None);
        match part.change {
            Change::Unchanged => value(&part.after),
            Change::Added if !composite => value(&part.after),
            Change::Removed if !composite => format!("{} {}", value(&part.before), self.arrow("null")),
            Change::Changed if !composite => format!("{} {}", value(&part.before), self.arrow(&value(&part.after))),
            Change::Unknown => match &part.before {
                Some(before) if !before.is_null() => format!("{} {}", hcl(before, inner), self.arrow(UNKNOWN)),
                _ => UNKNOWN.to_owned(),
            },
            Change::Added | Change::Removed | Change::Changed => self.composite(part, inner, path),
        }
    }

    fn arrow(&self, to: &str) -> String {
        format!("{} {to}", self.paint.color(anstyle::AnsiColor::Yellow, "->"))
    }

    fn composite(&self, part: &Diff, indent: usize, path: &Path) -> String {
        let mut out = String::new();
        let (open, close) = match &part.parts {
            Parts::Attributes(parts) => {
                self.named(parts, indent, path, false, "attribute", &mut out);
                ("{", "}")
            }
            Parts::Elements(parts) => {
                self.named(parts, indent, path, false, "element", &mut out);
                ("{", "}")
            }
            Parts::Sequence(parts) => {
                let items = parts.iter().map(|part| (part.after.or(part.before), &part.diff));
                self.items(items, indent, path, &mut out);
                ("[", "]")
            }
            Parts::Members(parts) => {
                self.items(parts.iter().map(|part| (None, part)), indent, path, &mut out);
                ("[", "]")
            }
            Parts::None => return String::new(),
        };
        let to = if part.change == Change::Removed { format!(" {}", self.arrow("null")) } else { String::new() };
        if out.is_empty() {
            return format!("{open}{close}{to}");
        }
        format!("{open}\n{out}{:indent$}{close}{to}", "")
    }

    fn items<'d>(
        &self,
        items: impl Iterator<Item = (Option<usize>, &'d Diff)>,
        indent: usize,
        path: &Path,
        out: &mut String,
    ) {
        let mut hidden = 0;
        for (index, part) in items {
            if !part.is_change() {
                hidden += 1;
                continue;
            }
            let at = index.map_or_else(|| path.clone(), |index| path.clone().index(index));
            let text = match part.change {
                // What leaves a list has gone; "-> null" is for names.
                Change::Removed => self.part(
                    &Diff { change: Change::Unchanged, after: part.before.clone(), ..part.clone() },
                    indent,
                    &at,
                ),
                _ => self.part(part, indent, &at),
            };
            out.push_str(&format!("{:indent$}{} {text},\n", "", self.symbol(symbol(part.change))));
        }
        self.hidden(hidden, "element", indent, out);
    }
}

/// Null before and after, or null where there is no other side: nothing to show.
fn is_nothing(part: &Diff) -> bool {
    let nothing = |value: &Option<Value>| value.as_ref().is_none_or(Value::is_null);
    nothing(&part.before) && nothing(&part.after)
}

fn symbol(change: Change) -> &'static str {
    match change {
        Change::Unchanged => " ",
        Change::Added => "+",
        Change::Removed => "-",
        Change::Changed | Change::Unknown => "~",
    }
}

#[cfg(test)]
mod tests {
    use engine_value::Type;

    use super::*;

    fn check(before: Option<Value>, after: Option<Value>, expected: &str) {
        let view = DiffView { paint: Paint { color: false }, forces: &[Path::root().attr("kind")] };
        assert_eq!(view.attributes(before.as_ref(), after.as_ref()), expected);
    }

    fn pool(mig: &[(&str, i64)]) -> Value {
        let mig = Value::map(Type::Number, mig.iter().map(|(name, n)| (*name, Value::int(*n))));
        let profile = Value::object([("cards", Value::int(1)), ("product", Value::string("A100")), ("mig", mig)]);
        let other = Value::object([
            ("cards", Value::int(2)),
            ("product", Value::string("L4")),
            ("mig", Value::null(Type::map(Type::Number))),
        ]);
        let profiles = Value::map(other.type_of(), [("notebooks", profile), ("rest", other)]);
        Value::object([("id", Value::string("dev")), ("kind", Value::string("x")), ("profiles", profiles)])
    }

    #[test]
    fn what_changes_is_shown_and_the_rest_is_counted() {
        check(
            Some(pool(&[("7g.80gb", 1)])),
            Some(pool(&[("1g.10gb", 3), ("2g.20gb", 2)])),
            r#"        id       = "dev"
      ~ profiles = {
          ~ notebooks = {
              ~ mig = {
                  + "1g.10gb" = 3
                  + "2g.20gb" = 2
                  - "7g.80gb" = 1 -> null
                }
                # (2 unchanged attributes hidden)
            }
            # (1 unchanged element hidden)
        }
        # (1 unchanged attribute hidden)
"#,
        );
    }

    #[test]
    fn created_destroyed_unknown_and_forced() {
        let object = |kind: Value| Value::object([("kind", kind), ("list", Value::tuple([Value::int(1)]))]);
        check(
            None,
            Some(object(Value::unknown(Type::String))),
            "      + kind = (known after apply) # forces replacement\n      + list = [\n          + 1,\n        ]\n",
        );
        check(
            Some(object(Value::string("a"))),
            None,
            "      - kind = \"a\" -> null # forces replacement\n      - list = [\n          - 1,\n        ] -> null\n",
        );
        check(
            Some(object(Value::string("a"))),
            Some(object(Value::string("b"))),
            "      ~ kind = \"a\" -> \"b\" # forces replacement\n        # (1 unchanged attribute hidden)\n",
        );
    }
}
