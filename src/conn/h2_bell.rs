//! The bell of an HTTP/2 connection: a waker between `h2` and the connection's task that stays silent while the task is at work. Every
//! answer that a stream gives during its connection's turn rings it, and without this the task would take a second turn for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// The task waits: whoever rings wakes it.
const ASLEEP: u8 = 0;
/// The task is at work.
const AT_WORK: u8 = 1;
/// Somebody has rung since the task last began to look.
const RUNG: u8 = 2;

/// What is rung.
struct Bell {
    state: AtomicU8,
    task: Waker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(RUNG, Ordering::AcqRel) == ASLEEP {
            self.task.wake_by_ref();
        }
    }
}

/// The task's end of the bell.
#[derive(Default)]
pub(super) struct Bellhop(Option<(Arc<Bell>, Waker)>);

/// One turn of the task, in which it may say that it begins to look anew.
pub(super) struct Watch<'b>(&'b Bell);

impl Watch<'_> {
    /// Drops what has been rung so far: the task is about to look at everything that rings.
    pub(super) fn look(&self) {
        self.0.state.swap(AT_WORK, Ordering::AcqRel);
    }
}

impl Bellhop {
    /// Gives the task a turn with the bell in place of its waker.
    pub(super) fn turn(
        &mut self,
        cx: &mut Context<'_>,
        turn: impl FnOnce(&Watch<'_>, &mut Context<'_>) -> Poll<()>,
    ) -> Poll<()> {
        let known = self.0.take_if(|(bell, _)| bell.task.will_wake(cx.waker()));
        let (bell, waker) = self.0.insert(known.unwrap_or_else(|| {
            let bell = Arc::new(Bell { state: AtomicU8::new(ASLEEP), task: cx.waker().clone() });
            (Arc::clone(&bell), Waker::from(bell))
        }));
        let watch = Watch(bell);
        watch.look();
        let polled = turn(&watch, &mut Context::from_waker(waker));
        if polled.is_pending() && bell.state.swap(ASLEEP, Ordering::AcqRel) == RUNG {
            cx.waker().wake_by_ref();
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn turn(hop: &mut Bellhop, task: &Waker, ring_before: bool, ring_after: bool) -> Waker {
        let mut bell = None;
        let polled = hop.turn(&mut Context::from_waker(task), |watch, cx| {
            bell = Some(cx.waker().clone());
            if ring_before {
                cx.waker().wake_by_ref();
            }
            watch.look();
            if ring_after {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        });
        assert!(polled.is_pending());
        bell.unwrap()
    }

    #[test]
    fn only_what_nobody_looked_at_wakes() {
        let count = Arc::new(Count::default());
        let woken = || count.0.swap(0, Ordering::Relaxed);
        let task = Waker::from(Arc::clone(&count));
        let mut hop = Bellhop::default();
        turn(&mut hop, &task, false, false);
        assert_eq!(woken(), 0);
        turn(&mut hop, &task, true, false);
        assert_eq!(woken(), 0);
        turn(&mut hop, &task, true, true);
        assert_eq!(woken(), 1);
        let bell = turn(&mut hop, &task, false, false);
        bell.wake_by_ref();
        bell.wake();
        assert_eq!(woken(), 1, "the task is woken once until it takes its turn");
        turn(&mut hop, &task, false, false).wake();
        assert_eq!(woken(), 1);
    }

    #[test]
    fn another_waker_gets_a_bell_of_its_own() {
        let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
        let mut hop = Bellhop::default();
        let old = turn(&mut hop, &Waker::from(Arc::clone(&first)), false, false);
        let new = turn(&mut hop, &Waker::from(Arc::clone(&second)), false, false);
        old.wake();
        new.wake();
        assert_eq!((first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed)), (1, 1));
    }
}
