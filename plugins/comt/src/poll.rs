//! What the tracker of a host says, as applications and components.
//!
//! A host lists an application once, or once for each of its containers: containers are added up either way. What cannot be
//! read of one application costs its components and nothing else.

use std::time::Duration;

use com::comt::{
    Application, GetComponentDataByContainerAndClsidRequest, GetComponentDataByContainerRequest,
    GetContainerDataRequest, IGetTrackingData, applications,
};
use dcom::client::Object;
use host_session::{Reason, SessionError};
use plugin_sdk::{Failure, GeneralReason, Stage};
use plugin_session::ObjectStep;
use rpc::Message;
use tokio::time::Instant;
use wire::{DecodeError, Guid, HResult};

use crate::model::{ApplicationFigures, HostFigures, LeftOut, Limits, Place};
use crate::progress::{Found, Progress};
use crate::stalls::Stalls;
use crate::tracker::TRACKER;

/// Containers of one application whose components are read: each takes a call.
const CONTAINERS_MAX: usize = 64;
/// The part of a collection's time that one call for components may take. None begins in the last such part, so that what was
/// read before is shown.
const CALL_PARTS: u32 = 4;

type CallError = rpc::Error<host_session::rpc_client::Error, HResult>;

/// Which components of a container are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Components {
    /// Those that there are.
    All,
    /// That of one class, where a container has it.
    OfClass(Guid),
}

/// Why nothing was read.
#[derive(Debug)]
pub(crate) struct PollError {
    pub(crate) error: SessionError,
    /// The application whose components the host did not tell in time. Others may be read over another connection.
    pub(crate) stalled: Option<Guid>,
}

impl From<SessionError> for PollError {
    fn from(error: SessionError) -> Self {
        Self { error, stalled: None }
    }
}

/// Reads all applications, and the components of each but those that stall, from where `progress` is on.
///
/// # Errors
/// If the host does not list them, or another call would fail, too.
pub(crate) async fn poll(
    tracker: &mut Object,
    which: Components,
    limits: &Limits,
    stalls: &mut Stalls,
    progress: &mut Progress,
    deadline: Instant,
) -> Result<HostFigures, PollError> {
    let call_max = deadline.saturating_duration_since(Instant::now()) / CALL_PARTS;
    let mut polled = HostFigures::default();
    let listed = list(tracker, limits, &mut polled.left_out, deadline).await?;
    stalls.retain(|id| listed.binary_search_by_key(&id, |application| application.id).is_ok());
    let first = progress.begin(&listed);
    let room = usize::try_from(limits.components).unwrap_or(usize::MAX);
    // Those of the applications before, as of when each was read.
    let mut taken = progress.shown_of(&listed[..first]);
    let mut reading = Reading {
        tracker,
        which,
        deadline,
        last_call: deadline - call_max,
        call_max,
        stalls,
        progress,
        polled,
        is_cut: false,
        read: 0,
        parts: 0,
    };
    let mut late: Vec<Guid> = Vec::new();
    for (index, application) in listed.iter().enumerate().cycle().skip(first).take(listed.len()) {
        if index == 0 {
            taken = 0;
        }
        let found = reading.application(application, room.saturating_sub(taken)).await?;
        match &found {
            Some(found) => reading.progress.show(application.id, found.shown.len()),
            None => late.push(application.id),
        }
        taken += reading.progress.shown_of(&listed[index..=index]);
        let is_late = found.is_none();
        let figures = figures_of(application, found.unwrap_or_default());
        reading.polled.applications.push(ApplicationFigures { is_late, ..figures });
    }
    let Reading { mut polled, read, parts, .. } = reading;
    polled.applications.sort_unstable_by_key(|application| application.id);
    progress.end(listed.get(first).map(|application| application.id), &late);
    let not_read = parts + late.len();
    if not_read > 0 {
        polled.failure.get_or_insert_with(|| late_failure(read, read + not_read));
    }
    Ok(polled)
}

/// Why the components of some applications were not read.
fn late_failure(read: usize, all: usize) -> Failure {
    let message = format!(
        "the components of {read} of {all} applications were read in the time that there was; the next collection goes on \
         there: lengthen `deadline` of the target"
    );
    Failure::new(Stage::Query, GeneralReason::Timeout, message)
}

fn figures_of(application: &Application, found: Found) -> ApplicationFigures {
    // Those that could not be read are in the number of their container alone.
    let distinct = count(found.shown.len() + found.not_shown.len()).max(application.components.into());
    let in_process = |&process_id: &u32| Place { process_id: Some(process_id), container_id: None };
    ApplicationFigures {
        id: application.id,
        containers: count(application.containers.len()),
        calls: Some(application.calls),
        calls_per_second: Some(application.calls_per_second),
        instances: Some(application.instances),
        distinct_components: distinct,
        components: found.shown.into_values().collect(),
        places: application.processes.iter().map(in_process).collect(),
        ..ApplicationFigures::default()
    }
}

/// Why the components of an application are missing that is not asked about.
fn stalled(application: Guid) -> Failure {
    let message = format!(
        "the host did not tell the components of application {application} in time; they are asked for again in 10 minutes \
         at the latest"
    );
    Failure::new(Stage::Query, GeneralReason::Timeout, message)
}

/// The applications in the order of their identifiers, so that a limit cuts off the same ones each time.
async fn list(
    tracker: &mut Object,
    limits: &Limits,
    left_out: &mut LeftOut,
    deadline: Instant,
) -> Result<Vec<Application>, SessionError> {
    let mut proxy = tracker.proxy::<IGetTrackingData>(deadline).await?;
    let listed = proxy.call(&GetContainerDataRequest {}).await;
    let listed = listed.and_then(|reply| {
        Ok(applications(reply.containers().map_err(malformed::<GetContainerDataRequest>)?))
    });
    let listed = listed.map_err(|error| tracker.error_of(&error))?;
    left_out.malformed_containers = count(listed.dropped.len());
    let mut found = listed.found;
    found.sort_unstable_by_key(|application| application.id);
    let max = usize::try_from(limits.applications).unwrap_or(usize::MAX);
    left_out.applications = count(found.len().saturating_sub(max));
    found.truncate(max);
    Ok(found)
}

/// How components are read.
struct Reading<'a> {
    tracker: &'a mut Object,
    which: Components,
    deadline: Instant,
    /// After this no call begins.
    last_call: Instant,
    call_max: Duration,
    stalls: &'a mut Stalls,
    progress: &'a mut Progress,
    polled: HostFigures,
    /// A call had no answer, which took the connection with it, and there is no other one in this collection.
    is_cut: bool,
    /// Applications that were read.
    read: usize,
    /// Applications of which an earlier collection read some containers, and this one the others.
    parts: usize,
}

impl Reading<'_> {
    /// The components of an application, as far as there is room; none if there is no time for all of them.
    async fn application(
        &mut self,
        application: &Application,
        room: usize,
    ) -> Result<Option<Found>, PollError> {
        if self.is_cut || self.stalls.has(application.id) {
            Ok(Some(self.pass_stalled(application)))
        } else if room > 0 {
            match self.components(application, room).await {
                Err(PollError { stalled: Some(id), .. }) if !self.goes_on_without(id) => {
                    Ok(Some(self.pass_stalled(application)))
                }
                read => read,
            }
        } else {
            self.polled.left_out.components += u64::from(application.components);
            Ok(Some(Found::default()))
        }
    }

    /// An application let its time pass. Returns whether all others are read over another connection: in the second half there
    /// is no time for that, and what was read before is shown.
    fn goes_on_without(&mut self, stalled: Guid) -> bool {
        let (now, half) = (Instant::now(), self.last_call - self.call_max);
        // There is no connection for another call.
        self.last_call = now;
        self.is_cut = !self.stalls.add(stalled);
        !self.is_cut && now < half
    }

    /// Shows an application without its components, which the host does not tell in time.
    fn pass_stalled(&mut self, application: &Application) -> Found {
        self.polled.left_out.stalled_containers += count(application.containers.len());
        self.polled.failure.get_or_insert_with(|| stalled(application.id));
        Found::default()
    }

    /// The components of an application, `max` of them shown at most; none if there is no time for all of its containers.
    async fn components(
        &mut self,
        application: &Application,
        max: usize,
    ) -> Result<Option<Found>, PollError> {
        let containers = &application.containers;
        if self.is_time_up() {
            self.polled.left_out.unread_containers += count(containers.len());
            return Ok(None);
        }
        let mut begun = self.progress.take(application, Instant::now());
        let is_part = !begun.is_empty();
        for &container in containers.iter().take(CONTAINERS_MAX) {
            if begun.has(container) {
                continue;
            }
            if self.is_time_up() {
                self.progress.keep(begun);
                self.polled.left_out.unread_containers += count(containers.len());
                return Ok(None);
            }
            let read = match self.which {
                Components::All => self.all_of(container, &mut begun.found, max).await?,
                Components::OfClass(clsid) => self.one_of(container, clsid, &mut begun.found).await?,
            };
            match read {
                Ok(()) => {
                    self.stalls.answered();
                    begun.add(container);
                }
                // [MS-COMT] 3.1.4.1.2 says that the call fails, and not with which status.
                Err(CallError::Status { .. }) if !self.stalls.fail(container) => {
                    self.polled.left_out.ended_containers += 1;
                }
                Err(error) => self.fail(application.id, &error)?,
            }
        }
        let found = begun.found;
        self.stalls.remove(application.id);
        if is_part {
            self.parts += 1;
        } else {
            self.read += 1;
        }
        self.polled.left_out.containers += count(containers.len().saturating_sub(CONTAINERS_MAX));
        self.polled.left_out.components += count(found.not_shown.len());
        Ok(Some(found))
    }

    fn is_time_up(&self) -> bool {
        Instant::now() >= self.last_call
    }

    /// Adds the components of a container.
    async fn all_of(
        &mut self,
        container: u32,
        found: &mut Found,
        max: usize,
    ) -> Result<Result<(), CallError>, SessionError> {
        let deadline = self.call_deadline();
        let mut proxy = self.tracker.proxy::<IGetTrackingData>(deadline).await?;
        let read = proxy.call(&GetComponentDataByContainerRequest { container }).await;
        Ok(read.and_then(|reply| {
            let components = reply.components();
            let components = components.map_err(malformed::<GetComponentDataByContainerRequest>)?;
            components.iter().for_each(|component| found.add(component, max));
            Ok(())
        }))
    }

    /// Adds the component of one class, if the container has it.
    async fn one_of(
        &mut self,
        container: u32,
        clsid: Guid,
        found: &mut Found,
    ) -> Result<Result<(), CallError>, SessionError> {
        let deadline = self.call_deadline();
        let mut proxy = self.tracker.proxy::<IGetTrackingData>(deadline).await?;
        Ok(match proxy.call(&GetComponentDataByContainerAndClsidRequest { container, clsid }).await {
            Ok(reply) => {
                // A host that answers NULL has it as little as one that fails the call.
                reply.data.iter().for_each(|data| found.add(data, 1));
                Ok(())
            }
            // [MS-COMT] 3.1.4.1.3: the call fails for a container without the component, as for one that ended.
            Err(CallError::Status { .. }) => Ok(()),
            Err(error) => Err(error),
        })
    }

    fn call_deadline(&self) -> Instant {
        self.deadline.min(Instant::now() + self.call_max)
    }

    /// Goes on after an error of one call.
    fn fail(&mut self, application: Guid, error: &CallError) -> Result<(), PollError> {
        let failure = self.tracker.error_of(error);
        if is_of_one_call(error) {
            self.polled.left_out.unread_containers += 1;
            self.polled.failure.get_or_insert_with(|| TRACKER.failure_of(&failure, ObjectStep::Call));
            return Ok(());
        }
        // Each call has its time before the deadline.
        let is_stalled = failure.reason == Reason::Timeout;
        Err(PollError { error: failure, stalled: is_stalled.then_some(application) })
    }
}

/// A reply whose array is missing.
fn malformed<R: Message>(error: DecodeError) -> CallError {
    CallError::Stub { method: R::METHOD, source: error.into() }
}

/// Whether other calls may succeed after this one.
fn is_of_one_call(error: &CallError) -> bool {
    match error {
        CallError::Call { source, .. } => host_session::concerns_one_call(source),
        CallError::Status { .. } | CallError::Stub { .. } | CallError::Request { .. } => true,
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
