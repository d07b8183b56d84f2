use dcerpc::Channel;
use wire::{Decode, Guid, ReadCursor};

use super::super::{decode_guid, decode_text};
use crate::pcq::Error;
use crate::pcq::perflibv2::RegistrationRequest;
use crate::pcq::perflibv2::client::{Buffer, PerflibV2Client};
use crate::pcq::perflibv2::methods::QueryCountersetRegistrationInfoRequest;
use crate::pcq::types::{CounterId, Lcid};
use crate::pcq::wire::{CounterRegInfo, CounterSetRegistration, CounterStrings};

/// Opnum 1 in its ten forms.
impl<C: Channel> PerflibV2Client<C> {
    /// Opnum 1, request code 1: a counterset and its counters.
    ///
    /// # Errors
    /// `ERROR_WMI_GUID_NOT_FOUND` when the server does not have it, or its provider is not running.
    pub async fn counter_set_registration(
        &mut self,
        set: Guid,
    ) -> Result<CounterSetRegistration, Error<C::Error>> {
        let counters_max = self.limits.counters_max;
        let buffer = self.registration_info(set, RegistrationRequest::CounterSet).await?;
        buffer.decode(|bytes| CounterSetRegistration::decode(bytes, counters_max))
    }

    /// Opnum 1, request code 2: one counter.
    ///
    /// # Errors
    /// `ERROR_WMI_ITEMID_NOT_FOUND` when the counterset has no such counter.
    pub async fn counter_registration(
        &mut self,
        set: Guid,
        counter: CounterId,
    ) -> Result<CounterRegInfo, Error<C::Error>> {
        let buffer = self.registration_info(set, RegistrationRequest::Counter(counter)).await?;
        buffer.decode(|bytes| CounterRegInfo::decode(&mut ReadCursor::new(bytes)))
    }

    /// Opnum 1, request code 3: a counterset's name.
    ///
    /// # Errors
    /// When the server lacks the language.
    pub async fn counter_set_name(&mut self, set: Guid, lcid: Lcid) -> Result<String, Error<C::Error>> {
        self.registration_info(set, RegistrationRequest::CounterSetName(lcid))
            .await
            .map(|buffer| text(&buffer))
    }

    /// Opnum 1, request code 4: a counterset's explain text.
    ///
    /// # Errors
    /// When the server lacks the language.
    pub async fn counter_set_help(&mut self, set: Guid, lcid: Lcid) -> Result<String, Error<C::Error>> {
        self.registration_info(set, RegistrationRequest::CounterSetHelp(lcid))
            .await
            .map(|buffer| text(&buffer))
    }

    /// Opnum 1, request code 9: a counterset's English name.
    ///
    /// # Errors
    /// Windows tries to load resources that it need not, and answers any error where it cannot ([MS-PCQ] <4>):
    /// be ready to fall back to [`PerflibV2Client::counter_set_name`].
    pub async fn english_counter_set_name(&mut self, set: Guid) -> Result<String, Error<C::Error>> {
        self.registration_info(set, RegistrationRequest::EnglishCounterSetName)
            .await
            .map(|buffer| text(&buffer))
    }

    /// Opnum 1, request code 5: the counters' names.
    ///
    /// # Errors
    /// When the server lacks the language.
    pub async fn counter_names(&mut self, set: Guid, lcid: Lcid) -> Result<CounterStrings, Error<C::Error>> {
        self.counter_strings(set, RegistrationRequest::CounterNames(lcid)).await
    }

    /// Opnum 1, request code 6: the counters' explain texts.
    ///
    /// # Errors
    /// When the server lacks the language.
    pub async fn counter_helps(&mut self, set: Guid, lcid: Lcid) -> Result<CounterStrings, Error<C::Error>> {
        self.counter_strings(set, RegistrationRequest::CounterHelps(lcid)).await
    }

    /// Opnum 1, request code 10: the counters' English names.
    ///
    /// # Errors
    /// As [`PerflibV2Client::english_counter_set_name`].
    pub async fn english_counter_names(&mut self, set: Guid) -> Result<CounterStrings, Error<C::Error>> {
        self.counter_strings(set, RegistrationRequest::EnglishCounterNames).await
    }

    /// Opnum 1, request code 7: the provider's name.
    ///
    /// # Errors
    /// As [`PerflibV2Client::english_counter_set_name`].
    pub async fn provider_name(&mut self, set: Guid) -> Result<String, Error<C::Error>> {
        self.registration_info(set, RegistrationRequest::ProviderName).await.map(|buffer| text(&buffer))
    }

    /// Opnum 1, request code 8: the provider's GUID.
    ///
    /// # Errors
    /// As [`PerflibV2Client::english_counter_set_name`].
    pub async fn provider_guid(&mut self, set: Guid) -> Result<Guid, Error<C::Error>> {
        self.registration_info(set, RegistrationRequest::ProviderGuid).await?.decode(decode_guid)
    }

    async fn counter_strings(
        &mut self,
        set: Guid,
        request: RegistrationRequest,
    ) -> Result<CounterStrings, Error<C::Error>> {
        let counters_max = self.limits.counters_max;
        let buffer = self.registration_info(set, request).await?;
        buffer.decode(|bytes| CounterStrings::decode(bytes, counters_max))
    }

    async fn registration_info(
        &mut self,
        counterset: Guid,
        request: RegistrationRequest,
    ) -> Result<Buffer, Error<C::Error>> {
        let machine = self.machine.clone();
        let (request_code, request_lcid) = request.to_wire();
        let request = QueryCountersetRegistrationInfoRequest {
            machine,
            counterset,
            request_code,
            request_lcid,
            in_size: 0,
        };
        self.call_sized(request, self.limits.first_reply_bytes).await
    }
}

fn text(buffer: &Buffer) -> String {
    decode_text(buffer.bytes())
}
