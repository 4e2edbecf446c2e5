//! What a plan begins at: everything, or what `-target` names with all that it depends on.

use engine_model::{
    address::{Mode, ModuleAddr, ResourceAddr},
    plan::PlanMode,
};

use super::{Phase, Planner};
use crate::{
    evaluation::{Key, declared},
    expand::Expansion,
    program::{Program, block_addr},
    target::{Target, nothing_there},
};

impl Planner<'_> {
    /// Variables are a part of every plan, used or not.
    pub(super) fn want_variables(&mut self) {
        for name in self.program().config.root.variables.keys() {
            self.evaluation.want(&Key::Variable(ModuleAddr::root(), name.clone()));
        }
    }

    /// Plans the configuration, and what of the state it no longer has.
    pub(super) async fn configured(&mut self) {
        if self.input.targets.is_empty() {
            for key in declared(&ModuleAddr::root(), &self.program().config.root) {
                self.evaluation.want(&key);
            }
        }
        self.drive().await;
        self.plan_deposed();
        if !self.input.targets.is_empty() {
            self.outputs_as_they_are().await;
        }
    }

    /// Outputs whose objects are all there are evaluated even where only targets were planned.
    async fn outputs_as_they_are(&mut self) {
        self.frozen = true;
        for name in self.program().config.root.outputs.keys() {
            self.evaluation.want(&Key::Output(ModuleAddr::root(), name.clone()));
        }
        self.drive().await;
    }

    /// Wants the objects that targets name, as far as their instances are known. True: there is more to do now.
    pub(super) fn want_targets(&mut self) -> bool {
        if self.phase != Phase::Planning || self.frozen || self.input.mode == PlanMode::Destroy {
            return false;
        }
        let before = self.evaluation.wanted();
        for target in &self.input.targets {
            self.want_in(&ModuleAddr::root(), target);
        }
        self.evaluation.wanted() > before
    }

    fn want_in(&mut self, module: &ModuleAddr, target: &Target) {
        let program = self.program();
        let Some(config) = program.module(module) else { return };
        for name in config.resources.keys() {
            let block = block_addr(module, name);
            if !target.may_match(&block) {
                continue;
            }
            let instances = Key::Instances(block.clone());
            self.evaluation.want(&instances);
            for addr in self.evaluation.instances(&block).iter().filter(|addr| target.matches(addr)) {
                self.evaluation.want(&Key::Object(addr.clone()));
            }
        }
        for name in config.calls.keys() {
            let any = module.child(name.clone(), None);
            let may_be_in = |child: &ModuleAddr| target.may_be_in(child);
            // Without its key a call may still be meant by a target with one.
            if !may_be_in(&any) && !names(target, module, name) {
                continue;
            }
            let calls = Key::Calls(module.clone(), name.clone());
            self.evaluation.want(&calls);
            let keys = self.evaluation.expansion(&calls).map(|expansion: &std::sync::Arc<Expansion>| expansion.keys());
            for key in keys.into_iter().flatten() {
                let child = module.child(name.clone(), key);
                if may_be_in(&child) {
                    self.want_in(&child, target);
                }
            }
        }
    }

    /// Refuses addresses that name nothing: a typing error must not look like "No changes".
    pub(super) fn check_addresses(&mut self) {
        self.program().unmet_requirements().into_iter().for_each(|error| self.report(error));
        let refused = engine_lang::config::not_executed(&self.program().config);
        refused.into_iter().for_each(|error| self.report(error));
        if self.input.targets.is_empty() && self.input.replace.is_empty() {
            return;
        }
        let known = self.known();
        let text: Vec<String> = known.iter().map(ToString::to_string).collect();
        for target in &self.input.targets {
            let found = match target {
                // An instance that is neither in the state nor yet in the configuration is told from its block.
                Target::Resource(addr) => known.iter().any(|known| {
                    target.matches(known) || (known.key.is_none() && is_block_of(self.program(), known, addr))
                }),
                Target::Module(module) => {
                    known.iter().any(|known| target.matches(known))
                        || self.program().config.module(&module.path()).is_some()
                }
            };
            if !found {
                self.report(nothing_there("-target", &target.to_string(), &text));
            }
        }
        for addr in &self.input.replace {
            let found = known
                .iter()
                .any(|known| known == addr || (known.key.is_none() && is_block_of(self.program(), known, addr)));
            if !found {
                self.report(nothing_there("-replace", &addr.to_string(), &text));
            }
        }
    }

    /// Every address of the state, and every block of the configuration.
    fn known(&self) -> Vec<ResourceAddr> {
        let stored = self.snapshot.resources().keys().cloned();
        let modules = self.program().config.modules();
        let blocks = modules.iter().flat_map(|(path, module)| {
            let addr = path.0.iter().fold(ModuleAddr::root(), |addr, name| addr.child(name.clone(), None));
            module.resources.keys().map(move |name| block_addr(&addr, name)).collect::<Vec<_>>()
        });
        stored.chain(blocks).filter(|addr| addr.mode != Mode::Ephemeral).collect()
    }
}

/// Does the target name an instance of this call?
fn names(target: &Target, module: &ModuleAddr, call: &str) -> bool {
    let wanted = match target {
        Target::Module(wanted) => wanted,
        Target::Resource(wanted) => &wanted.module,
    };
    wanted.0.get(module.0.len()).is_some_and(|step| *step.name == *call) && target.may_be_in(module)
}

/// Could `addr` be an instance of this block of the configuration? Blocks without repetition have only themselves.
fn is_block_of(program: &Program, block: &ResourceAddr, addr: &ResourceAddr) -> bool {
    block.config() == addr.config()
        && (addr.key.is_none()
            || program.resource(block).is_some_and(|block| block.repeat != engine_lang::config::Repeat::Once))
}
