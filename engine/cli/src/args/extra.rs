//! Arguments of the environment: `TF_CLI_ARGS` for every command, `TF_CLI_ARGS_plan` for one. As in Terraform they stand
//! right behind the command, the one's before every's, so that of an option that is given twice the command line wins.

use std::{collections::BTreeMap, ffi::OsString};

use clap::{Command, error::ErrorKind};

/// The command line with those of the environment.
///
/// # Errors
/// A quote in one of the variables that is not closed.
pub(super) fn with_environment(
    args: Vec<OsString>,
    command: &Command,
    variables: &BTreeMap<String, String>,
) -> Result<Vec<OsString>, clap::Error> {
    let Some((name, end)) = subcommand(&args, command) else { return Ok(args) };
    let one = format!("TF_CLI_ARGS_{}", name.replace(['-', ' '], "_"));
    let mut all = args;
    let mut extra = Vec::new();
    for variable in [one.as_str(), "TF_CLI_ARGS"] {
        if let Some(text) = variables.get(variable) {
            let words = words(text).ok_or_else(|| {
                let message = format!("{variable} has a quote that is not closed: {text}\n");
                clap::Error::raw(ErrorKind::ValueValidation, message)
            })?;
            extra.extend(words.into_iter().map(OsString::from));
        }
    }
    all.splice(end..end, extra);
    Ok(all)
}

/// The words that name the command, such as "state list", and where they end.
fn subcommand(args: &[OsString], command: &Command) -> Option<(String, usize)> {
    let (mut names, mut end, mut level) = (Vec::new(), 0, command);
    for (at, arg) in args.iter().enumerate().skip(1) {
        let Some(found) = arg.to_str().and_then(|text| level.find_subcommand(text)) else {
            if names.is_empty() && arg.to_str().is_some_and(|text| text.starts_with('-')) {
                continue;
            }
            break;
        };
        names.push(found.get_name().to_owned());
        (end, level) = (at + 1, found);
    }
    (!names.is_empty()).then(|| (names.join(" "), end))
}

/// Words as a shell would cut them: single quotes hold everything, double quotes and backslashes what they hold there.
/// `None`: a quote is not closed.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            c @ ('"' | '\\' | '$' | '`') => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_as_a_shell_does() {
        for (text, expected) in [
            ("", Some(&[][..])),
            ("  -a  -b=1 ", Some(&["-a", "-b=1"])),
            ("-var 'x=a b' -var=\"y=\\\"z\\\" \\n\"", Some(&["-var", "x=a b", "-var=y=\"z\" \\n"])),
            ("a\\ b '' \"\"", Some(&["a b", "", ""])),
            ("-var 'x", None),
            ("\"x", None),
            ("x\\", None),
        ] {
            let expected = expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
