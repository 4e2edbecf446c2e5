//! Data sources: what there is. Read from the same snapshot that plans are made from.

mod catalog;
mod nodes;

use std::{collections::BTreeMap, sync::Arc};

use engine_model::schema::Schema;
use engine_value::{Path, Value};
use providers_api::{DataRequest, Issue};

use crate::world::World;

/// All data sources by name.
pub(crate) fn schemas() -> BTreeMap<Arc<str>, Schema> {
    BTreeMap::from([(catalog::TYPE.into(), catalog::schema()), (nodes::TYPE.into(), nodes::schema())])
}

/// Reads one that does not depend on a cluster; `None`: it does.
pub(crate) fn read_alone(request: &DataRequest) -> Option<Value> {
    (&*request.addr.ty == catalog::TYPE).then(|| catalog::read(&request.config))
}

/// Reads one that does.
///
/// # Errors
/// There is no such type.
pub(crate) fn read(request: &DataRequest, world: &World) -> Result<Value, Vec<Issue>> {
    match &*request.addr.ty {
        nodes::TYPE => Ok(nodes::read(&request.config, world)),
        other => {
            let detail = format!("Provider gpu has no data source {other}.");
            Err(vec![Issue::error(Path::root(), "Unknown data source", detail)])
        }
    }
}
