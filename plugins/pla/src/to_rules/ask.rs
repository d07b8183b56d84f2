//! Asks a host for the countersets that thresholds name.

use std::time::Duration;

use counter_poll::classic::{self, Reach};
use counter_poll::over_host::{
    PcqError, PerflibSession as _, error_of_classic, error_of_perflib, open_registry,
    registered_counter_sets, registry,
};
use counter_poll::{registration, survey};
use counter_types::{NamePattern, same_name};
use counters::pcq::wire::InstanceInfo;
use host_session::{Session, SessionError};
use pla_engine::Threshold;
use plugin_sdk::Run;
use plugin_session::command::{CommandError, HostAccess};
use tokio::time::Instant;
use wire::Guid;

use super::Document;
use super::host::Host;
use crate::PERFLIB;

/// A counterset with the instances that there are now.
type Surveyed = (survey::Counterset, Vec<InstanceInfo>);

/// The host, as far as these sets are concerned.
pub(super) async fn ask(
    run: &Run,
    access: &HostAccess,
    documents: &[Document],
) -> Result<Host, CommandError> {
    let wanted = wanted(documents);
    run.progress(&format!("connecting to {}…", access.host()));
    let mut session = access.connect(PERFLIB, run).await.map_err(|failed| failed.error)?;
    let mut found =
        version_2(run, &mut session, &wanted).await.map_err(|error| CommandError::of_session(&error))?;
    run.progress("classic objects…");
    let classic = classic_objects(&mut session, &wanted).await;
    for (counterset, instances) in classic.map_err(|error| CommandError::of_session(&error))? {
        let is_it = |(known, _): &Surveyed| same_name(&known.name.text, &counterset.name.text);
        if !found.iter().any(is_it) {
            found.push((counterset, instances));
        }
    }
    run.progress("");
    Ok(Host::of_survey(access.host(), found))
}

/// The countersets that thresholds name, each once.
fn wanted(documents: &[Document]) -> Vec<NamePattern> {
    let alerts = documents.iter().flat_map(|document| &document.set.alerts).flat_map(|alert| &alert.alerts);
    let mut patterns: Vec<NamePattern> = Vec::new();
    for threshold in alerts.filter_map(|text| text.trim().parse::<Threshold>().ok()) {
        if let Ok(pattern) = NamePattern::new(&threshold.path.counterset_pattern())
            && !patterns.iter().any(|known| same_name(known.as_str(), pattern.as_str()))
        {
            patterns.push(pattern);
        }
    }
    patterns
}

async fn version_2(
    run: &Run,
    session: &mut Session,
    wanted: &[NamePattern],
) -> Result<Vec<Surveyed>, SessionError> {
    let target = session.target().clone();
    let failed = |error: &PcqError| error_of_perflib(&target, error);
    let deadline = || Instant::now() + CALL_MAX;
    let listed = session.perflib(deadline()).enumerate_counter_set().await;
    let guids: Vec<Guid> = match listed {
        // There are more than fit into the answer.
        Err(counters::pcq::Error::LimitExceeded { .. }) => {
            registered_counter_sets(session, Instant::now() + CLASSIC_MAX).await?.counter_sets
        }
        listed => listed.map_err(|error| failed(&error))?,
    };
    let mut found = Vec::new();
    for (index, guid) in guids.iter().enumerate() {
        run.progress(&format!("{} of {} names…", index + 1, guids.len()));
        let mut client = session.perflib(deadline());
        let name = registration::read_name(&mut client, *guid).await.map_err(|error| failed(&error))?;
        if !wanted.iter().any(|pattern| pattern.matches(&name.text)) {
            continue;
        }
        let counterset =
            survey::counterset(&mut client, *guid, name, None).await.map_err(|error| failed(&error))?;
        // One that its provider does not describe now is missing, and its thresholds are left out.
        if let Ok(counterset) = counterset {
            let instances =
                survey::instances(&mut client, &counterset).await.map_err(|error| failed(&error))?;
            found.push((counterset, instances));
        }
    }
    Ok(found)
}

async fn classic_objects(
    session: &mut Session,
    wanted: &[NamePattern],
) -> Result<Vec<Surveyed>, SessionError> {
    let deadline = Instant::now() + CLASSIC_MAX;
    let mut association = open_registry(session, deadline).await?;
    let mut client = registry(&mut association, deadline);
    let is_wanted = |name: &str| wanted.iter().any(|pattern| pattern.matches(name));
    let surveyed = classic::survey(&mut client, is_wanted, Reach::Named, None).await;
    surveyed.map(|survey| survey.found).map_err(|error| error_of_classic(session.target(), &error))
}

const CALL_MAX: Duration = Duration::from_secs(10);
const CLASSIC_MAX: Duration = Duration::from_secs(30);
