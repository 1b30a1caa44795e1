//! A registry that is never at rest: tools, prompts and resources come, change and go, and resources are updated, for as long as the server
//! runs. What comes and goes is bounded, so that memory may be expected to be.

use std::time::Duration;

use serde_json::Value;
use twolane::tools::{Edit, Prompt, PromptArguments, Registry, Resource, Typed};
use twolane::{Builder, Error};

/// How many of each kind come and go.
const MANY: u64 = 16;
/// The resource that is updated again and again.
pub(crate) const WATCHED: &str = "soak://watched";

/// Adds what is watched.
pub(crate) fn register(server: Builder) -> Builder {
    server.resource(Resource::text(WATCHED, "watched", "watched"))
}

/// Changes something every so often, on a thread of its own.
///
/// # Errors
/// Where there is no thread to be had.
pub(crate) fn start(registry: Registry, pause: Duration) -> Result<(), Error> {
    let failed = |source| Error::Io { context: "starting the churn".to_owned(), source };
    let churn = move || {
        let mut turn = 0_u64;
        loop {
            std::thread::sleep(pause);
            if let Err(error) = registry.edit(|edit| change(edit, turn)) {
                eprintln!("soak-server: {error}");
                std::process::exit(1);
            }
            registry.resource_updated(WATCHED);
            registry.resource_updated(&format!("soak://many/{}", turn % MANY));
            turn += 1;
        }
    };
    std::thread::Builder::new().name("churn".to_owned()).spawn(churn).map(drop).map_err(failed)
}

/// One change: mostly of one thing, sometimes of all of a kind at once.
fn change(edit: &mut Edit, turn: u64) -> Result<(), Error> {
    // Steps that have no divisor in common with how many there are: all get their turn, in an order that is none.
    let one = turn.wrapping_mul(2_654_435_761) / 7 % MANY;
    if turn % 50 == 49 {
        return (0..MANY).try_for_each(|at| edit.replace(tool(at, turn)));
    }
    match turn % 5 {
        0 => edit.replace(tool(one, turn)),
        1 => edit.replace_prompt(prompt(one, turn)),
        2 => edit.replace_resource(resource(one, turn)),
        3 => {
            edit.remove(&format!("churn-{one}"));
            edit.remove_prompt(&format!("churn-{one}"));
            Ok(())
        }
        _ => {
            edit.remove_resource(&format!("soak://churn/{one}"));
            Ok(())
        }
    }
}

fn tool(at: u64, turn: u64) -> Typed {
    let answer = move |_: Value| async move { format!("churned {at}") };
    Typed::new(format!("churn-{at}"), format!("As of turn {turn}."), answer)
}

fn prompt(at: u64, turn: u64) -> Prompt {
    let answer = move |_: PromptArguments| async move { format!("churned {at}") };
    Prompt::new(format!("churn-{at}"), format!("As of turn {turn}."), answer)
}

fn resource(at: u64, turn: u64) -> Resource {
    Resource::text(format!("soak://churn/{at}"), format!("churn-{at}"), format!("turn {turn}"))
}
