//! `start` and `stop`: only sets whose names the configuration of the target has.

use std::time::Duration;

use plugin_sdk::{Command, Exit, Run};
use plugin_session::command::{AuditRecord, AuditedAttempt, CommandError, HostAccess, audit_field, user};
use tokio::time::Instant;

use super::access::{SetObject, WayArguments, check_name};
use crate::config::Settings;
use crate::host::{AUDIT, CategoryWord, Order, control};

/// Starts a data collector set of a host.
#[derive(Debug)]
pub(crate) struct Start;

/// Stops a data collector set of a host.
#[derive(Debug)]
pub(crate) struct Stop;

#[derive(clap::Args)]
pub(crate) struct ControlArguments {
    /// The name of the set, which `control` of the module allows
    #[arg(value_name = "SET")]
    set: String,
    #[command(flatten)]
    way: WayArguments,
}

impl Command for Start {
    const NAME: &'static str = "start";
    const HELP: &'static str =
        "Starts a data collector set of a host, where `control` of the target's module allows it";
    type Arguments = ControlArguments;

    async fn run(run: Run, arguments: ControlArguments) -> Exit {
        order(&run, arguments, Order::Start).await
    }
}

impl Command for Stop {
    const NAME: &'static str = "stop";
    const HELP: &'static str =
        "Stops a data collector set of a host, where `control` of the target's module allows it";
    type Arguments = ControlArguments;

    async fn run(run: Run, arguments: ControlArguments) -> Exit {
        order(&run, arguments, Order::Stop).await
    }
}

async fn order(run: &Run, arguments: ControlArguments, order: Order) -> Exit {
    let ControlArguments { set, way } = arguments;
    let checked = check_name(&set).and_then(|()| way.access());
    let access = match checked {
        Ok(access) => access,
        Err(error) => return error.print(run),
    };
    let attempt = attempt(&access, &set, order);
    if !is_allowed(run, &set) {
        let error = refusal(&access, &set, order);
        attempt.end(&format!("refused: {}", error.line()));
        return error.print(run);
    }
    attempt.requested();
    match give(run, &access, &set, order).await {
        Ok(()) => {
            let (done, host) = (done(order), access.host());
            attempt.end(done);
            run.progress("");
            run.out(&format!("{host}: the data collector set `{set}` was {done}\n"));
            Exit::Success
        }
        Err(error) => {
            attempt.end(&format!("failed: {}", error.line()));
            error.print(run)
        }
    }
}

/// Whether a module of the target has the set in its list.
fn is_allowed(run: &Run, set: &str) -> bool {
    let settings = run.configured().iter().map(|module| &module.settings);
    let mut settings = settings.filter_map(|settings| plugin_sdk::parse_settings::<Settings>(settings).ok());
    settings.any(|settings| settings.allows_control(set))
}

fn refusal(access: &HostAccess, set: &str, order: Order) -> CommandError {
    let (verb, host) = (order.as_str(), access.host());
    CommandError::failed(
        format!("the configuration does not allow to {verb} the data collector set `{set}` of {host}"),
        format!(
            "whoever is responsible for the host can add `control: ['{}']` to a module of plugin pla that the target has; name \
             the configuration with --config",
            set.replace('\'', "''")
        ),
    )
}

async fn give(run: &Run, access: &HostAccess, name: &str, order: Order) -> Result<(), CommandError> {
    let mut set = SetObject::activate(run, access, CategoryWord::UserDefined.category()).await?;
    run.progress(&format!("the host is told to {} it…", order.as_str()));
    let controlled = control(set.object(), name, order, Instant::now() + CONTROL_MAX).await;
    let controlled = controlled.map_err(|error| set.error(&error));
    set.release().await;
    controlled
}

const fn done(order: Order) -> &'static str {
    match order {
        Order::Start => "started",
        Order::Stop => "stopped",
    }
}

/// How long the host may take: it answers when all data collectors of the set have begun, or ended.
const CONTROL_MAX: Duration = Duration::from_secs(120);

/// Control of a set, as the log records it.
#[derive(Debug)]
pub(super) struct Record {
    user: String,
    identity: String,
    target: String,
    set: String,
    order: &'static str,
}

/// An attempt to control a set.
pub(super) fn attempt(access: &HostAccess, set: &str, order: Order) -> AuditedAttempt<Record> {
    AuditedAttempt::new(Record {
        user: user(),
        identity: audit_field(access.identity()),
        target: audit_field(access.host()),
        set: audit_field(set),
        order: order.as_str(),
    })
}

impl AuditRecord for Record {
    fn requested(&self) {
        let Self { user, identity, target, set, order } = self;
        tracing::warn!(
            audit = AUDIT,
            user,
            identity,
            target,
            set,
            order,
            "Control of a data collector set requested"
        );
    }

    fn ended(&self, outcome: &str) {
        let Self { user, identity, target, set, order } = self;
        tracing::warn!(
            audit = AUDIT,
            user,
            identity,
            target,
            set,
            order,
            outcome,
            "Control of a data collector set ended"
        );
    }
}
