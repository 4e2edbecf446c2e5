//! Lists and tuples made of others.

use std::collections::BTreeSet;

use engine_value::{Data, Number, Refinements, Type, Value, convert, unify};

use crate::functions::{
    CallError, Function, Parameter,
    call::unknown_from,
    list::{element_type, elements},
};

const LIST: Parameter = Parameter::any("list");

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "chunklist",
        description: "A list cut into lists of a fixed length; the last may be shorter.",
        parameters: &[
            Parameter::list_of_any("list"),
            Parameter::number("size").described("How many elements each list has."),
        ],
        variadic: None,
        returns: |args| Ok(Type::list(args[0].type_of())),
        run: |args, _| chunks(&args[0], &args[1]),
    },
    Function {
        name: "compact",
        description: "A list of texts without those that are null or empty.",
        parameters: &[Parameter::list_of_string("list")],
        variadic: None,
        returns: |_| Ok(Type::list(Type::String)),
        run: |args, _| compact(&args[0]),
    },
    Function {
        name: "concat",
        description: "Several lists or tuples as one, in the given order.",
        parameters: &[],
        variadic: Some(Parameter::any("seqs").marked()),
        returns: concat_type,
        run: |args, _| concat(args),
    },
    Function {
        name: "distinct",
        description: "A list without the elements that are equal to an earlier one.",
        parameters: &[Parameter::list_of_any("list")],
        variadic: None,
        returns: |args| Ok(args[0].type_of()),
        run: |args, _| distinct(&args[0]),
    },
    Function {
        name: "flatten",
        description: "A list in which every element that is a list is replaced by its own elements, at any depth.",
        parameters: &[LIST.marked()],
        variadic: None,
        returns: |_| Ok(Type::Dynamic),
        run: |args, _| flatten(&args[0]),
    },
    Function {
        name: "range",
        description: "Numbers from a start up to, and without, an end, at equal steps.",
        parameters: &[],
        variadic: Some(Parameter::number("params")),
        returns: |_| Ok(Type::list(Type::Number)),
        run: |args, _| range(args),
    },
    Function {
        name: "reverse",
        description: "A list or tuple in the opposite order.",
        parameters: &[LIST.marked()],
        variadic: None,
        returns: |args| match args[0].type_of() {
            Type::Tuple(types) => Ok(Type::tuple(types.iter().rev().cloned())),
            Type::List(element) | Type::Set(element) => Ok(Type::List(element)),
            Type::Dynamic => Ok(Type::Dynamic),
            other => Err(not_reversible(&other)),
        },
        run: |args, _| reverse(&args[0]),
    },
    Function {
        name: "sort",
        description: "A list of texts in the order of their characters' code points.",
        parameters: &[Parameter::list_of_string("list")],
        variadic: None,
        returns: |_| Ok(Type::list(Type::String)),
        run: |args, _| sort(&args[0]),
    },
];

fn chunks(list: &Value, size: &Value) -> Result<Value, CallError> {
    let Some(size) = size.as_i64() else {
        return Err(CallError::argument(1, "invalid size: a whole number is required"));
    };
    let size = usize::try_from(size).map_err(|_| CallError::argument(1, "the size argument must be positive"))?;
    let ty = list.type_of();
    let element = element_type(list);
    let elements = elements(list);
    let chunks: Vec<Value> = match size {
        _ if elements.is_empty() => Vec::new(),
        0 => vec![list.clone()],
        size => elements.chunks(size).map(|chunk| Value::list(element.clone(), chunk.to_vec())).collect(),
    };
    Ok(Value::list(ty, chunks))
}

fn compact(list: &Value) -> Result<Value, CallError> {
    if list.has_unknown() {
        return Ok(unknown_from(Type::list(Type::String), Refinements::not_null(), std::slice::from_ref(list)));
    }
    let kept = elements(list).iter().filter(|e| e.as_str().is_some_and(|text| !text.is_empty()));
    Ok(Value::list(Type::String, kept.cloned().collect()))
}

/// A list, if all are lists with a common type of elements; else a tuple.
fn concat_type(args: &[Value]) -> Result<Type, CallError> {
    let types: Vec<Type> = args.iter().map(Value::type_of).collect();
    if types.iter().all(|ty| matches!(ty, Type::List(_))) {
        let elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
        if let Some(element) = unify(&elements) {
            return Ok(Type::list(element));
        }
    }
    let mut all = Some(Vec::new());
    for (at, (arg, ty)) in args.iter().zip(types).enumerate() {
        match (ty, &mut all) {
            (Type::Tuple(types), Some(all)) => all.extend(types.iter().cloned()),
            (Type::List(element), Some(all)) if arg.is_known() => {
                all.extend(std::iter::repeat_n(element.as_ref().clone(), elements(arg).len()));
            }
            (Type::Tuple(_) | Type::List(_) | Type::Dynamic, _) => all = None,
            (other, _) => {
                let message = format!("all arguments must be lists or tuples; got {}", other.friendly());
                return Err(CallError::argument(at, message));
            }
        }
    }
    Ok(all.map_or(Type::Dynamic, Type::tuple))
}

fn concat(args: &[Value]) -> Result<Value, CallError> {
    if args.is_empty() {
        return Err(CallError::new("at least one argument is required"));
    }
    let ty = concat_type(args)?;
    let mut all = Vec::new();
    let mut marks = engine_value::Marks::NONE;
    for arg in args {
        marks = marks.union(arg.marks);
        all.extend(elements(arg).iter().cloned());
    }
    let joined = Value::tuple(all);
    let result = match &ty {
        Type::List(element) => {
            let mut converted = Vec::new();
            for value in elements(&joined) {
                converted.push(convert(value, element).map_err(|error| CallError::new(error.to_string()))?);
            }
            Value::list(element.as_ref().clone(), converted)
        }
        _ => joined,
    };
    Ok(result.mark(marks))
}

fn distinct(list: &Value) -> Result<Value, CallError> {
    if list.has_unknown() {
        return Ok(unknown_from(list.type_of(), Refinements::not_null(), std::slice::from_ref(list)));
    }
    let mut seen = BTreeSet::new();
    let kept = elements(list).iter().filter(|e| seen.insert(*e)).cloned().collect();
    Ok(Value::list(element_type(list), kept))
}

fn flatten(list: &Value) -> Result<Value, CallError> {
    if list.as_sequence().is_none() {
        return Err(CallError::new("can only flatten lists, sets and tuples"));
    }
    let known = !(matches!(list.data, Data::Set(..)) && list.has_unknown());
    let mut flat = Flat { out: Vec::new(), marks: list.marks, known };
    flat.add(elements(list));
    let value = if flat.known {
        Value::tuple(flat.out)
    } else {
        unknown_from(Type::Dynamic, Refinements::default(), std::slice::from_ref(list))
    };
    Ok(value.mark(flat.marks))
}

struct Flat {
    out: Vec<Value>,
    marks: engine_value::Marks,
    known: bool,
}

impl Flat {
    fn add(&mut self, elements: &[Value]) {
        for element in elements {
            match &element.data {
                // Unknown elements of a set may turn out to be the same one.
                Data::Set(..) if element.has_unknown() => {
                    self.marks = self.marks.union(element.marks_deep());
                    self.known = false;
                }
                Data::List(_, inner) | Data::Set(_, inner) | Data::Tuple(inner) => {
                    self.marks = self.marks.union(element.marks);
                    self.add(inner);
                }
                Data::Unknown(unknown)
                    if matches!(unknown.ty, Type::Dynamic | Type::List(_) | Type::Set(_) | Type::Tuple(_)) =>
                {
                    self.marks = self.marks.union(element.marks);
                    self.known = false;
                }
                _ => self.out.push(element.clone()),
            }
        }
    }
}

fn range(args: &[Value]) -> Result<Value, CallError> {
    /// Terraform's bound.
    const MOST: usize = 1024;
    let numbers: Vec<&Number> = args.iter().filter_map(Value::as_number).collect();
    let (zero, plus, minus) = (Number::from(0), Number::from(1), Number::from(-1));
    let (start, end, step) = match numbers.as_slice() {
        [end] => (&zero, *end, if *end < &zero { &minus } else { &plus }),
        [start, end] => (*start, *end, if end < start { &minus } else { &plus }),
        [start, end, step] => (*start, *end, *step),
        _ => return Err(CallError::new("must have one, two, or three arguments")),
    };
    let is_down = step.is_negative();
    if is_down && end > start {
        return Err(CallError::argument(1, "end must be less than start when step is negative"));
    }
    if !is_down && end < start {
        return Err(CallError::argument(1, "end must be greater than start when step is positive"));
    }
    let mut values = Vec::new();
    let mut at = start.clone();
    while if is_down { &at > end } else { &at < end } {
        if values.len() == MOST {
            return Err(CallError::new(
                "more than 1024 values were generated; either decrease the difference between start and end or use a \
                 smaller step",
            ));
        }
        values.push(Value::number(at.clone()));
        at = at.add(step).ok_or_else(|| CallError::new("cannot step over infinity"))?;
    }
    Ok(Value::list(Type::Number, values))
}

fn not_reversible(ty: &Type) -> CallError {
    CallError::argument(0, format!("can only reverse list or tuple values, not {}", ty.friendly()))
}

fn reverse(list: &Value) -> Result<Value, CallError> {
    let Some(elements) = list.as_sequence() else {
        return Err(not_reversible(&list.type_of()));
    };
    let reversed: Vec<Value> = elements.iter().rev().cloned().collect();
    let value = match &list.data {
        Data::Tuple(_) => Value::tuple(reversed),
        _ => Value::list(element_type(list), reversed),
    };
    Ok(value.mark(list.marks))
}

fn sort(list: &Value) -> Result<Value, CallError> {
    let elements = elements(list);
    if list.has_unknown() {
        let refinements = Refinements::length(elements.len(), Some(elements.len()));
        return Ok(unknown_from(Type::list(Type::String), refinements, elements));
    }
    if let Some(at) = elements.iter().position(Value::is_null) {
        let message = format!("given list element {at} is null; a null string cannot be sorted");
        return Err(CallError::argument(0, message));
    }
    let mut sorted = elements.to_vec();
    sorted.sort();
    Ok(Value::list(Type::String, sorted))
}
