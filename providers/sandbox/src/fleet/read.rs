//! HCL to a fleet. Every mistake is told with its place.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

use engine_diag::{Diagnostic, Diagnostics, FileId, Span};
use engine_lang::config::Arguments;
use engine_lang::eval::{Files, Repetition, Scope, Stop, Subject, decode, similar};
use engine_lang::syntax::{BlockRef, Body, parse};
use engine_model::schema::Block;
use engine_value::Value;
use jiff::SignedDuration;
use providers_catalog::{DriverVersion, MigProfile, Product, catalog};

use super::{AgentState, CardsSpec, Fleet, InstanceWish, NodeSpec, Owner, PodSpec, schema};

/// The driver of nodes that say none: a production branch that every card of the catalog works with.
const DRIVER: &str = "580.105.08";

/// The most cards of a node: what an HGX board or a PCIe server of our time holds, twice.
const MOST_CARDS: i64 = 16;

/// Reads a fleet.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read(file: FileId, text: &str) -> Result<Fleet, Diagnostics> {
    let (body, diagnostics) = parse(file, text);
    let mut reader = Reader { diagnostics };
    let fleet = reader.file(&body);
    if reader.diagnostics.has_errors() { Err(reader.diagnostics) } else { Ok(fleet) }
}

struct Reader {
    diagnostics: Diagnostics,
}

impl Reader {
    fn error(&mut self, span: Span, summary: &str, detail: String) -> &mut Diagnostic {
        self.diagnostics.push(Diagnostic::error(summary, detail).at(span));
        self.diagnostics.0.last_mut().expect("just pushed")
    }

    fn file(&mut self, body: &Body) -> Fleet {
        let mut fleet = Fleet::default();
        let (mut nodes, mut pods) = (BTreeSet::new(), BTreeSet::new());
        for attribute in body.attributes() {
            let detail = "A fleet file holds `node` and `pod` blocks.".to_owned();
            self.error(attribute.span(), "Unsupported argument", detail);
        }
        for block in body.blocks() {
            let kind = block.kind().as_ref();
            match kind {
                "node" => {
                    let Some((name, span)) = self.label(block, "the node's name") else { continue };
                    if !nodes.insert(name.clone()) {
                        self.error(span, "Duplicate node", format!("There is already a node \"{name}\"."));
                    }
                    fleet.nodes.extend(self.node(block, name, span));
                }
                "pod" => {
                    let Some((name, span)) = self.label(block, "namespace and name of the pod") else { continue };
                    if !pods.insert(name.clone()) {
                        self.error(span, "Duplicate pod", format!("There is already a pod \"{name}\"."));
                    }
                    fleet.pods.extend(self.pod(block, &name, span));
                }
                other => {
                    let meant = suggestion(other, ["node", "pod"]);
                    let detail = format!("A fleet has no blocks of type \"{other}\", only `node` and `pod`.{meant}");
                    self.error(block.kind_span(), "Unsupported block type", detail);
                }
            }
        }
        fleet
    }

    fn label(&mut self, block: BlockRef<'_>, what: &str) -> Option<(String, Span)> {
        let mut labels = block.labels();
        let label = labels.next().map(|(text, span)| (text.to_string(), span));
        if label.is_none() || labels.next().is_some() {
            let kind = block.kind();
            let detail = format!("A {kind} block has one label: {what}.");
            self.error(block.header(), "Wrong number of labels", detail);
            return None;
        }
        label
    }

    fn decode(&mut self, body: Body, meta: &'static [&'static str], schema: &Block) -> Option<Value> {
        match decode(&Arguments { body, meta }, schema, &Alone) {
            Ok(value) => Some(value),
            Err(Stop::Failed(diagnostics)) => {
                self.diagnostics.extend(diagnostics);
                None
            }
            Err(Stop::Blocked(never)) => match never {},
        }
    }

    fn node(&mut self, block: BlockRef<'_>, name: String, span: Span) -> Option<NodeSpec> {
        if !is_dns_name(&name) {
            let detail = format!(
                "\"{name}\" cannot be the name of a node: lower-case letters, digits, `-` and `.`, at most 253 of them."
            );
            self.error(span, "Invalid node name", detail);
        }
        let body = block.body();
        let mut cards = Vec::new();
        for inner in body.blocks().filter(|inner| inner.kind().as_ref() == "card") {
            cards.extend(self.card(inner));
        }
        let value = self.decode(body.clone(), &["card"], &schema::node())?;
        let agent = match text(&value, "agent").as_deref() {
            None | Some("up") => AgentState::Up,
            Some("down") => AgentState::Down,
            Some("absent") => AgentState::Absent,
            Some(other) => {
                let detail = format!("`agent` is \"up\", \"down\" or \"absent\", not \"{other}\".");
                self.error(place(&body, "agent"), "Invalid agent state", detail);
                AgentState::Up
            }
        };
        let driver = text(&value, "driver").unwrap_or_else(|| DRIVER.to_owned());
        if DriverVersion::from_str(&driver).is_err() {
            let detail = format!("`driver` is a version such as \"{DRIVER}\", not \"{driver}\".");
            self.error(place(&body, "driver"), "Invalid driver version", detail);
        }
        Some(NodeSpec {
            name,
            labels: texts(&value, "labels"),
            driver,
            cards,
            ready: boolean(&value, "ready", true),
            unschedulable: boolean(&value, "unschedulable", false),
            agent,
            passthrough: boolean(&value, "passthrough", false),
        })
    }

    fn card(&mut self, block: BlockRef<'_>) -> Option<CardsSpec> {
        let (name, span) = self.label(block, "the card's product name")?;
        let body = block.body();
        let value = self.decode(body.clone(), &[], &schema::card())?;
        let product = Product::new(&name);
        let Some(model) = catalog().find(&product) else {
            let known: Vec<&str> = catalog().cards().iter().map(|card| card.product.as_str()).collect();
            let meant = suggestion(product.as_str(), known.iter().copied());
            let detail = format!("The catalog has no card \"{name}\".{meant}");
            let hint = format!("Cards that can be simulated: {}.", known.join(", "));
            self.error(span, "Unknown card", detail).hint = Some(hint);
            return None;
        };
        let count = value.get("count").and_then(Value::as_number).map_or(Some(1), engine_value::Number::to_i64);
        let Some(count) = count.filter(|count| (1..=MOST_CARDS).contains(count)) else {
            let detail = format!("`count` is a whole number from 1 to {MOST_CARDS}.");
            self.error(place(&body, "count"), "Invalid number of cards", detail);
            return None;
        };
        let mut instances = Vec::new();
        for wish in value.get("instances").and_then(Value::as_sequence).unwrap_or_default() {
            let text = wish.as_str().unwrap_or_default();
            match instance(text) {
                Some(wish) if model.geometry().is_some_and(|one| one.profile(wish.profile).is_some()) => {
                    instances.push(wish);
                }
                _ => {
                    let profiles = model.geometry().map_or(&[][..], |geometry| &geometry.profiles);
                    let profiles: Vec<String> = profiles.iter().map(|info| info.profile.to_string()).collect();
                    let detail = match profiles.as_slice() {
                        [] => format!("A {name} cannot be cut into MIG instances here."),
                        profiles => format!(
                            "\"{text}\" is no MIG instance of a {name}: it has the MIG profiles {}; a start may follow \
                             after a colon.",
                            profiles.join(", ")
                        ),
                    };
                    self.error(place(&body, "instances"), "Unknown MIG instance", detail);
                }
            }
        }
        let mig = boolean(&value, "mig", !instances.is_empty());
        if !mig && !instances.is_empty() {
            let detail = "A card with MIG off has no instances.".to_owned();
            self.error(place(&body, "mig"), "Instances without MIG", detail);
        }
        if mig && model.geometry().is_none() {
            let detail = format!("A {name} cannot be cut into MIG instances here.");
            self.error(place(&body, "mig"), "Card without MIG", detail);
        }
        let held = boolean(&value, "held", false);
        Some(CardsSpec { product: model.product.clone(), count: count as usize, mig, instances, held })
    }

    fn pod(&mut self, block: BlockRef<'_>, label: &str, span: Span) -> Option<PodSpec> {
        let body = block.body();
        let names = label.split_once('/').filter(|(namespace, name)| {
            let is_label = !namespace.contains('.') && namespace.len() <= 63 && is_dns_name(namespace);
            is_label && is_dns_name(name)
        });
        if names.is_none() {
            let detail = format!("The label of a pod is NAMESPACE/NAME in lower-case letters, not \"{label}\".");
            self.error(span, "Invalid pod name", detail);
        }
        let value = self.decode(body.clone(), &[], &schema::pod())?;
        let resources = texts(&value, "resources");
        for (resource, amount) in &resources {
            if resource.contains('/') && amount.parse::<u64>().is_err() {
                let detail = format!("{resource} is counted: its amount is a whole number, not \"{amount}\".");
                self.error(place(&body, "resources"), "Invalid amount", detail);
            }
        }
        let owner = text(&value, "owner").and_then(|owner| {
            let parsed = owner_of(&owner);
            if parsed.is_none() {
                let detail =
                    format!("`owner` is \"deployment/NAME\", \"replicaset/NAME\" or \"job/NAME\", not \"{owner}\".");
                self.error(place(&body, "owner"), "Invalid owner", detail);
            }
            parsed
        });
        let priority = value.get("priority").and_then(Value::as_number).and_then(|number| {
            let priority = number.to_i64().and_then(|number| i32::try_from(number).ok());
            // Kubernetes keeps higher ones for itself (scheduling.HighestUserDefinablePriority).
            let priority = priority.filter(|priority| *priority <= 1_000_000_000);
            if priority.is_none() {
                let detail = "`priority` is a whole number up to 1000000000.".to_owned();
                self.error(place(&body, "priority"), "Invalid priority", detail);
            }
            priority
        });
        let ends_after_ms = self.duration(&body, &value, "ends_after");
        let stops_after_ms = self.duration(&body, &value, "stops_after").unwrap_or(0);
        let (namespace, name) = names?;
        Some(PodSpec {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            resources,
            labels: texts(&value, "labels"),
            node_selector: texts(&value, "node_selector"),
            priority,
            owner,
            ends_after_ms,
            stops_after_ms,
            busy: boolean(&value, "busy", false),
        })
    }

    fn duration(&mut self, body: &Body, value: &Value, name: &str) -> Option<u64> {
        let text = text(value, name)?;
        let found = milliseconds(&text);
        if found.is_none() {
            let detail = format!("`{name}` is a time such as \"40s\" or \"1h30m\", not \"{text}\".");
            self.error(place(body, name), "Invalid duration", detail);
        }
        found
    }
}

/// Milliseconds of a duration such as `40s`, which is not negative.
pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    u64::try_from(text.parse::<SignedDuration>().ok()?.as_millis()).ok()
}

fn instance(text: &str) -> Option<InstanceWish> {
    let (profile, start) = match text.split_once(':') {
        Some((profile, start)) => (profile, Some(start.parse().ok()?)),
        None => (text, None),
    };
    Some(InstanceWish { profile: profile.parse::<MigProfile>().ok()?, start })
}

fn owner_of(text: &str) -> Option<Owner> {
    let (kind, name) = text.split_once('/').filter(|(_, name)| is_dns_name(name))?;
    let name = name.to_owned();
    Some(match kind {
        "deployment" => Owner::Deployment(name),
        "replicaset" => Owner::ReplicaSet(name),
        "job" => Owner::Job(name),
        _ => return None,
    })
}

/// A DNS subdomain, which Kubernetes wants most names to be.
fn is_dns_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !part.is_empty() && part.chars().all(legal) && !part.starts_with('-') && !part.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_part)
}

fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    similar(name, known).map_or_else(String::new, |similar| format!(" Did you mean \"{similar}\"?"))
}

/// Where an argument stands; where it would stand if it is not there.
fn place(body: &Body, name: &str) -> Span {
    body.attribute(name).map_or_else(|| body.lacks(), |attribute| attribute.value().span())
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.as_str().map(str::to_owned)
}

fn boolean(value: &Value, name: &str, or: bool) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(or)
}

fn texts(value: &Value, name: &str) -> BTreeMap<String, String> {
    let entries = value.get(name).and_then(Value::as_map).into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.to_string(), value.as_str()?.to_owned()))).collect()
}

/// A fleet file refers to nothing.
struct Alone;

impl Scope for Alone {
    type Key = Infallible;

    fn repetition(&self, _: &Subject, span: Span) -> Result<Repetition, Stop<Infallible>> {
        Err(refers(span).into())
    }

    fn resolve(&self, _: &Subject, span: Span) -> Result<Value, Stop<Infallible>> {
        Err(refers(span).into())
    }

    fn files(&self) -> &dyn Files {
        self
    }
}

fn refers(span: Span) -> Diagnostic {
    Diagnostic::error("References not allowed", "A fleet file has no variables and refers to nothing.").at(span)
}

impl Files for Alone {
    fn read(&self, _: &str) -> Result<Arc<[u8]>, String> {
        Err("a fleet file reads no other file".to_owned())
    }

    fn exists(&self, _: &str) -> Result<bool, String> {
        Err("may not be read by a fleet file".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::DEFAULT_FLEET;
    use super::*;

    fn check(text: &str, expected: &[(u32, &str)]) {
        let source = engine_diag::Source::new("fleet.hcl", text);
        let diagnostics = read(FileId(0), text).err().map(|found| found.0).unwrap_or_default();
        let found: Vec<(u32, String)> = diagnostics
            .iter()
            .map(|one| (one.span.map_or(0, |span| source.position(span.start).line), one.summary.clone()))
            .collect();
        let found: Vec<(u32, &str)> = found.iter().map(|(line, summary)| (*line, summary.as_str())).collect();
        assert_eq!(found, expected, "{text}: {diagnostics:#?}");
    }

    #[test]
    fn the_default_fleet_is_one() {
        let fleet = read(FileId(0), DEFAULT_FLEET.1).unwrap();
        let cards: Vec<(&str, usize)> = fleet.nodes.iter().map(|node| (&*node.name, node.cards[0].count)).collect();
        assert_eq!(cards, [("gpu-01", 2), ("gpu-02", 2), ("gpu-03", 2), ("train-01", 8), ("infer-01", 4)]);
        assert_eq!(fleet.pods[0].priority, Some(1000));
        assert_eq!(fleet.digest(), read(FileId(0), &format!("# comment\n{}", DEFAULT_FLEET.1)).unwrap().digest());
    }

    #[test]
    fn everything_that_can_be_said_is_read() {
        let text = r#"
node "n.1" {
  labels        = { a = "b" }
  driver        = "550.90.07"
  ready         = false
  unschedulable = true
  agent         = "down"
  passthrough   = true
  card "A100-SXM4-80GB" {
    count     = 1
    instances = ["3g.40gb:4", "1g.10gb"]
    held      = true
  }
  card "T4" {}
}
pod "team/p" {
  resources   = { "nvidia.com/gpu" = 1, cpu = "500m" }
  ends_after  = "1m30s"
  stops_after = "2s"
  owner       = "replicaset/r"
}
"#;
        let fleet = read(FileId(0), text).unwrap();
        let node = &fleet.nodes[0];
        assert_eq!((node.ready, node.unschedulable, node.agent), (false, true, AgentState::Down));
        assert!(node.cards[0].mig && node.cards[0].held);
        assert_eq!(node.cards[0].instances[0].start, Some(4));
        assert_eq!((node.cards[1].product.as_str(), node.cards[1].mig), ("Tesla-T4", false));
        let pod = &fleet.pods[0];
        assert_eq!((pod.ends_after_ms, pod.stops_after_ms), (Some(90_000), 2_000));
        assert_eq!(pod.owner, Some(Owner::ReplicaSet("r".to_owned())));
        assert_eq!(pod.resources["nvidia.com/gpu"], "1");
    }

    #[test]
    fn mistakes_have_their_place() {
        check("node \"a\" {\n  card \"A100-SXM4-80G\" {}\n}", &[(2, "Unknown card")]);
        check("node \"a\" {}\nnode \"a\" {}\n", &[(2, "Duplicate node")]);
        check("node \"A\" {\n agent = \"gone\"\n}", &[(1, "Invalid node name"), (2, "Invalid agent state")]);
        check(
            "node \"a\" {\n lables = {}\n}\nnod \"b\" {}",
            &[(2, "Unsupported argument"), (4, "Unsupported block type")],
        );
        check("node \"a\" {\n card \"L4\" { mig = true }\n}", &[(2, "Card without MIG")]);
        check("node \"a\" {\n card \"L4\" { instances = [\"1g.5gb\"] }\n}", &[(2, "Unknown MIG instance")]);
        check("node \"a\" {\n card \"A100-SXM4-80GB\" {\n  count = 99\n }\n}", &[(3, "Invalid number of cards")]);
        check("pod \"p\" {\n  resources = {}\n}", &[(1, "Invalid pod name")]);
        check("pod \"a/p\" {\n}", &[(1, "Missing required argument")]);
        check(
            "pod \"a/p\" {\n resources = { \"nvidia.com/gpu\" = \"x\" }\n ends_after = \"soon\"\n}",
            &[(2, "Invalid amount"), (3, "Invalid duration")],
        );
        check("pod \"a/p\" {\n resources = var.x\n}", &[(2, "References not allowed")]);
    }
}
