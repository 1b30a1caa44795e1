//! A server whose allocations can be told apart by request from another thread.

use std::net::TcpListener;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use twolane::conn::Service;
use twolane::conn::stop::Stop;
use twolane::road::{Peer, Road};

use super::counting;

/// What the server's thread tells of itself.
#[derive(Debug, Default)]
pub struct Watch {
    /// The connection is being polled.
    busy: AtomicBool,
    /// Allocations made while it was polled.
    count: AtomicUsize,
    tracing: AtomicBool,
    places: Mutex<String>,
}

impl Watch {
    /// Waits until the connection rests, and tells the count. An answer is written while the connection is polled, so whoever has read
    /// one finds the poll that wrote it under way or over.
    pub fn at_rest(&self) -> usize {
        while self.busy.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        self.count.load(Ordering::Acquire)
    }

    /// Runs something once more and tells where the server allocates meanwhile.
    pub fn traced(&self, run: impl FnOnce() -> usize) -> String {
        self.tracing.store(true, Ordering::Release);
        run();
        self.tracing.store(false, Ordering::Release);
        std::mem::take(&mut *self.places.lock().expect("not poisoned"))
    }

    fn polled<R>(&self, poll: impl FnOnce() -> R) -> R {
        self.busy.store(true, Ordering::Release);
        let before = counting::count();
        let result = if self.tracing.load(Ordering::Acquire) {
            let (result, places) = counting::traced(poll);
            self.places.lock().expect("not poisoned").push_str(&places);
            result
        } else {
            let result = poll();
            self.count.fetch_add(counting::count() - before, Ordering::AcqRel);
            result
        };
        self.busy.store(false, Ordering::Release);
        result
    }
}

/// Serves so many connections, one after the other, on this thread.
pub fn serve(road: Road, listener: TcpListener, connections: usize, watch: &Watch) {
    let service = Arc::new(Service::new(road, None, Stop::new()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("a socket option");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        for _ in 0..connections {
            let (stream, _) = listener.accept().await.expect("a client");
            let mut serving = pin!(twolane::conn::serve(Arc::clone(&service), stream, Peer::default(), ()));
            std::future::poll_fn(|cx| watch.polled(|| serving.as_mut().poll(cx))).await;
        }
    });
}
