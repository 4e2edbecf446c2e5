//! Character sets by the names of IANA: texts to bytes, and back.

use encoding_rs::{DecoderResult, EncoderResult, Encoding};

/// A character set.
pub(super) struct Charset {
    /// Its preferred name.
    pub(super) name: &'static str,
    kind: Kind,
}

enum Kind {
    /// UTF-16. In which order, and does a mark say which?
    Wide { big: bool, marked: bool },
    /// The code points of the last bytes, the others are ASCII.
    Page(Vec<char>),
    /// One of the Encoding Standard; do the bytes 80 to 9f mean nothing?
    Standard { encoding: &'static Encoding, no_c1: bool },
}

const PAGES: &str = include_str!("pages.tsv");
const STANDARD: &str = include_str!("names.tsv");
/// What stands for a byte that means nothing.
const NOTHING: char = '\u{fffd}';

fn is_one_of(names: &str, wanted: &str) -> bool {
    names.split(' ').any(|name| name.eq_ignore_ascii_case(wanted))
}

fn lines(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

impl Charset {
    pub(super) fn find(wanted: &str) -> Option<Self> {
        let wide = |name, big, marked| Some(Self { name, kind: Kind::Wide { big, marked } });
        if is_one_of("UTF-16 csUTF16", wanted) {
            return wide("UTF-16", true, true);
        }
        if is_one_of("UTF-16BE csUTF16BE", wanted) {
            return wide("UTF-16BE", true, false);
        }
        if is_one_of("UTF-16LE csUTF16LE", wanted) {
            return wide("UTF-16LE", false, false);
        }
        let preferred = |names: &'static str| names.split(' ').next().unwrap_or(names);
        for line in lines(PAGES) {
            let [names, points] = line[..] else { continue };
            if is_one_of(names, wanted) {
                let point = |digits| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).unwrap_or(NOTHING);
                let page = points.split(' ').map(point).collect();
                return Some(Self { name: preferred(names), kind: Kind::Page(page) });
            }
        }
        for line in lines(STANDARD) {
            let [names, label, c1] = line[..] else { continue };
            if is_one_of(names, wanted) {
                let encoding = Encoding::for_label(label.as_bytes())?;
                return Some(Self { name: preferred(names), kind: Kind::Standard { encoding, no_c1: c1 == "c1" } });
            }
        }
        None
    }

    /// The bytes of a text; `None` if a character is not in the set.
    pub(super) fn encode(&self, text: &str) -> Option<Vec<u8>> {
        match &self.kind {
            Kind::Wide { big, marked } => {
                let mark = marked.then_some(0xfeff);
                let units = mark.into_iter().chain(text.encode_utf16());
                Some(units.flat_map(|unit| if *big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect())
            }
            Kind::Page(page) => {
                let first = 256 - page.len();
                text.chars()
                    .map(|c| match u8::try_from(c) {
                        Ok(byte) if usize::from(byte) < first => Some(byte),
                        _ => {
                            let at = page.iter().position(|other| *other == c && c != NOTHING)?;
                            u8::try_from(first + at).ok()
                        }
                    })
                    .collect()
            }
            Kind::Standard { no_c1: true, .. } if text.contains(is_c1) => None,
            Kind::Standard { encoding, .. } => {
                let mut encoder = encoding.new_encoder();
                let mut bytes =
                    Vec::with_capacity(encoder.max_buffer_length_from_utf8_without_replacement(text.len())?);
                match encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true) {
                    (EncoderResult::InputEmpty, _) => Some(bytes),
                    _ => None,
                }
            }
        }
    }

    /// The text of some bytes; `None` if they mean nothing.
    pub(super) fn decode(&self, bytes: &[u8]) -> Option<String> {
        let text = match &self.kind {
            Kind::Wide { big, marked } => wide(bytes, *big, *marked)?,
            Kind::Page(page) => {
                let first = 256 - page.len();
                let point = |byte: &u8| usize::from(*byte).checked_sub(first).map_or(char::from(*byte), |at| page[at]);
                bytes.iter().map(point).collect()
            }
            Kind::Standard { encoding, no_c1 } => {
                let mut decoder = encoding.new_decoder_without_bom_handling();
                let mut text = String::with_capacity(decoder.max_utf8_buffer_length_without_replacement(bytes.len())?);
                match decoder.decode_to_string_without_replacement(bytes, &mut text, true) {
                    (DecoderResult::InputEmpty, _) if !(*no_c1 && text.contains(is_c1)) => text,
                    _ => return None,
                }
            }
        };
        (!text.contains(NOTHING)).then_some(text)
    }
}

fn is_c1(c: char) -> bool {
    matches!(c, '\u{80}'..='\u{9f}')
}

fn wide(bytes: &[u8], big: bool, marked: bool) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let (big, pairs) = match pairs {
        [[0xff, 0xfe], rest @ ..] if marked => (false, rest),
        [[0xfe, 0xff], rest @ ..] if marked => (true, rest),
        pairs => (big, pairs),
    };
    let units = pairs.iter().map(|pair| if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) });
    char::decode_utf16(units).collect::<Result<_, _>>().ok()
}
