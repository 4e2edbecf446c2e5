//! `~/.netrc`, or the file that `NETRC` names: users and passwords by host, as curl and Go's tools read them.

use std::{collections::BTreeMap, fs, path::Path};

#[derive(Clone, Default)]
pub(crate) struct Netrc {
    /// The first entry of a host counts.
    machines: BTreeMap<String, String>,
    default: Option<String>,
}

impl Netrc {
    pub(super) fn read(variables: &BTreeMap<String, String>, home: Option<&Path>) -> Self {
        let named = variables.get("NETRC").filter(|path| !path.is_empty()).map(Into::into);
        let path = named.or_else(|| home.map(|home| home.join(".netrc")));
        // A file that cannot be read says nothing: the server will ask who we are.
        path.and_then(|path| fs::read_to_string(path).ok()).map_or_else(Self::default, |text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut netrc = Self::default();
        // A macro goes to the next empty line.
        let mut in_macro = false;
        let lines = text.lines().filter(|line| {
            if line.split_whitespace().next() == Some("macdef") {
                in_macro = true;
            }
            if line.trim().is_empty() {
                in_macro = false;
            }
            !in_macro && !line.trim_start().starts_with('#')
        });
        let lines: Vec<&str> = lines.collect();
        let mut words = lines.iter().flat_map(|line| line.split_whitespace()).peekable();
        while let Some(word) = words.next() {
            let host = match word {
                "machine" => words.next(),
                "default" => None,
                _ => continue,
            };
            let (mut login, mut password) = ("", "");
            while let Some(field) = words.next_if(|word| !matches!(*word, "machine" | "default")) {
                match field {
                    "login" => login = words.next().unwrap_or_default(),
                    "password" => password = words.next().unwrap_or_default(),
                    _ => {}
                }
            }
            let pair = format!("{login}:{password}");
            match host {
                Some(host) => drop(netrc.machines.entry(host.to_ascii_lowercase()).or_insert(pair)),
                None => netrc.default = netrc.default.or(Some(pair)),
            }
        }
        netrc
    }

    /// `user:password` for a host.
    pub(crate) fn of(&self, host: &str) -> Option<String> {
        let host = host.to_ascii_lowercase();
        self.machines.get(&host).or(self.default.as_ref()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_host() {
        let netrc = Netrc::parse(
            "# mine\nmachine a.example.com login u password p\nmachine B.example.com\n  login v\n  account x\n  \
             password machine1\nmacdef init\nmachine evil login a password b\n\nmachine a.example.com login late \
             password late\n",
        );
        for (host, expected) in
            [("a.example.com", Some("u:p")), ("b.example.com", Some("v:machine1")), ("evil", None), ("c", None)]
        {
            assert_eq!(netrc.of(host).as_deref(), expected, "{host}");
        }
        assert_eq!(Netrc::parse("default login d password e").of("any").as_deref(), Some("d:e"));
        for broken in ["", "machine", "machine a login", "password"] {
            Netrc::parse(broken);
        }
    }
}
