//! What the tracker of a host says, as applications and components.
//!
//! A host lists an application once, or once for each of its containers: containers are added up either way. What cannot be
//! read of one application costs its components and nothing else.

use std::collections::BTreeMap;
use std::time::Duration;

use codec::DecodeError;
use dcom_runtime::Object;
use host_session::{Reason, Recovery, SessionError};
use ms_comt::{
    Application, ComponentData, GetComponentDataByContainerAndClsidRequest,
    GetComponentDataByContainerRequest, GetContainerDataRequest, IGetTrackingData, applications,
};
use ms_dtyp::{Guid, HResult};
use plugin_sdk::{Failure, GeneralReason, Stage};
use plugin_session::ObjectStep;
use rpc_stub::Message;
use tokio::time::Instant;

use crate::model::{ApplicationFigures, ComponentFigures, HostFigures, LeftOut, Limits, add_to};
use crate::stalls::{COLLECTIONS_BETWEEN, Stalls};
use crate::tracker::TRACKER;

/// Containers of one application whose components are read: each takes a call.
const CONTAINERS_MAX: usize = 64;
/// The part of a collection's time that one call for components may take.
const CALL_PARTS: u32 = 4;

type CallError = rpc_stub::Error<rpc_client::Error, HResult>;

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
    /// The application whose components the host did not tell in time. Others may be read without it.
    pub(crate) stalled: Option<Guid>,
}

impl From<SessionError> for PollError {
    fn from(error: SessionError) -> Self {
        Self { error, stalled: None }
    }
}

/// Reads all applications, and the components of each but those that stall.
///
/// # Errors
/// If the host does not list them, or another call would fail, too.
pub(crate) async fn poll(
    tracker: &mut Object,
    which: Components,
    limits: &Limits,
    stalls: &Stalls,
    deadline: Instant,
) -> Result<HostFigures, PollError> {
    let call_max = deadline.saturating_duration_since(Instant::now()) / CALL_PARTS;
    let mut polled = HostFigures::default();
    for application in list(tracker, limits, &mut polled.left_out, deadline).await? {
        let left = left_of(limits.components, &polled.applications);
        let components = if stalls.has(application.id) {
            polled.left_out.stalled_containers += count(application.containers.len());
            polled.failure.get_or_insert_with(|| stalled(application.id));
            Vec::new()
        } else if left > 0 {
            let mut reading = Reading { tracker, which, deadline, call_max, polled: &mut polled };
            reading.components(&application, left).await?
        } else {
            polled.left_out.components += u64::from(application.components);
            Vec::new()
        };
        polled.applications.push(figures_of(&application, components));
    }
    Ok(polled)
}

fn figures_of(application: &Application, components: Vec<ComponentFigures>) -> ApplicationFigures {
    ApplicationFigures {
        id: application.id,
        containers: count(application.containers.len()),
        calls: Some(application.calls),
        calls_per_second: Some(application.calls_per_second),
        instances: Some(application.instances),
        distinct_components: application.components.into(),
        components,
        ..ApplicationFigures::default()
    }
}

/// Why the components of an application are missing that is not asked about.
fn stalled(application: Guid) -> Failure {
    let message = format!(
        "the host did not tell the components of application {application} in time; they are asked for again after \
         {COLLECTIONS_BETWEEN} collections"
    );
    Failure::new(Stage::Query, GeneralReason::Timeout, message)
}

fn left_of(limit: u32, read: &[ApplicationFigures]) -> usize {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    limit.saturating_sub(read.iter().map(|application| application.components.len()).sum())
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
    call_max: Duration,
    polled: &'a mut HostFigures,
}

impl Reading<'_> {
    /// The components of an application, `max` at most.
    async fn components(
        &mut self,
        application: &Application,
        max: usize,
    ) -> Result<Vec<ComponentFigures>, PollError> {
        let mut found: BTreeMap<Guid, ComponentFigures> = BTreeMap::new();
        let containers = &application.containers;
        self.polled.left_out.containers += count(containers.len().saturating_sub(CONTAINERS_MAX));
        for &container in containers.iter().take(CONTAINERS_MAX) {
            let read = match self.which {
                Components::All => self.all_of(container, &mut found, max).await?,
                Components::OfClass(clsid) => self.one_of(container, clsid, &mut found).await?,
            };
            match read {
                Ok(not_added) => self.polled.left_out.components += not_added,
                Err(error) if is_gone(&error) => self.polled.left_out.ended_containers += 1,
                Err(error) => self.fail(application.id, &error)?,
            }
        }
        Ok(found.into_values().collect())
    }

    /// Adds the components of a container. Returns for how many there is no room.
    async fn all_of(
        &mut self,
        container: u32,
        found: &mut BTreeMap<Guid, ComponentFigures>,
        max: usize,
    ) -> Result<Result<u64, CallError>, SessionError> {
        let deadline = self.call_deadline();
        let mut proxy = self.tracker.proxy::<IGetTrackingData>(deadline).await?;
        let read = proxy.call(&GetComponentDataByContainerRequest { container }).await;
        Ok(read.and_then(|reply| {
            let components = reply.components();
            let components = components.map_err(malformed::<GetComponentDataByContainerRequest>)?;
            Ok(add(found, components, max))
        }))
    }

    /// Adds the component of one class, if the container has it.
    async fn one_of(
        &mut self,
        container: u32,
        clsid: Guid,
        found: &mut BTreeMap<Guid, ComponentFigures>,
    ) -> Result<Result<u64, CallError>, SessionError> {
        let deadline = self.call_deadline();
        let mut proxy = self.tracker.proxy::<IGetTrackingData>(deadline).await?;
        match proxy.call(&GetComponentDataByContainerAndClsidRequest { container, clsid }).await {
            Ok(reply) => {
                // A host that answers NULL has it as little as one that fails the call.
                Ok(Ok(reply.data.map_or(0, |data| add(found, &[*data], 1))))
            }
            // [MS-COMT] 3.1.4.1.3: a container that ended fails the call the same way as one without the component.
            Err(error) if is_gone(&error) => Ok(Ok(0)),
            Err(error) => Ok(Err(error)),
        }
    }

    fn call_deadline(&self) -> Instant {
        self.deadline.min(Instant::now() + self.call_max)
    }

    /// Goes on after an error of one call.
    fn fail(&mut self, application: Guid, error: &CallError) -> Result<(), PollError> {
        let failure = self.tracker.error_of(error);
        if is_of_one_call(error, &failure) {
            self.polled.left_out.unread_containers += 1;
            self.polled.failure.get_or_insert_with(|| TRACKER.failure_of(&failure, ObjectStep::Call));
            return Ok(());
        }
        let is_stalled = failure.reason == Reason::Timeout && Instant::now() < self.deadline;
        Err(PollError { error: failure, stalled: is_stalled.then_some(application) })
    }
}

/// Adds the components of a container. Returns for how many there is no room.
fn add(found: &mut BTreeMap<Guid, ComponentFigures>, components: &[ComponentData], max: usize) -> u64 {
    let mut left_out = 0;
    for component in components {
        if found.len() < max || found.contains_key(&component.clsid) {
            add_component(found.entry(component.clsid).or_default(), component);
        } else {
            left_out += 1;
        }
    }
    left_out
}

fn add_component(figures: &mut ComponentFigures, data: &ComponentData) {
    figures.clsid = data.clsid;
    add_to(&mut figures.references, data.total_references.get());
    add_to(&mut figures.bound_references, data.bound_references.get());
    add_to(&mut figures.pooled, data.pooled_instances.get());
    add_to(&mut figures.in_call, data.instances_in_call.get());
    figures.call_time_ms = figures.call_time_ms.max(data.response_time_ms.get());
    add_to(&mut figures.calls_completed, data.calls_completed.get());
    add_to(&mut figures.calls_failed, data.calls_failed.get());
}

/// A reply whose array is missing.
fn malformed<R: Message>(error: DecodeError) -> CallError {
    CallError::Stub { method: R::METHOD, source: error.into() }
}

/// [MS-COMT] 3.1.4.1.2: the container ended after it was listed.
fn is_gone(error: &CallError) -> bool {
    matches!(error, CallError::Status { status: HResult::E_INVALIDARG, .. })
}

/// Whether other calls may succeed after this one.
fn is_of_one_call(error: &CallError, failure: &SessionError) -> bool {
    match error {
        CallError::Call { source, .. } => host_session::concerns_one_call(source),
        CallError::Status { .. } => failure.recovery == Recovery::Nothing,
        CallError::Stub { .. } | CallError::Request { .. } => true,
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
