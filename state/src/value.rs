//! Values of the language to what state holds of them, and back. Whoever has the schema has the type.

use engine_value::{
    Marks, Type, Value,
    json::{DecodeError, JsonError, from_tree, to_tree},
};

use crate::{Object, Output};

impl Object {
    /// A whole object with this value, wholly known; nothing beside it yet. What is ephemeral must not be in it.
    ///
    /// # Errors
    /// The first part that is unknown or infinite.
    pub fn of(value: Value, ty: &Type, schema_version: u64) -> Result<Self, JsonError> {
        let (value, marks) = value.unmark_deep();
        let sensitive = marks.into_iter().filter(|(_, marks)| marks.sensitive).map(|(path, _)| path).collect();
        Ok(Self { sensitive, ..Self::new(schema_version, to_tree(&value, Some(ty))?) })
    }

    /// Its value, sensitive where it is. The type is that of its schema version.
    ///
    /// # Errors
    /// It is not of the type.
    pub fn value(&self, ty: &Type) -> Result<Value, DecodeError> {
        let places: Vec<_> = self.sensitive.iter().map(|path| (path.clone(), Marks::SENSITIVE)).collect();
        Ok(from_tree(&self.attributes, ty)?.mark_paths(&places))
    }
}

impl Output {
    /// What state holds of an output, wholly known and not null.
    ///
    /// # Errors
    /// The first part that is unknown or infinite.
    pub fn of(value: Value, sensitive: bool) -> Result<Self, JsonError> {
        let (value, _) = value.unmark_deep();
        let ty = value.type_of();
        Ok(Self { value: to_tree(&value, Some(&ty))?, ty, sensitive })
    }

    /// Its value; sensitive as a whole, or not at all.
    ///
    /// # Errors
    /// It is not of its type.
    pub fn decoded(&self) -> Result<Value, DecodeError> {
        let value = from_tree(&self.value, &self.ty)?;
        Ok(if self.sensitive { value.mark(Marks::SENSITIVE) } else { value })
    }
}

#[cfg(test)]
mod tests {
    use engine_value::Path;

    use super::*;

    #[test]
    fn sensitive_parts_stay_sensitive_and_types_stay_open() {
        let ty = Type::object([("any", Type::Dynamic), ("name", Type::String)]);
        let secret = Value::tuple([Value::string("s").mark(Marks::SENSITIVE), Value::int(1)]);
        let value = Value::object([("any", secret), ("name", Value::null(Type::String))]);
        let object = Object::of(value.clone(), &ty, 0).unwrap();
        let expected = r#"{"any":{"value":["s",1],"type":["tuple",["string","number"]]},"name":null}"#;
        assert_eq!(object.attributes.to_string(), expected);
        assert_eq!(object.sensitive, [Path::root().attr("any").index(0)]);
        assert_eq!(object.value(&ty).unwrap(), value);
    }

    #[test]
    fn outputs_keep_their_type() {
        let value = Value::list(Type::Number, vec![Value::int(1)]).mark(Marks::SENSITIVE);
        let output = Output::of(value.clone(), true).unwrap();
        assert_eq!((output.value.to_string(), &output.ty), ("[1]".to_owned(), &Type::list(Type::Number)));
        assert_eq!(output.decoded().unwrap(), value);
        assert!(Output::of(Value::unknown(Type::String), false).is_err());
    }
}
