//! What all collections have: a count, items by index from zero, and an enumerator of them.

use com::oaut::{NextVariantsReply, Value, Variant};
use rpc::ndr::InterfacePointer;
use rpc::orpc::{Inherits, ObjectInterface, Proxy};
use rpc::{Channel, Error, FromStub, Message, Reply, Request};
use wire::{DecodeError, EncodeResult, HResult};

use crate::types::{AnyVariant, Object};

/// An interface of a collection, and its requests.
pub trait Collection: ObjectInterface<Status = HResult> + Inherits<Self> + Sized {
    /// The request of the number of items.
    type Count: for<'reply> Request<Interface = Self, Reply<'reply> = Self::CountReply> + Sync;
    /// The reply to it.
    type CountReply: for<'reply> FromStub<'reply> + Reply<Status = HResult>;
    /// The request of an item.
    type Item: Request<Interface = Self> + Sync;

    /// Asks for the number of items.
    fn count() -> Self::Count;

    /// The number of items; `None` if it is negative.
    fn count_of(reply: &Self::CountReply) -> Option<u32>;

    /// Asks for an item.
    fn item(index: AnyVariant<'static>) -> Self::Item;

    fn item_of<'reply>(reply: <Self::Item as Request>::Reply<'reply>) -> Object<'reply>;
}

macro_rules! collections {
    ($($interface:ident in $module:ident;)*) => {$(
        impl Collection for crate::$interface {
            type Count = crate::$module::GetCountRequest;
            type CountReply = crate::$module::GetCountReply;
            type Item = crate::$module::GetItemRequest<'static>;

            fn count() -> Self::Count {
                crate::$module::GetCountRequest {}
            }

            #[allow(clippy::useless_conversion, reason = "one collection counts in u32")]
            fn count_of(reply: &Self::CountReply) -> Option<u32> {
                reply.count.try_into().ok()
            }

            fn item(index: AnyVariant<'static>) -> Self::Item {
                crate::$module::GetItemRequest { index }
            }

            fn item_of<'reply>(reply: <Self::Item as Request>::Reply<'reply>) -> Object<'reply> {
                reply.item
            }
        }
    )*};
}

collections! {
    IFolderActionCollection in folder_action_collection;
    ITraceDataProviderCollection in trace_data_provider_collection;
    IScheduleCollection in schedule_collection;
    IDataCollectorCollection in data_collector_collection;
    IDataCollectorSetCollection in data_collector_set_collection;
    IValueMap in value_map;
}

/// Which item of a collection.
#[derive(Clone, Debug, PartialEq)]
pub enum Selector<'stub> {
    /// The one at this index, from zero.
    Index(u32),
    Object(InterfacePointer<'stub>),
}

impl<'stub> Selector<'stub> {
    /// What a client sends.
    ///
    /// # Errors
    /// When an object's reference is longer than 32 bits can count.
    pub fn to_variant(&self) -> EncodeResult<AnyVariant<'stub>> {
        let value = match self {
            // Scripts, which all servers know, have signed numbers.
            Self::Index(index) => i32::try_from(*index).map_or(Value::Ui4(*index), Value::I4),
            Self::Object(object) => Value::Dispatch(Some(Box::new(object.clone()))),
        };
        Variant::new(value).map(|variant| Some(Box::new(variant)))
    }

    /// What a server got: VT_I4, VT_UI4 or VT_DISPATCH. An item is asked for by its index, removed by either.
    ///
    /// # Errors
    /// DISP_E_BADINDEX if the index is negative, E_POINTER if the object is none, DISP_E_TYPEMISMATCH for other types.
    pub fn of_variant(variant: &AnyVariant<'stub>) -> Result<Self, HResult> {
        match variant.as_ref().map(|variant| &variant.value) {
            Some(Value::I4(index)) => {
                u32::try_from(*index).map(Self::Index).map_err(|_| HResult::DISP_E_BADINDEX)
            }
            Some(Value::Ui4(index)) => Ok(Self::Index(*index)),
            Some(Value::Dispatch(Some(object))) => Ok(Self::Object((**object).clone())),
            Some(Value::Dispatch(None)) => Err(HResult::E_POINTER),
            _ => Err(HResult::DISP_E_TYPEMISMATCH),
        }
    }
}

/// What a call on a channel answers.
type Called<T, C> = Result<T, Error<<C as Channel>::Error, HResult>>;

/// References to all items of a collection, one call for each and one for their number.
///
/// # Errors
/// When a call fails, there are more than `items_max`, or an item is NULL.
pub async fn items<C: Channel, I: Collection>(
    collection: &mut Proxy<C, I>,
    items_max: u32,
) -> Called<Vec<Vec<u8>>, C> {
    let reply = collection.call(&I::count()).await?;
    let method = <I::Count as Message>::METHOD;
    let count = I::count_of(&reply).filter(|&count| count <= items_max).ok_or_else(|| {
        let source = DecodeError::invalid_field(method.name, "count", 0, "is negative, or above the limit");
        Error::Stub { method, source: source.into() }
    })?;
    let mut items = Vec::new();
    for index in 0..count {
        items.push(item(collection, index).await?);
    }
    Ok(items)
}

/// A reference to the item at `index`.
///
/// # Errors
/// When the call fails, or the item is NULL.
pub async fn item<C: Channel, I: Collection>(collection: &mut Proxy<C, I>, index: u32) -> Called<Vec<u8>, C> {
    let method = <I::Item as Message>::METHOD;
    let index = Selector::Index(index).to_variant().map_err(|source| Error::Request { method, source })?;
    item_at(collection, index).await
}

/// The same for an index as VT_UI4: a host may take no other, and says DISP_E_TYPEMISMATCH then.
///
/// # Errors
/// When the call fails, or the item is NULL.
pub async fn item_unsigned<C: Channel, I: Collection>(
    collection: &mut Proxy<C, I>,
    index: u32,
) -> Called<Vec<u8>, C> {
    let method = <I::Item as Message>::METHOD;
    let index = Variant::new(Value::Ui4(index)).map_err(|source| Error::Request { method, source })?;
    item_at(collection, Some(Box::new(index))).await
}

async fn item_at<C: Channel, I: Collection>(
    collection: &mut Proxy<C, I>,
    index: AnyVariant<'static>,
) -> Called<Vec<u8>, C> {
    let method = <I::Item as Message>::METHOD;
    let request = I::item(index);
    let stub = collection.stub(&request).await?;
    let (_, reply) = collection.decode(&request, &stub)?;
    let status = reply.status();
    if !status.is_success() {
        return Err(Error::Status { method, status });
    }
    let item = I::item_of(reply).map(|item| item.data.into_owned());
    item.ok_or_else(|| {
        let source = DecodeError::invalid_field(method.name, "item", 0, "is NULL where the method succeeded");
        Error::Stub { method, source: source.into() }
    })
}

/// The objects that an enumerator of a collection answered with.
///
/// # Errors
/// DISP_E_TYPEMISMATCH if an element is no object.
pub fn objects_of<'a, 'stub>(
    reply: &'a NextVariantsReply<'stub>,
) -> Result<Vec<&'a InterfacePointer<'stub>>, HResult> {
    let object = |variant: &'a AnyVariant<'stub>| match variant.as_ref().map(|variant| &variant.value) {
        Some(Value::Dispatch(Some(object)) | Value::Unknown(Some(object))) => Ok(object.as_ref()),
        _ => Err(HResult::DISP_E_TYPEMISMATCH),
    };
    reply.items.elements.iter().map(object).collect()
}
