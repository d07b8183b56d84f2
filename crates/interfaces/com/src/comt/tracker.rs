//! [MS-COMT] 3.1: IGetTrackingData, which is polled.

use rpc::Message;
use rpc::ndr::{Conformant, EncodeError};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::{DecodeError, EncodeResult, Guid, HResult};

use crate::comt::types::{ComponentData, ContainerData};

rpc::interface! {
    /// [MS-COMT] 3.1.4.1: what runs on the host. Windows answers opnums 3 and 7 with E_NOTIMPL; nobody sends them.
    pub orpc interface IGetTrackingData: IUnknown("b60040e0-bcf3-11d1-861d-0080c729264d") -> HResult {
        /// [MS-COMT] 3.1.4.1.1: all containers.
        4 => GetContainerData() -> (
            #[ndr(name = "nContainers")] count: u32,
            #[ndr(name = "aContainerData", size_is = count)] data: Option<Box<Conformant<ContainerData>>>,
        );

        /// [MS-COMT] 3.1.4.1.2: the components of a container.
        5 => GetComponentDataByContainer(#[ndr(name = "idContainer")] container: u32) -> (
            #[ndr(name = "nComponents")] count: u32,
            #[ndr(name = "aComponentData", size_is = count)] data: Option<Box<Conformant<ComponentData>>>,
        );

        /// [MS-COMT] 3.1.4.1.3: one component of a container.
        6 => GetComponentDataByContainerAndCLSID as get_component_data_by_container_and_clsid(
            #[ndr(name = "idContainer")] container: u32, clsid: Guid,
        ) -> (#[ndr(name = "ppComponentData")] data: Option<Box<ComponentData>>);
    }
}

impl GetContainerDataReply {
    /// A reply with these containers.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn new(containers: Vec<ContainerData>) -> EncodeResult<Self> {
        let (count, data) = counted(Self::METHOD.name, containers)?;
        Ok(Self { count, data, status: HResult::S_OK })
    }

    /// The containers.
    ///
    /// # Errors
    /// When there are none where their number is not 0.
    pub fn containers(&self) -> Result<&[ContainerData], DecodeError> {
        elements(Self::METHOD.name, "aContainerData", self.count, self.data.as_deref())
    }
}

impl GetComponentDataByContainerReply {
    /// A reply with these components.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn new(components: Vec<ComponentData>) -> EncodeResult<Self> {
        let (count, data) = counted(Self::METHOD.name, components)?;
        Ok(Self { count, data, status: HResult::S_OK })
    }

    /// The components.
    ///
    /// # Errors
    /// When there are none where their number is not 0.
    pub fn components(&self) -> Result<&[ComponentData], DecodeError> {
        elements(Self::METHOD.name, "aComponentData", self.count, self.data.as_deref())
    }
}

/// An array and its number of elements; without elements it is a NULL pointer.
#[allow(clippy::type_complexity, reason = "two parameters of a reply")]
fn counted<T>(method: &'static str, elements: Vec<T>) -> EncodeResult<(u32, Option<Box<Conformant<T>>>)> {
    let count =
        u32::try_from(elements.len()).map_err(|_| EncodeError::new(method, "count", "is above 32 bits"))?;
    let data = (!elements.is_empty()).then(|| Box::new(Conformant(elements)));
    Ok((count, data))
}

fn elements<'a, T>(
    method: &'static str,
    field: &'static str,
    count: u32,
    data: Option<&'a Conformant<T>>,
) -> Result<&'a [T], DecodeError> {
    match data {
        Some(array) => Ok(&array.0),
        None if count == 0 => Ok(&[]),
        None => Err(DecodeError::invalid_field(method, field, 0, "is NULL where its number is not 0")),
    }
}
