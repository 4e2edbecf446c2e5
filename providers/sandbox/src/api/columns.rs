//! The columns that `kubectl get` shows: those of the built-in kinds, and how a cell is found and printed.

use jiff::Timestamp;
use serde_json::Value;

use super::jsonpath::JsonPath;
use super::object::{entries, is_terminating, items, name, text};

/// One column of a table.
pub(super) struct Column {
    pub(super) name: String,
    /// `string`, `integer`, `date`, …
    pub(super) kind: String,
    pub(super) format: String,
    pub(super) description: String,
    /// 0 is always shown, more only with `-o wide`.
    pub(super) priority: i64,
    pub(super) cell: Cell,
}

/// How a cell is found.
pub(super) enum Cell {
    /// By a definition's path.
    Path(JsonPath),
    /// By what a built-in kind means.
    Computed(fn(&Value, Timestamp) -> Value),
}

/// A column of a built-in kind.
pub(super) struct BuiltinColumn {
    name: &'static str,
    kind: &'static str,
    priority: i64,
    cell: fn(&Value, Timestamp) -> Value,
}

const fn column(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> BuiltinColumn {
    BuiltinColumn { name, kind: "string", priority: 0, cell }
}

const fn wide(name: &'static str, cell: fn(&Value, Timestamp) -> Value) -> BuiltinColumn {
    BuiltinColumn { name, kind: "string", priority: 1, cell }
}

const NAME: BuiltinColumn = column("Name", |object, _| name(object).into());
const AGE: BuiltinColumn = column("Age", |object, now| age(text(object, "/metadata/creationTimestamp"), now).into());
const CREATED: BuiltinColumn = column("Created At", |object, _| text(object, "/metadata/creationTimestamp").into());

pub(super) const NAME_AND_AGE: &[BuiltinColumn] = &[NAME, AGE];
pub(super) const CREATED_AT: &[BuiltinColumn] = &[NAME, CREATED];
pub(super) const NAMESPACE: &[BuiltinColumn] =
    &[NAME, column("Status", |object, _| text(object, "/status/phase").into()), AGE];
pub(super) const CONFIG_MAP: &[BuiltinColumn] = &[
    NAME,
    column("Data", |object, _| {
        (entries(object, "/data").count() + entries(object, "/binaryData").count()).to_string().into()
    }),
    AGE,
];
pub(super) const SECRET: &[BuiltinColumn] = &[
    NAME,
    column("Type", |object, _| text(object, "/type").into()),
    column("Data", |object, _| entries(object, "/data").count().to_string().into()),
    AGE,
];
pub(super) const NODE: &[BuiltinColumn] = &[
    NAME,
    column("Status", |object, _| node_status(object).into()),
    column("Roles", |object, _| node_roles(object).into()),
    AGE,
    column("Version", |object, _| text(object, "/status/nodeInfo/kubeletVersion").into()),
    wide("Internal-IP", |object, _| node_address(object, "InternalIP").into()),
    wide("External-IP", |object, _| node_address(object, "ExternalIP").into()),
    wide("OS-Image", |object, _| or_unknown(text(object, "/status/nodeInfo/osImage")).into()),
    wide("Kernel-Version", |object, _| or_unknown(text(object, "/status/nodeInfo/kernelVersion")).into()),
    wide("Container-Runtime", |object, _| or_unknown(text(object, "/status/nodeInfo/containerRuntimeVersion")).into()),
];
pub(super) const POD: &[BuiltinColumn] = &[
    NAME,
    column("Ready", |object, _| {
        let ready =
            items(object, "/status/containerStatuses").filter(|status| status.get("ready") == Some(&Value::Bool(true)));
        format!("{}/{}", ready.count(), items(object, "/spec/containers").count()).into()
    }),
    column("Status", |object, _| pod_status(object).into()),
    column("Restarts", |object, _| {
        let restarts =
            items(object, "/status/containerStatuses").filter_map(|status| status.get("restartCount")?.as_i64());
        restarts.sum::<i64>().to_string().into()
    }),
    AGE,
    wide("IP", |object, _| or_none(text(object, "/status/podIP")).into()),
    wide("Node", |object, _| or_none(text(object, "/spec/nodeName")).into()),
    wide("Nominated Node", |object, _| or_none(text(object, "/status/nominatedNodeName")).into()),
    wide("Readiness Gates", |_, _| "<none>".into()),
];
pub(super) const RESOURCE_QUOTA: &[BuiltinColumn] = &[
    NAME,
    column("Request", |object, _| quota_amounts(object, |name| !name.starts_with("limits.")).into()),
    column("Limit", |object, _| quota_amounts(object, |name| name.starts_with("limits.")).into()),
    AGE,
];
pub(super) const DEPLOYMENT: &[BuiltinColumn] = &[
    NAME,
    column("Ready", |object, _| {
        format!("{}/{}", number(object, "/status/readyReplicas"), number(object, "/spec/replicas")).into()
    }),
    column("Up-to-date", |object, _| number(object, "/status/updatedReplicas").to_string().into()),
    column("Available", |object, _| number(object, "/status/availableReplicas").to_string().into()),
    AGE,
];
pub(super) const REPLICA_SET: &[BuiltinColumn] = &[
    NAME,
    column("Desired", |object, _| number(object, "/spec/replicas").to_string().into()),
    column("Current", |object, _| number(object, "/status/replicas").to_string().into()),
    column("Ready", |object, _| number(object, "/status/readyReplicas").to_string().into()),
    AGE,
];
pub(super) const JOB: &[BuiltinColumn] = &[
    NAME,
    column("Status", |object, _| {
        let holds = |kind: &&str| {
            items(object, "/status/conditions")
                .any(|condition| text(condition, "/type") == *kind && text(condition, "/status") == "True")
        };
        // The end counts before what led to it.
        let kinds = ["Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"];
        kinds.into_iter().find(holds).unwrap_or("Running").into()
    }),
    column("Completions", |object, _| {
        format!("{}/{}", number(object, "/status/succeeded"), number(object, "/spec/completions")).into()
    }),
    AGE,
];
pub(super) const LEASE: &[BuiltinColumn] =
    &[NAME, column("Holder", |object, _| text(object, "/spec/holderIdentity").into()), AGE];
pub(super) const POD_DISRUPTION_BUDGET: &[BuiltinColumn] = &[
    NAME,
    column("Min Available", |object, _| or_not_applicable(object.pointer("/spec/minAvailable"))),
    column("Max Unavailable", |object, _| or_not_applicable(object.pointer("/spec/maxUnavailable"))),
    column("Allowed Disruptions", |object, _| number(object, "/status/disruptionsAllowed").to_string().into()),
    AGE,
];
pub(super) const ROLE_BINDING: &[BuiltinColumn] = &[
    NAME,
    column("Role", |object, _| format!("{}/{}", text(object, "/roleRef/kind"), text(object, "/roleRef/name")).into()),
    AGE,
];
pub(super) const PRIORITY_CLASS: &[BuiltinColumn] = &[
    NAME,
    column("Value", |object, _| number(object, "/value").to_string().into()),
    column("Global-Default", |object, _| (object.get("globalDefault") == Some(&Value::Bool(true))).to_string().into()),
    AGE,
    column("PreemptionPolicy", |object, _| text(object, "/preemptionPolicy").into()),
];
pub(super) const EVENT: &[BuiltinColumn] = &[
    column("Last Seen", |object, now| {
        let times = ["/lastTimestamp", "/eventTime", "/firstTimestamp"];
        let seen = times.iter().map(|pointer| text(object, pointer)).find(|time| !time.is_empty());
        age(seen.unwrap_or_default(), now).into()
    }),
    column("Type", |object, _| text(object, "/type").into()),
    column("Reason", |object, _| text(object, "/reason").into()),
    column("Object", |object, _| {
        let kind = text(object, "/involvedObject/kind").to_lowercase();
        format!("{kind}/{}", text(object, "/involvedObject/name")).into()
    }),
    column("Message", |object, _| text(object, "/message").into()),
];

/// The columns of a built-in kind.
pub(super) fn of_builtin(columns: &'static [BuiltinColumn]) -> Vec<Column> {
    columns
        .iter()
        .map(|column| Column {
            name: column.name.to_owned(),
            kind: column.kind.to_owned(),
            format: if column.name == "Name" { "name".to_owned() } else { String::new() },
            description: String::new(),
            priority: column.priority,
            cell: Cell::Computed(column.cell),
        })
        .collect()
}

/// The columns of a version of a custom resource definition, behind its name; without any, name and age.
pub(super) fn of_definition(version: &Value) -> Vec<Column> {
    let mut columns = of_builtin(&[NAME]);
    let own = items(version, "/additionalPrinterColumns").filter_map(|column| {
        Some(Column {
            name: text(column, "/name").to_owned(),
            kind: text(column, "/type").to_owned(),
            format: text(column, "/format").to_owned(),
            description: text(column, "/description").to_owned(),
            priority: column.get("priority").and_then(Value::as_i64).unwrap_or_default(),
            cell: Cell::Path(JsonPath::parse(text(column, "/jsonPath"))?),
        })
    });
    columns.extend(own);
    if columns.len() == 1 {
        columns.extend(of_builtin(&[AGE]));
    }
    columns
}

/// The cell of an object in a column.
pub(super) fn cell(column: &Column, object: &Value, now: Timestamp) -> Value {
    match &column.cell {
        Cell::Computed(compute) => compute(object, now),
        Cell::Path(path) => {
            let found = path.find(object);
            match (column.kind.as_str(), found.as_slice()) {
                (_, []) => Value::Null,
                ("date", [value, ..]) => age(value.as_str().unwrap_or_default(), now).into(),
                ("string", values) => {
                    let texts: Vec<String> = values
                        .iter()
                        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                        .collect();
                    texts.join(" ").into()
                }
                (_, [value, ..]) => (*value).clone(),
            }
        }
    }
}

/// The time since `then` (RFC 3339), as kubectl writes it.
pub(super) fn age(then: &str, now: Timestamp) -> String {
    let Ok(then) = then.parse::<Timestamp>() else { return "<unknown>".to_owned() };
    let seconds = now.duration_since(then).as_secs().max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let pair = |whole: i64, unit: char, rest: i64, small: char| match rest {
        0 => format!("{whole}{unit}"),
        rest => format!("{whole}{unit}{rest}{small}"),
    };
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => pair(minutes, 'm', seconds % 60, 's'),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => pair(hours, 'h', minutes % 60, 'm'),
        () if hours < 48 => format!("{hours}h"),
        () if hours < 192 => pair(days, 'd', hours % 24, 'h'),
        () if days < 730 => format!("{days}d"),
        () if days < 2920 => pair(days / 365, 'y', days % 365, 'd'),
        () => format!("{}y", days / 365),
    }
}

fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or_default()
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "<none>" } else { text }
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "<unknown>" } else { text }
}

fn or_not_applicable(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => text.as_str().into(),
        Some(value) => value.to_string().into(),
        None => "N/A".into(),
    }
}

fn node_status(node: &Value) -> String {
    let ready = items(node, "/status/conditions").find(|condition| text(condition, "/type") == "Ready");
    let mut status = match ready.map(|condition| text(condition, "/status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if node.pointer("/spec/unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    status
}

fn node_roles(node: &Value) -> String {
    let roles: Vec<&str> = entries(node, "/metadata/labels")
        .filter_map(|(label, _)| label.strip_prefix("node-role.kubernetes.io/"))
        .filter(|role| !role.is_empty())
        .collect();
    if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") }
}

fn node_address<'a>(node: &'a Value, kind: &str) -> &'a str {
    let address = items(node, "/status/addresses").find(|address| text(address, "/type") == kind);
    or_none(address.map_or("", |address| text(address, "/address")))
}

fn pod_status(pod: &Value) -> String {
    if is_terminating(pod) {
        return "Terminating".to_owned();
    }
    let waiting = items(pod, "/status/containerStatuses").find_map(|status| {
        ["waiting", "terminated"]
            .iter()
            .map(|state| text(status, &format!("/state/{state}/reason")))
            .find(|reason| !reason.is_empty())
    });
    match (text(pod, "/status/reason"), waiting) {
        ("", Some(reason)) => reason.to_owned(),
        ("", None) => text(pod, "/status/phase").to_owned(),
        (reason, _) => reason.to_owned(),
    }
}

fn quota_amounts(quota: &Value, belongs: fn(&str) -> bool) -> String {
    let amounts: Vec<String> = entries(quota, "/status/hard")
        .filter(|(name, _)| belongs(name))
        .map(|(name, hard)| {
            let used = quota.pointer("/status/used").and_then(|used| used.get(name)).and_then(Value::as_str);
            format!("{name}: {}/{}", used.unwrap_or("0"), hard.as_str().unwrap_or_default())
        })
        .collect();
    amounts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_as_kubectl_writes_them() {
        let now: Timestamp = "2026-06-01T00:00:00Z".parse().unwrap();
        for (seconds, written) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (3 * 3600, "3h"),
            (3 * 3600 + 240, "3h4m"),
            (9 * 3600, "9h"),
            (50 * 3600, "2d2h"),
            (10 * 86_400, "10d"),
            (800 * 86_400, "2y70d"),
        ] {
            let then = now - jiff::SignedDuration::from_secs(seconds);
            assert_eq!(age(&then.to_string(), now), written);
        }
        assert_eq!(age("", now), "<unknown>");
    }
}
