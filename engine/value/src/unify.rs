//! The type that several types have in common, and which types convert to which.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{Attr, Type};

/// Can some value of the first type become one of the second?
pub fn convertible(from: &Type, to: &Type) -> bool {
    converts(from, to, false)
}

/// `safe`: can every value?
fn converts(from: &Type, to: &Type, safe: bool) -> bool {
    match (from, to) {
        (_, Type::Dynamic) => true,
        (Type::Dynamic, _) => !safe,
        (Type::Bool, Type::Bool) | (Type::Number, Type::Number) => true,
        (Type::Bool | Type::Number | Type::String, Type::String) => true,
        (Type::String, Type::Bool | Type::Number) => !safe,
        (Type::List(from) | Type::Set(from), Type::List(to)) => converts(from, to, safe),
        (Type::List(from), Type::Set(to)) => !safe && converts(from, to, safe),
        (Type::Set(from), Type::Set(to)) | (Type::Map(from), Type::Map(to)) => converts(from, to, safe),
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => all_to(from.iter(), to, safe),
        (Type::Object(from), Type::Map(to)) => all_to(from.values().map(|attr| &attr.ty), to, safe),
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(from, to)| converts(from, to, safe))
        }
        (Type::Object(from), Type::Object(to)) => to.iter().all(|(name, attr)| match from.get(name) {
            Some(from) => converts(&from.ty, &attr.ty, safe),
            None => attr.optional,
        }),
        (Type::Map(from), Type::Object(to)) => {
            !safe && to.values().all(|attr| attr.optional || converts(from, &attr.ty, safe))
        }
        _ => false,
    }
}

fn all_to<'a>(from: impl Iterator<Item = &'a Type> + Clone, to: &Type, safe: bool) -> bool {
    if *to != Type::Dynamic {
        return from.into_iter().all(|from| converts(from, to, safe));
    }
    let types: Vec<Type> = from.cloned().collect();
    match unify(&types) {
        None => types.is_empty(),
        // Elements of which no type is known are no ground to mix them with ones of which it is.
        Some(Type::Dynamic) => types.iter().all(|ty| *ty == Type::Dynamic),
        Some(_) => true,
    }
}

/// The one type to which all can be converted: the first, by preference, that each of the others converts to. `None` if
/// there is none, or no type at all. [`Type::Dynamic`] if that depends on a type that is not known yet.
pub fn unify(types: &[Type]) -> Option<Type> {
    let first = types.first()?;
    if types.iter().all(|ty| ty == first) {
        return Some(first.clone());
    }
    let count = |test: fn(&Type) -> bool| types.iter().filter(|ty| test(ty)).count();
    let maps = count(|ty| matches!(ty, Type::Map(_)));
    let lists = count(|ty| matches!(ty, Type::List(_)));
    let sets = count(|ty| matches!(ty, Type::Set(_)));
    let objects = count(|ty| matches!(ty, Type::Object(_)));
    let tuples = count(|ty| matches!(ty, Type::Tuple(_)));
    let dynamic = count(|ty| *ty == Type::Dynamic);
    let all = types.len();

    if maps > 0 && maps + dynamic == all {
        return collection(types, dynamic > 0, Type::map);
    }
    if maps > 0 && maps + objects + dynamic == all {
        let objects: Vec<&Type> = types.iter().filter(|ty| matches!(ty, Type::Object(_))).collect();
        if let Some(map) = objects_to_map(&objects)
            && let Some(Type::Map(unified)) = unify(&replace(types, &map, |ty| matches!(ty, Type::Object(_))))
        {
            return Some(Type::Map(unified));
        }
    } else if lists > 0 && lists + dynamic == all {
        return collection(types, dynamic > 0, Type::list);
    } else if lists > 0 && lists + tuples + dynamic == all {
        let tuples: Vec<&Type> = types.iter().filter(|ty| matches!(ty, Type::Tuple(_))).collect();
        if let Some(list) = tuples_to_list(&tuples)
            && let Some(Type::List(unified)) = unify(&replace(types, &list, |ty| matches!(ty, Type::Tuple(_))))
        {
            return Some(Type::List(unified));
        }
    } else if sets > 0 && sets + dynamic == all {
        return collection(types, dynamic > 0, Type::set);
    } else if objects > 0 && objects + dynamic == all {
        return if dynamic > 0 { Some(Type::Dynamic) } else { unify_objects(types) };
    } else if tuples > 0 && tuples + dynamic == all {
        return if dynamic > 0 { Some(Type::Dynamic) } else { unify_tuples(types) };
    } else if objects > 0 && tuples > 0 {
        return None;
    }
    by_preference(types)
}

fn replace(types: &[Type], with: &Type, which: fn(&Type) -> bool) -> Vec<Type> {
    types.iter().map(|ty| if which(ty) { with.clone() } else { ty.clone() }).collect()
}

/// Types to which more of the others convert safely are tried first.
fn by_preference(types: &[Type]) -> Option<Type> {
    let mut seen = BTreeSet::new();
    let distinct: Vec<&Type> = types.iter().filter(|ty| seen.insert(*ty)).collect();
    let mut candidates: Vec<(usize, &Type)> = distinct
        .iter()
        .map(|want| (distinct.iter().filter(|from| !converts(from, want, true)).count(), *want))
        .collect();
    // What is not known yet gives way to what is.
    candidates.sort_by_key(|(refusals, ty)| (**ty == Type::Dynamic, *refusals));
    candidates
        .into_iter()
        .find(|(_, want)| distinct.iter().all(|from| from == want || convertible(from, want)))
        .map(|(_, want)| want.clone())
}

fn collection(types: &[Type], has_dynamic: bool, make: fn(Type) -> Type) -> Option<Type> {
    if has_dynamic {
        return Some(Type::Dynamic);
    }
    let elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
    unify(&elements).map(make)
}

fn unify_objects(types: &[Type]) -> Option<Type> {
    let all: Vec<&BTreeMap<Arc<str>, Attr>> = types.iter().filter_map(Type::attributes).collect();
    let first = all.first()?;
    if all.iter().all(|attributes| attributes.keys().eq(first.keys())) {
        let mut unified = Vec::new();
        for name in first.keys() {
            let across: Vec<Type> = all.iter().filter_map(|a| a.get(name)).map(|attr| attr.ty.clone()).collect();
            unified.push((Arc::clone(name), unify(&across)?));
        }
        return Some(Type::object(unified));
    }
    objects_to_map(&types.iter().collect::<Vec<_>>())
}

fn objects_to_map(types: &[&Type]) -> Option<Type> {
    let attributes: Vec<Type> =
        types.iter().filter_map(|ty| ty.attributes()).flat_map(|a| a.values().map(|attr| attr.ty.clone())).collect();
    unify(&attributes).map(Type::map)
}

fn unify_tuples(types: &[Type]) -> Option<Type> {
    let all: Vec<&[Type]> = types
        .iter()
        .filter_map(|ty| match ty {
            Type::Tuple(elements) => Some(elements.as_ref()),
            _ => None,
        })
        .collect();
    let first = all.first()?;
    if all.iter().all(|elements| elements.len() == first.len()) {
        let across = |index: usize| all.iter().map(|elements| elements[index].clone()).collect::<Vec<_>>();
        let unified: Option<Vec<Type>> = (0..first.len()).map(|index| unify(&across(index))).collect();
        return unified.map(Type::tuple);
    }
    tuples_to_list(&types.iter().collect::<Vec<_>>())
}

fn tuples_to_list(types: &[&Type]) -> Option<Type> {
    let elements: Vec<Type> = types
        .iter()
        .flat_map(|ty| match ty {
            Type::Tuple(elements) => elements.to_vec(),
            _ => Vec::new(),
        })
        .collect();
    unify(&elements).map(Type::list)
}
