//! Resources by module, as Terraform nests them.

use std::collections::BTreeMap;

use engine_model::address::{InstanceKey, Mode, ModuleAddr, ResourceAddr};
use engine_value::json::Json;

use super::{object, text};

/// Resources under their modules. What is added in address order stays in it.
#[derive(Default)]
pub(super) struct Modules(BTreeMap<ModuleAddr, Vec<Json>>);

impl Modules {
    /// Adds a resource.
    pub(super) fn add(&mut self, addr: &ResourceAddr, resource: Json) {
        let mut module = addr.module.clone();
        self.0.entry(module.clone()).or_default().push(resource);
        while let Some((outer, _)) = module.call() {
            self.0.entry(outer.clone()).or_default();
            module = outer;
        }
    }

    /// `root_module`.
    pub(super) fn root(mut self) -> Json {
        // Children come after their parents, so each is whole when its parent takes it.
        let mut children: BTreeMap<ModuleAddr, Vec<Json>> = BTreeMap::new();
        while let Some((module, resources)) = self.0.pop_last() {
            let mut inner = children.remove(&module).unwrap_or_default();
            inner.reverse();
            let mut members = Vec::new();
            if !resources.is_empty() {
                members.push(("resources", Json::Array(resources)));
            }
            let Some((outer, _)) = module.call() else {
                members.extend((!inner.is_empty()).then_some(("child_modules", Json::Array(inner))));
                return object(members);
            };
            members.push(("address", text(module.to_string())));
            members.extend((!inner.is_empty()).then_some(("child_modules", Json::Array(inner))));
            children.entry(outer).or_default().push(object(members));
        }
        object([])
    }
}

/// The members that every resource begins with.
pub(super) fn address(addr: &ResourceAddr) -> Vec<(&'static str, Json)> {
    let mut members = vec![("mode", text(mode(addr.mode))), ("type", text(&*addr.ty)), ("name", text(&*addr.name))];
    members.extend(addr.key.as_ref().map(|key| ("index", index(key))));
    members
}

pub(super) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Managed => "managed",
        Mode::Data => "data",
        Mode::Ephemeral => "ephemeral",
    }
}

pub(super) fn index(key: &InstanceKey) -> Json {
    match key {
        InstanceKey::Int(index) => super::number(*index),
        InstanceKey::String(key) => text(&**key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_nest_in_order() {
        let mut modules = Modules::default();
        for addr in ["a.b", "module.x[0].a.b", "module.x[0].module.z.a.b", "module.x[1].a.b", "module.y.module.n.a.b"] {
            modules.add(&addr.parse().unwrap(), text(addr));
        }
        let expected = r#"{"resources":["a.b"],"child_modules":[{"resources":["module.x[0].a.b"],"address":"module.x[0]",
            "child_modules":[{"resources":["module.x[0].module.z.a.b"],"address":"module.x[0].module.z"}]},
            {"resources":["module.x[1].a.b"],"address":"module.x[1]"},{"address":"module.y","child_modules":
            [{"resources":["module.y.module.n.a.b"],"address":"module.y.module.n"}]}]}"#;
        let expected: String = expected.split_whitespace().collect();
        assert_eq!(modules.root().to_string(), expected);
    }
}
