//! A server of the tests' own, in a process of its own: this test binary, told by its environment to serve.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use twolane::Limits;
use twolane::tools::{Context, Elicitation, Field, Form, SealingKey, ToolError, Typed};
use twolane::{Server, Workers};

/// How long calls get to end once it is told to.
pub const GRACE_MS: u64 = 500;

/// Where it listens, and the file with its keys.
pub const LISTEN: &str = "TWOLANE_FAULTS_LISTEN";
pub const KEYS: &str = "TWOLANE_FAULTS_KEYS";

fn tools(builder: twolane::Builder) -> twolane::Builder {
    builder
        .tool(Typed::immediate("echo", "Answers.", |_: Value| "here"))
        .tool(Typed::new("hold", "Never ends.", |_: Value| std::future::pending::<String>()))
        .tool(Typed::blocking(
            "spin_blocking",
            "Blocks its thread and looks at nothing.",
            |_: Value| -> String {
                loop {
                    std::thread::sleep(Duration::from_secs(3600));
                }
            },
        ))
        .tool(Typed::new("spin", "Blocks its worker.", |_: Value| async {
            loop {
                std::thread::sleep(Duration::from_secs(3600));
            }
            #[allow(unreachable_code, reason = "it has to have a result")]
            String::new()
        }))
        .tool(Typed::new("ask", "Asks.", |_: Value, context: Context| async move {
            let form = Form::new().field("name", Field::string());
            let answer = context.elicit("name", Elicitation::form("Who?", form)).await?;
            let name = answer.content().map_or("?", |content| content["name"].as_str().unwrap_or("?"));
            Ok::<_, ToolError>(format!("Hello, {name}!"))
        }))
}

/// Not a test: what [`super::process::Process::start_here`] runs.
#[test]
#[ignore = "a server, not a test"]
fn serve_here() {
    let Ok(listen) = std::env::var(LISTEN) else { return };
    let listen: SocketAddr = listen.parse().expect("an address");
    let keys = std::fs::read_to_string(std::env::var(KEYS).expect("a file")).expect("a file of keys");
    let mut limits = Limits::default();
    limits.shutdown_grace = GRACE_MS;
    let builder = Server::builder()
        .listen([listen])
        .limits(limits)
        .workers(Workers::PerCore(2))
        .sealing_keys(SealingKey::parse(&keys).expect("keys"));
    let server = tools(builder).build().expect("a server");
    for url in server.urls() {
        // A line of its own: the harness has not ended its own.
        println!("\ntwolane listening on {url}");
    }
    let handle = server.handle();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let kind = tokio::signal::unix::SignalKind::terminate();
            tokio::signal::unix::signal(kind).expect("a signal").recv().await;
            handle.shut_down();
        });
    });
    server.run_workers(std::future::pending()).expect("serving");
    std::process::exit(0);
}
