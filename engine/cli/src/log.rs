//! `TF_LOG`: what a run did, for whoever looks for a fault. Never a value: values may be secret.

use std::{fmt::Arguments, fs::OpenOptions, io::Write, path::Path, sync::Arc};

use engine_model::host::Host;
use engine_value::json::Json;

use crate::{
    environment::{Environment, Shared},
    view::diagnostic_json::{object, text},
};

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warn => "WARN",
            Self::Info => "INFO",
            Self::Debug => "DEBUG",
            Self::Trace => "TRACE",
        }
    }
}

/// Where the log goes, if anybody wants one.
#[derive(Clone)]
pub(crate) struct Log {
    to: Option<Shared>,
    level: Level,
    json: bool,
    host: Arc<dyn Host>,
}

impl Log {
    /// As `TF_LOG` says: a level, `json` for all in JSON, `off`; in `TF_LOG_PATH`, else to standard error. The error is what
    /// to tell about a path that cannot be written.
    pub(crate) fn new(env: &Environment, stderr: &Shared, host: &Arc<dyn Host>) -> (Self, Option<String>) {
        let variable = |name: &str| env.variables.get(name).filter(|value| !value.is_empty());
        let wanted = variable("TF_LOG").map(|value| value.to_ascii_uppercase());
        let level = match wanted.as_deref() {
            Some("ERROR") => Level::Error,
            Some("WARN") => Level::Warn,
            Some("INFO") => Level::Info,
            Some("DEBUG") => Level::Debug,
            // As in Terraform: what is no level asks for everything.
            _ => Level::Trace,
        };
        let json = wanted.as_deref() == Some("JSON");
        let mut log = Self { to: None, level, json, host: host.clone() };
        if wanted.is_none_or(|wanted| wanted == "OFF") {
            return (log, None);
        }
        log.to = Some(stderr.clone());
        let Some(path) = variable("TF_LOG_PATH") else { return (log, None) };
        match OpenOptions::new().append(true).create(true).open(Path::new(&env.directory).join(path)) {
            Ok(file) => {
                log.to = Some(Shared::new(file));
                (log, None)
            }
            Err(error) => (log, Some(format!("{path}: {error}"))),
        }
    }

    /// Writes one line.
    pub(crate) fn write(&self, level: Level, message: Arguments<'_>) {
        let Some(to) = self.to.as_ref().filter(|_| level <= self.level) else { return };
        let time = engine_lang::functions::rfc3339(self.host.now());
        let line = if self.json {
            let line: Json = object([
                ("@level", text(&level.name().to_ascii_lowercase())),
                ("@message", text(&message.to_string())),
                ("@timestamp", text(&time)),
            ]);
            format!("{line}\n")
        } else {
            format!("{time} [{}] {}{message}\n", level.name(), if level.name().len() == 4 { " " } else { "" })
        };
        let _ = to.clone().write_all(line.as_bytes());
    }

    pub(crate) fn info(&self, message: Arguments<'_>) {
        self.write(Level::Info, message);
    }

    pub(crate) fn debug(&self, message: Arguments<'_>) {
        self.write(Level::Debug, message);
    }
}

/// The arguments without values of variables.
pub(crate) fn arguments(args: &[std::ffi::OsString]) -> Vec<String> {
    let mut hidden = false;
    let one = |arg: &std::ffi::OsString| {
        let text = arg.to_string_lossy().into_owned();
        let name = text.trim_start_matches('-');
        let is_option = text.starts_with('-');
        if std::mem::replace(&mut hidden, is_option && name == "var") {
            return named(&text);
        }
        match name.split_once('=') {
            Some(("var", value)) if is_option => format!("-var={}", named(value)),
            _ => text,
        }
    };
    args.iter().map(one).collect()
}

/// `NAME=VALUE` without the value.
fn named(text: &str) -> String {
    format!("{}=…", text.split_once('=').map_or("", |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_variables_are_not_told() {
        let args = ["sliceform", "plan", "-var", "a=secret", "-var=b=secret", "--var", "secret", "-out=p"];
        let told = arguments(&args.map(Into::into));
        assert_eq!(told, ["sliceform", "plan", "-var", "a=…", "-var=b=…", "--var", "=…", "-out=p"]);
    }
}
