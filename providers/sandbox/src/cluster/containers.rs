//! What becomes of a pod's containers by themselves: images that cannot be pulled, commands that end.
//!
//! A simulated node runs nothing. What a container would do is read from its image and command, so that a manifest that
//! fails on a real node fails here: a registry whose name ends in `.invalid` (which names no host, by RFC 2606) has no
//! images; `true`, `false`, `sleep N` and `sh -c` of these and of `exit N` end as they say. Everything else runs for ever.

use serde_json::Value;

use super::pod;
use crate::names::{ENDS_AFTER, EXIT_CODE};

/// How a container ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) after_ms: u64,
    pub(super) code: i64,
}

/// Whether an image can be pulled.
pub(super) fn can_pull(image: &str) -> bool {
    let host = image.split_once('/').map_or("", |(host, _)| host);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    !host.ends_with(".invalid")
}

/// How a container of a pod ends; none: never by itself.
pub(super) fn end(pod: &Value, container: &Value) -> Option<End> {
    let after = pod::duration(pod, ENDS_AFTER);
    let code = pod::annotation(pod, EXIT_CODE).and_then(|code| code.parse().ok());
    if after.is_some() || code.is_some() {
        return Some(End { after_ms: after.unwrap_or(0), code: code.unwrap_or(0) });
    }
    let words = ["command", "args"].into_iter().flat_map(|field| container[field].as_array().into_iter().flatten());
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    command(&words)
}

fn command(words: &[&str]) -> Option<End> {
    let (program, rest) = words.split_first()?;
    match (program.rsplit('/').next()?, rest) {
        ("sh" | "bash" | "ash" | "dash", ["-c" | "-ec" | "-euc", script]) => shell(script),
        _ => simple(words),
    }
}

/// A script of commands that are known, one after the other.
fn shell(script: &str) -> Option<End> {
    let mut end = End { after_ms: 0, code: 0 };
    let script = script.replace("&&", ";");
    for line in script.split([';', '\n']).map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words[0] == "exit" {
            end.code = words.get(1).map_or(Some(end.code), |code| code.parse().ok())?;
            return Some(end);
        }
        let one = simple(&words)?;
        end = End { after_ms: end.after_ms + one.after_ms, code: one.code };
    }
    Some(end)
}

fn simple(words: &[&str]) -> Option<End> {
    let (program, rest) = words.split_first()?;
    let end = |after_ms, code| Some(End { after_ms, code });
    match (program.rsplit('/').next()?, rest) {
        ("true" | "echo", _) => end(0, 0),
        ("false", _) => end(0, 1),
        ("sleep", [time]) => {
            let seconds: f64 =
                time.trim_end_matches('s').parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0)?;
            end((seconds * 1000.0) as u64, 0)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_end_as_they_say() {
        let check = |command: &[&str], expected: Option<(u64, i64)>| {
            let container = json!({"command": command});
            let found = end(&json!({}), &container).map(|end| (end.after_ms, end.code));
            assert_eq!(found, expected, "{command:?}");
        };
        check(&[], None);
        check(&["nginx"], None);
        check(&["/bin/true"], Some((0, 0)));
        check(&["false"], Some((0, 1)));
        check(&["sleep", "2"], Some((2000, 0)));
        check(&["sleep", "infinity"], None);
        check(&["sh", "-c", "exit 3"], Some((0, 3)));
        check(&["sh", "-c", "echo a b; sleep 1 && exit 4"], Some((1000, 4)));
        check(&["/bin/bash", "-c", "sleep 0.5\nfalse"], Some((500, 1)));
        check(&["sh", "-c", "train --epochs 3"], None);
    }

    #[test]
    fn annotations_come_first() {
        let pod = json!({"metadata": {"annotations": {"sandbox.sliceform.io/exit-code": "7"}}});
        assert_eq!(end(&pod, &json!({"command": ["true"]})), Some(End { after_ms: 0, code: 7 }));
    }

    #[test]
    fn no_host_ends_in_invalid() {
        assert!(can_pull("nginx") && can_pull("registry.example.com/a:1") && can_pull("invalid/a"));
        assert!(!can_pull("registry.invalid/a:1") && !can_pull("registry.invalid:5000/a"));
    }
}
