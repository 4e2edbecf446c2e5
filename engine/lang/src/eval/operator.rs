//! Operators and conditionals.

use engine_value::{Refinements, Type, Unknown, Value, convert, equals, ops, unify};

use crate::{
    eval::{
        Scope, Stop,
        expression::{Evaluator, Gather, Outcome},
    },
    syntax::{BinaryOperator, ExprId, Node, UnaryOperator},
};

impl<S: Scope> Evaluator<'_, S> {
    pub(super) fn unary(&mut self, id: ExprId, operator: UnaryOperator, operand: ExprId) -> Outcome<S::Key> {
        let ty = match operator {
            UnaryOperator::Negate => Type::Number,
            UnaryOperator::Not => Type::Bool,
        };
        let value = self.eval(operand)?;
        let value = self.operand(operand, value, &ty, "unary operand")?;
        self.never_null(id, &[&value])?;
        Ok(match operator {
            UnaryOperator::Negate => ops::negate(&value),
            UnaryOperator::Not => ops::not(&value),
        })
    }

    fn operand(&mut self, id: ExprId, value: Value, ty: &Type, which: &str) -> Outcome<S::Key> {
        match convert(&value, ty) {
            Ok(value) => Ok(value),
            Err(error) => {
                let detail = format!("Unsuitable value for {which}: {error}.");
                Err(self.error(id, "Invalid operand", detail))
            }
        }
    }

    fn never_null(&mut self, id: ExprId, operands: &[&Value]) -> Result<(), Stop<S::Key>> {
        if operands.iter().any(|value| value.is_null()) {
            return Err(self.error(id, "Operation failed", "Error during operation: argument must not be null."));
        }
        Ok(())
    }

    /// A chain of operators along its left side, which can be as long as the file is.
    pub(super) fn binary(&mut self, id: ExprId) -> Outcome<S::Key> {
        let mut chain = Vec::new();
        let mut first = id;
        while let Node::Binary { operator, left, right } = self.tree.node(first) {
            chain.push((first, operator, left, right));
            first = left;
        }
        let mut result = self.eval(first);
        while let Some((id, operator, left, right)) = chain.pop() {
            result = self.apply(id, operator, (left, result), right);
            if matches!(result, Err(Stop::Blocked(_))) {
                return result;
            }
        }
        result
    }

    fn apply(
        &mut self,
        id: ExprId,
        operator: BinaryOperator,
        (left_id, left): (ExprId, Outcome<S::Key>),
        right_id: ExprId,
    ) -> Outcome<S::Key> {
        let ty = operand_type(operator);
        let right = self.eval(right_id);
        if let Some(decided) = self.decided(operator, &left, &right) {
            return Ok(decided);
        }
        let mut gather = Gather::new();
        let left = gather.take(left)?;
        let right = gather.take(right)?;
        let left = match left {
            Some(value) => gather.take(self.operand(left_id, value, &ty, "left operand"))?,
            None => None,
        };
        let right = match right {
            Some(value) => gather.take(self.operand(right_id, value, &ty, "right operand"))?,
            None => None,
        };
        gather.finish()?;
        let (Some(left), Some(right)) = (left, right) else { return Ok(Value::unknown(Type::Dynamic)) };
        match operator {
            BinaryOperator::Equal => return Ok(equals(&left, &right)),
            BinaryOperator::NotEqual => return Ok(ops::not(&equals(&left, &right))),
            _ => self.never_null(id, &[&left, &right])?,
        }
        let arithmetic = |operator| ops::arithmetic(operator, &left, &right);
        let result = match operator {
            BinaryOperator::Or => Some(ops::or(&left, &right)),
            BinaryOperator::And => Some(ops::and(&left, &right)),
            BinaryOperator::Less => Some(ops::order(ops::Order::Less, &left, &right)),
            BinaryOperator::LessOrEqual => Some(ops::order(ops::Order::LessOrEqual, &left, &right)),
            BinaryOperator::Greater => Some(ops::order(ops::Order::Greater, &left, &right)),
            BinaryOperator::GreaterOrEqual => Some(ops::order(ops::Order::GreaterOrEqual, &left, &right)),
            BinaryOperator::Add => arithmetic(ops::Arithmetic::Add),
            BinaryOperator::Subtract => arithmetic(ops::Arithmetic::Subtract),
            BinaryOperator::Multiply => arithmetic(ops::Arithmetic::Multiply),
            BinaryOperator::Divide => arithmetic(ops::Arithmetic::Divide),
            BinaryOperator::Modulo => arithmetic(ops::Arithmetic::Modulo),
            BinaryOperator::Equal | BinaryOperator::NotEqual => None,
        };
        result.ok_or_else(|| {
            let why = match operator {
                BinaryOperator::Divide => "can't divide zero by zero or infinity by infinity",
                BinaryOperator::Multiply => "can't multiply zero by infinity",
                BinaryOperator::Modulo => "can't use modulo with zero and infinity",
                BinaryOperator::Subtract => "can't subtract infinity from itself",
                _ => "can't compute sum of opposing infinities",
            };
            self.error(id, "Operation failed", format!("Error during operation: {why}."))
        })
    }

    /// `false && x` and `true || x` are what they are even if `x` fails.
    fn decided(&self, operator: BinaryOperator, left: &Outcome<S::Key>, right: &Outcome<S::Key>) -> Option<Value> {
        let decisive = match operator {
            BinaryOperator::And => false,
            BinaryOperator::Or => true,
            _ => return None,
        };
        let left = convert(left.as_ref().ok()?, &Type::Bool).ok()?;
        let failed = match right {
            Err(Stop::Failed(_)) => true,
            Ok(right) => right.is_null() || convert(right, &Type::Bool).is_err(),
            Err(Stop::Blocked(_)) => false,
        };
        (failed && left.as_bool() == Some(decisive)).then_some(left)
    }

    /// A chain of conditionals along its last arm, which can be as long as the file is. Every arm is evaluated, for its
    /// type; what fails in an arm that is not taken does not count.
    pub(super) fn conditional(&mut self, id: ExprId) -> Outcome<S::Key> {
        let mut chain = Vec::new();
        let mut last = id;
        while let Node::Conditional { condition, then, otherwise } = self.tree.node(last) {
            chain.push((last, condition, then, otherwise));
            last = otherwise;
        }
        let mut result = self.eval(last);
        while let Some((id, condition, then, otherwise)) = chain.pop() {
            if matches!(result, Err(Stop::Blocked(_))) {
                return result;
            }
            let taken = self.eval(then);
            if matches!(taken, Err(Stop::Blocked(_))) {
                return taken;
            }
            result = self.choose(id, condition, (then, taken), (otherwise, result));
        }
        result
    }

    fn choose(
        &mut self,
        id: ExprId,
        condition_id: ExprId,
        (then_id, then): (ExprId, Outcome<S::Key>),
        (otherwise_id, otherwise): (ExprId, Outcome<S::Key>),
    ) -> Outcome<S::Key> {
        let condition = self.eval(condition_id)?;
        if condition.is_null() {
            let detail = "The condition value is null. Conditions must either be true or false.";
            return Err(self.error(condition_id, "Null condition", detail));
        }
        let condition = match condition.is_known() {
            true => convert(&condition, &Type::Bool).map_err(|_| {
                let detail = "The condition expression must be of type bool.";
                self.error(condition_id, "Incorrect condition type", detail)
            })?,
            // What it is shows when it is known.
            false => condition,
        };
        let then_value = self.stand_in(then_id, then.as_ref().ok());
        let otherwise_value = self.stand_in(otherwise_id, otherwise.as_ref().ok());
        let Some(ty) = common_type(&then_value, &otherwise_value) else {
            let detail = format!(
                "The true and false result expressions must have consistent types. {}.",
                type_mismatch(&then_value, &otherwise_value)
            );
            return Err(self.error(id, "Inconsistent conditional result types", detail));
        };
        let marks = condition.marks.union(then_value.marks).union(otherwise_value.marks);
        let Some(choice) = condition.as_bool() else {
            let origin = condition.as_unknown().and_then(|unknown| unknown.origin);
            return Ok(either(&then_value, &otherwise_value, ty, origin).mark(marks));
        };
        let (arm_id, arm, which) = if choice { (then_id, then, "true") } else { (otherwise_id, otherwise, "false") };
        let value = arm?;
        match convert(&value, &ty) {
            Ok(value) => Ok(value.mark(marks)),
            Err(error) => {
                let detail = format!("The {which} result value has the wrong type: {error}.");
                Err(self.error(arm_id, "Inconsistent conditional result types", detail))
            }
        }
    }
}

impl<S: Scope> Evaluator<'_, S> {
    /// The value of an arm; if it failed, something of the type that it would have had, as far as its form tells.
    fn stand_in(&mut self, id: ExprId, value: Option<&Value>) -> Value {
        if let Some(value) = value {
            return value.clone();
        }
        match self.tree.node(id) {
            Node::Paren(inner) | Node::Wrap(inner) => self.stand_in(inner, None),
            Node::Template(_) => Value::unknown(Type::String),
            Node::Unary { operator: UnaryOperator::Negate, .. } => Value::unknown(Type::Number),
            Node::Unary { operator: UnaryOperator::Not, .. } => Value::unknown(Type::Bool),
            Node::Binary { operator, .. } => Value::unknown(match operator {
                BinaryOperator::Add
                | BinaryOperator::Subtract
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Modulo => Type::Number,
                _ => Type::Bool,
            }),
            Node::Conditional { then, otherwise, .. } => {
                let (then, otherwise) = (self.part_stand_in(then), self.part_stand_in(otherwise));
                Value::unknown(common_type(&then, &otherwise).unwrap_or(Type::Dynamic))
            }
            Node::Tuple(elements) => {
                let elements = self.tree.exprs(elements);
                Value::tuple(elements.iter().map(|element| self.part_stand_in(*element)))
            }
            Node::Object(items) => {
                let mut attributes = Vec::new();
                for item in self.tree.items(items) {
                    let Node::Text(key) = self.tree.node(item.key) else { return Value::unknown(Type::Dynamic) };
                    attributes.push((self.tree.str(key), self.part_stand_in(item.value)));
                }
                Value::object(attributes)
            }
            _ => Value::unknown(Type::Dynamic),
        }
    }

    fn part_stand_in(&mut self, id: ExprId) -> Value {
        self.quiet += 1;
        let value = self.eval(id).ok();
        self.quiet -= 1;
        self.stand_in(id, value.as_ref())
    }
}

fn operand_type(operator: BinaryOperator) -> Type {
    match operator {
        BinaryOperator::Or | BinaryOperator::And => Type::Bool,
        BinaryOperator::Equal | BinaryOperator::NotEqual => Type::Dynamic,
        _ => Type::Number,
    }
}

/// The type of a conditional. A bare `null` takes the other's; a type that is not known yet leaves it open.
fn common_type(then: &Value, otherwise: &Value) -> Option<Type> {
    let bare_null =
        |value: &Value| value.marks.is_none() && matches!(value.data, engine_value::Data::Null(Type::Dynamic));
    let (a, b) = (then.type_of(), otherwise.type_of());
    if bare_null(then) {
        Some(b)
    } else if bare_null(otherwise) {
        Some(a)
    } else if a == Type::Dynamic || b == Type::Dynamic {
        Some(Type::Dynamic)
    } else {
        unify(&[a, b])
    }
}

/// One of two values, which is not known yet.
fn either(then: &Value, otherwise: &Value, ty: Type, origin: Option<engine_value::Origin>) -> Value {
    if then.is_null() && otherwise.is_null() {
        return Value::null(ty);
    }
    let as_result = |value: &Value| convert(value, &ty).unwrap_or_else(|_| value.clone());
    let refinements = Refinements::of(&as_result(then)).either(&Refinements::of(&as_result(otherwise)));
    // A text is not cut short: another one may go on where this ends.
    Value::unknown_with(Unknown { ty, refinements, origin })
}

/// Where two types that should be alike differ first.
fn type_mismatch(then: &Value, otherwise: &Value) -> String {
    let (a, b) = (then.type_of(), otherwise.type_of());
    describe_mismatch(&a, &b)
}

fn describe_mismatch(a: &Type, b: &Type) -> String {
    match (a, b) {
        (Type::Object(x), Type::Object(y)) => {
            for (name, attr) in x.iter() {
                match y.get(name) {
                    None => {
                        return format!(
                            "The 'true' value includes object attribute \"{name}\", which is absent in the 'false' value"
                        );
                    }
                    Some(other) if unify(&[attr.ty.clone(), other.ty.clone()]).is_none() => {
                        return format!(
                            "Type mismatch for object attribute \"{name}\": {}",
                            describe_mismatch(&attr.ty, &other.ty)
                        );
                    }
                    Some(_) => {}
                }
            }
            match y.keys().find(|name| !x.contains_key(*name)) {
                Some(name) => {
                    format!(
                        "The 'false' value includes object attribute \"{name}\", which is absent in the 'true' value"
                    )
                }
                None => plain_mismatch(a, b),
            }
        }
        (Type::Tuple(x), Type::Tuple(y)) => {
            if x.len() != y.len() {
                return format!(
                    "The 'true' tuple has length {}, but the 'false' tuple has length {}",
                    x.len(),
                    y.len()
                );
            }
            let differs =
                x.iter().zip(y.iter()).enumerate().find(|(_, (x, y))| unify(&[(*x).clone(), (*y).clone()]).is_none());
            match differs {
                Some((at, (x, y))) => format!("Type mismatch for tuple element {at}: {}", describe_mismatch(x, y)),
                None => plain_mismatch(a, b),
            }
        }
        _ => plain_mismatch(a, b),
    }
}

fn plain_mismatch(a: &Type, b: &Type) -> String {
    format!("The 'true' value is {}, but the 'false' value is {}", a.friendly(), b.friendly())
}
