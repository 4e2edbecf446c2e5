//! What functions find around a run.

use std::{
    fmt,
    sync::{Arc, LazyLock},
};

use engine_model::host::Host;

/// What functions find around a run, besides files. By default nothing is there.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// The working directory, absolute: `path.cwd` and `abspath`.
    pub directory: Arc<str>,
    /// The home directory of whoever runs us: `pathexpand`.
    pub home: Option<Arc<str>>,
    /// The time of the plan, in RFC 3339 form: `plantimestamp`. None: there is no plan, so it is not known.
    pub plan_timestamp: Option<Arc<str>>,
    /// Whom `timestamp`, `uuid` and `bcrypt` ask. None, as in a plan: what they give is not known. It must not be, since
    /// it would be another value when the plan is applied.
    pub host: Option<Arc<dyn Host>>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("directory", &self.directory)
            .field("home", &self.home)
            .field("plan_timestamp", &self.plan_timestamp)
            .finish_non_exhaustive()
    }
}

/// Where nothing is there.
pub(super) static NOTHING: LazyLock<Surroundings> = LazyLock::new(Surroundings::default);
