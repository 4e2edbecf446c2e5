//! The query parameters of a request.

use std::time::Duration;

use super::logs::LogOptions;
use super::status::Failure;

/// What to do about fields that the schema does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldValidation {
    Ignore,
    Warn,
    Strict,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) dry_run: bool,
    pub(super) field_manager: Option<String>,
    pub(super) force: bool,
    pub(super) field_validation: FieldValidation,
    pub(super) label_selector: String,
    pub(super) field_selector: String,
    pub(super) resource_version: String,
    pub(super) resource_version_match: String,
    pub(super) limit: usize,
    pub(super) continue_at: String,
    pub(super) watch: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) bookmarks: bool,
    pub(super) send_initial_events: bool,
    pub(super) include_object: String,
    /// Options of a deletion that came in the query and not in the body.
    pub(super) propagation: Option<String>,
    pub(super) grace_seconds: Option<i64>,
    pub(super) log: LogOptions,
}

/// Whether the query has a flag that is not a denial.
pub(super) fn has_flag(uri: &http::Uri, name: &str) -> bool {
    pairs(uri).is_ok_and(|pairs| flag(last(&pairs, name)))
}

/// Whether the query gives a name this value.
pub(super) fn has_value(uri: &http::Uri, name: &str, value: &str) -> bool {
    pairs(uri).is_ok_and(|pairs| last(&pairs, name) == Some(value))
}

fn pairs(uri: &http::Uri) -> Result<Vec<(String, String)>, Failure> {
    axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map(|query| query.0)
        .map_err(|error| Failure::bad_request(format!("the query cannot be read: {error}")))
}

fn last<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    pairs.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Present without a value, or with one that is not a denial, means yes (as in Go's conversion).
fn flag(value: Option<&str>) -> bool {
    value.is_some_and(|value| !["false", "0"].contains(&value))
}

impl Options {
    /// Reads the query of a URI.
    pub(super) fn parse(uri: &http::Uri) -> Result<Options, Failure> {
        let pairs = pairs(uri)?;
        let last = |name: &str| last(&pairs, name);
        let text = |name: &str| last(name).unwrap_or_default().to_owned();
        let flag = |name: &str| flag(last(name));
        let number = |name: &str| -> Result<Option<i64>, Failure> {
            match last(name).unwrap_or_default() {
                "" => Ok(None),
                value => {
                    let number = value.parse();
                    number.map(Some).map_err(|_| Failure::bad_request(format!("{name}: {value:?} is not a number")))
                }
            }
        };
        let is_wrong = |(key, value): &&(String, String)| key == "dryRun" && !["All", ""].contains(&value.as_str());
        if let Some((_, value)) = pairs.iter().find(is_wrong) {
            return Err(Failure::bad_request(format!("invalid dryRun value {value:?}: supported values: \"All\"")));
        }
        let field_manager = last("fieldManager").filter(|name| !name.is_empty()).map(str::to_owned);
        if field_manager.as_ref().is_some_and(|name| name.len() > 128 || name.chars().any(char::is_control)) {
            return Err(Failure::bad_request("fieldManager must be at most 128 printable characters"));
        }
        Ok(Options {
            dry_run: last("dryRun") == Some("All"),
            field_manager,
            force: flag("force"),
            field_validation: match text("fieldValidation").as_str() {
                "Ignore" => FieldValidation::Ignore,
                "" | "Warn" => FieldValidation::Warn,
                "Strict" => FieldValidation::Strict,
                other => {
                    let message = format!(
                        "invalid fieldValidation {other:?}: supported values: \"Ignore\", \"Strict\", \"Warn\""
                    );
                    return Err(Failure::bad_request(message));
                }
            },
            label_selector: text("labelSelector"),
            field_selector: text("fieldSelector"),
            resource_version: text("resourceVersion"),
            resource_version_match: text("resourceVersionMatch"),
            limit: number("limit")?.and_then(|limit| usize::try_from(limit).ok()).unwrap_or_default(),
            continue_at: text("continue"),
            watch: flag("watch"),
            timeout: number("timeoutSeconds")?
                .and_then(|seconds| u64::try_from(seconds).ok())
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            bookmarks: flag("allowWatchBookmarks"),
            send_initial_events: flag("sendInitialEvents"),
            include_object: text("includeObject"),
            propagation: last("propagationPolicy").map(str::to_owned),
            grace_seconds: number("gracePeriodSeconds")?,
            log: LogOptions {
                container: text("container"),
                previous: flag("previous"),
                timestamps: flag("timestamps"),
                tail_lines: number("tailLines")?.and_then(|lines| usize::try_from(lines).ok()),
                limit_bytes: number("limitBytes")?.and_then(|bytes| usize::try_from(bytes).ok()),
                since_seconds: number("sinceSeconds")?,
            },
        })
    }
}
