//! One dash becomes two, so that Terraform's spelling is clap's.

use std::ffi::OsString;

/// `-out=F` becomes `--out=F`. What stands behind `--`, short options (`-h`), and negative numbers stay as they are.
pub(super) fn doubled(args: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut literal = false;
    args.into_iter().map(move |arg| {
        literal |= arg == "--";
        match arg.to_str() {
            Some(text) if !literal && is_long(text) => format!("-{text}").into(),
            _ => arg,
        }
    })
}

fn is_long(text: &str) -> bool {
    let Some(name) = text.strip_prefix('-') else { return false };
    name.len() > 1 && name.starts_with(|c: char| c.is_ascii_alphabetic())
}
