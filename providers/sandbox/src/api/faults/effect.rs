//! What a fault does to a request.

use super::Gate;
use crate::api::Failure;

/// When, as seen from the work that the request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before it: nothing has been done.
    Before,
    /// After it: what was asked for is done, and the client does not know.
    After,
}

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Effect {
    /// It is answered with this failure.
    Answer(When, Failure),
    /// The connection is reset in place of an answer.
    Reset(When),
    /// The work is done, and the connection is reset after so many bytes of the answer's body: in the middle of a page, or
    /// of a watch.
    Cut(usize),
    /// The work, or its answer, waits until the gate is opened.
    Wait(When, Gate),
    /// Nothing is done, and there is no answer as long as the client waits.
    Hang,
    /// A watch begins, and the failure is its first event; other requests are answered with it.
    FailWatch(Failure),
}
