//! `twolane serve`: binds, says where, serves until told to stop.

use std::fs::OpenOptions;
use std::future::Future;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use twolane::{AccessLog, Error, Handle, Lines, Server, ServerInfo, Workers};

use super::check::Plan;
use super::demo;
use super::logging;

/// Serves until SIGINT or SIGTERM, then drains.
pub(crate) fn run(plan: Plan, filter: &str) -> ExitCode {
    let told = match logging::to_stderr(filter) {
        Ok(told) => told,
        Err(error) => return fail(&error),
    };
    let served = bind(plan).and_then(|(server, log)| serve(server, log.as_ref(), &told));
    told.flush(LOG_FLUSH);
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}

fn fail(text: &str) -> ExitCode {
    // Where standard error cannot be written, the exit code still says it.
    let _ = writeln!(std::io::stderr(), "twolane: {text}");
    ExitCode::FAILURE
}

fn bind(plan: Plan) -> Result<(Server, Option<AccessLog>), Error> {
    let Plan { listen, settings, workers, stealing, access_log, cache_ttl_ms, instructions, sealing_keys } =
        plan;
    let mut info = ServerInfo::new("twolane", env!("CARGO_PKG_VERSION"));
    info.instructions = instructions;
    let mut builder = Server::builder()
        .listen(listen)
        .settings(settings)
        .workers(if stealing { Workers::Stealing(workers) } else { Workers::PerCore(workers) })
        .info(info)
        .cache_ttl_ms(cache_ttl_ms)
        .sealing_keys(sealing_keys);
    let log = access_log.as_deref().map(open_log).transpose()?;
    if let Some(log) = &log {
        builder = builder.access_log(log.clone());
    }
    demo::register(builder.registry())?;
    Ok((builder.build()?, log))
}

fn open_log(target: &str) -> Result<AccessLog, Error> {
    let sink: Box<dyn Write + Send> = if target == "-" {
        Box::new(std::io::stderr())
    } else {
        let file = OpenOptions::new().create(true).append(true).open(target);
        Box::new(file.map_err(|source| Error::Io { context: format!("--access-log {target}"), source })?)
    };
    AccessLog::to_writer(sink)
        .map_err(|source| Error::Io { context: "starting the access log".to_owned(), source })
}

/// How long the last lines of the access log may take at the end.
const LOG_FLUSH: Duration = Duration::from_secs(2);

fn serve(server: Server, log: Option<&AccessLog>, told: &Lines) -> Result<(), Error> {
    let shutdown = signals(server.handle(), told.clone())?;
    let mut out = std::io::stdout().lock();
    for url in server.urls() {
        // A closed standard output is no reason not to serve.
        let _ = writeln!(out, "twolane listening on {url}");
    }
    let _ = out.flush();
    drop(out);
    let served = server.run_workers(shutdown);
    if let Some(log) = log {
        log.flush(LOG_FLUSH);
    }
    served
}

/// Sent to a process that writes past the size that its files may have. Unless it is taken it ends the process; taken, the write fails
/// like any other, and the log copes with that.
const SIGXFSZ: i32 = if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 31 } else { 25 };

/// Says what is open, whatever the log's filter: it was asked for.
fn tell(handle: &Handle, told: &Lines) {
    let (sessions, streams, detached) = (handle.sessions(), handle.streams(), handle.detached_calls());
    let (listeners, tasks) = (handle.listeners(), handle.tasks());
    let line = format!(
        "twolane: open are {sessions} sessions, {streams} streams, {detached} detached calls, {listeners} listeners, {tasks} tasks\n"
    );
    told.put(line.as_bytes());
}

/// Ready when the process is asked to stop. The signals are taken from now on, so that none is missed while the server starts. SIGUSR1
/// is answered on standard error.
fn signals(handle: Handle, lines: Lines) -> Result<impl Future<Output = ()>, Error> {
    let failed = |source| Error::Io { context: "watching for signals".to_owned(), source };
    let (told, stop) = tokio::sync::oneshot::channel::<()>();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let (mut interrupt, mut terminate, mut asked, mut too_long) = {
        let _inside = runtime.enter();
        use tokio::signal::unix::{SignalKind, signal};
        let watch = |kind| signal(kind).map_err(failed);
        (
            watch(SignalKind::interrupt())?,
            watch(SignalKind::terminate())?,
            watch(SignalKind::user_defined1())?,
            watch(SignalKind::from_raw(SIGXFSZ))?,
        )
    };
    // A thread of its own: a tool that blocks its worker must not hold up a signal.
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                let mut next = async || {
                    loop {
                        tokio::select! {
                            _ = interrupt.recv() => return "interrupted",
                            _ = terminate.recv() => return "asked to terminate",
                            _ = asked.recv() => tell(&handle, &lines),
                            Some(()) = too_long.recv() => {}
                        }
                    }
                };
                let what = next().await;
                tracing::info!("{what}, draining");
                let _ = told.send(());
                // A second signal does not wait for the drain.
                next().await;
                std::process::exit(1);
            });
        })
        .map_err(failed)?;
    Ok(async move {
        let _ = stop.await;
    })
}
