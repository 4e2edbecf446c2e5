//! What every call to an instance gets.

use engine_model::{
    event::{Doing, Progress},
    host::Host,
};
use tokio_util::sync::CancellationToken;

/// What every call to an instance gets: where to report, when to stop, the clock.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Where to report what is being done or waited for.
    pub progress: &'a dyn Progress,
    /// Cancelled at the first interrupt.
    pub cancel: &'a CancellationToken,
    /// The clock and randomness.
    pub host: &'a dyn Host,
}

impl Call<'_> {
    /// Reports what is being done.
    pub fn working(&self, what: impl Into<String>) {
        self.progress.doing(Doing::Working(what.into()));
    }

    /// Reports what is being waited for.
    pub fn waiting(&self, what: impl Into<String>) {
        self.progress.doing(Doing::Waiting(what.into()));
    }
}

/// Progress that nobody listens to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn doing(&self, _: Doing) {}
}
