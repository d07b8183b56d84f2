//! Which events and collections go to which endpoint.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use crate::encode::{Collected, Record, Resource, Scope, SpanIds, Trigger, spans};
use parking_lot::Mutex;
use plugin_abi::{Completion, Event, Outcome};
use support::telemetry::unix_nanos;

use super::Traces;
use super::records::{About, Records};

/// Routes events and collections to the queues of the endpoints that get them.
#[derive(Debug, Default)]
pub struct EventRouter {
    all: Mutex<Arc<[EventRoute]>>,
    /// Whether anybody wants collections; else they cost a look at this.
    has_traces: AtomicBool,
}

/// What one endpoint wants.
#[derive(Clone, Debug, Default)]
pub(super) struct EventRoute {
    pub(super) logs: Option<Arc<Records>>,
    pub(super) traces: Option<(Traces, Arc<Records>)>,
}

/// A collection of a module, as it ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    pub target: &'a str,
    pub module: &'a str,
    pub plugin: &'a str,
    pub trigger: Trigger,
    pub completion: &'a Completion<'a>,
    /// Series that it brought.
    pub series: usize,
    /// How long it took.
    pub took: Duration,
    /// When it ended, on the clock of the stages in `completion`.
    pub end_ns: u64,
}

impl EventRouter {
    pub(super) fn set(&self, all: Vec<EventRoute>) {
        self.has_traces.store(all.iter().any(|route| route.traces.is_some()), Ordering::Relaxed);
        *self.all.lock() = all.into();
    }

    fn get(&self) -> Arc<[EventRoute]> {
        Arc::clone(&self.all.lock())
    }

    /// Something happened on a target, and was seen at `now`.
    pub fn event(&self, resource: &Arc<Resource>, scope: &Arc<Scope>, event: &Event<'_>, now: SystemTime) {
        let all = self.get();
        let mut queues = all.iter().filter_map(|route| route.logs.as_ref()).peekable();
        if queues.peek().is_none() {
            return;
        }
        let record = Record::of_event(event, unix_nanos(now));
        queues.for_each(|queue| queue.push(about(resource, scope, record.clone())));
    }

    /// A collection ended at `now`.
    pub fn collected(
        &self,
        resource: &Arc<Resource>,
        scope: &Arc<Scope>,
        ended: &Ended<'_>,
        now: SystemTime,
    ) {
        if !self.has_traces.load(Ordering::Relaxed) {
            return;
        }
        let all = self.get();
        let traces = all.iter().filter_map(|route| route.traces.as_ref());
        let mut traces = traces.filter(|(rule, _)| rule.wants_target(ended.target)).peekable();
        let mut random = [0; 24];
        // Without random bytes there is no trace.
        if traces.peek().is_none() || getrandom::fill(&mut random).is_err() {
            return;
        }
        let ids = SpanIds::of(&random);
        let failed = match &ended.completion.outcome {
            Outcome::Full => false,
            Outcome::Partial { failure, .. } => failure.is_some(),
            Outcome::Failed(_) => true,
        };
        let drawn = traces.filter(|(rule, _)| ids.is_sampled(rule.ratio()));
        let mut wanted = drawn.filter(|(rule, _)| rule.wants_end(failed, ended.took)).peekable();
        if wanted.peek().is_none() {
            return;
        }
        let end_unix_nanos = unix_nanos(now);
        let took_nanos = u64::try_from(ended.took.as_nanos()).unwrap_or(u64::MAX);
        let spans = spans(
            &ids,
            &Collected {
                module: ended.module,
                plugin: ended.plugin,
                trigger: ended.trigger,
                begin_unix_nanos: end_unix_nanos.saturating_sub(took_nanos),
                end_unix_nanos,
                end_ns: ended.end_ns,
                completion: ended.completion,
                series: ended.series,
            },
        );
        for (_, queue) in wanted {
            spans.iter().for_each(|span| queue.push(about(resource, scope, span.clone())));
        }
    }
}

fn about(resource: &Arc<Resource>, scope: &Arc<Scope>, record: Record) -> About {
    About { resource: Arc::clone(resource), scope: Arc::clone(scope), record }
}
