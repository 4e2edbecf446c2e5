//! One request and its answer.

use std::time::Duration;

use http::Request;
use kube::core::Status;
use providers_api::{Call, ErrorKind, ProviderError};
use serde_json::Value as Json;

use super::Cluster;

/// The object that was answered, or the refusal that does not go away by asking again.
pub(crate) type Sent = Result<Json, Box<Status>>;

/// Names and values of a query.
pub(crate) type Query<'a> = &'a [(&'a str, String)];

/// How long an answer may take: API servers give up after a minute themselves.
const PATIENCE: Duration = Duration::from_secs(65);

impl Cluster {
    /// Sends one request. What is transient, and whatever is wrong with the network, is an error; other refusals are
    /// answers. Reads end at an interrupt, writes are waited for.
    pub(super) async fn send(
        &self,
        method: &str,
        path: &str,
        query: Query<'_>,
        body: Option<(&str, Vec<u8>)>,
        doing: &str,
        call: Call<'_>,
    ) -> Result<Sent, ProviderError> {
        let client = self.connection.client().await?;
        let mut uri = path.to_owned();
        for (at, (name, value)) in query.iter().enumerate() {
            uri += &format!("{}{name}={}", if at == 0 { '?' } else { '&' }, encoded(value));
        }
        let mut request = Request::builder().method(method).uri(uri).header("accept", "application/json");
        let body = match body {
            Some((content, body)) => {
                request = request.header("content-type", content);
                body
            }
            None => Vec::new(),
        };
        let request = request
            .body(body)
            .map_err(|error| ProviderError::permanent(format!("{doing}: {path:?} is no path")).caused_by(error))?;
        let reads = method == "GET";
        let answer = tokio::select! {
            answer = tokio::time::timeout(PATIENCE, client.request::<Json>(request)) => answer,
            () = call.cancel.cancelled(), if reads => {
                return Err(ProviderError::new(ErrorKind::Cancelled, format!("{doing}: interrupted")));
            }
        };
        let answer = answer.map_err(|_| {
            ProviderError::new(ErrorKind::Timeout, format!("{doing}: no answer in {} s", PATIENCE.as_secs()))
        })?;
        match answer {
            Ok(object) => Ok(Ok(object)),
            Err(kube::Error::Api(status)) => {
                let error = self.refused(doing, status.clone());
                if error.is_transient() || status.code == 401 { Err(error) } else { Ok(Err(status)) }
            }
            Err(error) => Err(self.connection.error(doing, &error)),
        }
    }
}

/// A value of a query, percent-encoded but for what RFC 3986 leaves unreserved.
fn encoded(value: &str) -> String {
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
