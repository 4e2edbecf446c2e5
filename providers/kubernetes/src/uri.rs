//! How values are written into an address.

/// A value of a query or a form, percent-encoded but for what RFC 3986 leaves unreserved.
pub(crate) fn encoded(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn values_of_a_query_are_encoded() {
        assert_eq!(encoded("a-b_c.d~e"), "a-b_c.d~e");
        assert_eq!(encoded("a in (b,ü)"), "a%20in%20%28b%2C%C3%BC%29");
    }
}
