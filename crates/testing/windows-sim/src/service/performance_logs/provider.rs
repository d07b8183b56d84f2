//! Providers of events: `ITraceDataProvider`.

use std::any::Any;

use com::oaut::SafeArray;
use ms_pla::trace_data_provider::*;
use ms_pla::xml::{TraceDataProvider, ValueMapItem};
use ms_pla::{ITraceDataProvider, ITraceDataProviderServer, Object, ValueMapType, ids};
use rpc::ServerResult;
use rpc::ndr::ConformantBytes;
use wire::{Guid, HResult, Win32Error};

use super::Calls;
use super::item::{Collection, Item, Methods, Part, Recorded, methods};
use super::property::{Property, properties, text};
use super::provider_record::{Map, MapItem, MapOf, Provider};
use super::shared::{Shared, list, shared};
use crate::model::data_collector_sets::providers;
use crate::service::objects::Refusing;

/// [MS-PLA] 3.2.4.11.14: bytes of a filter.
const FILTER_SIZE_MAX: usize = 1024;

impl Part for Provider {
    type Owner = ();
    const INTERFACES: &'static [Methods<Item<Self>>] = methods![ITraceDataProvider];

    fn class(_: &Shared<Self>) -> Guid {
        ids::TRACE_DATA_PROVIDER
    }
}

impl Recorded for Provider {
    type Record = TraceDataProvider;

    fn record_mut(&mut self) -> &mut TraceDataProvider {
        &mut self.record
    }
}

impl Calls<'_, Item<Provider>> {
    fn map(&self, of: MapOf) -> Result<Object<'static>, HResult> {
        let map = self.object.part.lock().maps.get(&of).map(Shared::clone);
        Item::new(map.ok_or(HResult::E_FAIL)?, ()).returned(self.context)
    }
}

/// The provider of that name or GUID that the host has.
fn known(name: &str) -> Option<TraceDataProvider> {
    let guid = name.trim_matches(['{', '}']).parse::<Guid>().ok();
    let is_meant = |provider: &TraceDataProvider| {
        let has_name = provider.display_name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(name));
        has_name || guid.is_some() && provider.guid == guid
    };
    providers::known().into_iter().find(is_meant)
}

/// A provider with whose properties another is resolved: one, or those of a collection.
fn sources(any: &dyn Any) -> Option<(bool, Vec<Shared<Provider>>)> {
    let one = any.downcast_ref::<Item<Provider>>().map(|item| (false, vec![Shared::clone(&item.part)]));
    one.or_else(|| Collection::<Provider>::parts_of(any).map(|all| (true, all)))
}

impl Provider {
    //= [MS-PLA] 3.2.4.11.16
    //# the DisplayName property of the original provider is overwritten by the DisplayName of the passed-in provider
    /// Items come from the other provider; the value of a map stays.
    fn resolve(&mut self, from: &Self) {
        self.record.display_name.clone_from(&from.record.display_name);
        for of in [MapOf::Level, MapOf::KeywordsAny, MapOf::KeywordsAll] {
            let (Some(own), Some(other)) = (self.maps.get(&of), from.maps.get(&of)) else { continue };
            if Shared::ptr_eq(own, other) {
                continue;
            }
            let items = other.lock().items();
            own.lock().resolve(items);
        }
    }
}

/// The bytes of a filter, which XML has as hexadecimal digits.
fn filter_bytes(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes = pairs.iter().map(byte).collect::<Option<_>>()?;
    rest.is_empty().then_some(bytes)
}

/// The methods that return a map.
macro_rules! maps {
    ($($of:ident: $get:ident($get_request:ident) $get_reply:ident;)*) => {$(
        fn $get(&mut self, _: &$get_request) -> ServerResult<$get_reply<'static>, HResult> {
            Ok($get_reply { value: self.map(MapOf::$of)?, status: HResult::S_OK })
        }
    )*};
}

#[rustfmt::skip]
impl ITraceDataProviderServer for Calls<'_, Item<Provider>> {
    properties! {
        record {
            display_name: get_display_name(GetDisplayNameRequest) GetDisplayNameReply, put_display_name(PutDisplayNameRequest) PutDisplayNameReply;
            guid: get_guid(GetGuidRequest) GetGuidReply, put_guid(PutGuidRequest) PutGuidReply;
            is_filter_enabled: get_filter_enabled(GetFilterEnabledRequest) GetFilterEnabledReply, put_filter_enabled(PutFilterEnabledRequest) PutFilterEnabledReply;
            filter_type: get_filter_type(GetFilterTypeRequest) GetFilterTypeReply, put_filter_type(PutFilterTypeRequest) PutFilterTypeReply;
        }
    }

    maps! {
        Level: get_level(GetLevelRequest) GetLevelReply;
        KeywordsAny: get_keywords_any(GetKeywordsAnyRequest) GetKeywordsAnyReply;
        KeywordsAll: get_keywords_all(GetKeywordsAllRequest) GetKeywordsAllReply;
        Properties: get_properties(GetPropertiesRequest) GetPropertiesReply;
    }

    fn get_filter_data(&mut self, _: &GetFilterDataRequest) -> ServerResult<GetFilterDataReply<'static>, HResult> {
        let digits = self.record(|record| record.filter_data.clone().unwrap_or_default())?;
        let bytes = filter_bytes(&digits).ok_or(HResult::E_FAIL)?;
        let is_empty = bytes.is_empty();
        let array = SafeArray::of_bytes(ConformantBytes(bytes.into())).map_err(|_| HResult::E_OUTOFMEMORY)?;
        Ok(GetFilterDataReply { value: self.context.choices.array(array, is_empty), status: HResult::S_OK })
    }

    fn put_filter_data(
        &mut self,
        request: &PutFilterDataRequest<'_>,
    ) -> ServerResult<PutFilterDataReply, HResult> {
        let bytes = request.value.bytes().ok_or(HResult::DISP_E_TYPEMISMATCH)?;
        if bytes.len() > FILTER_SIZE_MAX {
            return Err(HResult::E_INVALIDARG.into());
        }
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.record(|record| record.filter_data = Some(digits).filter(|digits| !digits.is_empty()))?;
        Ok(PutFilterDataReply { status: HResult::S_OK })
    }

    fn query(&mut self, request: &QueryRequest) -> ServerResult<QueryReply, HResult> {
        let found = known(&text(&request.name)?).ok_or(HResult::from_win32(Win32Error::ERROR_NOT_FOUND))?;
        self.object.part.lock().fill(found);
        Ok(QueryReply { status: HResult::S_OK })
    }

    fn resolve(&mut self, request: &ResolveRequest<'_>) -> ServerResult<ResolveReply, HResult> {
        let (is_collection, found) = self.context.taken(&request.from, sources)?;
        let guid = self.record(|record| record.guid)?;
        let is_meant = |one: &&Shared<Provider>| {
            let is_own = Shared::ptr_eq(one, &self.object.part);
            !is_own && (!is_collection || one.lock().record.guid == guid)
        };
        if let Some(from) = found.iter().find(is_meant) {
            // Two calls that resolve two providers with each other wait for no lock.
            let from = Provider::new(from.lock().record());
            self.object.part.lock().resolve(&from);
        }
        Ok(ResolveReply { status: HResult::S_OK })
    }

    fn set_security(&mut self, request: &SetSecurityRequest) -> ServerResult<SetSecurityReply, HResult> {
        self.context.require_changes()?;
        self.object.part.lock().security = Some(text(&request.sddl)?);
        Ok(SetSecurityReply { status: HResult::S_OK })
    }

    fn get_security(&mut self, _: &GetSecurityRequest) -> ServerResult<GetSecurityReply, HResult> {
        let security = self.object.part.lock().security.clone();
        let sddl = self.context.choices.text(Some(security.as_deref().unwrap_or(providers::SECURITY)))?;
        Ok(GetSecurityReply { sddl, status: HResult::S_OK })
    }

    fn get_registered_processes(
        &mut self,
        _: &GetRegisteredProcessesRequest,
    ) -> ServerResult<GetRegisteredProcessesReply<'static>, HResult> {
        let guid = self.record(|record| record.guid)?;
        let kind = ValueMapType::INDEX;
        let item = |(_, program, process_id): (Guid, &str, u32)| MapItem {
            record: ValueMapItem {
                key: Some(program.to_owned()),
                value: Some(process_id.to_string()),
                ..ValueMapItem::default()
            },
            kind,
        };
        let own = providers::PROCESSES.into_iter().filter(|(provider, ..)| Some(*provider) == guid);
        let map = Map { description: None, kind, value: None, items: list(own.map(item)) };
        let processes = Item::new(shared(map), ()).returned(self.context)?;
        Ok(GetRegisteredProcessesReply { processes, status: HResult::S_OK })
    }
}

impl ITraceDataProviderServer for Refusing {}
