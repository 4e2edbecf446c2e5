//! `mock_object`: an object with arguments, one of which cannot be changed in place and one of which is secret.

use std::collections::BTreeMap;

use engine_model::{
    address::ResourceAddr,
    schema::{Attribute, Block, Usage},
};
use engine_value::{Path, Type, Unknown, Value};
use providers_api::{
    Applied, ApplyRequest, ErrorKind, Outcome, PlanRequest, Planned, ProviderError, ReadAnswer, ReadObject, ReadRequest,
};

use super::{
    call::Verb,
    fault::How,
    world::{Object, World},
};

pub(super) const TYPE: &str = "mock_object";

const ARGUMENTS: [&str; 5] = ["value", "number", "map", "immutable", "secret"];

/// What is planned for an object that does not exist yet must come back.
const PLANNED: &[u8] = b"planned";

pub(super) fn block() -> Block {
    let attribute = |ty, usage, what| Attribute::new(ty, usage, what);
    let text = |usage, what| attribute(Type::String, usage, what);
    Block::new(
        [
            ("value", text(Usage::Optional, "Some text.")),
            ("number", attribute(Type::Number, Usage::Optional, "Some number.")),
            ("map", attribute(Type::map(Type::String), Usage::Optional, "Some texts by name.")),
            ("immutable", text(Usage::Optional, "Another value makes another object.")),
            ("secret", text(Usage::Optional, "Never shown.").sensitive()),
            ("id", text(Usage::Computed, "The address, and which object of that address it is.")),
            ("size", attribute(Type::Number, Usage::Computed, "The length of `value`.")),
            ("token", text(Usage::Computed, "Made from `secret`, and never shown either.").sensitive()),
        ],
        "An object of the world.",
    )
}

fn part(object: &Value, name: &str) -> Value {
    object.get(name).cloned().unwrap_or_else(|| Value::null(Type::Dynamic))
}

fn null_of(name: &str) -> Value {
    Value::null(match name {
        "number" | "size" => Type::Number,
        "map" => Type::map(Type::String),
        _ => Type::String,
    })
}

fn arguments(object: &Value) -> BTreeMap<String, Value> {
    let given = ARGUMENTS.iter().map(|name| ((*name).to_owned(), part(object, name)));
    given.filter(|(_, value)| !value.is_null()).collect()
}

fn size(value: &Value) -> Value {
    match value.as_str() {
        Some(text) => Value::int(text.len().try_into().unwrap_or(i64::MAX)),
        None if value.is_null() => Value::int(0),
        None => Value::unknown(Type::Number),
    }
}

/// An object as it is read.
fn shown(id: &str, arguments: &BTreeMap<String, Value>) -> Value {
    let get = |name: &str| arguments.get(name).cloned().unwrap_or_else(|| null_of(name));
    let token = match arguments.get("secret").and_then(Value::as_str) {
        Some(secret) => Value::string(format!("token of {secret}")),
        None => null_of("token"),
    };
    let computed = [("id", Value::string(id)), ("size", size(&get("value"))), ("token", token)];
    Value::object(ARGUMENTS.iter().map(|name| (*name, get(name))).chain(computed))
}

pub(super) fn read(world: &World, request: &ReadRequest) -> ReadAnswer {
    if let Some(how) = world.called(Verb::Read, &request.addr.to_string()) {
        let error = how.error(&format!("read {}", request.addr));
        return match error.kind {
            ErrorKind::Unreachable => ReadAnswer::Unreachable(error),
            _ => ReadAnswer::Failed(error),
        };
    }
    let Some(id) = request.object.get("id").and_then(Value::as_str) else { return ReadAnswer::Gone };
    world.edit(|contents| match contents.objects.get_mut(id) {
        Some(object) => {
            object.acknowledged = true;
            let (object, private) = (shown(id, &object.arguments), request.private.clone());
            ReadAnswer::Object(ReadObject { object, private, notes: Vec::new() })
        }
        None => ReadAnswer::Gone,
    })
}

pub(super) fn plan(request: &PlanRequest) -> Planned {
    let (prior, config) = (&request.prior, &request.config);
    if config.is_null() {
        return Planned { private: request.private.clone(), ..Planned::object(config.clone()) };
    }
    let is_same = |name: &str| !prior.is_null() && part(prior, name) == part(config, name);
    let unknown = |ty| Value::unknown_with(Unknown::never_null(ty));
    let id = if prior.is_null() { unknown(Type::String) } else { part(prior, "id") };
    let size = match (prior.is_null(), is_same("value")) {
        (true, _) => size(&part(config, "value")),
        (false, true) => part(prior, "size"),
        (false, false) => unknown(Type::Number),
    };
    let token = match part(config, "secret") {
        _ if is_same("secret") => part(prior, "token"),
        secret if secret.is_null() => null_of("token"),
        _ => Value::unknown(Type::String),
    };
    let computed = [("id", id), ("size", size), ("token", token)];
    let object = Value::object(ARGUMENTS.iter().map(|name| (*name, part(config, name))).chain(computed));
    let replaced = !prior.is_null() && !is_same("immutable");
    let private = if prior.is_null() { PLANNED.to_vec() } else { request.private.clone() };
    Planned {
        private,
        replace: if replaced { vec![Path::root().attr("immutable")] } else { Vec::new() },
        ..Planned::object(object)
    }
}

pub(super) fn apply(world: &World, request: &ApplyRequest) -> Outcome<Applied> {
    let change = &request.change;
    if change.after.is_null() {
        delete(world, &change.addr, &change.before, &change.private)
    } else if change.before.is_null() {
        create(world, &change.addr, &change.after, &change.private)
    } else {
        update(world, &change.addr, &change.before, &change.after, &change.private)
    }
}

fn applied(id: &str, object: &Object) -> Applied {
    Applied { object: shown(id, &object.arguments), private: id.as_bytes().to_vec() }
}

fn wrong_private(found: &[u8], now: Option<Applied>) -> Outcome<Applied> {
    let what = format!("the private bytes are {:?}, which is not what was given", String::from_utf8_lossy(found));
    Outcome::failed(now, ProviderError::permanent(what))
}

/// The same request again finds what it made, until somebody has read that.
fn create(world: &World, addr: &ResourceAddr, after: &Value, private: &[u8]) -> Outcome<Applied> {
    let address = addr.to_string();
    let fault = world.called(Verb::Create, &address);
    let error = fault.as_ref().map(|how| how.error(&format!("create {addr}")));
    if let (Some(How::Refused(_) | How::Says(..)), Some(error)) = (&fault, error) {
        return Outcome::failed(None, error);
    }
    if private != PLANNED {
        return wrong_private(private, None);
    }
    let is_own = |object: &Object| object.address == address && !object.acknowledged && !object.broken;
    let arguments = arguments(after);
    let (id, object) = world.edit(|contents| {
        let own = contents.objects.iter().find(|(_, object)| is_own(object)).map(|(id, _)| id.clone());
        let id = own.unwrap_or_else(|| {
            let made = contents.made.entry(address.clone()).or_default();
            *made += 1;
            format!("{address}/{made}")
        });
        let broken = fault.is_some();
        let object = Object { address: address.clone(), arguments, broken, acknowledged: false };
        contents.objects.insert(id.clone(), object.clone());
        (id, object)
    });
    Outcome { now: Some(applied(&id, &object)), error: fault.map(|how| how.error(&format!("create {addr}"))) }
}

fn update(world: &World, addr: &ResourceAddr, before: &Value, after: &Value, private: &[u8]) -> Outcome<Applied> {
    let fault = world.called(Verb::Update, &addr.to_string());
    let id = before.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let error = fault.as_ref().map(|how| how.error(&format!("update {addr}")));
    let wanted = arguments(after);
    let now = world.edit(|contents| {
        let object = contents.objects.get_mut(&id)?;
        match &fault {
            None => object.arguments = wanted,
            Some(How::Refused(_) | How::Says(..)) => {}
            Some(How::Half) => match wanted.get("value") {
                Some(value) => drop(object.arguments.insert("value".to_owned(), value.clone())),
                None => drop(object.arguments.remove("value")),
            },
        }
        Some(applied(&id, object))
    });
    if private != id.as_bytes() {
        return wrong_private(private, now);
    }
    match (now, error) {
        (None, _) => {
            let error = ProviderError::new(ErrorKind::Conflict, format!("{id} is gone"));
            Outcome::failed(None, error)
        }
        (now, error) => Outcome { now, error },
    }
}

fn delete(world: &World, addr: &ResourceAddr, before: &Value, private: &[u8]) -> Outcome<Applied> {
    let fault = world.called(Verb::Delete, &addr.to_string());
    let id = before.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    if private != id.as_bytes() {
        let now = world.edit(|contents| contents.objects.get(&id).map(|object| applied(&id, object)));
        return wrong_private(private, now);
    }
    world.edit(|contents| match fault {
        None => {
            contents.objects.remove(&id);
            Outcome::gone()
        }
        Some(how) => {
            let now = contents.objects.get_mut(&id).map(|object| {
                if how == How::Half {
                    object.broken = true;
                    object.arguments.remove("value");
                }
                applied(&id, object)
            });
            Outcome::failed(now, how.error(&format!("delete {addr}")))
        }
    })
}
