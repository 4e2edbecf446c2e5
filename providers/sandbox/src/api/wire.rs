//! A connection that can be cut: what a server that dies, or a network that fails, looks like to its clients.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Whether a connection is to be reset.
#[derive(Clone, Default)]
pub(super) struct Scissors(Arc<AtomicBool>);

impl Scissors {
    /// From now on nothing passes; when the connection is dropped its peer sees a reset.
    pub(super) fn cut(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn has_cut(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn check(&self) -> io::Result<()> {
        if self.has_cut() { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

/// See the module.
pub(super) struct Wire {
    stream: TcpStream,
    scissors: Scissors,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, scissors: Scissors) -> Wire {
        Wire { stream, scissors }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        if self.scissors.has_cut() {
            // Without it the peer would see an orderly end; if it cannot be had, it does.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.scissors.check()?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.scissors.check()?;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.scissors.check()?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.scissors.check()?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The first bytes of a body, after which the connection is cut.
pub(super) fn cut_after(
    body: impl Stream<Item = Result<Bytes, axum::Error>> + Send + Unpin + 'static,
    bytes: usize,
    scissors: Scissors,
) -> impl Stream<Item = Result<Bytes, axum::Error>> + Send + 'static {
    let head = futures::stream::unfold((body, bytes), |(mut body, left)| async move {
        let mut part = if left == 0 { None } else { body.next().await }?;
        if let Ok(part) = &mut part {
            part.truncate(left);
        }
        let left = left - part.as_ref().map_or(0, Bytes::len);
        Some((part, (body, left)))
    });
    let cut = futures::stream::once(async move {
        // What was written before goes out first: the server flushes whenever a body has nothing more to give at once.
        tokio::task::yield_now().await;
        scissors.cut();
        Err(axum::Error::new(io::Error::from(io::ErrorKind::ConnectionReset)))
    });
    head.chain(cut)
}
