//! One rule of a role: what it allows, and whether it covers another.

use serde_json::{Value, json};

use super::super::object::items;

/// Verbs on resources, or on paths that are no resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::api) struct Rule {
    pub(in crate::api) verbs: Vec<String>,
    pub(in crate::api) groups: Vec<String>,
    pub(in crate::api) resources: Vec<String>,
    /// Empty: all names.
    pub(in crate::api) names: Vec<String>,
    pub(in crate::api) paths: Vec<String>,
}

fn has(list: &[String], wanted: &str) -> bool {
    list.iter().any(|one| one == wanted)
}

fn covers(list: &[String], wanted: &[String]) -> bool {
    has(list, "*") || wanted.iter().all(|one| has(list, one))
}

impl Rule {
    /// Reads a `PolicyRule`.
    pub(in crate::api) fn from_json(rule: &Value) -> Rule {
        let texts = |field: &str| items(rule, field).filter_map(Value::as_str).map(str::to_owned).collect();
        Rule {
            verbs: texts("/verbs"),
            groups: texts("/apiGroups"),
            resources: texts("/resources"),
            names: texts("/resourceNames"),
            paths: texts("/nonResourceURLs"),
        }
    }

    /// The rule as a review lists it.
    pub(in crate::api) fn to_json(&self) -> Value {
        let mut rule = json!({"verbs": self.verbs});
        let lists = [
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.names),
            ("nonResourceURLs", &self.paths),
        ];
        for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            rule[name] = json!(list);
        }
        rule
    }

    /// Everything, as members of `system:masters` have it.
    pub(in crate::api) fn everything() -> [Rule; 2] {
        let all = || vec!["*".to_owned()];
        [
            Rule { verbs: all(), groups: all(), resources: all(), ..Rule::default() },
            Rule { verbs: all(), paths: all(), ..Rule::default() },
        ]
    }

    /// Whether it allows a verb on a resource, with its subresource or without.
    pub(super) fn allows(&self, verb: &str, group: &str, resource: &str, subresource: &str, name: &str) -> bool {
        let whole = if subresource.is_empty() { resource.to_owned() } else { format!("{resource}/{subresource}") };
        let part = format!("*/{subresource}");
        let is_named = |one: &String| one == "*" || *one == whole || (!subresource.is_empty() && *one == part);
        (has(&self.verbs, "*") || has(&self.verbs, verb))
            && (has(&self.groups, "*") || has(&self.groups, group))
            && self.resources.iter().any(is_named)
            && (self.names.is_empty() || has(&self.names, name))
    }

    /// Whether it allows a verb on a path that is no resource.
    pub(super) fn allows_path(&self, verb: &str, path: &str) -> bool {
        (has(&self.verbs, "*") || has(&self.verbs, verb)) && self.paths.iter().any(|one| path_matches(one, path))
    }

    /// Whether whoever has this has all that the other allows.
    fn covers(&self, other: &Rule) -> bool {
        let resource = |wanted: &String| {
            let part = wanted.split_once('/').map(|(_, part)| format!("*/{part}"));
            has(&self.resources, wanted) || part.is_some_and(|part| has(&self.resources, &part))
        };
        let names = match other.names.as_slice() {
            [] => self.names.is_empty(),
            names => self.names.is_empty() || names.iter().all(|name| has(&self.names, name)),
        };
        covers(&self.verbs, &other.verbs)
            && covers(&self.groups, &other.groups)
            && (has(&self.resources, "*") || other.resources.iter().all(resource))
            && other.paths.iter().all(|path| self.paths.iter().any(|one| path_matches(one, path)))
            && names
    }

    /// The same in rules of one verb on one thing.
    fn parts(&self) -> Vec<Rule> {
        let one = |text: &String| vec![text.clone()];
        let mut parts = Vec::new();
        for verb in &self.verbs {
            for path in &self.paths {
                parts.push(Rule { verbs: one(verb), paths: one(path), ..Rule::default() });
            }
            for (group, resource) in
                self.groups.iter().flat_map(|group| self.resources.iter().map(move |one| (group, one)))
            {
                let part = Rule { verbs: one(verb), groups: one(group), resources: one(resource), ..Rule::default() };
                match self.names.as_slice() {
                    [] => parts.push(part),
                    names => parts.extend(names.iter().map(|name| Rule { names: one(name), ..part.clone() })),
                }
            }
        }
        parts
    }

    /// `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`
    fn text(&self) -> String {
        let lists = [
            ("APIGroups", &self.groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.paths),
            ("ResourceNames", &self.names),
            ("Verbs", &self.verbs),
        ];
        let parts: Vec<String> = lists
            .into_iter()
            .filter(|(_, list)| !list.is_empty())
            .map(|(name, list)| format!("{name}:{}", quoted(list.iter().map(String::as_str))))
            .collect();
        format!("{{{}}}", parts.join(", "))
    }
}

fn path_matches(pattern: &str, path: &str) -> bool {
    pattern == "*" || pattern == path || pattern.strip_suffix('*').is_some_and(|prefix| path.starts_with(prefix))
}

/// A list as Go prints one of quoted texts: `["a" "b"]`.
pub(super) fn quoted<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let texts: Vec<String> = texts.map(|text| format!("{text:?}")).collect();
    format!("[{}]", texts.join(" "))
}

/// What of `wanted` the owner of `held` does not have: a line for each thing, sorted. None: it has everything.
pub(super) fn missing(held: &[Rule], wanted: &[Rule]) -> Vec<String> {
    let mut missing: Vec<Rule> = Vec::new();
    let parts = wanted.iter().flat_map(Rule::parts);
    for part in parts.filter(|part| !held.iter().any(|rule| rule.covers(part))) {
        // Verbs on the same resource are one line; on paths each has its own.
        let same = |one: &&mut Rule| {
            one.paths.is_empty()
                && (&one.groups, &one.resources, &one.names, &one.paths)
                    == (&part.groups, &part.resources, &part.names, &part.paths)
        };
        match missing.iter_mut().find(same) {
            Some(rule) if has(&rule.verbs, &part.verbs[0]) => {}
            Some(rule) => rule.verbs.extend(part.verbs),
            None => missing.push(part),
        }
    }
    let mut lines: Vec<String> = missing.iter().map(Rule::text).collect();
    lines.sort();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(verbs: &str, groups: &str, resources: &str, names: &str) -> Rule {
        let list = |text: &str| if text == "-" { Vec::new() } else { text.split(',').map(str::to_owned).collect() };
        Rule {
            verbs: list(verbs),
            groups: list(groups),
            resources: list(resources),
            names: list(names),
            ..Rule::default()
        }
    }

    #[test]
    fn rules_allow_what_they_name() {
        let cases = [
            (rule("get,list", "", "pods", "-"), ("list", "", "pods", "", ""), true),
            (rule("get", "", "pods", "-"), ("get", "", "pods", "log", "a"), false),
            (rule("get", "", "pods/log", "-"), ("get", "", "pods", "log", "a"), true),
            (rule("update", "*", "*/scale", "-"), ("update", "apps", "deployments", "scale", "a"), true),
            (rule("update", "*", "*/scale", "-"), ("update", "apps", "deployments", "", "a"), false),
            (rule("*", "*", "*", "-"), ("delete", "apps", "deployments", "status", "a"), true),
            (rule("get", "", "secrets", "a"), ("get", "", "secrets", "", "a"), true),
            (rule("get", "", "secrets", "a"), ("get", "", "secrets", "", "b"), false),
            (rule("list", "", "secrets", "a"), ("list", "", "secrets", "", ""), false),
            (rule("get", "apps", "pods", "-"), ("get", "", "pods", "", "a"), false),
        ];
        for (rule, (verb, group, resource, part, name), allowed) in cases {
            assert_eq!(rule.allows(verb, group, resource, part, name), allowed, "{rule:?} {verb} {resource}/{part}");
        }
        let paths =
            Rule { verbs: vec!["get".into()], paths: vec!["/healthz".into(), "/api/*".into()], ..Rule::default() };
        for (path, allowed) in [("/healthz", true), ("/healthz/x", false), ("/api/v1", true), ("/apis", false)] {
            assert_eq!(paths.allows_path("get", path), allowed, "{path}");
        }
    }

    #[test]
    fn what_is_missing_is_told_in_lines() {
        let held = [rule("get,list", "", "*", "-"), rule("*", "apps", "deployments", "web")];
        assert_eq!(missing(&held, &[rule("get", "", "pods,secrets", "-")]), Vec::<String>::new());
        assert_eq!(missing(&held, &[rule("patch", "apps", "deployments", "web")]), Vec::<String>::new());
        assert_eq!(
            missing(&held, &[rule("get,patch,delete", ",apps", "pods", "-")]),
            [
                r#"{APIGroups:[""], Resources:["pods"], Verbs:["patch" "delete"]}"#,
                r#"{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "patch" "delete"]}"#,
            ]
        );
        assert_eq!(
            missing(&held, &[rule("patch", "apps", "deployments", "-")]),
            [r#"{APIGroups:["apps"], Resources:["deployments"], Verbs:["patch"]}"#],
            "one name is not all of them"
        );
        let path = Rule { verbs: vec!["get".into()], paths: vec!["/metrics".into()], ..Rule::default() };
        assert_eq!(missing(&held, &[path]), [r#"{NonResourceURLs:["/metrics"], Verbs:["get"]}"#]);
        assert!(missing(&Rule::everything(), &Rule::everything()).is_empty());
    }
}
