use std::sync::mpsc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::tools::{Context, Json, ProtocolError, RawTool, Started, ToolError, ToolSpec, Typed};

#[derive(Deserialize, JsonSchema)]
struct Pair {
    a: f64,
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: f64,
}

fn add() -> Typed {
    Typed::new("add", "Adds", |pair: Pair| async move { pair.a + pair.b })
}

#[tokio::test]
async fn every_shape_of_handler_runs() {
    async fn plain(pair: Pair) -> f64 {
        pair.a + pair.b
    }
    async fn fallible(pair: Pair, _context: Context) -> Result<Json<Sum>, ToolError> {
        Ok(Json(Sum { sum: pair.a + pair.b }))
    }
    let arguments = r#"{"a":1,"b":2.5}"#;
    assert_eq!(text(&run(add(), arguments).await), ("3.5", false));
    assert_eq!(text(&run(Typed::new("t", "", plain), arguments).await), ("3.5", false));
    let structured = run(Typed::new("t", "", fallible), arguments).await;
    assert_eq!(text(&structured), (r#"{"sum":3.5}"#, false));
    assert_eq!(structured.structured.as_deref(), Some(&json!({"sum": 3.5})));
    let tools = [
        Typed::new("t", "", |pair: Pair, _: Context| async move { Ok(pair.a + pair.b) }),
        Typed::blocking("t", "", |pair: Pair| pair.a + pair.b),
        Typed::blocking("t", "", |pair: Pair, _: Context| Ok(pair.a + pair.b)),
        Typed::immediate("t", "", |pair: Pair| pair.a + pair.b),
        Typed::immediate("t", "", |pair: Pair, _: Context| Ok(pair.a + pair.b)),
    ];
    for tool in tools {
        assert_eq!(text(&run(tool, arguments).await), ("3.5", false));
    }
    let raw = |arguments: Value| async move { arguments["a"].to_string() };
    let schema = json!({"type": "object"});
    assert_eq!(text(&run(RawTool::new("t", "", schema.clone(), raw), arguments).await), ("1", false));
    let blocking = RawTool::blocking("t", "", schema, |arguments: Value, _: Context| arguments.to_string());
    assert_eq!(text(&run(blocking, "null").await), ("{}", false));
}

#[tokio::test]
async fn units_take_any_object() {
    #[derive(Deserialize, JsonSchema)]
    struct Unit;
    for arguments in ["{}", "null", r#"{"x":1}"#] {
        assert_eq!(text(&run(Typed::new("t", "", |(): ()| async { "a" }), arguments).await), ("a", false));
        assert_eq!(text(&run(Typed::new("t", "", |_: Unit| async { "b" }), arguments).await), ("b", false));
    }
}

#[tokio::test]
async fn absent_arguments_are_empty() {
    #[derive(Deserialize, JsonSchema)]
    struct Optional {
        a: Option<i32>,
        #[serde(default)]
        b: bool,
    }
    let tool = || Typed::new("t", "", |o: Optional| async move { format!("{:?} {}", o.a, o.b) });
    for arguments in ["{}", "null"] {
        assert_eq!(text(&run(tool(), arguments).await), ("None false", false));
    }
    let mut running =
        registered(tool()).start(Arguments::EMPTY, CallSlot::default().prepare(&info()), MINUTE);
    assert!(matches!(poll_once(&mut running), Poll::Ready(result) if text(&result) == ("None false", false)));
}

#[test]
fn arguments_that_are_left_out() {
    with_value("null", |value| assert!(Arguments::read(Some(value)).value().is_none()));
    with_value("{}", |value| assert!(Arguments::read(Some(value)).value().is_some()));
    assert_eq!(Arguments::read(None).to_json(), json!({}));
}

#[tokio::test]
async fn bad_arguments_are_explained() {
    assert_eq!(
        text(&run(add(), r#"{"a":"x","b":1}"#).await),
        (r#"Invalid arguments for tool "add": /a: expected number, got string "x""#, true)
    );
    assert_eq!(
        text(&run(add(), r#"{"a":"x"}"#).await),
        (
            "Invalid arguments for tool \"add\":\n/b: expected number (required), got nothing\n/a: expected number, got string \"x\"",
            true
        )
    );
    let raw = RawTool::new(
        "raw",
        "",
        json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}, "additionalProperties": false}),
        |_: Value| async { "ran" },
    );
    assert_eq!(
        text(&run(raw, r#"{"a":"x"}"#).await),
        (
            r#"Invalid arguments for tool "raw": /a: expected a string of at least 2 characters, got string "x""#,
            true
        )
    );
}

#[tokio::test]
async fn what_the_schema_allows_and_the_type_does_not_is_explained() {
    #[derive(Deserialize, JsonSchema)]
    struct Small {
        #[allow(dead_code)]
        n: i32,
    }
    let result = run(Typed::new("t", "", |_: Small| async { "ran" }), r#"{"n":3000000000}"#).await;
    let (text, error) = text(&result);
    assert!(error && text.starts_with("Invalid arguments for tool \"t\": /n: "), "{text}");
}

#[tokio::test]
async fn constraints_of_derived_schemas_hold() {
    #[derive(Deserialize, JsonSchema)]
    struct Bounded {
        #[schemars(range(min = 1, max = 5))]
        n: i32,
    }
    let tool = || Typed::new("t", "", |b: Bounded| async move { b.n });
    assert_eq!(text(&run(tool(), r#"{"n":5}"#).await), ("5", false));
    assert_eq!(
        text(&run(tool(), r#"{"n":6}"#).await),
        (r#"Invalid arguments for tool "t": /n: expected a number of at most 5, got number 6"#, true)
    );
}

#[test]
fn the_validator_is_left_out_where_the_type_says_it_all() {
    assert!(!registered(add()).input().needs_validator());
    let raw = RawTool::new("t", "", json!({"type": "object"}), |_: Value| async {});
    assert!(registered(raw).input().needs_validator());
}

#[tokio::test]
async fn failures_are_results() {
    let fails = Typed::new("t", "", |pair: Pair| async move {
        if pair.b == 0.0 {
            return Err("b must not be 0".into());
        }
        Ok(pair.a / pair.b)
    });
    assert_eq!(text(&run(fails, r#"{"a":1,"b":0}"#).await), ("b must not be 0", true));
}

#[tokio::test]
async fn panics_are_results_without_the_reason() {
    let unexpected = ("Tool \"t\" failed unexpectedly", true);
    fn burst() -> String {
        panic!("secret")
    }
    let tools = [
        Typed::new("t", "", |(): ()| async { burst() }),
        Typed::new("t", "", |(): ()| async {
            tokio::task::yield_now().await;
            burst()
        }),
        Typed::new("t", "", |(): ()| {
            burst();
            async {}
        }),
        Typed::blocking("t", "", |(): ()| burst()),
        Typed::immediate("t", "", |(): ()| burst()),
    ];
    for tool in tools {
        assert_eq!(text(&run(tool, "{}").await), unexpected);
    }
    struct PanicOnDrop;
    impl Drop for PanicOnDrop {
        fn drop(&mut self) {
            panic!("secret");
        }
    }
    let throws = Typed::immediate("t", "", |(): ()| -> &'static str { std::panic::panic_any(PanicOnDrop) });
    assert_eq!(text(&run(throws, "{}").await), unexpected);
}

#[tokio::test]
async fn a_handler_that_panics_while_dropped_does_no_harm() {
    struct PanicOnDrop;
    impl Drop for PanicOnDrop {
        fn drop(&mut self) {
            panic!("secret");
        }
    }
    let tool = Typed::new("t", "", |(): ()| async {
        let _guard = PanicOnDrop;
        std::future::pending::<()>().await;
    });
    let entry = registered(tool);
    let mut running = start(&entry, &mut CallSlot::default(), "{}");
    assert!(poll_once(&mut running).is_pending());
    drop(running);
    let mut running = start(&entry, &mut CallSlot::default(), "{}");
    assert!(poll_once(&mut running).is_pending());
    running.cancel();
    assert!(
        matches!(poll_once(&mut running), Poll::Ready(result) if text(&result) == ("Tool \"t\" was cancelled", true))
    );
}

#[tokio::test]
async fn timeouts_end_the_call_and_tell_the_handler() {
    let (seen, is_seen) = mpsc::channel();
    let tool = Typed::new("slow", "", move |(): (), context: Context| {
        let seen = seen.clone();
        async move {
            tokio::spawn(async move {
                context.cancelled().await;
                let _ = seen.send(context.is_cancelled());
            });
            std::future::pending::<()>().await;
        }
    })
    .timeout(Duration::from_millis(30));
    let started = Instant::now();
    assert_eq!(text(&run(tool, "{}").await), ("Tool \"slow\" did not finish within 30 ms", true));
    assert!(started.elapsed() >= Duration::from_millis(30));
    assert_eq!(tokio::task::spawn_blocking(move || is_seen.recv()).await.unwrap(), Ok(true));
}

#[tokio::test]
async fn blocking_handlers_see_the_timeout() {
    let (seen, is_seen) = mpsc::channel();
    let tool = Typed::blocking("slow", "", move |(): (), context: Context| {
        while !context.is_cancelled() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = seen.send(());
    })
    .timeout(Duration::from_millis(20));
    assert_eq!(text(&run(tool, "{}").await), ("Tool \"slow\" did not finish within 20 ms", true));
    assert_eq!(tokio::task::spawn_blocking(move || is_seen.recv()).await.unwrap(), Ok(()));
}

#[tokio::test]
async fn dropping_a_call_cancels_it() {
    let (seen, mut is_seen) = tokio::sync::mpsc::unbounded_channel();
    let tool = Typed::new("t", "", move |(): (), context: Context| {
        let seen = seen.clone();
        async move {
            tokio::spawn(async move {
                context.cancelled().await;
                let _ = seen.send(());
            });
            std::future::pending::<()>().await;
        }
    });
    let mut running = start(&registered(tool), &mut CallSlot::default(), "{}");
    assert!(poll_once(&mut running).is_pending());
    drop(running);
    assert_eq!(is_seen.recv().await, Some(()));
}

#[tokio::test]
async fn a_canceller_ends_the_call_from_elsewhere() {
    let ignores = Typed::new("t", "", |(): ()| std::future::pending::<()>());
    let mut running = start(&registered(ignores), &mut CallSlot::default(), "{}");
    let canceller = running.canceller();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        canceller.cancel();
    });
    let result = tool_result(std::future::poll_fn(|cx| running.poll(cx)).await);
    assert_eq!(text(&result), ("Tool \"t\" was cancelled", true));
    assert!(running.is_cancelled());

    let heeds = Typed::new("t", "", |(): (), context: Context| async move {
        context.cancelled().await;
        "partial"
    });
    let mut running = start(&registered(heeds), &mut CallSlot::default(), "{}");
    assert!(poll_once(&mut running).is_pending());
    running.canceller().cancel();
    assert!(matches!(poll_once(&mut running), Poll::Ready(result) if text(&result) == ("partial", false)));
}

#[test]
fn a_blocking_call_that_is_cancelled_in_time_never_begins() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).enable_time().build().unwrap();
    let (began, has_begun) = mpsc::channel();
    let tool = Typed::blocking("t", "", move |(): ()| began.send(()).is_ok());
    let entry = registered(tool);
    runtime.block_on(async {
        let mut before = start(&entry, &mut CallSlot::default(), "{}");
        before.canceller().cancel();
        assert!(matches!(poll_once(&mut before), Poll::Ready(result) if text(&result) == ("Tool \"t\" was cancelled", true)));

        let (release, released) = mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || released.recv());
        let mut queued = start(&entry, &mut CallSlot::default(), "{}");
        assert!(poll_once(&mut queued).is_pending());
        drop(queued);
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    drop((runtime, entry));
    assert!(has_begun.recv().is_err());
}

#[tokio::test]
async fn a_finished_call_is_not_cancelled() {
    let mut slot = CallSlot::default();
    let entry = registered(Typed::new("t", "", |(): (), context: Context| async move {
        format!("{}", context.is_cancelled())
    }));
    let mut running = start(&entry, &mut slot, "{}");
    assert!(poll_once(&mut running).is_ready());
    running.canceller().cancel();
    running.cancel();
    assert!(!running.is_cancelled());
    assert!(matches!(poll_once(&mut running), Poll::Ready(result) if result.is_error));
}

#[tokio::test]
async fn output_is_held_against_its_schema() {
    #[derive(Serialize, JsonSchema)]
    struct Out {
        #[schemars(range(max = 3))]
        n: i32,
    }
    let tool = || Typed::new("t", "", |n: Pair| async move { Json(Out { n: n.a as i32 }) });
    assert!(registered(tool()).output().is_some());
    assert!(!run(tool(), r#"{"a":3,"b":0}"#).await.is_error);
    let broken = ("Tool \"t\" returned a result that does not match its output schema", true);
    assert_eq!(text(&run(tool(), r#"{"a":4,"b":0}"#).await), broken);
    let missing = Typed::new("t", "", |(): ()| async { "text" }).output::<Out>();
    assert_eq!(text(&run(missing, "{}").await), broken);
    let fails = Typed::new("t", "", |(): ()| async { Err::<Json<Out>, _>(ToolError::new("no")) });
    assert_eq!(text(&run(fails, "{}").await), ("no", true));
}

#[tokio::test]
async fn tools_may_decide_per_call() {
    struct Own(ToolSpec);
    impl Tool for Own {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }
        fn call(&self, arguments: Arguments<'_, '_>, _context: Context) -> Started {
            match arguments.parse::<Pair>() {
                Ok(pair) => Started::Ready(ToolResult::text((pair.a * pair.b).to_string())),
                Err(fault) => Started::Invalid(fault),
            }
        }
    }
    let own = || Own(ToolSpec::new("own", "", json!({"type": "object"})));
    assert_eq!(text(&run(own(), r#"{"a":2,"b":3}"#).await), ("6", false));
    let result = run(own(), r#"{"a":2}"#).await;
    assert!(text(&result).0.starts_with("Invalid arguments for tool \"own\": "), "{result:?}");
}

#[tokio::test]
async fn a_protocol_error_takes_the_place_of_the_result() {
    let error = || ProtocolError::new(-32000, "no").data(json!({"why": 1}));
    let raised = move |_: Value| async move { Err::<&str, _>(ToolError::from(error())) };
    let returned = move |_: Value| async move { ToolResult::protocol_error(error()) };
    let schema = || json!({"type": "object"});
    for tool in [RawTool::new("t", "d", schema(), raised), RawTool::new("t", "d", schema(), returned)] {
        let entry = registered(tool);
        let mut slot = CallSlot::default();
        let mut running = start(&entry, &mut slot, "{}");
        let produced = std::future::poll_fn(|cx| running.poll(cx)).await;
        assert_eq!(produced, Produced::Failed(Box::new(error())));
    }
}
