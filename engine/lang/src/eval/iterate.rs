//! `for` expressions and splats.

use std::{collections::BTreeMap, sync::Arc};

use engine_value::{Data, Marks, Refinements, Type, Unknown, Value, convert};

use crate::{
    eval::{
        Scope, Stop,
        expression::{Evaluator, Gather, Outcome, unknown_like},
        traverse,
    },
    syntax::{ExprId, For, ForId},
};

/// Elements with their keys.
pub(super) type Elements = Vec<(Value, Value)>;

impl<S: Scope> Evaluator<'_, S> {
    /// Binds the names of a `for` while the function runs.
    pub(super) fn with_element<T>(
        &mut self,
        names: (Option<&Arc<str>>, &Arc<str>),
        key: Value,
        value: Value,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let depth = self.bound.len();
        if let Some(name) = names.0 {
            self.bound.push((Arc::clone(name), key));
        }
        self.bound.push((Arc::clone(names.1), value));
        let result = run(self);
        self.bound.truncate(depth);
        result
    }

    /// The elements of what a `for` iterates, with keys; `None` if they are not known yet.
    pub(super) fn elements(&mut self, id: ExprId, what: &str) -> Result<(Value, Option<Elements>), Stop<S::Key>> {
        let collection = self.eval(id)?;
        if collection.is_null() {
            let detail = format!("A null value cannot be used as the collection in a {what}.");
            return Err(self.error(id, "Iteration over null value", detail));
        }
        let elements = match &collection.data {
            Data::List(_, elements) | Data::Tuple(elements) => {
                Some(elements.iter().enumerate().map(|(at, value)| (index_value(at), value.clone())).collect())
            }
            Data::Set(_, elements) => Some(elements.iter().map(|value| (value.clone(), value.clone())).collect()),
            Data::Map(_, elements) | Data::Object(elements) => Some(
                elements.iter().map(|(key, value)| (Data::String(Arc::clone(key)).into(), value.clone())).collect(),
            ),
            Data::Unknown(unknown) if unknown.ty.is_primitive() => {
                return Err(self.not_iterable(id, &collection, what));
            }
            Data::Unknown(_) => None,
            _ => return Err(self.not_iterable(id, &collection, what)),
        };
        Ok((collection, elements))
    }

    fn not_iterable(&mut self, id: ExprId, collection: &Value, what: &str) -> Stop<S::Key> {
        let ty = collection.type_of().friendly();
        let detail = format!("A value of type {ty} cannot be used as the collection in a {what}.");
        self.error(id, "Iteration over non-iterable value", detail)
    }

    pub(super) fn for_expression(&mut self, it: ForId) -> Outcome<S::Key> {
        let it = self.tree.for_expr(it);
        let (collection, elements) = self.elements(it.collection, "'for' expression")?;
        let Some(elements) = elements else {
            return Ok(unknown_like(&collection, Type::Dynamic));
        };
        let mut result = Collected { marks: collection.marks, ..Collected::default() };
        let mut gather = Gather::new();
        let key_name = it.key_name.map(|name| Arc::clone(self.tree.str(name)));
        let value_name = Arc::clone(self.tree.str(it.value_name));
        if let Some(condition) = it.condition
            && elements.is_empty()
        {
            // No element asks the condition, but it is checked all the same.
            let nothing = || Value::unknown(Type::Dynamic);
            self.with_element((key_name.as_ref(), &value_name), nothing(), nothing(), |evaluator| {
                evaluator.for_condition(condition)
            })?;
        }
        for (key, value) in elements {
            let one = self.with_element((key_name.as_ref(), &value_name), key, value, |evaluator| {
                evaluator.for_element(&it, &mut result)
            });
            gather.take(one)?;
            if result.unknown.is_some() {
                break;
            }
        }
        gather.finish()?;
        let value = match (result.unknown, it.key) {
            (Some(origin), _) => {
                Value::unknown_with(Unknown { ty: Type::Dynamic, refinements: Refinements::default(), origin })
            }
            (None, None) => Value::tuple(result.values),
            (None, Some(_)) if it.group => {
                Value::object(result.groups.into_iter().map(|(key, values)| (key, Value::tuple(values))))
            }
            (None, Some(_)) => {
                Value::object(result.groups.into_iter().filter_map(|(key, mut values)| Some((key, values.pop()?))))
            }
        };
        Ok(value.mark(result.marks))
    }

    fn for_element(&mut self, it: &For, result: &mut Collected) -> Result<(), Stop<S::Key>> {
        if let Some(condition) = it.condition {
            let include = self.for_condition(condition)?;
            result.marks = result.marks.union(include.marks_deep());
            match include.as_bool() {
                Some(true) => {}
                Some(false) => return Ok(()),
                None => {
                    result.wait_for(&include);
                    return Ok(());
                }
            }
        }
        let Some(key_id) = it.key else {
            let value = self.eval(it.value)?;
            result.values.push(value);
            return Ok(());
        };
        let key = self.for_key(key_id)?;
        result.marks = result.marks.union(key.marks_deep());
        let Some(text) = traverse::key_text(&key) else {
            result.wait_for(&key);
            return Ok(());
        };
        let value = self.eval(it.value)?;
        let values = result.groups.entry(Arc::clone(&text)).or_default();
        if !it.group && !values.is_empty() {
            let shown = if key.marks.sensitive { "(sensitive value)".to_owned() } else { format!("\"{text}\"") };
            let detail = format!(
                "Two different items produced the key {shown} in this 'for' expression. If duplicates are expected, use \
                 the ellipsis (...) after the value expression to enable grouping by key."
            );
            return Err(self.error(key_id, "Duplicate object key", detail));
        }
        values.push(value);
        Ok(())
    }

    fn for_condition(&mut self, id: ExprId) -> Outcome<S::Key> {
        let include = self.eval(id)?;
        if include.is_null() {
            return Err(self.error(id, "Invalid 'for' condition", "The value of the 'if' clause must not be null."));
        }
        convert(&include, &Type::Bool).map_err(|error| {
            self.error(id, "Invalid 'for' condition", format!("The 'if' clause value is invalid: {error}."))
        })
    }

    fn for_key(&mut self, id: ExprId) -> Outcome<S::Key> {
        let key = self.eval(id)?;
        if key.is_null() {
            let detail = "Key expression in 'for' expression must not produce a null value.";
            return Err(self.error(id, "Invalid object key", detail));
        }
        convert(&key, &Type::String).map_err(|error| {
            self.error(id, "Invalid object key", format!("The key expression produced an invalid result: {error}."))
        })
    }

    pub(super) fn splat(&mut self, of: ExprId, each: ExprId) -> Outcome<S::Key> {
        let source = self.eval(of)?;
        if let Data::Null(ty) = &source.data {
            if !matches!(ty, Type::List(_) | Type::Set(_) | Type::Tuple(_)) {
                return Ok(Value::tuple([]).mark(source.marks));
            }
            let detail = "Splat expressions (with the * symbol) cannot be applied to null sequences.";
            return Err(self.error(of, "Splat of null value", detail));
        }
        let marks = source.marks;
        if let Some(unknown) = source.as_unknown() {
            return self.splat_unknown(unknown, each).map(|value| value.mark(marks));
        }
        let elements = match &source.data {
            Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => elements.to_vec(),
            _ => vec![source.clone().unmark().0],
        };
        let mut values = Vec::with_capacity(elements.len());
        let mut gather = Gather::new();
        for element in elements {
            let value = self.splat_item(each, element);
            values.extend(gather.take(value)?);
        }
        gather.finish()?;
        let element = match &source.data {
            Data::List(element, _) | Data::Set(element, _) => element.clone(),
            _ => return Ok(Value::tuple(values).mark(marks)),
        };
        let ty = match values.first() {
            Some(first) => first.type_of(),
            None => {
                self.quiet += 1;
                let value = self.splat_item(each, Value::unknown(element));
                self.quiet -= 1;
                value?.type_of()
            }
        };
        // Elements whose types differ (objects of a dynamic type) make a tuple.
        if values.iter().any(|value| value.type_of() != ty) {
            return Ok(Value::tuple(values).mark(marks));
        }
        Ok(Value::list(ty, values).mark(marks))
    }

    fn splat_item(&mut self, each: ExprId, element: Value) -> Outcome<S::Key> {
        self.items.push(element);
        let value = self.eval(each);
        self.items.pop();
        value
    }

    fn splat_unknown(&mut self, unknown: &Unknown, each: ExprId) -> Outcome<S::Key> {
        match &unknown.ty {
            Type::Dynamic => Ok(traverse::unknown_part(unknown, Type::Dynamic)),
            Type::List(element) | Type::Set(element) => {
                let item = self.splat_item(each, traverse::unknown_part(unknown, element.as_ref().clone()))?;
                let old = &unknown.refinements;
                let refinements = Refinements::length(old.min_length.unwrap_or(0), old.max_length);
                let ty = Type::list(item.type_of());
                Ok(Value::unknown_with(Unknown { ty, refinements, origin: unknown.origin }))
            }
            Type::Tuple(elements) => {
                let mut types = Vec::with_capacity(elements.len());
                for element in elements.iter() {
                    types.push(self.splat_item(each, traverse::unknown_part(unknown, element.clone()))?.type_of());
                }
                let ty = Type::tuple(types);
                Ok(Value::unknown_with(Unknown::never_null(ty).from_origin(unknown.origin)))
            }
            // A single value, which gives one element, or none if it turns out to be null.
            _ if unknown.refinements.not_null => {
                let item = self.splat_item(each, Data::Unknown(Arc::new(unknown.clone())).into())?;
                Ok(Value::tuple([item]))
            }
            _ => {
                self.splat_item(each, Data::Unknown(Arc::new(unknown.clone())).into())?;
                Ok(traverse::unknown_part(unknown, Type::Dynamic))
            }
        }
    }
}

#[derive(Default)]
struct Collected {
    values: Vec<Value>,
    groups: BTreeMap<Arc<str>, Vec<Value>>,
    marks: Marks,
    /// Set once a condition or key is not known: then nothing of the result is.
    unknown: Option<Option<engine_value::Origin>>,
}

impl Collected {
    fn wait_for(&mut self, value: &Value) {
        let origin = value.first_unknown().and_then(|unknown| unknown.origin);
        self.unknown.get_or_insert(origin);
    }
}

fn index_value(at: usize) -> Value {
    Value::number(at.into())
}
