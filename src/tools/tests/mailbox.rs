use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

use super::*;
use crate::base::principal::Principal;
use crate::tables::capabilities::Capability;
use crate::tables::levels::LogLevel;
use crate::tables::versions::Era;
use crate::tools::{Context, Typed};

fn drain(running: &mut Running) -> Vec<String> {
    std::iter::from_fn(|| running.take_notification())
        .map(|message| String::from_utf8(message).unwrap())
        .collect()
}

fn context(token: &str, buffer: u64) -> Context {
    with_value(token, |token| {
        CallSlot::default().prepare(&CallInfo { progress_token: Some(token), buffer, ..info() })
    })
}

fn taken(context: &Context) -> Vec<String> {
    std::iter::from_fn(|| context.shared().take())
        .map(|message| String::from_utf8(message).unwrap())
        .collect()
}

#[test]
fn progress_is_a_notification() {
    let context = context("\"a\\\"b\"", 9);
    context.progress(1.0, Some(2.0), Some("half\n"));
    context.progress(1.5, None, None);
    assert_eq!(
        taken(&context),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a\"b","progress":1,"total":2,"message":"half\n"}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a\"b","progress":1.5}}"#,
        ]
    );
}

#[test]
fn tokens_come_back_as_they_were() {
    for token in ["7", "-7", "18446744073709551615", "\"7\"", "\"\"", "\"é\\u0000\"", "1.0"] {
        let context = context(token, 9);
        assert!(context.wants_progress());
        context.progress(1.0, None, None);
        let message: serde_json::Value = serde_json::from_str(&taken(&context)[0]).unwrap();
        assert_eq!(
            message["params"]["progressToken"],
            serde_json::from_str::<serde_json::Value>(token).unwrap()
        );
    }
    for token in ["null", "true", "1.5", "[]", "{}"] {
        let context = context(token, 9);
        assert!(!context.wants_progress());
        context.progress(1.0, None, None);
        assert!(taken(&context).is_empty(), "{token}");
    }
    Context::detached().progress(1.0, None, None);
}

#[test]
fn progress_only_grows() {
    let context = context("1", 99);
    for value in [0.0, 0.0, -1.0, f64::NAN, f64::INFINITY, 0.5, 0.25, 2.0] {
        context.progress(value, Some(f64::NAN), None);
    }
    let values: Vec<_> = taken(&context)
        .iter()
        .map(|message| {
            let message: serde_json::Value = serde_json::from_str(message).unwrap();
            assert!(message["params"].get("total").is_none());
            message["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert_eq!(values, [0.0, 0.5, 2.0]);
}

#[test]
fn a_full_mailbox_drops_and_counts() {
    let context = context("1", 2);
    for value in 1..=5_u8 {
        context.progress(f64::from(value), None, None);
    }
    assert_eq!(taken(&context).len(), 2);
    assert_eq!(context.shared().dropped(), 3);
    context.progress(6.0, None, None);
    assert_eq!(taken(&context).len(), 1);
}

#[tokio::test]
async fn notifications_precede_the_result_and_stop_after_it() {
    let (keep, kept) = std::sync::mpsc::channel();
    let tool = Typed::new("t", "", move |(): (), context: Context| {
        let _ = keep.send(context.clone());
        async move {
            context.progress(1.0, None, None);
            context.progress(2.0, None, None);
            "done"
        }
    });
    let mut running = start(&registered(tool), &mut CallSlot::default(), "{}");
    assert!(poll_once(&mut running).is_ready());
    assert_eq!(drain(&mut running).len(), 2);
    kept.recv().unwrap().progress(3.0, None, None);
    assert!(drain(&mut running).is_empty());
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn a_notification_from_elsewhere_wakes_the_connection() {
    let (keep, kept) = std::sync::mpsc::channel();
    let tool = Typed::new("t", "", move |(): (), context: Context| {
        let _ = keep.send(context);
        std::future::pending::<()>()
    });
    let mut running = start(&registered(tool), &mut CallSlot::default(), "{}");
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    assert!(running.poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    let context = kept.recv().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| context.progress(1.0, None, None));
    });
    assert_eq!(count.0.load(Ordering::Relaxed), 1);
    assert_eq!(drain(&mut running).len(), 1);
    assert!(running.poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    running.canceller().cancel();
    assert_eq!(count.0.load(Ordering::Relaxed), 2);
}

#[test]
fn slots_are_reused_and_forget() {
    let mut slot = CallSlot::default();
    let principal = Arc::new(Principal::new("alice"));
    let first = with_value("\"token\"", |token| {
        slot.prepare(&CallInfo {
            revision: Revision::V2025_06_18,
            principal: Some(&principal),
            client: Some(("client", "1.0")),
            progress_token: Some(token),
            log_level: Some(LogLevel::Debug),
            capabilities: Capabilities::NONE.with(Capability::Roots),
            buffer: 1,
            ..info()
        })
    });
    assert!(first.logs(LogLevel::Debug) && first.client_supports(Capability::Roots));
    assert_eq!(first.principal().unwrap().subject, "alice");
    assert_eq!((first.client_name(), first.client_version()), (Some("client"), Some("1.0")));
    assert_eq!((first.era(), first.revision()), (Era::Legacy, Revision::V2025_06_18));
    first.progress(5.0, None, None);
    first.progress(6.0, None, None);
    first.shared().cancel();
    let address = std::ptr::from_ref(first.shared());
    drop(first);

    let second = slot.prepare(&info());
    assert_eq!(std::ptr::from_ref(second.shared()), address);
    assert_eq!((second.principal(), second.client_name(), second.wants_progress()), (None, None, false));
    assert!(!second.logs(LogLevel::Emergency) && !second.client_supports(Capability::Roots));
    assert!(!second.is_cancelled() && taken(&second).is_empty() && second.shared().dropped() == 0);

    let third = slot.prepare(&info());
    assert_ne!(std::ptr::from_ref(third.shared()), address, "the second is still held");
}

#[test]
fn log_messages_from_the_level_asked_for() {
    let context = CallSlot::default().prepare(&CallInfo { log_level: Some(LogLevel::Warning), ..info() });
    for &level in LogLevel::ALL {
        assert_eq!(context.logs(level), level >= LogLevel::Warning);
    }
    context.log(LogLevel::Notice, None, "not wanted");
    context.log(LogLevel::Warning, Some("disk"), &serde_json::json!({"free": 3}));
    context.log(LogLevel::Emergency, None, "it burns");
    assert_eq!(
        taken(&context),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"disk","data":{"free":3}}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"emergency","data":"it burns"}}"#,
        ]
    );
    context.shared().close();
    context.log(LogLevel::Emergency, None, "too late");
    assert!(taken(&context).is_empty() && !context.logs(LogLevel::Emergency));
}

#[test]
fn nothing_is_logged_where_nobody_asked_or_nothing_can_be_sent() {
    for call in [info(), CallInfo { log_level: Some(LogLevel::Debug), may_stream: false, ..info() }] {
        let context = CallSlot::default().prepare(&call);
        context.log(LogLevel::Emergency, None, "x");
        assert!(taken(&context).is_empty() && !context.logs(LogLevel::Emergency));
    }
}

#[test]
fn a_sessions_level_holds_as_soon_as_it_is_set() {
    let session = open_session();
    let context = CallSlot::default().prepare(&CallInfo { session: Some(&session), ..info() });
    assert!(context.logs(LogLevel::Info) && !context.logs(LogLevel::Debug));
    session.set_log_level(LogLevel::Debug);
    assert!(context.logs(LogLevel::Debug));
    session.set_log_level(LogLevel::Error);
    assert!(!context.logs(LogLevel::Warning));
    assert_eq!(Arc::strong_count(&session), 2);
    context.shared().close();
    assert_eq!(Arc::strong_count(&session), 1, "a call that is over holds no session");
}

#[test]
fn log_messages_share_the_bound_of_all_notifications() {
    let call = CallInfo { log_level: Some(LogLevel::Debug), buffer: 2, ..info() };
    let context = CallSlot::default().prepare(&call);
    for number in 0..4 {
        context.log(LogLevel::Info, None, &number);
    }
    assert_eq!((taken(&context).len(), context.shared().dropped()), (2, 2));
}

#[test]
fn a_call_that_is_over_wants_nobody_to_come_back() {
    let session = open_session();
    let context = CallSlot::default().prepare(&CallInfo {
        revision: Revision::V2025_11_25,
        session: Some(&session),
        ..info()
    });
    let send = || {
        context.close_stream(Duration::ZERO);
        context.shared().notify(|| b"one".to_vec());
        context.close_stream(Duration::ZERO);
        context.shared().notify(|| b"two".to_vec());
    };
    send();
    assert_eq!(context.shared().take_first(false), None, "its connection is to end first");
    assert_eq!(context.shared().take_first(true).as_deref(), Some(b"one".as_slice()));
    assert_eq!(context.shared().take_close(), Some(0), "what stands between its messages stays there");
    assert_eq!(context.shared().take_first(true).as_deref(), Some(b"two".as_slice()));
    assert_eq!(context.shared().take_first(true), None);
}
