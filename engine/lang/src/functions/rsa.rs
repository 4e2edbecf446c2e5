//! `rsadecrypt`: what was enciphered for somebody, with padding of PKCS #1 v1.5.
//!
//! The arithmetic does not hide how long it takes. It runs where the private key is, on texts that are written into a
//! configuration; there is nobody who could ask it many times and measure.

use base64::{Engine, engine::general_purpose::STANDARD};
use dashu_base::BitTest;
use dashu_int::{UBig, fast_div::ConstDivisor};
use engine_value::{Type, Value};

use crate::functions::{CallError, Function, Parameter};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "rsadecrypt",
    description: "The text that an RSA private key deciphers from Base64, with padding of PKCS #1 v1.5.",
    parameters: &[Parameter::string("ciphertext"), Parameter::string("privatekey")],
    variadic: None,
    returns: |_| Ok(Type::String),
    run: |args, _| decrypt(args[0].as_str().unwrap_or_default(), args[1].as_str().unwrap_or_default()),
}];

fn decrypt(ciphertext: &str, key: &str) -> Result<Value, CallError> {
    let joined: String = ciphertext.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let Ok(bytes) = STANDARD.decode(joined) else {
        return Err(CallError::argument(0, "failed to decode input: the cipher text must be base64-encoded"));
    };
    let key = Key::parse(key).map_err(|why| CallError::argument(1, why))?;
    // Which step failed would help only somebody who guesses.
    let failed = || CallError::new("failed to decrypt: the cipher text does not belong to the key");
    let size = key.modulus.bit_len().div_ceil(8);
    let cipher = UBig::from_be_bytes(&bytes);
    if bytes.len() > size || cipher >= key.modulus {
        return Err(failed());
    }
    let ring = ConstDivisor::new(key.modulus);
    let plain = ring.reduce(cipher).pow(&key.exponent).residue().to_be_bytes();
    let mut block = vec![0; size - plain.len()];
    block.extend_from_slice(&plain);
    let text = unpad(&block).ok_or_else(failed)?;
    // As Terraform: bytes that are no text become the sign for that.
    Ok(Value::string(String::from_utf8_lossy(text)))
}

/// `00 02`, at least eight bytes that are not zero, `00`, the message.
fn unpad(block: &[u8]) -> Option<&[u8]> {
    let rest = block.strip_prefix(&[0, 2])?;
    let end = rest.iter().position(|byte| *byte == 0).filter(|end| *end >= 8)?;
    Some(&rest[end + 1..])
}

/// A private key, as far as deciphering needs it.
struct Key {
    modulus: UBig,
    exponent: UBig,
}

impl Key {
    fn parse(text: &str) -> Result<Self, String> {
        const INVALID: &str = "invalid key: it is no RSA private key in PEM form";
        let (label, headers, der) = pem(text).ok_or(INVALID)?;
        if headers.contains("ENCRYPTED") {
            return Err("invalid key: a key that is protected by a password is not supported".to_owned());
        }
        let found = match label {
            "RSA PRIVATE KEY" => Self::pkcs1(&der),
            "PRIVATE KEY" => Self::pkcs8(&der),
            _ => None,
        };
        found.ok_or_else(|| INVALID.to_owned())
    }

    /// `SEQUENCE { version, modulus, public exponent, private exponent, … }`
    fn pkcs1(der: &[u8]) -> Option<Self> {
        let (mut body, _) = element(der, 0x30)?;
        let mut next = || {
            let (number, rest) = element(body, 0x02)?;
            body = rest;
            Some(UBig::from_be_bytes(number))
        };
        let (_version, modulus, _public, exponent) = (next()?, next()?, next()?, next()?);
        (modulus > UBig::ONE).then_some(Self { modulus, exponent })
    }

    /// `SEQUENCE { version, algorithm, OCTET STRING { key } }`
    fn pkcs8(der: &[u8]) -> Option<Self> {
        /// The object identifier 1.2.840.113549.1.1.1.
        const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
        let (body, _) = element(der, 0x30)?;
        let (_version, rest) = element(body, 0x02)?;
        let (algorithm, rest) = element(rest, 0x30)?;
        let (name, _) = element(algorithm, 0x06)?;
        let (key, _) = element(rest, 0x04)?;
        if name == RSA { Self::pkcs1(key) } else { None }
    }
}

/// Label, headers and content of the first block of a text in PEM form.
fn pem(text: &str) -> Option<(&str, &str, Vec<u8>)> {
    let (_, rest) = text.split_once("-----BEGIN ")?;
    let (label, rest) = rest.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body = body.trim_start();
    let (headers, body) = match body.split_once("\n\n") {
        Some((headers, body)) if headers.contains(':') => (headers, body),
        _ => ("", body),
    };
    let joined: String = body.split_ascii_whitespace().collect();
    Some((label, headers, STANDARD.decode(joined).ok()?))
}

/// The content of the DER element of a tag at the beginning of some bytes, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    if *found != tag {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7f => (usize::from(*first), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}
