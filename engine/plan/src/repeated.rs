//! Marks of attributes that repeat an argument: `object` of a manifest shows what `manifest` says.
//!
//! Providers see no marks, so that the engine carries them over.

use engine_model::address::{ProviderAddr, ResourceAddr};
use engine_value::{Marks, Path, Step, Value};

use crate::Providers;

/// An object with marks of its arguments, and with the same in the attributes that repeat one.
pub fn mark_repeated(
    providers: &Providers,
    provider: &ProviderAddr,
    addr: &ResourceAddr,
    object: Value,
    mut marks: Vec<(Path, Marks)>,
) -> Value {
    let repeats = providers.get(provider).map_or(&[][..], |provider| provider.repeats(&addr.ty));
    let more: Vec<_> = marks
        .iter()
        .flat_map(|(path, marks)| twins(path, repeats, &object).into_iter().map(|twin| (twin, *marks)))
        .collect();
    marks.extend(more);
    object.mark_paths(&marks)
}

/// Where else an object shows what it has at a path.
fn twins(path: &Path, repeats: &[(&str, &str)], object: &Value) -> Vec<Path> {
    let Some((Step::Attr(argument), inside)) = path.0.split_first() else { return Vec::new() };
    let twin = |(_, name): &(&str, &str)| {
        // Where the argument is a map, what repeats it is an object.
        let inside = inside.iter().map(|step| match step {
            Step::Key(key) => Step::Attr(key.clone()),
            other => other.clone(),
        });
        let mut twin = Path(std::iter::once(Step::Attr((*name).into())).chain(inside).collect());
        // What is not there in the same shape is somewhere in what is around it; what is not there at all is not
        // repeated.
        while twin.get(object).is_none() && twin.0.len() > 1 {
            twin.0.pop();
        }
        // What is not known yet has nothing to hide, and gets its marks when it is: they may be finer than it is now.
        let is_known = twin.get(object).is_some_and(|part| part.is_known());
        Some(twin).filter(|twin| is_known && (twin.0.len() > 1 || path.0.len() == 1))
    };
    repeats.iter().filter(|(repeated, _)| **repeated == **argument).filter_map(twin).collect()
}

#[cfg(test)]
mod tests {
    use engine_value::Type;

    use super::*;

    const REPEATS: &[(&str, &str)] = &[("manifest", "object")];

    fn check(path: Path, expected: &[Path]) {
        let data = Value::object([("p", "secret".into())]);
        let object = Value::object([("data", data), ("spec", Value::unknown(Type::Dynamic))]);
        let object = Value::object([("object", object), ("name", "x".into())]);
        assert_eq!(twins(&path, REPEATS, &object), expected, "{path}");
    }

    #[test]
    fn what_repeats_a_secret_is_one() {
        let at = |name: &str| Path::root().attr(name);
        let data = || at("object").attr("data");
        check(at("manifest").attr("data").attr("p"), &[data().attr("p")]);
        check(at("manifest").attr("data").key("p"), &[data().attr("p")]);
        check(at("manifest").attr("data").attr("gone"), &[data()]);
        check(at("manifest"), &[at("object")]);
        check(at("manifest").attr("stringData").attr("p"), &[]);
        check(at("manifest").attr("spec").attr("token"), &[]);
        check(at("name"), &[]);
        check(Path::root(), &[]);
    }
}
