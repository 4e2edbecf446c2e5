//! `validate`: checks the configuration without asking anybody.

use engine_diag::{Diagnostics, Severity, Sources};
use engine_plan::{Providers, validate};
use engine_value::json::{self, Json};

use crate::{
    args::ValidateArgs,
    compiled, configuration, foreign, planning,
    session::{Exit, Session},
    view::diagnostic_json::{self, number, object},
};

pub(crate) fn run(session: &mut Session, args: &ValidateArgs) -> Exit {
    session.compact_warnings = args.compact_warnings;
    let diagnostics = checked(session, args);
    let valid = !diagnostics.has_errors();
    if args.json {
        let mut text = String::new();
        json::pretty(&answer(&diagnostics, &session.sources), 0, &mut text);
        session.print(&format!("{text}\n"));
    } else {
        session.report(&diagnostics);
        if valid {
            let but =
                if diagnostics.is_empty() { "." } else { ", but there were some validation warnings as shown above." };
            session.print(&format!("Success! The configuration is valid{but}\n"));
        }
    }
    if valid { Exit::Success } else { Exit::Failure }
}

fn checked(session: &mut Session, args: &ValidateArgs) -> Diagnostics {
    let foreign = match foreign::read(session, &args.schemas) {
        Ok(foreign) => foreign,
        Err(diagnostics) => return diagnostics,
    };
    let (configuration, mut diagnostics) = match configuration::load(session, &[]) {
        Ok(loaded) => loaded,
        Err(diagnostics) => return diagnostics,
    };
    // Of two with one address ours counts: it knows more than its schema.
    let own = compiled::providers(session, None);
    let providers = Providers::new(foreign.into_iter().chain(own.iter().cloned()));
    diagnostics.extend(validate(&planning::program(session, &configuration, &providers)));
    diagnostics
}

/// Terraform's shape (format 1.0).
fn answer(diagnostics: &Diagnostics, sources: &Sources) -> Json {
    let count = |severity: Severity| number(diagnostics.iter().filter(|d| d.severity == severity).count());
    object([
        ("format_version", "1.0".into()),
        ("valid", (!diagnostics.has_errors()).into()),
        ("error_count", count(Severity::Error)),
        ("warning_count", count(Severity::Warning)),
        ("diagnostics", Json::Array(diagnostics.iter().map(|one| diagnostic_json::json(one, sources)).collect())),
    ])
}
