//! The end of a server: drain, wait, stop.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::listen::{Gate, tell_turned_away};
use crate::conn::Service;
use crate::conn::stop::{Phase, Stop};

/// How long connections get to notice a hard stop.
const HARD_STOP: Duration = Duration::from_millis(500);

/// Stops everything when dropped.
pub(super) struct StopOnDrop(pub(super) Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.advance(Phase::Stopped);
    }
}

/// Waits for `shutdown`, or for the phase to be advanced by someone else; then ends the service. Returns when every connection has ended.
pub(super) async fn conduct(service: &Service, gate: &Gate, shutdown: impl Future<Output = ()>) {
    let stop = service.stop();
    let mut watch = stop.watch();
    let mut shutdown = pin!(shutdown);
    poll_fn(|cx| {
        if shutdown.as_mut().poll(cx).is_ready() || watch.poll(cx) != Phase::Running {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    service.road().start_draining();
    stop.advance(Phase::Draining);
    gate.open_wide();
    let grace = Duration::from_millis(service.road().limits().shutdown_grace);
    tokio::select! {
        biased;
        () = gate.emptied() => {}
        () = watch.reached(Phase::Stopped) => {}
        () = tokio::time::sleep(grace) => {}
    }
    stop.advance(Phase::Stopped);
    // What has not ended by now hangs in a handler that does not yield.
    let _ = tokio::time::timeout(HARD_STOP, gate.emptied()).await;
}

/// Ends idle sessions, for as long as the server runs.
pub(super) async fn sweep(service: Arc<Service>) {
    let period = (service.road().limits().session_idle / 4).clamp(25, 1_000);
    let mut watch = service.stop().watch();
    let mut ticks = tokio::time::interval(Duration::from_millis(period));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = watch.reached(Phase::Stopped) => return,
            _ = ticks.tick() => {
                service.road().sweep();
                // Those that nobody has come after.
                tell_turned_away(&service, None);
            }
        };
    }
}
