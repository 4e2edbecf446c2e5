//! Values as the state keeps them.

use std::sync::Arc;

use engine_diag::Diagnostic;
use engine_model::change::ResourceChange;
use engine_plan::{Providers, mark_repeated};
use engine_value::Value;
use state::{Dependencies, Effect, Object, Output, Snapshot, Status};

/// An object after a change.
pub(crate) fn object(
    providers: &Providers,
    change: &ResourceChange,
    value: &Value,
    private: Vec<u8>,
    status: Status,
) -> Result<Object, Box<Diagnostic>> {
    let schema = providers.schema(&change.provider.provider, change.addr.mode, &change.addr.ty)?;
    // Providers see no marks: what the plan says is sensitive stays so in the state.
    let (_, marks) = change.after.clone().unmark_deep();
    let marked = mark_repeated(providers, &change.provider.provider, &change.addr, value.clone(), marks);
    let object = Object::of(marked, &schema.block.value_type(), schema.version).map_err(|why| {
        let detail = format!("The provider's result for {} cannot be kept: {why}.", change.addr);
        Box::new(Diagnostic::error("Provider returned invalid result object", detail).about(&change.addr))
    })?;
    Ok(Object {
        private,
        status,
        dependencies: Dependencies::Nearest(change.dependencies.clone()),
        create_before_destroy: change.create_before_destroy,
        ..object
    })
}

/// The approved configuration of a resource with operations, before the first of them: what only the provider can tell
/// is null until it settles.
pub(crate) fn approved(providers: &Providers, change: &ResourceChange) -> Result<Object, Box<Diagnostic>> {
    object(providers, change, &known(&change.after), change.private.clone(), Status::Ready)
}

fn known(value: &Value) -> Value {
    value.transform(&mut |_, part| match part.as_unknown() {
        Some(unknown) => Value::null(unknown.ty.clone()),
        None => part,
    })
}

/// What was read, with what the state has beside it.
pub(crate) fn refreshed(
    providers: &Providers,
    change: &ResourceChange,
    stored: Option<&Object>,
) -> Result<Object, Box<Diagnostic>> {
    let status = stored.map_or(Status::Ready, |object| object.status);
    object(providers, change, &change.after, change.private.clone(), status)
}

/// An output, where it is not what the state has. Its own marks count as well as its declaration.
pub(crate) fn output(snapshot: &Snapshot, name: Arc<str>, value: Value, sensitive: bool) -> Option<Effect> {
    let sensitive = sensitive || value.contains_sensitive();
    let stored = snapshot.outputs.get(&name);
    let output = if value.is_null() { None } else { Some(Output::of(value, sensitive).ok()?) };
    (stored != output.as_ref()).then(|| Effect::output(name, output))
}
