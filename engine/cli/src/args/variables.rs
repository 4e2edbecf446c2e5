//! `-var` and `-var-file`, in the order of the command line: the last one wins.

use clap::{ArgMatches, error::ErrorKind};

/// One source of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum VariableSource {
    /// `-var NAME=VALUE`
    Value(String, String),
    /// `-var-file=FILE`
    File(String),
}

pub(super) fn in_order(matches: &ArgMatches) -> Result<Vec<VariableSource>, clap::Error> {
    let mut found: Vec<(usize, VariableSource)> = Vec::new();
    for (index, text) in with_index(matches, "var") {
        let Some((name, value)) = text.split_once('=') else {
            let message = format!("-var {text:?}: a variable is given as NAME=VALUE\n");
            return Err(clap::Error::raw(ErrorKind::ValueValidation, message));
        };
        found.push((index, VariableSource::Value(name.trim().to_owned(), value.to_owned())));
    }
    for (index, file) in with_index(matches, "var_file") {
        found.push((index, VariableSource::File(file)));
    }
    found.sort_by_key(|(index, _)| *index);
    Ok(found.into_iter().map(|(_, source)| source).collect())
}

fn with_index(matches: &ArgMatches, id: &str) -> Vec<(usize, String)> {
    let indices = matches.indices_of(id).into_iter().flatten();
    let values = matches.get_many::<String>(id).into_iter().flatten().cloned();
    indices.zip(values).collect()
}
