//! The rules for names, labels and annotations.

use serde_json::Value;

use super::object;
use super::status::Cause;

/// Which rule a kind's names follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameRule {
    /// RFC 1123 subdomain, 253 characters: most kinds.
    Subdomain,
    /// RFC 1123 label, 63 characters: namespaces.
    Label,
    /// Anything that is a path segment: roles and their bindings.
    PathSegment,
}

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
                     end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
                     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
                         start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
                         '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// What is wrong with the metadata of an object.
pub(super) fn check_metadata(object: &Value, rule: NameRule) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = object::name(object);
    if name.is_empty() {
        causes.push(Cause {
            message: "Required value: name or generateName is required".to_owned(),
            ..Cause::required("metadata.name")
        });
    } else if let Some(why) = name_problem(name, rule) {
        causes.push(Cause::invalid("metadata.name", &name.into(), &why));
    }
    for (key, value) in object::entries(object, "/metadata/labels") {
        if let Some(why) = qualified_name_problem(key) {
            causes.push(Cause::invalid("metadata.labels", &key.as_str().into(), &why));
        }
        if let Some(why) = value.as_str().and_then(label_value_problem) {
            causes.push(Cause::invalid("metadata.labels", value, &why));
        }
    }
    for (key, _) in object::entries(object, "/metadata/annotations") {
        if let Some(why) = qualified_name_problem(&key.to_lowercase()) {
            causes.push(Cause::invalid("metadata.annotations", &key.as_str().into(), &why));
        }
    }
    causes
}

fn name_problem(name: &str, rule: NameRule) -> Option<String> {
    match rule {
        NameRule::Label => label_problem(name).map(str::to_owned),
        NameRule::Subdomain if name.len() > 253 => Some("must be no more than 253 bytes".to_owned()),
        NameRule::Subdomain => {
            let fits = name.split('.').all(|part| label_problem(part).is_none() || is_long_label(part));
            (!fits).then(|| SUBDOMAIN.to_owned())
        }
        NameRule::PathSegment => match name {
            "." | ".." => Some(format!("may not be '{name}'")),
            name if name.contains(['/', '%']) => Some("may not contain '/' or '%'".to_owned()),
            _ => None,
        },
    }
}

/// A part of a subdomain may be longer than a label alone.
fn is_long_label(part: &str) -> bool {
    part.len() > 63 && is_label(part)
}

fn is_label(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.chars().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn label_problem(name: &str) -> Option<&'static str> {
    if name.len() > 63 {
        return Some("must be no more than 63 bytes");
    }
    (!is_label(name)).then_some(LABEL)
}

/// What is wrong with a qualified name (`prefix.example.com/name`): label keys, resource names, finalizers.
pub(super) fn qualified_name_problem(name: &str) -> Option<String> {
    let (prefix, name) = match name.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, name),
    };
    if let Some(prefix) = prefix {
        if prefix.is_empty() {
            return Some("prefix part must be non-empty".to_owned());
        }
        if let Some(why) = name_problem(prefix, NameRule::Subdomain) {
            return Some(format!("prefix part {why}"));
        }
    }
    match name {
        "" => Some("name part must be non-empty".to_owned()),
        name if name.len() > 63 => Some("name part must be no more than 63 bytes".to_owned()),
        name if !is_qualified(name) => Some(
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
             character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
             '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
                .to_owned(),
        ),
        _ => None,
    }
}

/// What is wrong with a label's value.
pub(super) fn label_value_problem(value: &str) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    if value.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    (!is_qualified(value)).then(|| {
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end \
         with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
         '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            .to_owned()
    })
}

fn is_qualified(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.chars().all(inner) && ends(text.chars().next()) && ends(text.chars().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_their_rules() {
        for (name, rule, good) in [
            ("team-a", NameRule::Label, true),
            ("Team-a", NameRule::Label, false),
            ("team.a", NameRule::Label, false),
            ("gpunodes.sliceform.io", NameRule::Subdomain, true),
            ("a..b", NameRule::Subdomain, false),
            ("-a", NameRule::Subdomain, false),
            ("system:node", NameRule::PathSegment, true),
            ("a/b", NameRule::PathSegment, false),
        ] {
            assert_eq!(name_problem(name, rule).is_none(), good, "{name}");
        }
        for (name, good) in
            [("nvidia.com/mig-1g.10gb", true), ("a/", false), ("/a", false), ("a_b", true), ("a b", false)]
        {
            assert_eq!(qualified_name_problem(name).is_none(), good, "{name}");
        }
    }
}
