//! `modules`: which modules the configuration calls.

use engine_diag::Diagnostics;
use engine_modules::{Entry, Manifest};
use engine_value::json::Json;

use crate::{
    args::ModulesArgs,
    configuration,
    session::{Exit, Session, failed},
    view::diagnostic_json::{object, text},
};

pub(crate) fn list(session: &mut Session, args: &ModulesArgs) -> Exit {
    match called(session) {
        Ok(modules) => {
            let told = if args.json { format!("{}\n", as_json(&modules)) } else { as_tree(&modules) };
            session.print(&told);
            Exit::Success
        }
        Err(diagnostics) => session.fail(diagnostics),
    }
}

/// The root module and all that it calls, by their keys.
fn called(session: &mut Session) -> Result<Vec<Entry>, Diagnostics> {
    let (configuration, warnings) = configuration::load(session, &[])?;
    session.report(&warnings);
    let data = session.directory.join(session.data_directory());
    let installed = Manifest::read(&data)
        .map_err(|error| Diagnostics::from(failed("Cannot read the module manifest", &error)))?
        .unwrap_or_default();
    Ok(Manifest::of(&configuration.config, &installed).modules)
}

/// Terraform's shape (format 1.0).
fn as_json(modules: &[Entry]) -> Json {
    let one = |module: &Entry| {
        let version = module.version.as_deref().unwrap_or_default();
        object([("key", text(&module.key)), ("source", text(&module.source)), ("version", text(version))])
    };
    let modules = modules.iter().filter(|module| !module.key.is_empty()).map(one).collect();
    object([("format_version", text("1.0")), ("modules", Json::Array(modules))])
}

fn as_tree(modules: &[Entry]) -> String {
    if modules.len() < 2 {
        return "No modules found in configuration.\n".to_owned();
    }
    let mut out = "\nModules declared by configuration:\n.\n".to_owned();
    branches(modules, "", "", &mut out);
    out.push('\n');
    out
}

/// The modules that one calls, each with those that it calls.
fn branches(modules: &[Entry], caller: &str, before: &str, out: &mut String) {
    let callees: Vec<(&Entry, &str)> = modules
        .iter()
        .filter_map(|module| {
            let (path, name) = module.key.rsplit_once('.').unwrap_or(("", &module.key));
            (path == caller && !name.is_empty()).then_some((module, name))
        })
        .collect();
    for (at, (module, name)) in callees.iter().enumerate() {
        let last = at + 1 == callees.len();
        let (branch, below) = if last { ("└── ", "    ") } else { ("├── ", "│   ") };
        let version = module.version.as_ref().map_or(String::new(), |version| format!(" {version}"));
        out.push_str(&format!("{before}{branch}\"{name}\"[{}]{version}\n", module.source));
        branches(modules, &module.key, &format!("{before}{below}"), out);
    }
}
