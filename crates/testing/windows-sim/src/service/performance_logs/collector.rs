//! Collectors of any kind: `IDataCollector`.

use ms_pla::data_collector::*;
use ms_pla::{
    IAlertDataCollector, IApiTracingDataCollector, IConfigurationDataCollector, IDataCollector,
    IDataCollectorServer, IPerformanceCounterDataCollector, ITraceDataCollector,
};
use rpc::ServerResult;
use wire::{Guid, HResult};

use super::collector_record::{Collector, Head};
use super::item::{Item, Methods, Part, methods};
use super::property::{Property, properties, text};
use super::provider_record::Map;
use super::shared::{Shared, shared};
use super::{Calls, Set, class};
use crate::model::data_collector_sets::output_location;
use crate::service::objects::Refusing;

impl Part for Collector {
    /// The set, if the collector is of one.
    type Owner = Option<Shared<Set>>;
    const INTERFACES: &'static [Methods<Item<Self>>] = methods![
        IDataCollector,
        IPerformanceCounterDataCollector,
        ITraceDataCollector,
        IConfigurationDataCollector,
        IAlertDataCollector,
        IApiTracingDataCollector
    ];

    fn class(part: &Shared<Self>) -> Guid {
        class::of_collectors(part.lock().kind())
    }
}

impl Calls<'_, Item<Collector>> {
    fn head<R>(&self, read: impl FnOnce(&mut Head) -> R) -> Result<R, HResult> {
        Ok(read(&mut self.object.part.lock().head))
    }

    /// The file in the folder of the set.
    fn location(&self) -> String {
        let file = self.object.part.lock().head.file_name.clone().unwrap_or_default();
        let folder = self.object.owner.as_ref().map(|set| output_location(&set.lock().record));
        folder.map_or(file.clone(), |folder| format!(r"{folder}\{file}"))
    }
}

#[rustfmt::skip]
impl IDataCollectorServer for Calls<'_, Item<Collector>> {
    properties! {
        head {
            file_name: get_file_name(GetFileNameRequest) GetFileNameReply, put_file_name(PutFileNameRequest) PutFileNameReply;
            file_name_format: get_file_name_format(GetFileNameFormatRequest) GetFileNameFormatReply, put_file_name_format(PutFileNameFormatRequest) PutFileNameFormatReply;
            file_name_format_pattern: get_file_name_format_pattern(GetFileNameFormatPatternRequest) GetFileNameFormatPatternReply, put_file_name_format_pattern(PutFileNameFormatPatternRequest) PutFileNameFormatPatternReply;
            latest_output_location: get_latest_output_location(GetLatestOutputLocationRequest) GetLatestOutputLocationReply, put_latest_output_location(PutLatestOutputLocationRequest) PutLatestOutputLocationReply;
            appends: get_log_append(GetLogAppendRequest) GetLogAppendReply, put_log_append(PutLogAppendRequest) PutLogAppendReply;
            is_circular: get_log_circular(GetLogCircularRequest) GetLogCircularReply, put_log_circular(PutLogCircularRequest) PutLogCircularReply;
            overwrites: get_log_overwrite(GetLogOverwriteRequest) GetLogOverwriteReply, put_log_overwrite(PutLogOverwriteRequest) PutLogOverwriteReply;
            name: get_name(GetNameRequest) GetNameReply, put_name(PutNameRequest) PutNameReply;
        }
    }

    fn get_data_collector_set(
        &mut self,
        _: &GetDataCollectorSetRequest,
    ) -> ServerResult<GetDataCollectorSetReply<'static>, HResult> {
        let set = self.object.owner.clone().ok_or(HResult::E_FAIL)?;
        let category = set.lock().category;
        Ok(GetDataCollectorSetReply {
            value: Item::new(set, category).returned(self.context)?,
            status: HResult::S_OK,
        })
    }

    fn get_data_collector_type(
        &mut self,
        _: &GetDataCollectorTypeRequest,
    ) -> ServerResult<GetDataCollectorTypeReply, HResult> {
        Ok(GetDataCollectorTypeReply { value: self.object.part.lock().kind(), status: HResult::S_OK })
    }

    fn get_output_location(
        &mut self,
        _: &GetOutputLocationRequest,
    ) -> ServerResult<GetOutputLocationReply, HResult> {
        let value = self.context.choices.text(Some(&self.location()))?;
        Ok(GetOutputLocationReply { value, status: HResult::S_OK })
    }

    fn get_index(&mut self, _: &GetIndexRequest) -> ServerResult<GetIndexReply, HResult> {
        let index = self.head(|head| head.index.unwrap_or(0))?;
        Ok(GetIndexReply { value: index.cast_signed(), status: HResult::S_OK })
    }

    fn get_xml(&mut self, _: &GetXmlRequest) -> ServerResult<GetXmlReply, HResult> {
        let xml = self.object.part.lock().to_xml()?;
        Ok(GetXmlReply { value: self.context.choices.text(Some(&xml))?, status: HResult::S_OK })
    }

    /// A collector stays of its kind.
    fn set_xml(&mut self, request: &SetXmlRequest) -> ServerResult<SetXmlReply<'static>, HResult> {
        let read = Collector::of_xml(&text(&request.xml)?)?;
        let mut collector = self.object.part.lock();
        if read.kind() != collector.kind() {
            return Err(HResult::E_INVALIDARG.into());
        }
        *collector = read;
        drop(collector);
        let map = Item::new(shared(Map::of_findings(Vec::new())), ());
        Ok(SetXmlReply { validation: map.returned(self.context)?, status: HResult::S_OK })
    }
}

impl IDataCollectorServer for Refusing {}
