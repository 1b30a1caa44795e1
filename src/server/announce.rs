//! Tells clients what has changed, once for a whole burst.

use std::sync::Arc;
use std::time::Duration;

use crate::conn::Service;
use crate::conn::stop::Phase;

/// Streams that are woken at once: what they write takes their worker a third of a millisecond, and requests that come meanwhile wait no
/// longer than that, however many streams there are.
const SLICE: usize = 32;

/// Waits for a change, lets a burst pass, and announces all of it; for as long as the server runs.
pub(super) async fn announce(service: Arc<Service>) {
    let road = service.road();
    let delay = Duration::from_millis(road.limits().list_changed_delay);
    let mut watch = service.stop().watch();
    loop {
        tokio::select! {
            () = watch.reached(Phase::Stopped) => return,
            () = road.changes().changed() => {}
        }
        // A fixed delay from the first change on, not from the last: who changes things all the time is announced all the same.
        tokio::select! {
            () = watch.reached(Phase::Stopped) => return,
            () = tokio::time::sleep(delay) => {}
        }
        let mut wakes = road.announce();
        while wakes.wake(SLICE) {
            tokio::task::yield_now().await;
        }
    }
}
