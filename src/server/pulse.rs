//! The pulse of a runtime: a task that asks for its turn every few milliseconds, and so finds out how long everybody else waits for theirs.
//! An idle runtime has none.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};

use crate::conn::Service;
use crate::conn::stop::Phase;
use crate::road::shedding::turns::PERIOD_MS;

/// Beats for as long as the server runs and requests come. Where time is moved by hand, so is the pulse.
pub(super) async fn pulse(service: Arc<Service>, worker: usize) {
    let clock = service.road().clock();
    let Some(load) = service.road().loads().get(worker).filter(|_| !clock.is_manual()) else { return };
    let steals = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    let mut watch = service.stop().watch();
    load.pulse(clock);
    loop {
        tokio::select! {
            () = watch.reached(Phase::Stopped) => return,
            () = load.wanted() => {}
        }
        loop {
            tokio::time::sleep(Duration::from_millis(PERIOD_MS)).await;
            if steals {
                // Who is woken goes first there; who yields goes last.
                tokio::task::yield_now().await;
            }
            if !load.pulse(clock) {
                break;
            }
        }
    }
}
