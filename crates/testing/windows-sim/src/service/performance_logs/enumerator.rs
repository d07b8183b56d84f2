//! Enumerators: positions in copies of collections.

use std::sync::Arc;

use com::oaut::{
    CloneEnumeratorReply, CloneEnumeratorRequest, IEnumVARIANT, IEnumVARIANTServer, NextVariantsReply,
    NextVariantsRequest, ResetVariantsReply, ResetVariantsRequest, SkipVariantsReply, SkipVariantsRequest,
    Value, Variant,
};
use dcerpc::FaultStatus;
use ms_pla::Object;
use rpc::ServerResult;
use rpc::ndr::ConformantVarying;
use wire::{Guid, HResult};

use super::class::ENUMERATOR;
use super::item::{Item, Part};
use super::shared::Shared;
use super::{Calls, Context, Returned};
use crate::choices::PlaEnumeratedItems;
use crate::service::Call;
use crate::service::objects::{ComObject, Program, Refusing};

/// Items that one call returns.
const ITEMS_MAX: usize = 1024;

/// Parts of any kind, of which objects are made.
trait Parts: Send + Sync {
    fn len(&self) -> usize;

    fn returned(&self, index: usize, context: Context<'_>) -> Result<Object<'static>, HResult>;
}

impl<T: Part> Parts for (Vec<Shared<T>>, T::Owner) {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn returned(&self, index: usize, context: Context<'_>) -> Result<Object<'static>, HResult> {
        let part = self.0.get(index).ok_or(HResult::E_UNEXPECTED)?;
        let item = Item::new(Shared::clone(part), self.1.clone());
        context.returned(item, context.choices.pla_enumerated_items.iid(T::IID))
    }
}

#[derive(Clone)]
pub(super) struct Enumerator {
    parts: Arc<dyn Parts>,
    next: usize,
}

impl Enumerator {
    /// At the first of these parts.
    pub(super) fn new<T: Part>(parts: Vec<Shared<T>>, owner: T::Owner) -> Self {
        Self { parts: Arc::new((parts, owner)), next: 0 }
    }

    /// A reference to it.
    pub(super) fn returned(self, context: Context<'_>) -> Result<Object<'static>, HResult> {
        context.returned(self, context.choices.pla_enumerators.iid())
    }
}

impl Returned for Enumerator {
    fn class(&self) -> Guid {
        ENUMERATOR
    }
}

impl ComObject for Enumerator {
    fn call(&mut self, _: Guid, call: &Call<'_>, program: &dyn Program) -> Result<Vec<u8>, FaultStatus> {
        let mut calls = Calls { object: self, context: Context::of(call, program) };
        IEnumVARIANT::dispatch(&mut calls, &call.info(), call.opnum, call.stub)
    }
}

/// An object as an element of an array.
fn variant(object: Object<'static>, form: PlaEnumeratedItems) -> Result<Variant<'static>, HResult> {
    let value = match form {
        PlaEnumeratedItems::Unknown => Value::Unknown(object),
        PlaEnumeratedItems::Dispatch | PlaEnumeratedItems::Own => Value::Dispatch(object),
    };
    Variant::new(value).map_err(|_| HResult::E_OUTOFMEMORY)
}

impl IEnumVARIANTServer for Calls<'_, Enumerator> {
    fn next_variants(
        &mut self,
        request: &NextVariantsRequest,
    ) -> ServerResult<NextVariantsReply<'static>, HResult> {
        let requested = usize::try_from(request.requested).unwrap_or(usize::MAX);
        let Enumerator { parts, next } = &mut *self.object;
        let end = parts.len().min(next.saturating_add(requested.min(ITEMS_MAX)));
        let form = self.context.choices.pla_enumerated_items;
        let element = |index| variant(parts.returned(index, self.context)?, form).map(Box::new).map(Some);
        let elements = (*next..end).map(element).collect::<Result<Vec<_>, HResult>>()?;
        let taken = end - *next;
        *next = end;
        let count = u32::try_from(taken).unwrap_or(u32::MAX);
        let status = if taken < requested { HResult::S_FALSE } else { HResult::S_OK };
        let items = ConformantVarying { max_count: request.requested, elements };
        Ok(NextVariantsReply { items, count, status })
    }

    fn skip_variants(&mut self, request: &SkipVariantsRequest) -> ServerResult<SkipVariantsReply, HResult> {
        let end = self.object.parts.len();
        let skipped = self.object.next.saturating_add(usize::try_from(request.count).unwrap_or(usize::MAX));
        self.object.next = skipped.min(end);
        let status = if skipped > end { HResult::S_FALSE } else { HResult::S_OK };
        Ok(SkipVariantsReply { status })
    }

    fn reset_variants(&mut self, _: &ResetVariantsRequest) -> ServerResult<ResetVariantsReply, HResult> {
        self.object.next = 0;
        Ok(ResetVariantsReply { status: HResult::S_OK })
    }

    fn clone_enumerator(
        &mut self,
        _: &CloneEnumeratorRequest,
    ) -> ServerResult<CloneEnumeratorReply<'static>, HResult> {
        let enumerator =
            self.context.returned(self.object.clone(), <IEnumVARIANT as rpc::orpc::ObjectInterface>::IID)?;
        Ok(CloneEnumeratorReply { enumerator, status: HResult::S_OK })
    }
}

impl IEnumVARIANTServer for Refusing {}
