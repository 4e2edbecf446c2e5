//! Fragments, as errors display themselves, to sentences, as people read them.

/// The fragment with a capital and a full stop. A name at its beginning ("gpu-01", "team-a/nb-1") stays as it is written.
pub fn sentence(fragment: &str) -> String {
    let is_word = fragment.split(' ').next().is_some_and(|first| first.chars().all(char::is_alphabetic));
    let mut chars = fragment.chars();
    let first = match chars.next() {
        Some(c) if is_word => c.to_uppercase().to_string(),
        first => first.into_iter().collect(),
    };
    let end = if fragment.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_capitalised_and_names_are_not() {
        for (fragment, expected) in [
            ("cannot read the nodes", "Cannot read the nodes."),
            ("gpu-01 is gone", "gpu-01 is gone."),
            ("the end.", "The end."),
            ("is it gone?", "Is it gone?"),
            ("spec.replicas: too many", "spec.replicas: too many."),
            ("", "."),
        ] {
            assert_eq!(sentence(fragment), expected);
        }
    }
}
