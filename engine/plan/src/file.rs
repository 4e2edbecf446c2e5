//! The plan file: a zip that holds everything that apply needs, so that it needs no checkout.
//!
//! Bytes in, bytes out: whoever calls reads and writes the disk. The same content gives the same bytes. What is read is
//! not trusted: sizes are bounded, and names of entries are ours or refused, so nothing is ever unpacked by name.

use std::{
    collections::BTreeMap,
    io::{Cursor, Read, Write},
    sync::Arc,
};

use engine_model::{name::PlanDigest, plan::Plan};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter, result::ZipError, write::SimpleFileOptions};

/// Files by the path that the configuration knows them by, relative to the root module's directory.
pub type Files = BTreeMap<String, Arc<[u8]>>;

/// Everything in a plan file.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanFile {
    /// The plan.
    pub plan: Plan,
    /// The same as Terraform's plan JSON, with secrets left out: what other tools read.
    pub json: String,
    /// Name of the root module's directory, as the user named it.
    pub root: String,
    /// Every file of the configuration, files of variables included.
    pub sources: Files,
    /// What functions asked for: the content of files, `None` where there was no file.
    pub read: BTreeMap<String, Option<Arc<[u8]>>>,
    /// The state that the plan was made from, as a state file.
    pub prior: Arc<[u8]>,
    /// The configuration that was applied before, where it is known.
    pub previous: Option<Files>,
}

/// Bytes that are no plan file, or one that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// It is something else.
    #[error("it is no plan file: {0}")]
    Foreign(String),
    /// It is a plan file of another tool.
    #[error("it is a plan file of Terraform or OpenTofu, which only that tool can apply")]
    OtherTool,
    /// It is one of a later release.
    #[error("its format is {found}, and this release knows {FORMAT}")]
    Format {
        /// Its format.
        found: u64,
    },
    /// It is cut off or changed.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It holds more than a plan file can.
    #[error("{entry} in it is larger than {limit} bytes")]
    TooLarge {
        /// Which part of it.
        entry: String,
        /// The bound.
        limit: u64,
    },
    /// A value of the plan is nested too deeply to be read again.
    #[error("a value in the plan is nested more deeply than a plan file can hold ({MAX_DEPTH} levels of JSON)")]
    TooDeep,
    /// The archive could not be written.
    #[error("the archive cannot be written")]
    Write(#[source] ZipError),
}

/// The format that this release writes. Raised when an older release could no longer read it rightly.
const FORMAT: u64 = 1;

/// Most bytes of one entry. A plan of 100,000 objects is some 300 MiB of JSON.
const MAX_ENTRY: u64 = 1 << 30;

/// Most bytes of all entries together.
const MAX_TOTAL: u64 = 2 << 30;

/// Most entries: more than any configuration has files.
const MAX_ENTRIES: usize = 200_000;

/// How deeply the JSON of a plan may be nested: the parser's own bound.
const MAX_DEPTH: usize = 127;

const MANIFEST: &str = "sliceform.json";
const PLAN_JSON: &str = "plan.json";
const PLAN: &str = "plan.sliceform.json";
const PRIOR: &str = "prior.tfstate";

/// What an archive holds. Files are entries by number, so that no path is ever the name of an entry.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: u64,
    root: String,
    sources: Vec<String>,
    read: Vec<(String, bool)>,
    previous: Option<Vec<String>>,
}

impl PlanFile {
    /// The bytes of the file.
    ///
    /// # Errors
    /// [`PlanFileError::TooDeep`].
    pub fn write(&self) -> Result<Vec<u8>, PlanFileError> {
        let plan = to_json(&self.plan)?;
        let manifest = Manifest {
            format: FORMAT,
            root: self.root.clone(),
            sources: self.sources.keys().cloned().collect(),
            read: self.read.iter().map(|(path, bytes)| (path.clone(), bytes.is_some())).collect(),
            previous: self.previous.as_ref().map(|files| files.keys().cloned().collect()),
        };
        let manifest = to_json(&manifest)?;
        let mut entries: Vec<(String, &[u8])> = vec![
            (MANIFEST.to_owned(), &manifest),
            (PLAN_JSON.to_owned(), self.json.as_bytes()),
            (PLAN.to_owned(), &plan),
            (PRIOR.to_owned(), &self.prior),
        ];
        let numbered = |folder: &str, i: usize| format!("{folder}/{i}");
        entries.extend(self.sources.values().enumerate().map(|(i, b)| (numbered("sources", i), &b[..])));
        let read = self.read.values().enumerate().filter_map(|(i, bytes)| Some((i, bytes.as_ref()?)));
        entries.extend(read.map(|(i, bytes)| (numbered("read", i), &bytes[..])));
        let previous = self.previous.iter().flat_map(BTreeMap::values).enumerate();
        entries.extend(previous.map(|(i, bytes)| (numbered("previous", i), &bytes[..])));

        // A fixed time: what the file says must not depend on when it was packed.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(0o600);
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            let large = bytes.len() as u64 > u64::from(u32::MAX);
            archive.start_file(name, options.large_file(large)).map_err(PlanFileError::Write)?;
            archive.write_all(bytes).map_err(|error| PlanFileError::Write(error.into()))?;
        }
        Ok(archive.finish().map_err(PlanFileError::Write)?.into_inner())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It is none, of another tool or a later release, damaged, or too large.
    pub fn read(bytes: &[u8]) -> Result<Self, PlanFileError> {
        let mut archive = Archive::open(bytes)?;
        let manifest: Manifest = from_json(MANIFEST, &archive.entry(MANIFEST)?)?;
        let plan = from_json(PLAN, &archive.entry(PLAN)?)?;
        let json = String::from_utf8(archive.entry(PLAN_JSON)?)
            .map_err(|_| PlanFileError::Damaged(format!("{PLAN_JSON} is not UTF-8")))?;
        let prior = archive.entry(PRIOR)?.into();
        let mut files = |folder: &str, paths: Vec<String>| -> Result<Files, PlanFileError> {
            let numbered = paths.into_iter().enumerate();
            numbered.map(|(i, path)| Ok((path, archive.entry(&format!("{folder}/{i}"))?.into()))).collect()
        };
        let sources = files("sources", manifest.sources)?;
        let previous = manifest.previous.map(|paths| files("previous", paths)).transpose()?;
        let mut read = BTreeMap::new();
        for (i, (path, exists)) in manifest.read.into_iter().enumerate() {
            let bytes = if exists { Some(archive.entry(&format!("read/{i}"))?.into()) } else { None };
            read.insert(path, bytes);
        }
        Ok(Self { plan, json, root: manifest.root, sources, read, prior, previous })
    }

    /// The plan's digest.
    ///
    /// # Errors
    /// [`PlanFileError::TooDeep`].
    pub fn digest(&self) -> Result<PlanDigest, PlanFileError> {
        digest(&self.plan, &self.sources, &self.read)
    }
}

/// The digest of a plan: of what it would do, and of the files that it was made from. When it was made does not count.
///
/// # Errors
/// [`PlanFileError::TooDeep`].
pub fn digest(
    plan: &Plan,
    sources: &Files,
    read: &BTreeMap<String, Option<Arc<[u8]>>>,
) -> Result<PlanDigest, PlanFileError> {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    part(&to_json(&Plan { timestamp: String::new(), ..plan.clone() })?);
    part(&(sources.len() as u64).to_be_bytes());
    for (path, bytes) in sources {
        part(path.as_bytes());
        part(bytes);
    }
    for (path, bytes) in read {
        part(path.as_bytes());
        part(&[u8::from(bytes.is_some())]);
        part(bytes.as_deref().unwrap_or_default());
    }
    let text: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(PlanDigest::from(text))
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>, PlanFileError> {
    // Only a map with keys that are no text fails to serialise, and none of these has one.
    let bytes = serde_json::to_vec(value).map_err(|error| PlanFileError::Damaged(error.to_string()))?;
    if depth(&bytes) > MAX_DEPTH { Err(PlanFileError::TooDeep) } else { Ok(bytes) }
}

fn from_json<T: for<'de> Deserialize<'de>>(name: &str, bytes: &[u8]) -> Result<T, PlanFileError> {
    serde_json::from_slice(bytes).map_err(|error| PlanFileError::Damaged(format!("{name}: {error}")))
}

/// How deeply valid JSON is nested.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0usize, 0, false, false);
    for byte in json {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'[' | b'{') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
}

impl<'a> Archive<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, PlanFileError> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| match bytes {
            [b'P', b'K', ..] => PlanFileError::Damaged(error.to_string()),
            [b'{', ..] => PlanFileError::Foreign("it begins like JSON".to_owned()),
            [] => PlanFileError::Foreign("it is empty".to_owned()),
            _ => PlanFileError::Foreign("it is no zip archive".to_owned()),
        })?;
        if zip.len() > MAX_ENTRIES {
            return Err(PlanFileError::Foreign(format!("it has {} entries", zip.len())));
        }
        let mut archive = Self { zip, left: MAX_TOTAL };
        let has = |archive: &Self, name: &str| archive.zip.index_for_name(name).is_some();
        if !has(&archive, MANIFEST) {
            let other = has(&archive, "tfplan");
            let foreign = || PlanFileError::Foreign(format!("there is no {MANIFEST} in it"));
            return Err(if other { PlanFileError::OtherTool } else { foreign() });
        }
        // The format alone is read first: a later one may have another manifest.
        #[derive(Deserialize)]
        struct Format {
            format: u64,
        }
        let Format { format } = from_json(MANIFEST, &archive.entry(MANIFEST)?)?;
        if format == FORMAT { Ok(archive) } else { Err(PlanFileError::Format { found: format }) }
    }

    /// The content of an entry: never more than the bounds, whatever the archive claims.
    fn entry(&mut self, name: &str) -> Result<Vec<u8>, PlanFileError> {
        let limit = MAX_ENTRY.min(self.left);
        let entry = match self.zip.by_name(name) {
            Ok(entry) => entry,
            Err(ZipError::FileNotFound) => return Err(PlanFileError::Damaged(format!("there is no {name} in it"))),
            Err(error) => return Err(PlanFileError::Damaged(format!("{name}: {error}"))),
        };
        let mut bytes = Vec::new();
        let read = entry.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| PlanFileError::Damaged(format!("{name}: {error}")))?;
        if bytes.len() as u64 > limit {
            return Err(PlanFileError::TooLarge { entry: name.to_owned(), limit });
        }
        self.left -= bytes.len() as u64;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use engine_model::plan::{PlanMode, PlanVariable, SnapshotIdentity};
    use engine_value::Value;

    use super::*;

    fn plan() -> Plan {
        Plan {
            mode: PlanMode::Normal,
            snapshot: SnapshotIdentity { lineage: "l".into(), serial: 3, tail: String::new() },
            clusters: BTreeMap::new(),
            sandbox: false,
            timestamp: "2026-01-01T00:00:00Z".into(),
            variables: [("n".into(), PlanVariable { value: Value::int(3), sensitive: false, ephemeral: false })].into(),
            changes: Vec::new(),
            drift: Vec::new(),
            outputs: BTreeMap::new(),
            operations: Vec::new(),
            holds: Vec::new(),
            waves: Vec::new(),
            excluded: Vec::new(),
            given_back: Default::default(),
            graph: Default::default(),
            review: Default::default(),
            origins: Vec::new(),
            places: BTreeMap::new(),
            incomplete: None,
            errored: false,
        }
    }

    fn file() -> PlanFile {
        let files = |list: &[(&str, &[u8])]| list.iter().map(|(p, b)| ((*p).to_owned(), Arc::from(*b))).collect();
        PlanFile {
            plan: plan(),
            json: "{}".into(),
            root: "quickstart".into(),
            sources: files(&[("main.tf", b"x = 1"), ("../up/y.tf", b"")]),
            read: [("a.txt".to_owned(), Some(Arc::from(&b"hello"[..]))), ("none".to_owned(), None)].into(),
            prior: Arc::from(&b"{\"version\":4}"[..]),
            previous: Some(files(&[("main.tf", b"x = 0")])),
        }
    }

    #[test]
    fn it_is_read_as_it_was_written_and_the_same_content_is_the_same_bytes() {
        let bytes = file().write().unwrap();
        assert_eq!(PlanFile::read(&bytes).unwrap(), file());
        assert_eq!(bytes, file().write().unwrap());
    }

    #[test]
    fn the_digest_is_of_the_content_and_not_of_the_time() {
        let digest = |file: &PlanFile| file.digest().unwrap();
        let base = digest(&file());
        let mut later = file();
        later.plan.timestamp = "2027-01-01T00:00:00Z".into();
        assert_eq!(digest(&later), base);
        let mut other = file();
        other.sources.insert("main.tf".into(), Arc::from(&b"x = 2"[..]));
        assert_ne!(digest(&other), base);
        let mut other = file();
        other.plan.snapshot.serial = 4;
        assert_ne!(digest(&other), base);
        let mut other = file();
        other.read.insert("none".into(), Some(Arc::default()));
        assert_ne!(digest(&other), base);
    }

    #[test]
    fn a_torn_file_is_never_read_as_something_else() {
        let bytes = file().write().unwrap();
        for end in 0..bytes.len() {
            assert!(PlanFile::read(&bytes[..end]).is_err(), "cut off after {end} bytes");
        }
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x41;
            // A flipped bit in a header that nobody reads may go unnoticed; another content may not.
            if let Ok(read) = PlanFile::read(&bytes) {
                assert_eq!(read, file(), "byte {at}");
            }
        }
    }

    fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(bytes).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn what_is_no_plan_file_says_what_it_is() {
        for (bytes, expected) in [
            (vec![], "it is no plan file: it is empty"),
            (b"{\"version\": 4}".to_vec(), "it is no plan file: it begins like JSON"),
            (b"hello".to_vec(), "it is no plan file: it is no zip archive"),
            (archive(&[("x", b"")]), "it is no plan file: there is no sliceform.json in it"),
            (archive(&[("tfplan", b"")]), "it is a plan file of Terraform or OpenTofu, which only that tool can apply"),
            (archive(&[(MANIFEST, b"{\"format\": 2}")]), "its format is 2, and this release knows 1"),
        ] {
            assert_eq!(PlanFile::read(&bytes).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_value_that_could_not_be_read_again_is_not_written() {
        let mut file = file();
        let mut value = Value::int(1);
        for _ in 0..60 {
            value = Value::tuple([value]);
        }
        file.plan.variables.insert("deep".into(), PlanVariable { value, sensitive: false, ephemeral: false });
        assert!(matches!(file.write(), Err(PlanFileError::TooDeep)));
    }
}
