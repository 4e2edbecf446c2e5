//! "Did you mean …?"

/// The candidate that `name` was most probably meant to be, if one is close.
pub(super) fn similar<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ` Did you mean "x"?`, or nothing.
pub(super) fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    similar(name, candidates).map_or(String::new(), |candidate| format!(" Did you mean \"{candidate}\"?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested() {
        let names = ["resource", "data", "variable", "locals"];
        assert_eq!(similar("resurce", names), Some("resource"));
        assert_eq!(similar("dta", names), Some("data"));
        assert_eq!(similar("local", names), Some("locals"));
        assert_eq!(similar("foo", names), None);
    }
}
