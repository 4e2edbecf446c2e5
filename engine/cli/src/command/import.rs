//! `import`: takes an object that exists into the state, and writes its configuration if that is asked for. Changes nothing
//! in the world.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use engine_apply::{Edit, edit};
use engine_diag::{Diagnostic, Diagnostics};
use engine_model::{
    address::{Mode, ResourceAddr},
    name::PlanDigest,
    plan::PlanMode,
};
use engine_plan::{Found, Import, PlanInput, Providers, import};
use providers_api::{Call, Silent};
use state::{Fence, Lineage, Snapshot};

use crate::{
    args::ImportArgs,
    command::folded,
    compiled,
    configuration::{self, Configuration},
    planning,
    sandbox::World,
    session::{Exit, Session, failed},
    storage::Storage,
};

pub(crate) async fn run(session: &mut Session, world: Option<&World>, args: &ImportArgs) -> Exit {
    match imported(session, world, args).await {
        Ok(()) => Exit::Success,
        Err(diagnostics) => session.fail(diagnostics),
    }
}

async fn imported(session: &mut Session, world: Option<&World>, args: &ImportArgs) -> Result<(), Diagnostics> {
    if !args.lock.lock {
        let detail = "-lock=false would let two runs change the same state.";
        return Err(Diagnostic::error("Import needs the lock", detail).hint("Leave -lock=false to plan.").into());
    }
    let addr = address(&args.address)?;
    let file = args.generate_config_out.as_ref().map(|name| session.directory.join(name));
    if let Some(file) = &file {
        free(file)?;
    }
    let (configuration, warnings) = configuration::load(session, &args.variables.given)?;
    session.report(&warnings);
    let providers = compiled::providers(session, world.map(World::connection));
    let mut storage = Storage::new(session, world.map(World::directory), configuration.config.state_path());
    let fence = storage.lock(session, "import", args.lock.lock_timeout).await?;
    let within = Within { configuration: &configuration, providers: &providers, storage: &storage, fence, world };
    let result = within.import(session, args, &addr, file.as_deref()).await;
    storage.unlock(session).await;
    result?;
    session.print(
        "\nImport successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour state \
         and will henceforth be managed by Sliceform.\n",
    );
    if let Some(name) = &args.generate_config_out {
        session.print(&format!("\nTheir configuration is in {name}. Review it before you plan.\n"));
    }
    Ok(())
}

/// What is there while the lock is held.
struct Within<'a> {
    configuration: &'a Configuration,
    providers: &'a Providers,
    storage: &'a Storage,
    fence: Fence,
    world: Option<&'a World>,
}

impl Within<'_> {
    async fn import(
        &self,
        session: &mut Session,
        args: &ImportArgs,
        addr: &ResourceAddr,
        file: Option<&Path>,
    ) -> Result<(), Diagnostics> {
        let loaded = self.storage.load(session).await?;
        let snapshot = folded(&loaded)?.unwrap_or_else(|| Snapshot::new(Lineage::default()));
        session.print(&format!("{addr}: Importing from ID {:?}...\n", args.id));
        let events = session.events();
        let input = PlanInput {
            program: Arc::new(planning::program(session, self.configuration, self.providers)),
            sources: &session.sources,
            snapshot: &snapshot,
            identity: loaded.identity(),
            mode: PlanMode::Normal,
            refresh: true,
            targets: Vec::new(),
            replace: Vec::new(),
            parallelism: usize::from(args.parallelism),
            sandbox: self.world.is_some(),
            events: &*events,
        };
        let call = Call { progress: &Silent, cancel: &session.env.interrupt, host: &*session.host };
        let wanted = Import { addr, id: &args.id, generate: file.is_some() };
        let output = import(input, wanted, call).await;
        let Some(Found { effects, configuration }) = output.found else { return Err(output.diagnostics) };
        session.report(&output.diagnostics);
        if session.env.interrupt.is_cancelled() {
            return Err(Diagnostic::error("Interrupted", "Nothing was imported.").into());
        }
        session.print(&format!("{addr}: Import prepared!\n  Prepared {} for import\n", addr.ty));
        // The file first: a state whose configuration is missing would plan to destroy the object.
        let written = match (file, configuration) {
            (Some(file), Some(text)) => Some(Written::new(file, &text)?),
            _ => None,
        };
        let edit = Edit {
            store: self.storage.store.clone(),
            fence: self.fence,
            operation: "import",
            digest: PlanDigest::from(format!("import {addr}").as_str()),
            who: &session.env.who,
            host: &*session.host,
            effects,
        };
        let edited = self::edit(edit, &loaded).await.map(drop);
        if let (Ok(()), Some(written)) = (&edited, written) {
            written.keep();
        }
        edited
    }
}

fn address(text: &str) -> Result<ResourceAddr, Diagnostics> {
    let hint = "Write it as TYPE.NAME, in a module as module.NAME.TYPE.NAME, with its key as TYPE.NAME[\"key\"].";
    let addr: ResourceAddr =
        text.parse().map_err(|error| Diagnostics::from(failed("Invalid address", &error).hint(hint)))?;
    if addr.mode != Mode::Managed {
        let detail = format!("{addr} is a data source or ephemeral: there is nothing to import.");
        return Err(Diagnostic::error("Invalid address", detail).hint(hint).into());
    }
    Ok(addr)
}

fn free(file: &Path) -> Result<(), Diagnostics> {
    if fs::symlink_metadata(file).is_ok() {
        let detail = format!("{} exists. Generated configuration never overwrites a file.", file.display());
        let hint = "Name another file, or move this one away.";
        return Err(Diagnostic::error("Target generated file already exists", detail).hint(hint).into());
    }
    Ok(())
}

/// A file that was written, and goes away again unless it is kept.
struct Written(Option<PathBuf>);

impl Written {
    fn new(file: &Path, text: &str) -> Result<Self, Diagnostics> {
        let write = || -> io::Result<Self> {
            let mut open = fs::OpenOptions::new().write(true).create_new(true).open(file)?;
            let written = Self(Some(file.to_owned()));
            open.write_all(text.as_bytes()).and_then(|()| open.sync_all()).map(|()| written)
        };
        write().map_err(|error| failed(&format!("Cannot write {}", file.display()), &error).into())
    }

    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            let _ = fs::remove_file(file);
        }
    }
}
