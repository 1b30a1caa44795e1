//! Notices that a peer has gone while as much of it waits as is read ahead: nothing is read then, so that reading would tell neither of its
//! end nor of a reset.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

#[cfg(unix)]
use tokio::net::TcpStream;

/// How a peer has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// Its side has ended; it may still read.
    Ended,
    /// The connection is reset.
    Reset,
}

/// A watch on a socket, apart from what reads and writes it. Made only when it is needed: it has a descriptor of its own.
pub(super) struct HangUp(Pin<Box<dyn Future<Output = Gone> + Send>>);

impl HangUp {
    /// A watch on this connection, if it is a socket.
    #[cfg(unix)]
    pub(super) fn of(io: &dyn Any) -> Option<Self> {
        use std::io::ErrorKind;
        use std::os::fd::AsFd;

        use tokio::io::Interest;

        // A descriptor of its own, so that the future borrows nothing; it neither reads nor writes.
        let socket = io.downcast_ref::<TcpStream>()?;
        let descriptor = socket.as_fd().try_clone_to_owned().ok()?;
        let twin = TcpStream::from_std(descriptor.into()).ok()?;
        Some(Self(Box::pin(async move {
            loop {
                let Ok(ready) = twin.ready(Interest::READABLE | Interest::ERROR).await else {
                    return Gone::Reset;
                };
                if ready.is_error() {
                    return Gone::Reset;
                }
                if ready.is_read_closed() {
                    return Gone::Ended;
                }
                // There is something to read, which is known. What comes next is told anew.
                let _: std::io::Result<()> =
                    twin.try_io(Interest::READABLE, || Err(ErrorKind::WouldBlock.into()));
            }
        })))
    }

    /// A watch on this connection, if it is a socket.
    #[cfg(not(unix))]
    pub(super) fn of(_: &dyn Any) -> Option<Self> {
        None
    }

    /// Ready when the peer has gone; not to be polled after that.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Gone> {
        self.0.as_mut().poll(cx)
    }
}
