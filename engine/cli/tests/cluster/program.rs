//! The program as a process: what it says as it says it, how it ends, and two ways to end it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic like tests")]

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// Nothing in these tests takes so long; what does is a test that hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// How a run ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; none where a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Both streams, errors last.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Checks the exit code, and that all of these are said somewhere.
    #[track_caller]
    pub(crate) fn check(&self, code: i32, said: &[&str]) -> &Self {
        let text = self.text();
        assert_eq!(self.code, Some(code), "{text}");
        for one in said {
            assert!(text.contains(one), "{one:?} is not said:\n{text}");
        }
        self
    }

    /// Checks that none of these is said.
    #[track_caller]
    pub(crate) fn check_not(&self, said: &[&str]) -> &Self {
        let text = self.text();
        for one in said {
            assert!(!text.contains(one), "{one:?} is said:\n{text}");
        }
        self
    }
}

/// What has been said so far: standard output, standard error, and how many of the two are still open.
#[derive(Default)]
struct Said {
    texts: [Vec<u8>; 2],
    ended: usize,
}

/// A run that goes on. Dropped, it is killed.
pub(crate) struct Running {
    child: Child,
    said: Arc<(Mutex<Said>, Condvar)>,
    readers: Vec<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = Arc::new((Mutex::new(Said::default()), Condvar::new()));
        let out = follow(child.stdout.take().unwrap(), 0, &said);
        let err = follow(child.stderr.take().unwrap(), 1, &said);
        Self { child, said, readers: vec![out, err] }
    }

    /// Returns when that has been said.
    #[track_caller]
    pub(crate) fn until(&self, text: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut said = self.said.0.lock().unwrap();
        loop {
            let all = said.texts.each_ref().map(|text| String::from_utf8_lossy(text).into_owned());
            if all.iter().any(|one| one.contains(text)) {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(said.ended < 2 && !left.is_zero(), "{text:?} is not said:\n{}{}", all[0], all[1]);
            said = self.said.1.wait_timeout(said, left).unwrap().0;
        }
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) -> Ran {
        self.child.kill().unwrap();
        self.end()
    }

    /// What Ctrl-C sends.
    pub(crate) fn interrupt(&self) {
        let kill = format!("kill -INT {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for the end.
    #[track_caller]
    pub(crate) fn end(mut self) -> Ran {
        let deadline = Instant::now() + PATIENCE;
        let mut said = self.said.0.lock().unwrap();
        while said.ended < 2 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let _ = self.child.kill();
                panic!("it does not end: {}", said.texts.each_ref().map(|text| String::from_utf8_lossy(text)).join(""));
            }
            said = self.said.1.wait_timeout(said, left).unwrap().0;
        }
        drop(said);
        for reader in self.readers.drain(..) {
            reader.join().unwrap();
        }
        let code = self.child.wait().unwrap().code();
        let [stdout, stderr] = std::mem::take(&mut self.said.0.lock().unwrap().texts);
        Ran { code, stdout: String::from_utf8(stdout).unwrap(), stderr: String::from_utf8(stderr).unwrap() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or a test has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn follow(mut from: impl Read + Send + 'static, which: usize, said: &Arc<(Mutex<Said>, Condvar)>) -> JoinHandle<()> {
    let said = said.clone();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            let read = from.read(&mut buffer).unwrap_or(0);
            // A test that has failed while it looked leaves the text whole.
            let mut now = said.0.lock().unwrap_or_else(PoisonError::into_inner);
            now.texts[which].extend_from_slice(&buffer[..read]);
            if read == 0 {
                now.ended += 1;
            }
            said.1.notify_all();
            if read == 0 {
                return;
            }
        }
    })
}
