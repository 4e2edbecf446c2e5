//! The journal as text: one JSON object a line, with the length and the checksum of its record.
//!
//! A line that a crash cut off is the end of it: it was never confirmed, so nobody relied on it. Damage anywhere else
//! is an error.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::Record;

/// One line. The checksum is CRC-32 (IEEE) of the record's text, as eight hexadecimal digits.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    len: usize,
    crc: std::borrow::Cow<'a, str>,
    #[serde(borrow)]
    record: &'a RawValue,
}

/// A journal that is damaged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct JournalError {
    /// Which line, from 1.
    pub line: usize,
    /// What is wrong, as a fragment.
    pub why: String,
}

/// A journal that was read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tail {
    /// Its records.
    pub(crate) records: Vec<Record>,
    /// So many bytes of it are whole lines.
    pub(crate) whole: usize,
    /// So many bytes behind them were cut off by a crash.
    pub(crate) torn: usize,
}

/// Records as lines.
pub(crate) fn write(records: &[Record]) -> Vec<u8> {
    let mut out = Vec::new();
    for record in records {
        let text = serde_json::value::to_raw_value(record).expect("records have nothing that JSON cannot say");
        let crc = format!("{:08x}", crc32fast::hash(text.get().as_bytes()));
        let line = Line { len: text.get().len(), crc: crc.into(), record: &text };
        serde_json::to_writer(&mut out, &line).expect("lines have nothing that JSON cannot say");
        out.push(b'\n');
    }
    out
}

/// Lines as records.
///
/// # Errors
/// A line before the last is damaged, or the last one is and no crash explains it.
pub(crate) fn read(bytes: &[u8]) -> Result<Tail, JournalError> {
    let mut tail = Tail::default();
    for (i, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match read_line(line) {
            Ok(record) => tail.records.push(record),
            Err(why) => {
                let rest = &bytes[tail.whole..];
                if !is_torn(rest) {
                    return Err(JournalError { line: i + 1, why });
                }
                tail.torn = rest.len();
                return Ok(tail);
            }
        }
        tail.whole += line.len();
    }
    Ok(tail)
}

/// Did a crash cut it off? Then its last line has no end; or a file system made the file longer before it wrote what is
/// in it, and there are zeros, which no line has.
fn is_torn(rest: &[u8]) -> bool {
    !rest.contains(&b'\n') || rest.contains(&0)
}

fn read_line(line: &[u8]) -> Result<Record, String> {
    let Some(text) = line.strip_suffix(b"\n") else { return Err("its end is missing".to_owned()) };
    let line: Line<'_> = serde_json::from_slice(text).map_err(|error| format!("it is no record: {error}"))?;
    let record = line.record.get();
    let crc = format!("{:08x}", crc32fast::hash(record.as_bytes()));
    if record.len() != line.len {
        return Err(format!("the record has {} bytes, and {} were written", record.len(), line.len));
    }
    if crc != line.crc {
        return Err(format!("the record has checksum {crc}, and {} was written", line.crc));
    }
    serde_json::from_str(record).map_err(|error| format!("the record is of a kind that is not known here: {error}"))
}

/// SHA-256 over the lines, in hexadecimal; empty where there are none.
pub(crate) fn digest(records: &[Record]) -> String {
    if records.is_empty() {
        return String::new();
    }
    Sha256::digest(write(records)).iter().map(|byte| format!("{byte:02x}")).collect()
}
