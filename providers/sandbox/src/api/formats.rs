//! The formats of strings that Kubernetes checks, by their names without dashes. Unknown ones are no format at all.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

use base64::Engine as _;
use regex::Regex;

/// Whether a text has a format; `None` for a format that is not checked.
pub(super) fn has_format(text: &str, format: &str) -> Option<bool> {
    Some(match format.replace('-', "").as_str() {
        "byte" => text.is_empty() || base64::engine::general_purpose::STANDARD.decode(text).is_ok(),
        "date" => text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok(),
        "datetime" => text.contains(['T', 't']) && text.parse::<jiff::Timestamp>().is_ok(),
        "duration" => is_duration(text),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hostname" => is_hostname(text),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some('3')),
        "uuid4" => is_uuid(text, Some('4')) && has_variant(text),
        "uuid5" => is_uuid(text, Some('5')) && has_variant(text),
        "k8sshortname" => text.len() <= 63 && is_name(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_name),
        "hexcolor" => matches(text, r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$", {
            static HEX: OnceLock<Regex> = OnceLock::new();
            &HEX
        }),
        "ssn" => matches(text, r"^\d{3}[- ]?\d{2}[- ]?\d{4}$", {
            static SSN: OnceLock<Regex> = OnceLock::new();
            &SSN
        }),
        _ => return None,
    })
}

fn matches(text: &str, pattern: &str, cell: &'static OnceLock<Regex>) -> bool {
    cell.get_or_init(|| Regex::new(pattern).expect("the patterns of this file are regular expressions")).is_match(text)
}

/// Go's durations, and Scala's: a number and a unit's name (`5 minutes`).
fn is_duration(text: &str) -> bool {
    static GO: OnceLock<Regex> = OnceLock::new();
    static SCALA: OnceLock<Regex> = OnceLock::new();
    matches(text, r"^[+-]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$", &GO)
        || matches(
            text,
            r"^\s*(\d+)\s*(ns|nano|nanos|nanosecond|nanoseconds|us|µs|micro|micros|microsecond|microseconds|ms|milli|millis|millisecond|milliseconds|s|sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hrs|hour|hours|d|day|days|w|wk|wks|week|weeks)\s*$",
            &SCALA,
        )
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = if address.parse::<Ipv4Addr>().is_ok() {
        32
    } else if address.parse::<Ipv6Addr>().is_ok() {
        128
    } else {
        return false;
    };
    length.parse::<u8>().is_ok_and(|length| length <= most) && !length.starts_with('+')
}

/// What may stand in a request: an absolute URI or an absolute path.
fn is_uri(text: &str) -> bool {
    let printable = !text.chars().any(|character| character.is_control() || character == ' ');
    let scheme = text.split_once(':').is_some_and(|(scheme, rest)| {
        let mut characters = scheme.chars();
        characters.next().is_some_and(|first| first.is_ascii_alphabetic())
            && characters.all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one))
            && !rest.is_empty()
    });
    printable && (text.starts_with('/') || scheme)
}

/// An address, or a name with an address in angle brackets.
fn is_email(text: &str) -> bool {
    let address = match text.split_once('<') {
        Some((_, rest)) => rest.trim_end().strip_suffix('>').unwrap_or_default(),
        None => text.trim(),
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let is_plain = |part: &str| {
        !part.is_empty() && !part.contains(|one: char| one.is_whitespace() || "()<>[]:;,\\\"".contains(one))
    };
    let dots = |part: &str| part.split('.').all(|atom| !atom.is_empty());
    is_plain(local) && !local.contains('@') && dots(local) && is_plain(domain) && dots(domain)
}

fn is_hostname(text: &str) -> bool {
    static HOST: OnceLock<Regex> = OnceLock::new();
    text.len() <= 255
        && text.split('.').all(|label| label.len() <= 63)
        && matches(
            text,
            r"^[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9_-]*[a-zA-Z0-9])?)*\.?$",
            &HOST,
        )
}

/// Six, eight or twenty bytes.
fn is_mac(text: &str) -> bool {
    let is_hex = |part: &str, digits: usize| part.len() == digits && part.chars().all(|one| one.is_ascii_hexdigit());
    let by = |separator: char, digits: usize, counts: [usize; 3]| {
        let parts: Vec<&str> = text.split(separator).collect();
        counts.contains(&parts.len()) && parts.iter().all(|part| is_hex(part, digits))
    };
    by(':', 2, [6, 8, 20]) || by('-', 2, [6, 8, 20]) || by('.', 4, [3, 4, 10])
}

/// 32 hexadecimal digits with dashes in their places or without; the version is the thirteenth digit.
fn is_uuid(text: &str, version: Option<char>) -> bool {
    static UUID: OnceLock<Regex> = OnceLock::new();
    let pattern = r"^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
    matches(text, pattern, &UUID) && version.is_none_or(|version| digit(text, 12) == Some(version))
}

fn has_variant(text: &str) -> bool {
    digit(text, 16).is_some_and(|digit| "89abAB".contains(digit))
}

fn digit(text: &str, index: usize) -> Option<char> {
    text.chars().filter(|one| *one != '-').nth(index)
}

fn is_name(text: &str) -> bool {
    let is_inner = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit();
    text.starts_with(is_inner) && text.ends_with(is_inner) && text.chars().all(|one| is_inner(one) || one == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised() {
        for (format, good, bad) in [
            ("date-time", &["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.1+02:00"][..], &["2026-01-02", "now"][..]),
            ("date", &["2026-01-02"], &["2026-1-2", "2026-13-01", "2026-01-02T00:00:00Z"]),
            ("duration", &["1h30m", "0", "1.5s", "-2m", "5 minutes"], &["1", "", "5 parsecs"]),
            ("ipv4", &["10.0.0.1"], &["10.0.0", "::1"]),
            ("ipv6", &["::1"], &["10.0.0.1"]),
            ("cidr", &["10.0.0.0/8", "fd00::/64"], &["10.0.0.0", "10.0.0.0/33"]),
            ("uri", &["https://example.com/a", "/a", "oci://x"], &["a", "", "https://a b"]),
            ("email", &["a@example.com", "A <a@example.com>"], &["a", "a@", "a b@example.com"]),
            ("hostname", &["example.com", "a"], &["-a", "a..b", ""]),
            ("mac", &["00:11:22:33:44:55", "0011.2233.4455"], &["00:11", "0g:11:22:33:44:55"]),
            ("uuid", &["b3e0a2c4-9d7f-4c6e-8f1a-0123456789ab"], &["b3e0", ""]),
            ("uuid4", &["b3e0a2c4-9d7f-4c6e-8f1a-0123456789ab"], &["b3e0a2c4-9d7f-5c6e-8f1a-0123456789ab"]),
            ("byte", &["aGk=", ""], &["***"]),
            ("k8s-short-name", &["a-1"], &["A", "a.b"]),
            ("k8s-long-name", &["a.b-1"], &["a..b", "-a"]),
        ] {
            for (texts, expected) in [(good, true), (bad, false)] {
                for text in texts {
                    assert_eq!(has_format(text, format), Some(expected), "{format}: {text:?}");
                }
            }
        }
        assert_eq!(has_format("x", "int32"), None);
        assert_eq!(has_format("x", "password"), None);
    }
}
