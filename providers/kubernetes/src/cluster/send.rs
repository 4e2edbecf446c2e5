//! One request and its answer.

use bytes::Bytes;
use http::{
    Request, Response,
    header::{ACCEPT, CONTENT_TYPE, IF_NONE_MATCH},
    request::Builder,
};
use http_body_util::BodyExt;
use kube::{client::Body, core::Status};
use providers_api::{Call, ErrorKind, ProviderError, retry::retrying};
use serde_json::Value as Json;

use super::{Cluster, given_up};
use crate::uri::encoded;

/// The object that was answered, or the refusal that does not go away by asking again.
pub(crate) type Sent = Result<Json, Box<Status>>;

/// Names and values of a query.
pub(crate) type Query<'a> = &'a [(&'a str, String)];

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
        let mut uri = path.to_owned();
        for (at, (name, value)) in query.iter().enumerate() {
            uri += &format!("{}{name}={}", if at == 0 { '?' } else { '&' }, encoded(value));
        }
        let mut request = Request::builder().method(method).uri(uri).header(ACCEPT, "application/json");
        let body = match body {
            Some((content, body)) => {
                request = request.header(CONTENT_TYPE, content);
                body
            }
            None => Vec::new(),
        };
        let answer = match method {
            "GET" => self.interruptible(request, doing, call).await?,
            _ => self.exchange(request, body, doing).await?,
        };
        match answer {
            Ok(answer) => self.parsed(&answer.into_body(), doing).map(Ok),
            Err(status) => Ok(Err(status)),
        }
    }

    /// Reads what is no object, with repetition of what is transient. `tag`: what is here already, by the server's name
    /// for it; the answer has code 304 and no body where that is still right.
    pub(super) async fn fetch(
        &self,
        uri: &str,
        accept: &str,
        tag: Option<&str>,
        doing: &str,
        call: Call<'_>,
    ) -> Result<Result<Response<Bytes>, Box<Status>>, ProviderError> {
        let attempt = || async {
            let mut request = Request::builder().method("GET").uri(uri).header(ACCEPT, accept);
            if let Some(tag) = tag {
                request = request.header(IF_NONE_MATCH, tag);
            }
            self.interruptible(request, doing, call).await
        };
        retrying(call, attempt).await.map_err(given_up)
    }

    /// The JSON that was answered.
    pub(super) fn parsed(&self, body: &[u8], doing: &str) -> Result<Json, ProviderError> {
        serde_json::from_slice(body).map_err(|error| self.connection.error(doing, &kube::Error::SerdeError(error)))
    }

    async fn interruptible(
        &self,
        request: Builder,
        doing: &str,
        call: Call<'_>,
    ) -> Result<Result<Response<Bytes>, Box<Status>>, ProviderError> {
        tokio::select! {
            answer = self.exchange(request, Vec::new(), doing) => answer,
            () = call.cancel.cancelled() => {
                Err(ProviderError::new(ErrorKind::Cancelled, format!("{doing}: interrupted")))
            }
        }
    }

    async fn exchange(
        &self,
        request: Builder,
        body: Vec<u8>,
        doing: &str,
    ) -> Result<Result<Response<Bytes>, Box<Status>>, ProviderError> {
        let request = request.body(Body::from(body)).map_err(|error| {
            ProviderError::permanent(format!("{doing}: what names it cannot be written as a path")).caused_by(error)
        })?;
        let client = self.connection.client().await?;
        let answer = async {
            let (parts, body) = client.send(request).await?.into_parts();
            Ok(Response::from_parts(parts, body.collect().await?.to_bytes()))
        };
        match answer.await {
            Ok(answer) => Ok(Ok(answer)),
            Err(kube::Error::Api(status)) => {
                let error = self.refused(doing, status.clone());
                // 410 is for who goes through a list: the same request is refused again.
                let fails = (error.is_transient() && status.code != 410) || status.code == 401;
                if fails { Err(error) } else { Ok(Err(status)) }
            }
            Err(error) => Err(self.connection.error(doing, &error)),
        }
    }
}
