//! One of many clients: where it comes from, what it will do next, and what it has in common with the others.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::http1::{Http1, connect};
use crate::http2::Http2;
use crate::ledger::{Id, Ledger, Outcome};
use crate::link::Link;
use crate::random::Random;

/// What all clients share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) address: SocketAddr,
    pub(crate) ledger: Ledger,
    /// Whether the server has tools that ask, and a registry that changes; the plain program has not.
    pub(crate) rich: bool,
    /// No new turns are begun.
    pub(crate) stopping: AtomicBool,
    /// Requests a second, of all clients together.
    pub(crate) rate: u64,
    pub(crate) started: Instant,
}

impl Shared {
    pub(crate) fn stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Whether as much has been sent as should have been by now.
    pub(crate) fn ahead(&self) -> bool {
        let due = self.started.elapsed().as_secs_f64() * self.rate as f64;
        self.ledger.total() as f64 > due
    }
}

#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) shared: Arc<Shared>,
    pub(crate) random: Random,
    from: Ipv4Addr,
}

impl Person {
    /// The client of this number, whose acts follow from the seed.
    pub(crate) fn new(shared: Arc<Shared>, seed: u64, number: u8) -> Self {
        let mut mixing = Random::new(seed ^ (u64::from(number) << 40));
        let random = Random::new(mixing.next());
        // Peers of their own, as far as the server can tell.
        Self { shared, random, from: Ipv4Addr::new(127, 0, 1, number.saturating_add(1)) }
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.shared.ledger
    }

    /// A new id, for a request that is about to be sent.
    pub(crate) fn ask(&self) -> Id {
        self.shared.ledger.sent();
        self.shared.ledger.ask()
    }

    pub(crate) async fn http1(&self) -> Outcome<Http1> {
        Ok(Http1::new(connect(self.shared.address, self.from, None).await?))
    }

    /// One whose socket takes little.
    pub(crate) async fn narrow(&self) -> Outcome<Http1> {
        Ok(Http1::new(connect(self.shared.address, self.from, Some(8_192)).await?))
    }

    pub(crate) async fn http2(&self) -> Outcome<Http2> {
        Http2::new(connect(self.shared.address, self.from, None).await?).await
    }

    /// A new connection over either protocol.
    pub(crate) async fn link(&mut self) -> Outcome<Link> {
        if self.random.chance(35) {
            return Ok(Link::Two(self.http2().await?));
        }
        let chunks = self.random.chance(30).then(|| Random::new(self.random.next()));
        Ok(Link::One(self.http1().await?, chunks))
    }

    /// Waits for some milliseconds.
    pub(crate) async fn pause(&mut self, least: u64, most: u64) {
        tokio::time::sleep(Duration::from_millis(self.random.within(least, most))).await;
    }

    /// A text of some length, of which no two are alike.
    pub(crate) fn text(&mut self) -> String {
        let mut text = format!("{:x} \"\u{e9}\u{2028}\\ ", self.random.next());
        let more = self.random.size(0, 60);
        text.extend(std::iter::repeat_n('m', more));
        text
    }
}
