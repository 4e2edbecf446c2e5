//! The world of a sandbox: its files, its fleet, its time.
//!
//! Everything is in one store, whose log has each change before it is answered: the objects of the API, and beside them,
//! where no path leads, the hardware, the fleet that it was made from, and the world's time. The world's time goes on only
//! while somebody has the world open.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use engine_model::host::Host;
use providers_simulator::{Fleet as Hardware, Node, SharedFleet};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::fleet::{self, Fleet, Unmade};
use crate::names::record::{HARDWARE, WORLD};
use crate::store::{Key, LogError, Mode, OpenError, Store};

/// Why a world cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// Its files cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It cannot be written.
    #[error("the world cannot be written")]
    Write(#[from] LogError),
    /// The fleet describes what cannot be.
    #[error("the fleet {name} cannot be made")]
    Unmade {
        /// The fleet's file.
        name: String,
        /// Why.
        source: Unmade,
    },
    /// There is a world of another fleet.
    #[error(
        "the sandbox in {} was made from another fleet ({existing}); `sandbox reset` removes it, so that {wanted} can be used",
        dir.display()
    )]
    AnotherFleet {
        /// Where it is.
        dir: PathBuf,
        /// The fleet's file that it was made from.
        existing: String,
        /// The fleet's file that was asked for.
        wanted: String,
    },
    /// What it holds cannot be understood.
    #[error("the sandbox in {} was written by another release ({what}); `sandbox reset` removes it", dir.display())]
    Unreadable {
        /// Where it is.
        dir: PathBuf,
        /// What cannot be read.
        what: String,
    },
}

/// What the world was made from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Origin {
    /// The fleet's file.
    pub(crate) name: String,
    pub(crate) fleet: Fleet,
    /// From which the API's identities follow.
    pub(crate) seed: u64,
    /// Whether all objects of the fleet have been made.
    pub(crate) complete: bool,
}

/// An open world.
pub(crate) struct World {
    pub(crate) store: Arc<Store>,
    pub(crate) origin: Origin,
    pub(crate) hardware: SharedFleet,
    pub(crate) clock: WorldClock,
    pub(crate) trouble: Trouble,
}

/// The first thing that went wrong where nobody could be told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble(Arc<OnceLock<String>>);

impl Trouble {
    pub(crate) fn report(&self, what: String) {
        // Only the first matters: the rest follows from it.
        let _ = self.0.set(what);
    }

    pub(crate) fn first(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

impl World {
    /// Opens the world in `dir`, or makes it from the fleet (file name, fleet).
    pub(crate) fn open(dir: &Path, wanted: Option<(&str, Fleet)>, host: &dyn Host) -> Result<Self, WorldError> {
        let store = Arc::new(Store::open(dir)?);
        let unreadable = |what: &str, why: serde_json::Error| WorldError::Unreadable {
            dir: dir.to_owned(),
            what: format!("{what}: {why}"),
        };
        let known = store.read().get(&origin_key()).cloned();
        let origin = match (known, wanted) {
            (None, wanted) => make(&store, wanted, host)?,
            (Some(value), wanted) => {
                let origin = Origin::deserialize(&*value).map_err(|why| unreadable("fleet", why))?;
                if let Some((wanted, _)) = wanted.filter(|(_, fleet)| fleet.digest() != origin.fleet.digest()) {
                    let (existing, wanted) = (origin.name, wanted.to_owned());
                    return Err(WorldError::AnotherFleet { dir: dir.to_owned(), existing, wanted });
                }
                origin
            }
        };
        let hardware = read_hardware(&store).map_err(|why| unreadable("hardware", why))?;
        let before = store.read().get(&clock_key()).and_then(|value| value.as_u64());
        let trouble = Trouble::default();
        let (kept, told) = (store.clone(), trouble.clone());
        let hardware = SharedFleet::recorded(hardware, move |node| {
            if let Err(error) = write(&kept, &hardware_key(&node.name), to_value(node)) {
                told.report(format!("the hardware of node {} could not be recorded: {error}", node.name));
            }
        });
        Ok(Self { store, origin, hardware, clock: WorldClock::new(before.unwrap_or(0)), trouble })
    }

    /// Remembers that all objects of the fleet have been made.
    pub(crate) fn complete(&mut self) -> Result<(), WorldError> {
        self.origin.complete = true;
        Ok(write(&self.store, &origin_key(), to_value(&self.origin))?)
    }
}

/// Remembers the world's time. What passed since the last time is lost with the process; so do this now and then.
pub(crate) fn keep_time(store: &Store, clock: &WorldClock) -> Result<(), LogError> {
    write(store, &clock_key(), clock.now_ms().into())
}

fn make(store: &Store, wanted: Option<(&str, Fleet)>, host: &dyn Host) -> Result<Origin, WorldError> {
    let (name, fleet) = match wanted {
        Some((name, fleet)) => (name.to_owned(), fleet),
        None => default_fleet(),
    };
    let hardware = fleet::simulated(&fleet).map_err(|source| WorldError::Unmade { name: name.clone(), source })?;
    let mut seed = [0; 8];
    host.random(&mut seed);
    let origin = Origin { name, fleet, seed: u64::from_be_bytes(seed), complete: false };
    let mut transaction = store.begin(Mode::Write);
    transaction.put(&origin_key(), to_value(&origin));
    for node in hardware.nodes.values() {
        transaction.put(&hardware_key(&node.name), to_value(node));
    }
    transaction.commit()?;
    Ok(origin)
}

fn default_fleet() -> (String, Fleet) {
    let (name, text) = fleet::DEFAULT_FLEET;
    let fleet = fleet::read(engine_diag::FileId(0), text).expect("the fleet that comes with the program is one");
    (name.to_owned(), fleet)
}

fn read_hardware(store: &Store) -> Result<Hardware, serde_json::Error> {
    let read = store.read();
    let nodes: Result<BTreeMap<String, Node>, serde_json::Error> =
        read.list(HARDWARE).map(|(key, value)| Ok((key.name.to_string(), Node::deserialize(&**value)?))).collect();
    Ok(Hardware { nodes: nodes? })
}

fn origin_key() -> Key {
    Key::new(WORLD, "", "origin")
}

fn clock_key() -> Key {
    Key::new(WORLD, "", "time")
}

fn hardware_key(node: &str) -> Key {
    Key::new(HARDWARE, "", node)
}

fn to_value(record: &impl Serialize) -> Value {
    serde_json::to_value(record).expect("records have only text keys, so they are always JSON")
}

/// Writes one private record.
pub(crate) fn write(store: &Store, key: &Key, value: Value) -> Result<(), LogError> {
    let mut transaction = store.begin(Mode::Write);
    transaction.put(key, value);
    transaction.commit().map(|_| ())
}

/// The world's time. Clones are the same clock.
#[derive(Clone, Debug)]
pub(crate) struct WorldClock {
    opened: Instant,
    /// Milliseconds before it was opened, and those that were skipped since.
    ahead: Arc<AtomicU64>,
}

impl WorldClock {
    fn new(before_ms: u64) -> Self {
        Self { opened: Instant::now(), ahead: Arc::new(AtomicU64::new(before_ms)) }
    }

    /// Milliseconds since the world was made, as far as it was open.
    pub(crate) fn now_ms(&self) -> u64 {
        let open = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.ahead.load(Ordering::Relaxed).saturating_add(open)
    }

    /// When the world's time will be that.
    pub(crate) fn instant(&self, ms: u64) -> Instant {
        Instant::now() + Duration::from_millis(ms.saturating_sub(self.now_ms()))
    }

    /// Lets time pass at once.
    pub(crate) fn pass(&self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.ahead.fetch_add(ms, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use engine_model::host::FixedHost;

    use super::*;

    fn small(count: usize) -> Fleet {
        let text = format!("node \"a\" {{\n card \"A100-SXM4-80GB\" {{ count = {count} }}\n}}");
        fleet::read(engine_diag::FileId(0), &text).unwrap()
    }

    #[test]
    fn a_world_keeps_its_fleet_and_its_hardware() {
        let dir = tempfile::tempdir().unwrap();
        let host = FixedHost::new(0);
        let mut world = World::open(dir.path(), Some(("a.hcl", small(2))), &host).unwrap();
        let uuid = world.hardware.read(|fleet| fleet.nodes["a"].cards[0].uuid.clone());
        world.hardware.with("a", |node| node.set_mig_mode(&uuid, true)).unwrap().unwrap();
        world.complete().unwrap();
        world.clock.pass(Duration::from_secs(40));
        keep_time(&world.store, &world.clock).unwrap();
        let seed = world.origin.seed;
        drop(world);

        let world = World::open(dir.path(), None, &host).unwrap();
        assert!(world.hardware.read(|fleet| fleet.nodes["a"].cards[0].mig));
        assert_eq!((world.origin.seed, world.origin.complete), (seed, true));
        assert!(world.clock.now_ms() >= 40_000);
        assert_eq!(world.trouble.first(), None);
        drop(world);

        World::open(dir.path(), Some(("b.hcl", small(2))), &host).unwrap();
        let error = World::open(dir.path(), Some(("b.hcl", small(1))), &host).err().unwrap().to_string();
        assert!(error.contains("another fleet (a.hcl)") && error.contains("b.hcl"), "{error}");
    }

    #[test]
    fn same_fleet_same_hardware() {
        assert_eq!(fleet::simulated(&small(2)), fleet::simulated(&small(2)));
        assert_ne!(fleet::simulated(&small(2)), fleet::simulated(&small(1)));
    }
}
