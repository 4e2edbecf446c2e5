//! What the containers of pods have written. Simulated containers write what their pod's annotations say, when they start;
//! nothing else.

use serde_json::Value;

use super::object::{self, items, text};
use super::read;
use super::request::Request;
use super::resource::Resource;
use super::status::Failure;
use crate::names::{LOG, PREVIOUS_LOG};

/// What of a log is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct LogOptions {
    pub(super) container: String,
    pub(super) previous: bool,
    pub(super) timestamps: bool,
    pub(super) tail_lines: Option<usize>,
    pub(super) limit_bytes: Option<usize>,
    pub(super) since_seconds: Option<i64>,
}

/// `GET` on `pods/NAME/log`.
pub(super) fn get(request: &Request<'_>, resource: &Resource) -> Result<String, Failure> {
    let pod = read::get(request, resource)?;
    let options = &request.options.log;
    let container = container(&pod, &options.container)?;
    let started = started(&pod, container, options.previous)?;
    let annotation = if options.previous { PREVIOUS_LOG } else { LOG };
    let of_pod = |name: &str| pod["metadata"]["annotations"].get(name).and_then(Value::as_str);
    let log = of_pod(&format!("{annotation}.{container}")).or_else(|| of_pod(annotation)).unwrap_or_default();
    let mut lines: Vec<&str> = log.lines().collect();
    let age = started.parse::<jiff::Timestamp>().map(|started| request.now.duration_since(started).as_secs());
    if let (Some(since), Ok(age)) = (options.since_seconds, age)
        && age > since
    {
        lines.clear();
    }
    let skip = options.tail_lines.map_or(0, |tail| lines.len().saturating_sub(tail));
    let stamp = if options.timestamps { format!("{started} ") } else { String::new() };
    let mut written: String = lines[skip..].iter().map(|line| format!("{stamp}{line}\n")).collect();
    if let Some(limit) = options.limit_bytes.filter(|limit| *limit < written.len()) {
        let end = (0..=limit).rev().find(|end| written.is_char_boundary(*end)).unwrap_or_default();
        written.truncate(end);
    }
    Ok(written)
}

/// The container that is meant: the one of this name, or the only one.
fn container<'p>(pod: &'p Value, wanted: &str) -> Result<&'p str, Failure> {
    let name = object::name(pod);
    let names = |pointer| items(pod, pointer).map(|container| text(container, "/name")).collect::<Vec<_>>();
    let (containers, first) = (names("/spec/containers"), names("/spec/initContainers"));
    match (wanted, containers.as_slice()) {
        ("", [only]) => Ok(only),
        ("", _) => Err(Failure::bad_request(format!(
            "a container name must be specified for pod {name}, choose one of: [{}]{}",
            containers.join(" "),
            if first.is_empty() {
                String::new()
            } else {
                format!(" or one of the init containers: [{}]", first.join(" "))
            },
        ))),
        (wanted, _) => {
            let found = containers.iter().chain(&first).find(|name| **name == wanted);
            found
                .copied()
                .ok_or_else(|| Failure::bad_request(format!("container {wanted} is not valid for pod {name}")))
        }
    }
}

/// When the container, or its run before that, was started.
fn started<'p>(pod: &'p Value, container: &str, previous: bool) -> Result<&'p str, Failure> {
    let name = object::name(pod);
    let statuses = ["/status/containerStatuses", "/status/initContainerStatuses"];
    let mut statuses = statuses.iter().flat_map(|pointer| items(pod, pointer));
    let status = statuses.find(|status| text(status, "/name") == container);
    if previous {
        return status.and_then(|status| status.pointer("/lastState/terminated")).map_or_else(
            || {
                let why = format!("previous terminated container {container:?} in pod {name:?} not found");
                Err(Failure::bad_request(why))
            },
            |run| Ok(text(run, "/startedAt")),
        );
    }
    let run = status.and_then(|status| {
        let state = |state: &str| status.pointer(&format!("/state/{state}"));
        state("running").or_else(|| state("terminated")).or_else(|| status.pointer("/lastState/terminated"))
    });
    run.map(|run| text(run, "/startedAt")).ok_or_else(|| {
        let waiting = status.map(|status| text(status, "/state/waiting/reason")).filter(|reason| !reason.is_empty());
        let reason = waiting.unwrap_or("ContainerCreating");
        match text(pod, "/spec/nodeName") {
            "" => Failure::bad_request(format!("pod {name} does not have a host assigned")),
            _ => Failure::bad_request(format!("container {container:?} in pod {name:?} is waiting to start: {reason}")),
        }
    })
}
