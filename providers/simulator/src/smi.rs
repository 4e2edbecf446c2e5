//! `nvidia-smi` over a simulated node: the part of it that cuts cards, in NVIDIA's words and columns.
//!
//! This file knows what `nvidia-smi` works on; its arguments are read in `mig` and `device`. Not here: everything that
//! does not concern MIG.

mod device;
mod list;
mod mig;
mod query;
mod status;

use crate::{Card, Condition, Node, Refusal};

/// What `nvidia-smi` prints and how it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmiOutput {
    /// What it prints on standard output, where it prints errors too.
    pub stdout: String,
    /// Its exit code: NVML's return code.
    pub code: u32,
}

const HELP: &str = "\
NVIDIA System Management Interface, simulated: what concerns MIG

    nvidia-smi [-i GPU[,GPU]]
    nvidia-smi -L
    nvidia-smi [-i GPU[,GPU]] --query-gpu=FIELD[,FIELD] --format=csv[,noheader][,nounits]
    nvidia-smi [-i GPU[,GPU]] -mig 0|1
    nvidia-smi [-i GPU[,GPU]] --gpu-reset
    nvidia-smi mig [-i GPU[,GPU]] -lgip | -lgipp | -lgi | -lci
    nvidia-smi mig [-i GPU[,GPU]] -cgi PROFILE[:START][,PROFILE[:START]] [-C]
    nvidia-smi mig [-i GPU[,GPU]] -cci [PROFILE[,PROFILE]] [-gi ID[,ID]]
    nvidia-smi mig [-i GPU[,GPU]] -dci [-ci ID[,ID]] [-gi ID[,ID]]
    nvidia-smi mig [-i GPU[,GPU]] -dgi [-gi ID[,ID]]

GPU is an index, a UUID or a PCI address; PROFILE is a profile's ID or its name.
";

/// Runs `nvidia-smi` with these arguments (without the program's name) on a node.
pub fn nvidia_smi(node: &mut Node, args: &[&str]) -> SmiOutput {
    let mut out = Output::default();
    let end = match args {
        ["mig", rest @ ..] => mig::run(node, rest, &mut out),
        rest => device::run(node, rest, &mut out),
    };
    SmiOutput { stdout: out.text, code: end.err().map_or(0, Refusal::code) }
}

#[derive(Default)]
struct Output {
    text: String,
}

impl Output {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn help(&mut self) {
        self.text.push_str(HELP);
    }

    /// An argument that is not understood.
    fn misused(&mut self, why: &str) -> Refusal {
        self.line(why);
        self.line("Run 'nvidia-smi -h' for what is simulated.");
        Refusal::InvalidArgument
    }
}

/// A card that a command works on: its index and identity.
struct Target {
    index: u32,
    uuid: engine_model::name::GpuUuid,
    /// The bus address as `nvidia-smi` prints it, with eight digits for the domain.
    bus: String,
}

impl Target {
    fn new(index: u32, card: &Card) -> Self {
        Self { index, uuid: card.uuid.clone(), bus: format!("0000{}", card.pci).to_uppercase() }
    }
}

/// The cards that `-i` names; without it all of them.
fn targets(node: &Node, ids: Option<&str>, out: &mut Output) -> Result<Vec<Target>, Refusal> {
    let Some(ids) = ids else {
        return Ok(node.counted().map(|(index, card)| Target::new(index, card)).collect());
    };
    let mut targets = Vec::new();
    for id in ids.split(',') {
        let is_it = |(index, card): &(u32, &Card)| {
            let bus = Target::new(*index, card).bus;
            id == index.to_string()
                || id == card.uuid.as_str()
                || id.eq_ignore_ascii_case(&bus)
                || id.eq_ignore_ascii_case(card.pci.as_str())
        };
        let Some((index, card)) = node.counted().find(is_it) else {
            out.line("No devices were found");
            return Err(Refusal::NotFound);
        };
        if card.condition == Condition::Lost {
            out.line(&format!("Unable to determine the device handle for GPU{index}: {id}: {}", Refusal::GpuIsLost));
            return Err(Refusal::GpuIsLost);
        }
        targets.push(Target::new(index, card));
    }
    Ok(targets)
}
