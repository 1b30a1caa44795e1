//! How much room a body is given while it comes.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::*;
use crate::conn::body::Taken;
use crate::conn::connection::Connection;
use crate::conn::framing::Body;

/// Sends a little at a time, and counts how often the place that it is read to has moved.
struct Dribble {
    sent: usize,
    base: usize,
    moves: usize,
}

impl AsyncRead for Dribble {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let base = out.initialize_unfilled().as_ptr().addr().wrapping_sub(self.sent);
        self.moves += usize::from(std::mem::replace(&mut self.base, base) != base);
        let some = &[b'x'; 100][..out.remaining().min(100)];
        out.put_slice(some);
        self.sent += some.len();
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Dribble {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// To make room is to move all that has come, so it must not be done for every piece that comes.
#[tokio::test]
async fn a_body_in_pieces_is_moved_a_few_times() {
    let (service, _) = service(Limits::default());
    for (length, most) in [(10_000, 4), (2_000_000, 8)] {
        let io = Dribble { sent: 0, base: 0, moves: 0 };
        let mut connection = Connection::new(Arc::clone(&service), io, Peer::default());
        let (taken, _share) = connection
            .take_body(0, Body::Length(length), 8_000_000)
            .await
            .unwrap_or_else(|_| panic!("an end"));
        assert!(matches!(taken, Taken::Whole { .. }));
        assert!(connection.io.moves <= most, "{length}: {} moves", connection.io.moves);
    }
}

/// A promise takes nothing from the budget; one that could not be kept is refused when its first part has come.
#[tokio::test]
async fn promises_hold_no_memory() {
    let (service, _) = service(limits(|limits| limits.body_memory = 1_048_576));
    for (length, fits) in [(1_100_000, true), (1_200_000, false)] {
        let io = Dribble { sent: 0, base: 0, moves: 0 };
        let mut connection = Connection::new(Arc::clone(&service), io, Peer::default());
        let (taken, _share) = connection
            .take_body(0, Body::Length(length), 8_000_000)
            .await
            .unwrap_or_else(|_| panic!("an end"));
        assert_eq!(matches!(taken, Taken::Whole { .. }), fits, "{length}");
        assert!(fits || connection.io.sent < 300_000, "{}", connection.io.sent);
    }
}
