//! Sets: `IDataCollectorSet`.

use ms_pla::data_collector_set::*;
use ms_pla::xml::{DataCollectorSet, Limits, Validation};
use ms_pla::{Category, CommitMode, IDataCollectorSet, IDataCollectorSetServer, ids};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::collector_record::Collector;
use super::item::{Collection, Item, Methods, Part, Recorded, methods};
use super::property::{Property, array, not_empty, properties, text, texts};
use super::shared::Shared;
use super::store::{server_name, shown, status_of};
use super::{Calls, Set};
use crate::choices::PlaConflicts;
use crate::model::data_collector_sets::output_location;
use crate::service::objects::Refusing;

/// [MS-PLA] 3.2.4.1: keywords, and characters of one.
const KEYWORDS_MAX: usize = 256;
const KEYWORD_LEN_MAX: usize = 1024;
/// Values of the client's choice.
const VALUES_MAX: usize = 256;

impl Part for Set {
    type Owner = Option<Category>;
    const INTERFACES: &'static [Methods<Item<Self>>] = methods![IDataCollectorSet];

    fn class(part: &Shared<Self>) -> Guid {
        part.lock().category.map_or(ids::DATA_COLLECTOR_SET, Category::set_class)
    }
}

impl Recorded for Set {
    type Record = DataCollectorSet;

    fn record_mut(&mut self) -> &mut DataCollectorSet {
        &mut self.record
    }
}

impl Calls<'_, Item<Set>> {
    pub(super) fn set<R>(&self, read: impl FnOnce(&mut Set) -> R) -> R {
        read(&mut self.object.part.lock())
    }
}

fn is_keyword(keyword: &str) -> bool {
    (1..=KEYWORD_LEN_MAX).contains(&keyword.chars().count()) && !keyword.contains(';')
}

/// The methods of a text that may be the name of a resource with the text.
macro_rules! resources {
    ($($field:ident $unresolved:ident: $get:ident($get_request:ident) $get_reply:ident,
        $put:ident($put_request:ident) $put_reply:ident,
        $get_unresolved:ident($unresolved_request:ident) $unresolved_reply:ident;)*) => {$(
        fn $get(&mut self, _: &$get_request) -> ServerResult<$get_reply, HResult> {
            let value = self.record(|record| record.$field.to_wire(self.context.choices))??;
            Ok($get_reply { value, status: HResult::S_OK })
        }

        fn $put(&mut self, request: &$put_request) -> ServerResult<$put_reply, HResult> {
            self.record(|record| {
                record.$field.set(&request.value)?;
                record.$unresolved.set(&request.value)
            })??;
            Ok($put_reply { status: HResult::S_OK })
        }

        fn $get_unresolved(&mut self, _: &$unresolved_request) -> ServerResult<$unresolved_reply, HResult> {
            let text = self.record(|record| record.$unresolved.clone().or(record.$field.clone()))?;
            Ok($unresolved_reply { value: self.context.choices.text(text.as_deref())?, status: HResult::S_OK })
        }
    )*};
}

#[rustfmt::skip]
impl IDataCollectorSetServer for Calls<'_, Item<Set>> {
    properties! {
        record {
            duration_s: get_duration(GetDurationRequest) GetDurationReply, put_duration(PutDurationRequest) PutDurationReply;
            latest_output_location: get_latest_output_location(GetLatestOutputLocationRequest) GetLatestOutputLocationReply, put_latest_output_location(PutLatestOutputLocationRequest) PutLatestOutputLocationReply;
            name: get_name(GetNameRequest) GetNameReply;
            root_path: get_root_path(GetRootPathRequest) GetRootPathReply, put_root_path(PutRootPathRequest) PutRootPathReply;
            is_segmented: get_segment(GetSegmentRequest) GetSegmentReply, put_segment(PutSegmentRequest) PutSegmentReply;
            segment_duration_max_s: get_segment_max_duration(GetSegmentMaxDurationRequest) GetSegmentMaxDurationReply, put_segment_max_duration(PutSegmentMaxDurationRequest) PutSegmentMaxDurationReply;
            segment_size_max_mb: get_segment_max_size(GetSegmentMaxSizeRequest) GetSegmentMaxSizeReply, put_segment_max_size(PutSegmentMaxSizeRequest) PutSegmentMaxSizeReply;
            serial_number: get_serial_number(GetSerialNumberRequest) GetSerialNumberReply, put_serial_number(PutSerialNumberRequest) PutSerialNumberReply;
            subdirectory: get_subdirectory(GetSubdirectoryRequest) GetSubdirectoryReply, put_subdirectory(PutSubdirectoryRequest) PutSubdirectoryReply;
            subdirectory_format: get_subdirectory_format(GetSubdirectoryFormatRequest) GetSubdirectoryFormatReply, put_subdirectory_format(PutSubdirectoryFormatRequest) PutSubdirectoryFormatReply;
            subdirectory_format_pattern: get_subdirectory_format_pattern(GetSubdirectoryFormatPatternRequest) GetSubdirectoryFormatPatternReply, put_subdirectory_format_pattern(PutSubdirectoryFormatPatternRequest) PutSubdirectoryFormatPatternReply;
            task: get_task(GetTaskRequest) GetTaskReply, put_task(PutTaskRequest) PutTaskReply;
            task_runs_as_self: get_task_run_as_self(GetTaskRunAsSelfRequest) GetTaskRunAsSelfReply, put_task_run_as_self(PutTaskRunAsSelfRequest) PutTaskRunAsSelfReply;
            task_arguments: get_task_arguments(GetTaskArgumentsRequest) GetTaskArgumentsReply, put_task_arguments(PutTaskArgumentsRequest) PutTaskArgumentsReply;
            task_user_text_arguments: get_task_user_text_arguments(GetTaskUserTextArgumentsRequest) GetTaskUserTextArgumentsReply, put_task_user_text_arguments(PutTaskUserTextArgumentsRequest) PutTaskUserTextArgumentsReply;
            are_schedules_enabled: get_schedules_enabled(GetSchedulesEnabledRequest) GetSchedulesEnabledReply, put_schedules_enabled(PutSchedulesEnabledRequest) PutSchedulesEnabledReply;
            user_account: get_user_account(GetUserAccountRequest) GetUserAccountReply;
            security: get_security(GetSecurityRequest) GetSecurityReply, put_security(PutSecurityRequest) PutSecurityReply;
            stops_on_completion: get_stop_on_completion(GetStopOnCompletionRequest) GetStopOnCompletionReply, put_stop_on_completion(PutStopOnCompletionRequest) PutStopOnCompletionReply;
        }
    }

    resources! {
        description description_unresolved: get_description(GetDescriptionRequest) GetDescriptionReply,
            put_description(PutDescriptionRequest) PutDescriptionReply,
            get_description_unresolved(GetDescriptionUnresolvedRequest) GetDescriptionUnresolvedReply;
        display_name display_name_unresolved: get_display_name(GetDisplayNameRequest) GetDisplayNameReply,
            put_display_name(PutDisplayNameRequest) PutDisplayNameReply,
            get_display_name_unresolved(GetDisplayNameUnresolvedRequest) GetDisplayNameUnresolvedReply;
    }

    fn get_keywords(&mut self, _: &GetKeywordsRequest) -> ServerResult<GetKeywordsReply<'static>, HResult> {
        let keywords = self.record(|record| record.keywords.clone())?;
        Ok(GetKeywordsReply { value: array(&keywords, self.context.choices)?, status: HResult::S_OK })
    }

    fn put_keywords(&mut self, request: &PutKeywordsRequest<'_>) -> ServerResult<PutKeywordsReply, HResult> {
        let keywords = texts(&request.value)?;
        if keywords.len() > KEYWORDS_MAX || !keywords.iter().all(|keyword| is_keyword(keyword)) {
            return Err(HResult::E_INVALIDARG.into());
        }
        self.record(|record| record.keywords = keywords)?;
        Ok(PutKeywordsReply { status: HResult::S_OK })
    }

    fn get_output_location(
        &mut self,
        _: &GetOutputLocationRequest,
    ) -> ServerResult<GetOutputLocationReply, HResult> {
        let location = self.record(|record| output_location(record))?;
        Ok(GetOutputLocationReply { value: self.context.choices.text(Some(&location))?, status: HResult::S_OK })
    }

    fn get_server(&mut self, _: &GetServerRequest) -> ServerResult<GetServerReply, HResult> {
        let server = self.set(|set| set.server.clone());
        Ok(GetServerReply { value: self.context.choices.text(server.as_deref())?, status: HResult::S_OK })
    }

    fn get_status(&mut self, _: &GetStatusRequest) -> ServerResult<GetStatusReply, HResult> {
        Ok(GetStatusReply { value: self.status(), status: HResult::S_OK })
    }

    fn get_data_collectors(
        &mut self,
        _: &GetDataCollectorsRequest,
    ) -> ServerResult<GetDataCollectorsReply<'static>, HResult> {
        let owner = Some(Shared::clone(&self.object.part));
        let collectors = self.set(|set| Collection::<Collector>::new(&set.collectors, owner));
        Ok(GetDataCollectorsReply { value: collectors.returned(self.context)?, status: HResult::S_OK })
    }

    fn get_schedules(&mut self, _: &GetSchedulesRequest) -> ServerResult<GetSchedulesReply<'static>, HResult> {
        let schedules = self.set(|set| Collection::new(&set.schedules, ()));
        Ok(GetSchedulesReply { value: schedules.returned(self.context)?, status: HResult::S_OK })
    }

    fn get_data_manager(
        &mut self,
        _: &GetDataManagerRequest,
    ) -> ServerResult<GetDataManagerReply<'static>, HResult> {
        let manager = self.set(|set| Item::new(Shared::clone(&set.manager), ()));
        Ok(GetDataManagerReply { value: manager.returned(self.context)?, status: HResult::S_OK })
    }

    fn get_xml(&mut self, _: &GetXmlRequest) -> ServerResult<GetXmlReply, HResult> {
        let status = self.status();
        let record = DataCollectorSet { status: Some(status), ..self.set(|set| set.record()) };
        let mut xml = record.to_xml().map_err(|_| HResult::E_FAIL)?;
        if self.context.host.behaviour().cuts_set_xml {
            xml.truncate(xml.rfind("</").unwrap_or_default());
        }
        Ok(GetXmlReply { value: self.context.choices.text(Some(&xml))?, status: HResult::S_OK })
    }

    /// What only hosts write stays as it is; what is not in the document has its default.
    fn set_xml(&mut self, request: &SetXmlRequest) -> ServerResult<SetXmlReply<'static>, HResult> {
        let xml = request.xml.text().map_err(|_| HResult::E_INVALIDARG)?.unwrap_or_default();
        let read = DataCollectorSet::read(xml.as_bytes(), &Limits::default());
        let record = read.map_err(|_| HResult::E_INVALIDARG)?;
        let category = self.object.owner.unwrap_or(Category::Server);
        let findings = record.validate_as(Validation { category, mode: CommitMode::VALIDATE_ONLY, is_strict: false });
        self.set(|set| {
            let DataCollectorSet { name, user_account, status, server, .. } = set.record.clone();
            set.fill(DataCollectorSet { name, user_account, status, server, ..record });
        });
        Ok(SetXmlReply { validation: self.validation(findings)?, status: HResult::S_OK })
    }

    fn query(&mut self, request: &QueryRequest) -> ServerResult<QueryReply, HResult> {
        let (category, name) = self.named(&request.name)?;
        let (server, now) = (server_name(&request.server)?, self.context.now);
        let found = self.context.host.data_collector_sets().find(category, &name, now).map_err(status_of)?;
        self.set(|set| {
            set.fill(shown(&found, now));
            set.stored = Some((category, found.name));
            set.server = server;
        });
        Ok(QueryReply { status: HResult::S_OK })
    }

    //= [MS-PLA] 3.2.4.1.54
    //# the client MAY choose to ignore any warnings or errors that are returned by the server
    fn commit(&mut self, request: &CommitRequest) -> ServerResult<CommitReply<'static>, HResult> {
        let record = self.set(|set| set.record());
        let (category, _) = self.named(&request.name)?;
        if let Some(status) = record.commit_error() {
            return Ok(CommitReply { validation: None, status });
        }
        let findings = record.validate_as(Validation { category, mode: request.mode, is_strict: false });
        let refused = match self.context.choices.pla_conflicts {
            PlaConflicts::Stored => None,
            PlaConflicts::Refused => findings.iter().map(|one| one.code).find(|code| !code.is_success()),
        };
        let status = match refused {
            Some(refused) => refused,
            None => self.commit_as(request, record).err().unwrap_or(HResult::S_OK),
        };
        let has_map = status.is_success() || refused.is_some();
        let validation = if has_map { self.validation(findings)? } else { None };
        Ok(CommitReply { validation, status })
    }

    fn delete(&mut self, _: &DeleteRequest) -> ServerResult<DeleteReply, HResult> {
        let (category, name) = self.stored()?;
        self.context.require_changes()?;
        let sets = self.context.host.data_collector_sets();
        sets.remove(category, &name, self.context.now).map_err(status_of)?;
        Ok(DeleteReply { status: HResult::S_OK })
    }

    fn start(&mut self, _: &StartRequest) -> ServerResult<StartReply, HResult> {
        let (category, name) = self.stored()?;
        if !category.can_start() {
            return Err(HResult::E_NOTIMPL.into());
        }
        let sets = self.context.host.data_collector_sets();
        sets.start(category, &name, self.context.now).map_err(status_of)?;
        Ok(StartReply { status: HResult::S_OK })
    }

    fn stop(&mut self, _: &StopRequest) -> ServerResult<StopReply, HResult> {
        let (category, name) = self.stored()?;
        if !category.can_start() {
            return Err(HResult::E_NOTIMPL.into());
        }
        let sets = self.context.host.data_collector_sets();
        sets.stop(category, &name, self.context.now).map_err(status_of)?;
        Ok(StopReply { status: HResult::S_OK })
    }

    fn set_credentials(
        &mut self,
        request: &SetCredentialsRequest,
    ) -> ServerResult<SetCredentialsReply, HResult> {
        let user = match (request.user.is_null(), request.password.0.is_null()) {
            (true, true) => "SYSTEM".to_owned(),
            (false, false) => text(&request.user)?,
            _ => return Err(HResult::PLA_E_CREDENTIALS_REQUIRED.into()),
        };
        self.record(|record| record.user_account = Some(user))?;
        Ok(SetCredentialsReply { status: HResult::S_OK })
    }

    fn set_value(&mut self, request: &SetValueRequest) -> ServerResult<SetValueReply, HResult> {
        not_empty(&request.key)?;
        let (key, value) = (text(&request.key)?, text(&request.value)?);
        self.set(|set| {
            if set.values.len() >= VALUES_MAX && !set.values.contains_key(&key) {
                return Err(HResult::E_OUTOFMEMORY);
            }
            set.values.insert(key, value);
            Ok(SetValueReply { status: HResult::S_OK })
        })
        .map_err(Into::into)
    }

    fn get_value(&mut self, request: &GetValueRequest) -> ServerResult<GetValueReply, HResult> {
        let key = text(&request.key)?;
        let value = self.set(|set| set.values.get(&key).cloned()).ok_or(HResult::E_INVALIDARG)?;
        Ok(GetValueReply { value: self.context.choices.text(Some(&value))?, status: HResult::S_OK })
    }
}

impl IDataCollectorSetServer for Refusing {}
