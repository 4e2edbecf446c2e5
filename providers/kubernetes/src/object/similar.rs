//! What may have been meant by a name that nothing has.

/// The name that is nearest, where it is near: at most a third of the letters are wrong.
pub(crate) fn similar<'a>(name: &str, known: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    known
        .map(|other| (strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase()), other))
        .filter(|(distance, _)| distance * 3 <= name.chars().count())
        .min()
        .map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_suggested() {
        let known = ["Deployment", "DaemonSet", "ReplicaSet"].map(str::to_owned);
        for (name, expected) in [("Deploymnet", Some("Deployment")), ("daemonset", Some("DaemonSet")), ("Job", None)] {
            assert_eq!(similar(name, known.iter()).map(String::as_str), expected, "{name}");
        }
    }
}
