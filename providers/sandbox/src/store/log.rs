//! The append-only log: one JSON line for each committed transaction, with its length and CRC-32.
//!
//! A line is handed to the operating system before the write is answered, so it survives the death of this process at
//! any instant. It is not forced to the disk: the sandbox is a rehearsal, and a power cut may cost its last seconds.
//! A line that was cut off at the end of the file (the process died while writing it) is dropped; its write was never
//! answered. Anything else that does not check is damage, and reported.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::key::{Key, Revision};

/// One object's new state within a transaction; `object` is absent when it was deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) revision: Revision,
    pub(super) key: Key,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) object: Option<Arc<Value>>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    crc: u32,
    len: usize,
    entries: Box<RawValue>,
}

/// Why the log could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system refused.
    #[error("{path}: {action} failed")]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the file system said.
        #[source]
        source: std::io::Error,
    },
    /// A line that is not the last one does not check.
    #[error("{path}:{line}: {reason}; the file was changed by something else")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// The open log file; what is written goes to its end.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    /// Length of the checked part, in bytes: a failed append is cut back to it.
    length: u64,
    /// Transactions since the last compaction.
    pub(super) lines: usize,
}

impl Log {
    /// Opens or creates the log at `path`; returns it with everything in it, in order.
    pub(super) fn open(path: &Path) -> Result<(Log, Vec<Entry>), LogError> {
        let io = |action| move |source| LogError::Io { path: path.to_path_buf(), action, source };
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).open(path).map_err(io("opening the log"))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io("reading the log"))?;
        let (entries, length, lines) = decode(path, &text)?;
        file.set_len(length).map_err(io("cutting off an unfinished line"))?;
        Ok((Log { file, path: path.to_path_buf(), length, lines }, entries))
    }

    /// Appends one transaction. On an error nothing of it stays in the file.
    pub(super) fn append(&mut self, entries: &[Entry]) -> Result<(), LogError> {
        let line = encode(entries);
        if let Err(source) = self.file.write_all(&line) {
            let action = if self.file.set_len(self.length).is_ok() {
                "appending to the log"
            } else {
                "appending to the log and cutting it back"
            };
            return Err(LogError::Io { path: self.path.clone(), action, source });
        }
        self.length += line.len() as u64;
        self.lines += 1;
        Ok(())
    }

    /// Empties the log, after its contents became part of a snapshot; if that fails, it stays as it is.
    pub(super) fn clear(&mut self) {
        if self.file.set_len(0).is_ok() {
            (self.length, self.lines) = (0, 0);
        }
    }
}

/// The line of one transaction, with its line feed.
pub(super) fn encode(entries: &[Entry]) -> Vec<u8> {
    let entries = serde_json::value::to_raw_value(entries).expect("objects with string keys always serialise");
    let line = Line { crc: crc32fast::hash(entries.get().as_bytes()), len: entries.get().len(), entries };
    let mut bytes = serde_json::to_vec(&line).expect("a line always serialises");
    bytes.push(b'\n');
    bytes
}

/// All entries of the log's text, the length of its checked part and the number of lines in it.
fn decode(path: &Path, text: &[u8]) -> Result<(Vec<Entry>, u64, usize), LogError> {
    let (mut entries, mut length, mut lines) = (Vec::new(), 0, 0);
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let is_last = length + line.len() == text.len();
        match decode_line(line) {
            Ok(found) => entries.extend(found),
            Err(_) if is_last => break,
            Err(reason) => return Err(LogError::Damaged { path: path.to_path_buf(), line: lines + 1, reason }),
        }
        length += line.len();
        lines += 1;
    }
    Ok((entries, length as u64, lines))
}

/// The entries of one line, or what is wrong with it.
pub(super) fn decode_line(line: &[u8]) -> Result<Vec<Entry>, String> {
    let line = line.strip_suffix(b"\n").ok_or("the line is not finished")?;
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let body = line.entries.get();
    if body.len() != line.len {
        return Err(format!("expected {} bytes of entries, found {}", line.len, body.len()));
    }
    let crc = crc32fast::hash(body.as_bytes());
    if crc != line.crc {
        return Err(format!("expected checksum {}, found {crc}", line.crc));
    }
    serde_json::from_str(body).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry(revision: u64, name: &str) -> Entry {
        Entry {
            revision: Revision(revision),
            key: Key::new("pods", "default", name),
            object: Some(Arc::new(json!({"n": name}))),
        }
    }

    #[test]
    fn a_torn_tail_is_dropped_at_every_length_and_damage_before_it_is_reported() {
        let first = encode(&[entry(1, "a")]);
        let second = encode(&[entry(2, "b"), entry(3, "c")]);
        for cut in 0..second.len() {
            let text = [first.as_slice(), &second[..cut]].concat();
            let (entries, length, lines) = decode(Path::new("log"), &text).unwrap();
            assert_eq!((entries, length, lines), (vec![entry(1, "a")], first.len() as u64, 1), "cut at {cut}");
        }
        let whole = [first.as_slice(), &second].concat();
        assert_eq!(decode(Path::new("log"), &whole).unwrap().0.len(), 3);
        let mut damaged = whole;
        let at = damaged.iter().position(|byte| *byte == b'a').unwrap();
        damaged[at + 30] ^= 1;
        let error = decode(Path::new("log"), &damaged).unwrap_err().to_string();
        assert!(error.starts_with("log:1: "), "{error}");
    }
}
