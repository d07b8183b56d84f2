//! Data managers: `IDataManager`.

use com::oaut::Bstr;
use ms_pla::data_manager::*;
use ms_pla::xml::{DataManager, Element, Limits, Node};
use ms_pla::{IDataManager, IDataManagerServer};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::item::{Collection, Item, Methods, Part, Recorded, methods};
use super::property::{Property, properties, text};
use super::provider_record::Map;
use super::shared::{Shared, shared};
use super::{Calls, Manager, class};
use crate::service::objects::Refusing;

impl Part for Manager {
    type Owner = ();
    const INTERFACES: &'static [Methods<Item<Self>>] = methods![IDataManager];

    fn class(_: &Shared<Self>) -> Guid {
        class::MANAGER
    }
}

impl Recorded for Manager {
    type Record = DataManager;

    fn record_mut(&mut self) -> &mut DataManager {
        &mut self.record
    }
}

impl Calls<'_, Item<Manager>> {
    /// The document in an element of a set, as the text of a property.
    fn document(&self, element: Option<&Element>) -> Result<Bstr, HResult> {
        let root = element.and_then(|element| element.elements().next());
        let text = root.map(Element::to_xml).transpose().map_err(|_| HResult::E_FAIL)?;
        self.context.choices.text(text.as_deref())
    }
}

/// The element of a set with the document in a parameter; none without a document.
fn element(name: &str, value: &Bstr) -> Result<Option<Element>, HResult> {
    let text = text(value)?;
    if text.is_empty() {
        return Ok(None);
    }
    let root = Element::read(text.as_bytes(), &Limits::default()).map_err(|_| HResult::E_INVALIDARG)?;
    Ok(Some(Element { name: name.to_owned(), nodes: vec![Node::Element(root)], ..Element::default() }))
}

#[rustfmt::skip]
impl IDataManagerServer for Calls<'_, Item<Manager>> {
    properties! {
        record {
            is_enabled: get_enabled(GetEnabledRequest) GetEnabledReply, put_enabled(PutEnabledRequest) PutEnabledReply;
            checks_before_running: get_check_before_running(GetCheckBeforeRunningRequest) GetCheckBeforeRunningReply, put_check_before_running(PutCheckBeforeRunningRequest) PutCheckBeforeRunningReply;
            free_disk_min_mb: get_min_free_disk(GetMinFreeDiskRequest) GetMinFreeDiskReply, put_min_free_disk(PutMinFreeDiskRequest) PutMinFreeDiskReply;
            size_max_mb: get_max_size(GetMaxSizeRequest) GetMaxSizeReply, put_max_size(PutMaxSizeRequest) PutMaxSizeReply;
            folders_max: get_max_folder_count(GetMaxFolderCountRequest) GetMaxFolderCountReply, put_max_folder_count(PutMaxFolderCountRequest) PutMaxFolderCountReply;
            resource_policy: get_resource_policy(GetResourcePolicyRequest) GetResourcePolicyReply, put_resource_policy(PutResourcePolicyRequest) PutResourcePolicyReply;
            report_file_name: get_report_file_name(GetReportFileNameRequest) GetReportFileNameReply, put_report_file_name(PutReportFileNameRequest) PutReportFileNameReply;
            rule_target_file_name: get_rule_target_file_name(GetRuleTargetFileNameRequest) GetRuleTargetFileNameReply, put_rule_target_file_name(PutRuleTargetFileNameRequest) PutRuleTargetFileNameReply;
            events_file_name: get_events_file_name(GetEventsFileNameRequest) GetEventsFileNameReply, put_events_file_name(PutEventsFileNameRequest) PutEventsFileNameReply;
        }
    }

    fn get_folder_actions(
        &mut self,
        _: &GetFolderActionsRequest,
    ) -> ServerResult<GetFolderActionsReply<'static>, HResult> {
        let actions = Collection::new(&self.object.part.lock().actions, ());
        Ok(GetFolderActionsReply { value: actions.returned(self.context)?, status: HResult::S_OK })
    }

    fn get_report_schema(&mut self, _: &GetReportSchemaRequest) -> ServerResult<GetReportSchemaReply, HResult> {
        let schema = self.record(|record| record.report_schema.clone())?;
        Ok(GetReportSchemaReply { value: self.document(schema.as_ref())?, status: HResult::S_OK })
    }

    fn put_report_schema(
        &mut self,
        request: &PutReportSchemaRequest,
    ) -> ServerResult<PutReportSchemaReply, HResult> {
        let schema = element("ReportSchema", &request.value)?;
        self.record(|record| record.report_schema = schema)?;
        Ok(PutReportSchemaReply { status: HResult::S_OK })
    }

    fn get_rules(&mut self, _: &GetRulesRequest) -> ServerResult<GetRulesReply, HResult> {
        let rules = self.record(|record| record.rules.clone())?;
        Ok(GetRulesReply { value: self.document(rules.as_ref())?, status: HResult::S_OK })
    }

    fn put_rules(&mut self, request: &PutRulesRequest) -> ServerResult<PutRulesReply, HResult> {
        let rules = element("Rules", &request.value)?;
        self.record(|record| record.rules = rules)?;
        Ok(PutRulesReply { status: HResult::S_OK })
    }

    /// There are no data: all steps succeed, where clients may change anything.
    fn run(&mut self, _: &RunRequest) -> ServerResult<RunReply<'static>, HResult> {
        self.context.require_changes()?;
        let errors = Item::new(shared(Map::of_findings(Vec::new())), ()).returned(self.context)?;
        Ok(RunReply { errors, status: HResult::S_OK })
    }

    /// There are no files, so none is a cabinet.
    fn extract(&mut self, _: &ExtractRequest) -> ServerResult<ExtractReply, HResult> {
        self.context.require_changes()?;
        Err(HResult::PLA_E_CABAPI_FAILURE.into())
    }
}

impl IDataManagerServer for Refusing {}
