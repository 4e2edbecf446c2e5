//! State in memory: for tests, and for runs that are thrown away.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::{
    Fence, LoadError, Loaded, LockError, LockInfo, Record, Snapshot, Store, WriteError, record, store::check_successor,
};

/// State in memory. Every lock has a higher fence than all before it.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    loaded: Loaded,
    fence: Fence,
    holder: Option<LockInfo>,
}

impl MemoryStore {
    /// A store that holds this.
    pub fn new(snapshot: Option<Snapshot>) -> Self {
        Self(Mutex::new(Memory { loaded: Loaded { snapshot, ..Loaded::default() }, ..Memory::default() }))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // Nothing is left half done where the lock is held.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked(&self, fence: Fence) -> Result<MutexGuard<'_, Memory>, WriteError> {
        let memory = self.memory();
        if memory.holder.is_some() && memory.fence == fence {
            Ok(memory)
        } else {
            Err(WriteError::NotLocked { store: self.name() })
        }
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn name(&self) -> String {
        "(in memory)".to_owned()
    }

    async fn lock(&self, info: &LockInfo) -> Result<Fence, LockError> {
        let mut memory = self.memory();
        if let Some(holder) = &memory.holder {
            let holder = Some(Box::new(holder.clone()));
            return Err(LockError::Held { store: self.name(), holder });
        }
        memory.holder = Some(LockInfo { path: self.name(), ..info.clone() });
        memory.fence = Fence(memory.fence.0 + 1);
        Ok(memory.fence)
    }

    async fn load(&self) -> Result<Loaded, LoadError> {
        Ok(self.memory().loaded.clone())
    }

    async fn append(&self, records: &[Record], fence: Fence) -> Result<(), WriteError> {
        self.locked(fence)?.loaded.records.extend_from_slice(records);
        Ok(())
    }

    async fn commit(&self, snapshot: &Snapshot, fence: Fence) -> Result<u64, WriteError> {
        let mut memory = self.locked(fence)?;
        let mut serial = snapshot.serial + 1;
        if let Some(stored) = &memory.loaded.snapshot {
            check_successor(&stored.base(), snapshot, &self.name())?;
            if stored.same_content(snapshot) {
                serial = stored.serial;
            }
        }
        memory.loaded.snapshot = Some(Snapshot { serial, ..snapshot.clone() });
        memory.loaded.records = record::carried_over(&memory.loaded.records);
        Ok(serial)
    }

    async fn unlock(&self, fence: Fence) -> Result<(), WriteError> {
        self.locked(fence)?.holder = None;
        Ok(())
    }
}
