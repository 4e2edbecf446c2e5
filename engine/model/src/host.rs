//! The clock and randomness, only through here: same input and same host, same plan, byte for byte.

use std::time::{Duration, SystemTime};

/// The only way to the clock and to randomness.
pub trait Host: Send + Sync {
    /// The time of day. May stand still.
    fn now(&self) -> SystemTime;

    /// So many random bytes.
    fn random(&self, bytes: &mut [u8]);
}

/// A host that stands still and counts: for tests, and wherever the same bytes must come out twice.
#[derive(Debug)]
pub struct FixedHost {
    now: SystemTime,
    next: std::sync::atomic::AtomicU64,
}

impl FixedHost {
    /// A host whose clock stands at so many seconds after 1970.
    pub fn new(seconds: u64) -> Self {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        Self { now, next: std::sync::atomic::AtomicU64::new(1) }
    }
}

impl Host for FixedHost {
    fn now(&self) -> SystemTime {
        self.now
    }

    fn random(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let next = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            // Spreads the counter over all bytes; an odd factor keeps the values distinct (Knuth's 2^64 / phi).
            let spread = next.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
            chunk.copy_from_slice(&spread[..chunk.len()]);
        }
    }
}
