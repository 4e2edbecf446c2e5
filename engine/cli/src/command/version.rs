//! `version`: which release this is, and which level of the language it speaks.

use serde_json::json;

use crate::{
    args::VersionArgs,
    session::{Exit, Session},
};

/// Operating system and processor, in Go's words.
fn platform() -> String {
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{}_{processor}", std::env::consts::OS)
}

pub(crate) fn run(session: &Session, args: &VersionArgs) -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    let language = state::TERRAFORM_VERSION;
    if args.json {
        let answer = json!({
            "terraform_version": language,
            "sliceform_version": version,
            "platform": platform(),
            "provider_selections": {},
            "terraform_outdated": false,
        });
        session.print(&format!("{answer:#}\n"));
    } else {
        session.print(&format!("Sliceform v{version}\non {}\nlanguage of Terraform {language}\n", platform()));
    }
    Exit::Success
}
