//! `nvidia-smi` by transcript: each file in `transcripts/` says on its first line what the node is, then what is done
//! and what is printed. Lines with `$` are commands; lines with `#` are what happens beside them:
//! `# process PID on GPU` (index) or `on GPU/GI` (its first compute instance), `# processes end`, `# reboot`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p providers-simulator --test nvidia_smi` writes the transcripts anew.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic like tests")]

use std::path::Path;

use providers_catalog::Product;
use providers_simulator::{CardRequest, Node, nvidia_smi};

fn node(header: &str) -> Node {
    let words: Vec<&str> = header.strip_prefix("node: ").unwrap().split_whitespace().collect();
    let [count, product, "driver", driver, rest @ ..] = words.as_slice() else {
        panic!("the header is `node: COUNT PRODUCT driver VERSION [passthrough]`, not `{header}`")
    };
    let request = CardRequest { product: Product::new(product), count: count.parse().unwrap() };
    let mut node = Node::new("gpu-01", driver, &[request]).unwrap();
    node.passthrough = rest == ["passthrough"];
    node
}

fn happens(node: &mut Node, what: &str) {
    let words: Vec<&str> = what.split_whitespace().collect();
    match words.as_slice() {
        ["process", pid, "on", place] => {
            let (index, gpu_instance) = place.split_once('/').unwrap_or((place, ""));
            let card = &node.cards[index.parse::<usize>().unwrap()];
            let mut instances = card.instances.iter();
            let device = match instances.find(|instance| instance.id.to_string() == gpu_instance) {
                Some(instance) => instance.compute[0].uuid.clone(),
                None => card.uuid.to_string(),
            };
            assert!(node.set_processes(&device, &[pid.parse().unwrap()]));
        }
        ["processes", "end"] => {
            let compute = node.cards.iter().flat_map(|card| &card.instances).flat_map(|instance| &instance.compute);
            let devices: Vec<String> = node
                .cards
                .iter()
                .map(|card| card.uuid.to_string())
                .chain(compute.map(|one| one.uuid.clone()))
                .collect();
            for device in devices {
                assert!(node.set_processes(&device, &[]));
            }
        }
        ["reboot"] => node.reboot(),
        _ => panic!("`# {what}` is not understood"),
    }
}

fn replay(transcript: &str) -> String {
    let mut lines = transcript.lines();
    let header = lines.next().unwrap();
    let mut node = node(header);
    let mut out = format!("{header}\n");
    for line in lines {
        if let Some(what) = line.strip_prefix("# ") {
            out.push_str(&format!("{line}\n"));
            happens(&mut node, what);
        } else if let Some(command) = line.strip_prefix("$ nvidia-smi") {
            let args: Vec<&str> = command.split_whitespace().collect();
            let printed = nvidia_smi(&mut node, &args);
            out.push_str(&format!("{line}\n{}", printed.stdout));
            if printed.code != 0 {
                out.push_str(&format!("[exit {}]\n", printed.code));
            }
        }
    }
    out
}

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let expected = std::fs::read_to_string(&path).unwrap();
        let found = replay(&expected);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &found).unwrap();
        } else {
            assert_eq!(found, expected, "{}", path.display());
        }
        count += 1;
    }
    assert!(count >= 5, "only {count} transcripts");
}
