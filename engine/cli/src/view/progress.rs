//! What happens while a plan is made and carried out, as it happens: lines that stay, and on a terminal one that does
//! not, with what is being waited for.

use std::{collections::BTreeMap, io::Write, time::Duration};

use engine_model::{
    change::Action,
    event::{Doing, Event},
    execution::{Step, Which},
    name::OperationId,
    plan::Plan,
};

use super::style::Paint;

/// In a pipe, a wait that is over sooner is not worth a line.
const WORTH_A_LINE: Duration = Duration::from_secs(1);

/// In a pipe, what is still being waited for is said again after so long: a log that is silent looks dead.
const AGAIN: Duration = Duration::from_secs(30);

/// Prints events.
pub(crate) struct Progress<W> {
    out: W,
    paint: Paint,
    /// Is somebody watching? Then there is a last line that changes.
    terminal: bool,
    /// What each operation does, and where.
    operations: BTreeMap<OperationId, (String, String)>,
    /// What was last said of each step, and when.
    said: BTreeMap<Step, (String, Duration)>,
    has_status: bool,
}

impl<W: Write> Progress<W> {
    pub(crate) fn new(out: W, paint: Paint, terminal: bool) -> Self {
        let (operations, said) = (BTreeMap::new(), BTreeMap::new());
        Self { out, paint, terminal, operations, said, has_status: false }
    }

    /// Knows from here on what the plan's operations are called.
    pub(crate) fn follow(&mut self, plan: &Plan) {
        let named = |o: &engine_model::operation::Operation| (o.id.clone(), (o.node.to_string(), o.summary.clone()));
        self.operations = plan.operations.iter().map(named).collect();
    }

    /// Says what has happened. Failures to write are not told: there is nobody to tell them to.
    pub(crate) fn tell(&mut self, event: &Event) {
        match event {
            Event::RefreshStart(addr) => self.line(&format!("{addr}: Refreshing state...")),
            Event::RefreshDone(_) | Event::StepSkipped { .. } | Event::Diagnostic(_) => {}
            Event::StepStart { step, action } => {
                if let Some(text) = self.started(step, *action) {
                    self.line(&text);
                }
            }
            Event::StepProgress { step, elapsed, doing } => self.doing(step, *elapsed, doing),
            Event::StepDone { step, elapsed, id } => {
                if let Some(text) = self.done(step) {
                    let id = id.as_ref().map_or_else(String::new, |(name, value)| format!(" [{name}={value}]"));
                    self.line(&format!("{text} after {}{id}", seconds(*elapsed)));
                }
                self.said.remove(step);
            }
            Event::StepFailed { step, elapsed } => {
                let name = self.name(step);
                self.line(&format!("{name}: Failed after {}", seconds(*elapsed)));
                self.said.remove(step);
            }
            Event::Interrupted => {
                self.line("Interrupt received. What runs comes to a safe point, nothing more is begun.");
                self.line("A second interrupt ends at once; the journal still tells what was begun.");
            }
        }
    }

    fn started(&self, step: &Step, action: Option<Action>) -> Option<String> {
        let name = self.name(step);
        let doing = match (step, action) {
            (Step::Configure(_) | Step::Group(_) | Step::StateOnly(_), _) => return None,
            (Step::Create(_), _) => "Creating...",
            (Step::Update(_), _) => "Modifying...",
            (Step::Delete(..), _) => "Destroying...",
            (Step::Read(_), _) => "Reading...",
            (Step::Hold(..), _) => "Holding...",
            (Step::Release(..), _) => "Releasing...",
            (Step::Gate(_), _) => "Checking...",
            (Step::Operation(id), _) => {
                let summary = self.operations.get(id).map_or("operation", |(_, summary)| summary);
                return Some(format!("{name}: {}...", capitalised(summary)));
            }
            (Step::Forget(_) | Step::Open(_) | Step::Close(_), _) => return None,
        };
        Some(format!("{name}: {doing}"))
    }

    fn done(&self, step: &Step) -> Option<String> {
        let name = self.name(step);
        let what = match step {
            Step::Configure(_) | Step::Group(_) | Step::StateOnly(_) | Step::Open(_) | Step::Close(_) => return None,
            Step::Create(_) => "Creation complete",
            Step::Update(_) => "Modifications complete",
            Step::Delete(..) => "Destruction complete",
            Step::Read(_) => "Read complete",
            Step::Forget(_) => "Forgotten",
            Step::Hold(..) => "Held",
            Step::Release(..) => "Released",
            Step::Gate(_) => "Healthy",
            Step::Operation(_) => "Operation complete",
        };
        Some(format!("{name}: {what}"))
    }

    fn name(&self, step: &Step) -> String {
        match step {
            Step::Create(addr) | Step::Update(addr) | Step::Read(addr) | Step::Forget(addr) => addr.to_string(),
            Step::StateOnly(addr) | Step::Open(addr) | Step::Close(addr) => addr.to_string(),
            Step::Delete(addr, Which::Deposed(key)) => format!("{addr} (deposed object {})", key.0),
            Step::Delete(addr, _) => addr.to_string(),
            Step::Hold(_, node) | Step::Release(_, node) => node.to_string(),
            Step::Operation(id) => self.operations.get(id).map_or_else(|| id.to_string(), |(node, _)| node.clone()),
            Step::Gate(wave) => format!("wave {}", wave + 1),
            Step::Configure(provider) => provider.to_string(),
            Step::Group(name) => name.clone(),
        }
    }

    fn doing(&mut self, step: &Step, elapsed: Duration, doing: &Doing) {
        let (what, text, worth) = match doing {
            Doing::Working(what) => (what, capitalised(what), true),
            Doing::Waiting(what) => (what, format!("waiting for: {what}"), elapsed >= WORTH_A_LINE),
        };
        let line = format!("{}: {text}, {}", self.name(step), seconds(elapsed));
        let new = self.said.get(step).is_none_or(|(said, at)| said != what || elapsed >= *at + AGAIN);
        if self.terminal {
            self.status(&line);
            return;
        }
        if new && worth {
            self.line(&line);
            self.said.insert(step.clone(), (what.clone(), elapsed));
        }
    }

    /// A line that stays.
    pub(crate) fn line(&mut self, text: &str) {
        self.clear();
        let _ = writeln!(self.out, "{text}");
        let _ = self.out.flush();
    }

    /// The last line of a terminal, cut to what certainly fits.
    fn status(&mut self, text: &str) {
        self.clear();
        let text: String = text.chars().take(78).collect();
        let _ = write!(self.out, "{}", self.paint.dim(&text));
        let _ = self.out.flush();
        self.has_status = true;
    }

    /// Takes the last line away.
    pub(crate) fn clear(&mut self) {
        if self.has_status {
            let _ = write!(self.out, "\r\x1b[K");
            self.has_status = false;
        }
    }
}

/// The first letter in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default() + chars.as_str()
}

/// `0s`, `40s`, `2m05s`.
pub(crate) fn seconds(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    if seconds < 60 { format!("{seconds}s") } else { format!("{}m{:02}s", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(terminal: bool, events: &[Event]) -> String {
        let mut progress = Progress::new(Vec::new(), Paint { color: false }, terminal);
        events.iter().for_each(|event| progress.tell(event));
        String::from_utf8(progress.out).unwrap()
    }

    fn waiting(seconds: u64) -> Event {
        let provider = "provider[\"registry.terraform.io/sliceform/gpu\"]".parse().unwrap();
        Event::StepProgress {
            step: Step::Hold(provider, "gpu-01".into()),
            elapsed: Duration::from_secs(seconds),
            doing: Doing::Waiting("pod team-b/nb-1 to end".to_owned()),
        }
    }

    #[test]
    fn a_pipe_gets_lines_and_not_the_same_one_again_at_once() {
        let expected =
            "gpu-01: waiting for: pod team-b/nb-1 to end, 1s\ngpu-01: waiting for: pod team-b/nb-1 to end, 40s\n";
        assert_eq!(printed(false, &[waiting(1), waiting(2), waiting(40)]), expected);
    }

    #[test]
    fn a_terminal_gets_a_last_line_that_changes() {
        let done = Event::StepDone {
            step: Step::Create("a.b".parse().unwrap()),
            elapsed: Duration::from_secs(61),
            id: Some(("id".to_owned(), "x".to_owned())),
        };
        let expected =
            "gpu-01: waiting for: pod team-b/nb-1 to end, 1s\r\x1b[Ka.b: Creation complete after 1m01s [id=x]\n";
        assert_eq!(printed(true, &[waiting(1), done]), expected);
    }
}
