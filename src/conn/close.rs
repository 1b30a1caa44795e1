//! The end of an HTTP/1.x connection. A socket closed with unread bytes is reset, and a reset can overtake the last answer; so the write
//! side is shut down first and what still comes is read and dropped, for a bounded time and amount (RFC 9112 9.6).

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use tokio::io::{AsyncRead, AsyncWrite};

use super::connection::{Connection, End, Fill};
use super::stream::UNHEARD;
use super::timer::after;

/// Longest wait for the peer's next bytes, in milliseconds.
const QUIET: u64 = 1_000;
/// Longest time in all, in milliseconds.
const TOTAL: u64 = 5_000;
/// Most bytes dropped: enough for a client that sends all of a refused body before it looks for the answer.
const MOST: usize = 64 * 1024 * 1024;

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(super) async fn finish(&mut self, end: End) {
        // Nothing for a request that has been answered: its note is gone.
        self.log(UNHEARD, 0);
        match end {
            End::Gone => {}
            End::Answered => Box::pin(self.part()).await,
        }
        self.release();
    }

    async fn part(&mut self) {
        if self.deliver().await.is_err() {
            return;
        }
        let until = after(TOTAL);
        self.timer.set(after(QUIET));
        let shut = poll_fn(|cx| match Pin::new(&mut self.io).poll_shutdown(cx) {
            Poll::Ready(shut) => Poll::Ready(shut.is_ok()),
            Poll::Pending => self.poll_limits(cx).map(|_| false),
        });
        if !shut.await {
            return;
        }
        self.rest();
        let mut dropped = 0;
        while dropped <= MOST {
            let waiting = self.waiting().len();
            self.consume(waiting);
            dropped += waiting;
            match self.fill(until.min(after(QUIET)), false).await {
                Ok(Fill::Bytes) => {}
                Ok(Fill::Ended | Fill::Late | Fill::Draining) | Err(_) => return,
            }
        }
    }
}
