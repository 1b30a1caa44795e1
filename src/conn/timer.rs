//! One sleep per connection. A deadline that moves further away is only stored; the sleep finds it when it fires. So a busy connection
//! never touches the timer wheel.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

/// A deadline and the sleep that will notice it.
#[derive(Debug, Default)]
pub(super) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    deadline: Option<Instant>,
}

impl Timer {
    /// Moves the deadline.
    pub(super) fn set(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
        if let Some(sleep) = &mut self.sleep
            && deadline < sleep.deadline()
        {
            sleep.as_mut().reset(deadline);
        }
    }

    /// Sets the earliest of several deadlines, or none.
    pub(super) fn set_first<const N: usize>(&mut self, deadlines: [Option<Instant>; N]) {
        match deadlines.into_iter().flatten().min() {
            Some(deadline) => self.set(deadline),
            None => self.deadline = None,
        }
    }

    /// Ready once the deadline has passed; never without one.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        loop {
            ready!(sleep.as_mut().poll(cx));
            if sleep.deadline() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
    }
}

/// `millis` milliseconds from now.
pub(super) fn after(millis: u64) -> Instant {
    Instant::now() + Duration::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    async fn fires(timer: &mut Timer) -> Instant {
        poll_fn(|cx| timer.poll(cx)).await;
        Instant::now()
    }

    #[tokio::test]
    async fn later_deadlines_are_found_when_the_sleep_fires() {
        let mut timer = Timer::default();
        let (early, late) = (after(5), after(40));
        timer.set(early);
        assert!(poll_fn(|cx| Poll::Ready(timer.poll(cx))).await.is_pending());
        timer.set(late);
        assert!(fires(&mut timer).await >= late);
        let again = after(5);
        timer.set(again);
        assert!(fires(&mut timer).await >= again);
        timer.set_first([None, None]);
        assert!(poll_fn(|cx| Poll::Ready(timer.poll(cx))).await.is_pending());
    }

    #[tokio::test]
    async fn earlier_deadlines_are_armed_at_once() {
        let mut timer = Timer::default();
        let late = after(60_000);
        timer.set_first([None, Some(late)]);
        assert!(poll_fn(|cx| Poll::Ready(timer.poll(cx))).await.is_pending());
        let early = after(5);
        timer.set_first([Some(late), Some(early)]);
        assert!((early..late).contains(&fires(&mut timer).await));
    }
}
