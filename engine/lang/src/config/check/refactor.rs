//! `import` and `removed` blocks within their module.

use std::collections::BTreeMap;

use engine_diag::{Diagnostic, Span};

use super::reference::{Checker, NOWHERE, Place};
use crate::{
    config::{Import, ROOT, Repeat},
    syntax::{Expr, Node},
};

impl Checker<'_> {
    pub(super) fn refactorings(&mut self) {
        let module = self.module;
        for removed in &module.removed {
            self.provisioners(&removed.body, NOWHERE);
        }
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        for import in &module.imports {
            if *module.directory != *ROOT {
                let detail = "An import block stands in the root module: what is imported is not the same wherever a module \
                              is called.";
                let diagnostic = Diagnostic::error("Invalid import configuration", detail).at(import.span);
                self.diagnostics
                    .push(diagnostic.hint("Move it to the root module, with module.NAME before the address."));
                continue;
            }
            self.import(import);
            if let Some(address) = plain(import)
                && let Some(first) = seen.insert(address.clone(), import.to.span)
            {
                let detail = "An object can be imported only once to one address.";
                let summary = format!("Duplicate import configuration for \"{address}\"");
                let diagnostic = Diagnostic::error(summary, detail).at(import.to.span);
                self.diagnostics.push(diagnostic.related(first, "the first one"));
            }
        }
    }

    fn import(&mut self, import: &Import) {
        let repeat = import.for_each.as_ref().map(|each| Repeat::ForEach(each.clone()));
        let place = Place { repeat: repeat.as_ref(), ..NOWHERE };
        if let Some(each) = &import.for_each {
            self.expr(each, NOWHERE);
        }
        self.expr(&import.id, place);
        if import.id.as_text().is_some_and(|id| id.is_empty()) {
            let detail = "The id that the provider finds an object by is not empty.";
            self.diagnostics.push(Diagnostic::error("Invalid import id argument", detail).at(import.id.span()));
        }
        let keys = import.to.modules.iter().filter_map(|(_, key)| key.as_ref());
        for key in keys.chain(import.to.resource.iter().filter_map(|(_, key)| key.as_ref())) {
            self.expr(key, place);
        }
        if let (Some(provider), [], Some((name, _))) = (&import.provider, &import.to.modules[..], &import.to.resource)
            && self.module.resources.contains_key(name)
        {
            let detail = format!("The provider of {name} is told by its block.");
            let diagnostic = Diagnostic::error("Invalid import provider argument", detail).at(provider.span);
            self.diagnostics.push(diagnostic.hint("Remove the argument \"provider\"."));
        }
    }
}

/// The address that is imported to, where it has only constant keys.
fn plain(import: &Import) -> Option<String> {
    let key = |key: &Option<Expr>| match key.as_ref().map(|key| key.unparenthesized()) {
        None => Some(String::new()),
        Some(key) => match key.node() {
            Node::Text(_) => Some(format!("[{:?}]", key.as_text()?)),
            Node::Number(number) => Some(format!("[{}]", key.tree().number(number))),
            _ => None,
        },
    };
    let mut text = String::new();
    for (name, one) in &import.to.modules {
        text += &format!("module.{name}{}.", key(one)?);
    }
    let (name, one) = import.to.resource.as_ref()?;
    Some(format!("{text}{name}{}", key(one)?))
}
