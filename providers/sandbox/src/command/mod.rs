//! What `sliceform sandbox …` does. Nothing is printed here: each command returns what there is to say.

mod exec;
mod reset;
mod run;
mod serve;

pub use exec::{Output, exec};
pub use reset::reset;
pub use run::{Started, run};
pub use serve::{Serving, serve};
