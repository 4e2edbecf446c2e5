//! Calls of functions: which one, with which arguments. What it then does is in `functions`.

use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics};
use engine_value::{Data, Marks, Refinements, Secrets, Type, Unknown, Value, convert};

use crate::{
    eval::{
        Scope, Stop, did_you_mean,
        expression::{Evaluator, Gather, Outcome, unknown_like},
        render::check_template_argument,
    },
    functions::{self, Function, Outside},
    syntax::{Expr, ExprId, List, Node, Symbol},
};

/// The error for a call of a function that is not there.
fn no_function(name: &str) -> Diagnostic {
    let meant = did_you_mean(name, functions::names());
    let detail = format!("There is no function named \"{name}\".{meant}");
    Diagnostic::error("Call to unknown function", detail)
}

/// What is wrong with a call, as far as its name tells: no such function. Functions of providers are not known here.
pub fn check_call(call: &Expr) -> Option<Diagnostic> {
    let Node::Call { name, .. } = call.node() else { return None };
    let name = call.tree().str(name);
    let core = name.strip_prefix("core::").unwrap_or(name);
    let known = matches!(core, "try" | "can") || core.contains("::") || functions::find(core).is_some();
    (!known).then(|| no_function(core).at(call.span()))
}

/// An argument of `try` or `can`.
enum Lazy {
    Expression(ExprId),
    /// It came out of an expansion.
    Value(Value),
}

enum Arguments {
    /// Each with the expression that gave it.
    Known(Vec<(ExprId, Value)>),
    /// How many there are is not known, so this is the result.
    Unknown(Value),
}

impl<S: Scope> Evaluator<'_, S> {
    pub(super) fn call(&mut self, id: ExprId, name: Symbol, args: List<ExprId>, expand: bool) -> Outcome<S::Key> {
        let name = Arc::clone(self.tree.str(name));
        let args = self.tree.exprs(args);
        match name.strip_prefix("core::").unwrap_or(&name) {
            "try" | "can" => {
                let args = match self.lazily(id, args, expand)? {
                    Ok(args) => args,
                    Err(result) => return Ok(result),
                };
                if name.ends_with("try") { self.try_each(id, &args) } else { self.can(id, &args) }
            }
            core => match functions::find(core) {
                Some(function) => self.call_core(id, function, args, expand),
                None if core.contains("::") => self.call_provider(id, core, args, expand),
                None => Err(no_function(core).at(self.span(id)).into()),
            },
        }
    }

    /// The values of the arguments; the elements of the last, if it is followed by `...`.
    fn arguments(&mut self, id: ExprId, args: &[ExprId], expand: bool) -> Result<Arguments, Stop<S::Key>> {
        let (args, more) = match (expand, args) {
            (true, [args @ .., last]) => match self.expanded(id, *last)? {
                Ok(more) => (args, more),
                Err(result) => return Ok(Arguments::Unknown(result)),
            },
            _ => (args, Vec::new()),
        };
        let mut gather = Gather::new();
        let mut values = Vec::with_capacity(args.len() + more.len());
        for arg in args {
            let value = self.eval(*arg);
            values.extend(gather.take(value)?.map(|value| (*arg, value)));
        }
        gather.finish()?;
        values.extend(more);
        Ok(Arguments::Known(values))
    }

    /// The elements of an argument that is followed by `...`; or the result of the call, where they are not known.
    #[expect(clippy::type_complexity, reason = "it is said in the line above")]
    fn expanded(&mut self, id: ExprId, last: ExprId) -> Result<Result<Vec<(ExprId, Value)>, Value>, Stop<S::Key>> {
        let list = self.eval(last)?;
        let summary = "Invalid expanding argument value";
        if list.is_null() {
            let detail = "The expanding argument (indicated by ...) must not be null.";
            return Err(self.error(last, summary, detail));
        }
        match &list.data {
            Data::List(_, elements) | Data::Set(_, elements) | Data::Tuple(elements) => {
                Ok(Ok(elements.iter().map(|element| (last, element.clone().mark(list.marks))).collect()))
            }
            Data::Unknown(unknown)
                if matches!(unknown.ty, Type::Dynamic | Type::List(_) | Type::Set(_) | Type::Tuple(_)) =>
            {
                Ok(Err(unknown_like(&list, Type::Dynamic)))
            }
            _ => {
                let detail = "The expanding argument (indicated by ...) must be of a tuple, list, or set type.";
                Err(self.error(id, summary, detail))
            }
        }
    }

    fn call_core(&mut self, id: ExprId, function: &Function, args: &[ExprId], expand: bool) -> Outcome<S::Key> {
        let given = match self.arguments(id, args, expand)? {
            Arguments::Known(given) => given,
            Arguments::Unknown(result) => return Ok(result),
        };
        self.check_count(id, function, &given)?;
        let mut gather = Gather::new();
        let mut values = Vec::with_capacity(given.len());
        for (at, (arg, value)) in given.iter().enumerate() {
            match convert(value, &function.parameter(at).ty()) {
                Ok(value) => values.push(value),
                Err(error) => gather.push(self.invalid_argument(*arg, function, at, &error.to_string())),
            }
        }
        gather.finish()?;
        if function.name == "templatestring"
            && let Err(why) = check_template_argument(&Expr::new(Arc::clone(self.tree), given[0].0))
        {
            return Err(self.invalid_argument(given[0].0, function, 0, &why).into());
        }
        if function.name == "templatestring" && !matches!(given[0].1.type_of(), Type::String | Type::Dynamic) {
            let why = "invalid template value: a string is required";
            return Err(self.invalid_argument(given[0].0, function, 0, why).into());
        }
        let (files, surroundings) = (self.scope.files(), self.scope.surroundings());
        let outside = Outside { files, surroundings, in_template: self.in_template };
        functions::call(function, &values, &outside).map_err(|error| match error.argument {
            Some(at) if at < given.len() => self.invalid_argument(given[at].0, function, at, &error.message).into(),
            _ => {
                let detail = format!("Call to function \"{}\" failed: {}.", function.name, error.message);
                self.error(id, "Error in function call", detail)
            }
        })
    }

    fn invalid_argument(&mut self, arg: ExprId, function: &Function, at: usize, why: &str) -> Diagnostic {
        let parameter = function.parameter(at).name;
        let detail = format!("Invalid value for \"{parameter}\" parameter: {why}.");
        let mut diagnostic = Diagnostic::error("Invalid function argument", detail)
            .at(self.span(arg))
            .hint(format!("This is a call of {}.", function.signature()));
        self.explain(&mut diagnostic, arg);
        diagnostic
    }

    fn check_count(&mut self, id: ExprId, function: &Function, given: &[(ExprId, Value)]) -> Result<(), Stop<S::Key>> {
        let names: Vec<&str> = function.parameters.iter().map(|parameter| parameter.name).collect();
        self.check_number(id, function.name, &names, function.variadic.is_some(), given)
    }

    fn check_number(
        &mut self,
        id: ExprId,
        name: &str,
        parameters: &[&str],
        variadic: bool,
        given: &[(ExprId, Value)],
    ) -> Result<(), Stop<S::Key>> {
        let wanted = parameters.len();
        if let Some(missing) = parameters.get(given.len()) {
            let least = if variadic { " at least" } else { "" };
            let detail =
                format!("Function \"{name}\" expects{least} {wanted} argument(s). Missing value for \"{missing}\".");
            return Err(Diagnostic::error("Not enough function arguments", detail).at(self.span(id)).into());
        }
        if !variadic && given.len() > wanted {
            let detail = format!("Function \"{name}\" expects only {wanted} argument(s).");
            let span = self.span(given[wanted].0);
            return Err(Diagnostic::error("Too many function arguments", detail).at(span).into());
        }
        Ok(())
    }

    fn call_provider(&mut self, id: ExprId, name: &str, args: &[ExprId], expand: bool) -> Outcome<S::Key> {
        let scope = self.scope;
        let signature = scope.provider_function(name).map_err(|known| {
            let meant = did_you_mean(name, known.iter().map(String::as_str));
            let detail = format!("There is no function named \"{name}\".{meant}");
            Diagnostic::error("Call to unknown function", detail).at(self.span(id))
        })?;
        let given = match self.arguments(id, args, expand)? {
            Arguments::Known(given) => given,
            Arguments::Unknown(result) => return Ok(result),
        };
        let names: Vec<&str> = signature.parameters.iter().map(|(name, _)| &**name).collect();
        self.check_number(id, name, &names, signature.variadic.is_some(), &given)?;
        let parameter = |at: usize| {
            signature.parameters.get(at).map_or(("", signature.variadic.as_ref()), |(name, ty)| (name, Some(ty)))
        };
        // Providers see no marks, so that they may repeat what is secret.
        let secrets = Secrets::of(given.iter().map(|(_, value)| value));
        let wrong = |this: &mut Self, at: usize, why: &str| {
            let why = secrets.redact(why);
            let detail = format!("Invalid value for \"{}\" parameter: {why}.", parameter(at).0);
            let mut diagnostic = Diagnostic::error("Invalid function argument", detail)
                .at(this.span(given[at].0))
                .hint(format!("This is a call of {name}({}).", names.join(", ")));
            this.explain(&mut diagnostic, given[at].0);
            diagnostic
        };
        let mut gather = Gather::new();
        let (mut marks, mut values) = (Marks::NONE, Vec::with_capacity(given.len()));
        for (at, (_, value)) in given.iter().enumerate() {
            let (value, found) = value.clone().unmark_deep();
            marks = found.into_iter().fold(marks, |all, (_, one)| all.union(one));
            match parameter(at).1.map_or(Ok(value.clone()), |ty| convert(&value, ty)) {
                Ok(value) => values.push(value),
                Err(error) => gather.push(wrong(self, at, &error.to_string())),
            }
        }
        gather.finish()?;
        if let Some(unknown) = values.iter().find(|value| value.has_unknown()) {
            return Ok(unknown_like(unknown, signature.returns.clone()).mark(marks));
        }
        match scope.call_provider(name, &values) {
            Ok(value) => Ok(value.mark(marks)),
            Err((Some(at), why)) if at < given.len() => Err(wrong(self, at, &why).into()),
            Err((_, why)) => {
                let detail = format!("Call to function \"{name}\" failed: {}.", secrets.redact(&why));
                Err(self.error(id, "Error in function call", detail))
            }
        }
    }

    /// The arguments of `try` and `can`, which are evaluated one by one; or the result, where their number is not known.
    fn lazily(&mut self, id: ExprId, args: &[ExprId], expand: bool) -> Result<Result<Vec<Lazy>, Value>, Stop<S::Key>> {
        let (args, more) = match (expand, args) {
            (true, [args @ .., last]) => match self.expanded(id, *last)? {
                Ok(more) => (args, more),
                Err(result) => return Ok(Err(result)),
            },
            _ => (args, Vec::new()),
        };
        let given = args.iter().map(|arg| Lazy::Expression(*arg));
        Ok(Ok(given.chain(more.into_iter().map(|(_, value)| Lazy::Value(value))).collect()))
    }

    fn argument(&mut self, argument: &Lazy) -> Outcome<S::Key> {
        match argument {
            Lazy::Expression(id) => self.quietly(*id),
            Lazy::Value(value) => Ok(value.clone()),
        }
    }

    /// `try(a, b, …)`: the first that does not fail. As long as that one is not wholly known, it may still fail, so
    /// nothing is known.
    fn try_each(&mut self, id: ExprId, args: &[Lazy]) -> Outcome<S::Key> {
        let mut failures = Diagnostics::new();
        for arg in args {
            match self.argument(arg) {
                Ok(value) if value.is_wholly_known() => return Ok(value),
                Ok(value) => return Ok(unknown_like(&value, Type::Dynamic).mark(value.marks_deep())),
                Err(Stop::Failed(diagnostics)) => failures.extend(diagnostics),
                Err(blocked) => return Err(blocked),
            }
        }
        if args.is_empty() {
            let detail = "Call to function \"try\" failed: at least one argument is required.";
            return Err(self.error(id, "Error in function call", detail));
        }
        let list: String =
            failures.iter().map(|failure| format!("\n- {}: {}", failure.summary, failure.detail)).collect();
        let detail = format!("Call to function \"try\" failed: no expression succeeded:{list}");
        Err(self.error(id, "Error in function call", detail))
    }

    /// `can(a)`: does it not fail?
    fn can(&mut self, id: ExprId, args: &[Lazy]) -> Outcome<S::Key> {
        let [arg] = args else {
            let (summary, detail) = match args.first() {
                None => (
                    "Not enough function arguments",
                    "Function \"can\" expects 1 argument(s). Missing value for \"expression\".",
                ),
                Some(_) => ("Too many function arguments", "Function \"can\" expects only 1 argument(s)."),
            };
            return Err(Diagnostic::error(summary, detail).at(self.span(id)).into());
        };
        match self.argument(arg) {
            // Whether it fails is no secret.
            Ok(value) if value.is_wholly_known() => Ok(Value::bool(true)),
            Ok(value) => {
                let origin = value.first_unknown().and_then(|unknown| unknown.origin);
                let unknown = Unknown { ty: Type::Bool, refinements: Refinements::default(), origin };
                Ok(Value::unknown_with(unknown))
            }
            Err(Stop::Failed(_)) => Ok(Value::bool(false)),
            Err(blocked) => Err(blocked),
        }
    }

    fn quietly(&mut self, id: ExprId) -> Outcome<S::Key> {
        let (bound, items) = (self.bound.len(), self.items.len());
        self.quiet += 1;
        let value = self.eval(id);
        self.quiet -= 1;
        debug_assert!(self.bound.len() == bound && self.items.len() == items, "every binding ends with its expression");
        value
    }
}
