//! Names that a misspelt one may have meant.

/// The most similar of the names, if one is close: a third of its letters may be wrong, at most three, swapped
/// neighbours counting as one. Of equally close names the first in alphabetical order.
pub fn similar<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (given.chars().count() / 3).clamp(1, 3);
    names
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(given, name), name))
        .filter(|(distance, name)| *distance <= limit && *distance < name.chars().count())
        .min()
        .map(|(_, name)| name)
}

/// ` Did you mean "x"?`, or nothing.
pub(crate) fn did_you_mean<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    similar(given, names).map_or(String::new(), |name| format!(" Did you mean \"{name}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested() {
        let names = ["resource", "data", "variable", "locals", "b"];
        for (given, meant) in [
            ("resurce", Some("resource")),
            ("dta", Some("data")),
            ("local", Some("locals")),
            ("vraiable", Some("variable")),
            ("foo", None),
            ("a", None),
        ] {
            assert_eq!(similar(given, names), meant, "{given}");
        }
    }
}
