//! Random histories of objects of built-in kinds: ours is applied, others change it, ours is planned again. The plan must say
//! what the server then does, for every kind and on every server.
//!
//! `SLICEFORM_HISTORIES` is the number of histories of each kind, `SLICEFORM_SEED` where they begin: a number that a
//! failure names, too.

mod event;
mod grammar;
mod history;
mod kinds;
mod owned;

use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};
use tests::control_plane::ControlPlane;
use tokio::runtime::Handle;

use self::kinds::Kind;
use crate::site::Site;

/// The value of an environment variable.
fn number(name: &str, otherwise: u32) -> u32 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

/// Runs histories of these kinds; all that fail are told.
fn run(site: &Site, kinds: impl IntoIterator<Item = Kind>, otherwise: u32) {
    let (cases, seed) = (number("SLICEFORM_HISTORIES", otherwise), number("SLICEFORM_SEED", 1));
    let mut failures = Vec::new();
    for kind in kinds {
        // Shrinking asks the server each time.
        let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
        let algorithm = config.rng_algorithm;
        let bytes: Vec<u8> = seed.to_le_bytes().iter().copied().cycle().take(32).collect();
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(algorithm, &bytes));
        let ran = runner.run(&history::history(&kind.grammar), |history| {
            let outcome = Handle::current().block_on(history.happen(site, &kind));
            outcome.map_err(TestCaseError::fail)
        });
        match ran {
            Ok(()) => {}
            Err(TestError::Fail(why, history)) => {
                failures.push(format!("{}, SLICEFORM_SEED={seed}: {why}\n{history:#?}", kind.kind));
            }
            Err(TestError::Abort(why)) => failures.push(format!("{}: {why}", kind.kind)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_say_what_the_sandbox_does() {
    let site = Site::sandbox().await;
    let kinds = kinds::all().into_iter().filter(|kind| kind.in_sandbox);
    tokio::task::block_in_place(|| run(&site, kinds, 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_say_what_a_real_server_does() {
    let Some(plane) = ControlPlane::shared().await else { return };
    let site = Site::real(plane).await;
    tokio::task::block_in_place(|| run(&site, kinds::all(), 2));
}
