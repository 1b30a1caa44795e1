//! Counted steps. One that fails ends the process, saying which it was and what came instead.

use std::future::Future;
use std::panic::{self, PanicHookInfo};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

static CURRENT: Mutex<String> = Mutex::new(String::new());
static PASSED: AtomicUsize = AtomicUsize::new(0);

fn current() -> String {
    CURRENT.lock().map_or_else(|poisoned| poisoned.into_inner().clone(), |current| current.clone())
}

/// From here on a panic anywhere, in the client's own tasks too, is a failure.
pub fn watch() {
    panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        println!("not ok rmcp: {}", current());
        eprintln!("{panic}");
        std::process::exit(1);
    }));
}

pub async fn step<T>(what: String, run: impl Future<Output = T>) -> T {
    what.clone_into(&mut CURRENT.lock().expect("the current step"));
    let value = run.await;
    PASSED.fetch_add(1, Ordering::Relaxed);
    println!("ok rmcp: {what}");
    value
}

pub fn summary() {
    let passed = PASSED.load(Ordering::Relaxed);
    assert!(passed > 0, "no step ran");
    println!("rmcp: {passed} passed, 0 failed");
}

/// Waits until `condition` holds.
pub async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(3);
    while !condition().await {
        assert!(Instant::now() < deadline, "{what}: not within 3 s");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The member at a JSON pointer; null where there is none.
pub fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

/// Every `pointer` of an array.
pub fn each(list: &Value, pointer: &str) -> Vec<String> {
    let entries = list.as_array().unwrap_or_else(|| panic!("expected an array, got {list}"));
    entries.iter().map(|entry| at(entry, pointer).as_str().unwrap_or_default().to_owned()).collect()
}
