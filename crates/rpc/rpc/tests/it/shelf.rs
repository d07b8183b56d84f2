//! A made-up interface, its server, and a channel to it.

use core::convert::Infallible;
use core::future::{Future, ready};
use std::borrow::Cow;
use std::collections::BTreeSet;

use rpc::ndr::{ConformantBytes, ConformantVaryingBytes, ContextHandle, WideString};
use rpc::{CallInfo, Channel, FaultStatus, Method, ServerResult};
use wire::{Guid, Win32Error};

rpc::interface! {
    #[doc(alias = "shelf")]
    pub(crate) interface Shelf("0a74ef1c-41a4-4e06-83ae-dc74fb1cdd53", 2.1) -> Win32Error {
        0 => ShelfOpen as open_shelf(name: WideString) -> (shelf: ContextHandle);

        1 => CloseShelf(#[ndr(handle)] shelf: ContextHandle) -> (shelf: ContextHandle);

        /// Reads a book, as far as there is room.
        4 => ReadBook(
            #[ndr(handle)] shelf: ContextHandle, #[ndr(name = "dwRoom", range = 0..=16)] room: u32,
        ) -> (
            #[ndr(name = "dwSize")] size: u32,
            #[ndr(name = "text", size_is = room, length_is = size)] text: ConformantVaryingBytes<'stub>,
        );

        /// Writes a book, and answers what is written.
        5 => WriteBook(
            length: u16, #[ndr(size_is = length)] text: ConformantBytes<'stub>,
        ) -> (text: ConformantBytes<'stub>);

        9 => Rest();

        /// Says the title of the last book.
        12 => Title() -> (title: WideString);

        /// Says whether a book is there.
        13 => IsThere(book: u32) -> (shelves: u16, #[ndr(name = "return value", returned)] is_there: u32);
    }
}

pub(crate) const HANDLE: ContextHandle = ContextHandle { attributes: 0, uuid: Guid::from_u128(7) };
pub(crate) const SUCCESS: Win32Error = Win32Error::ERROR_SUCCESS;

/// A library with one shelf and one book.
#[derive(Default)]
pub(crate) struct Library {
    pub(crate) open: BTreeSet<Guid>,
    pub(crate) is_closed: bool,
    pub(crate) called: Vec<&'static str>,
}

impl ShelfServer for Library {
    fn is_open(&self, handle: ContextHandle) -> bool {
        self.open.contains(&handle.uuid)
    }

    fn authorize(&mut self, _call: &CallInfo, method: &Method) -> ServerResult<(), Win32Error> {
        self.called.push(method.name);
        if self.is_closed { Err(Win32Error::ERROR_ACCESS_DENIED.into()) } else { Ok(()) }
    }

    fn open_shelf(&mut self, request: &OpenShelfRequest) -> ServerResult<OpenShelfReply, Win32Error> {
        if request.name.0 != "A" {
            return Err(Win32Error::ERROR_FILE_NOT_FOUND.into());
        }
        self.open.insert(HANDLE.uuid);
        Ok(OpenShelfReply { shelf: HANDLE, status: SUCCESS })
    }

    fn close_shelf(&mut self, request: &CloseShelfRequest) -> ServerResult<CloseShelfReply, Win32Error> {
        self.open.remove(&request.shelf.uuid);
        Ok(CloseShelfReply { shelf: ContextHandle::NULL, status: SUCCESS })
    }

    fn read_book(&mut self, request: &ReadBookRequest) -> ServerResult<ReadBookReply<'_>, Win32Error> {
        const BOOK: &[u8] = b"Once upon";
        let room = usize::try_from(request.room).unwrap();
        if BOOK.len() <= room {
            let text = ConformantVaryingBytes { max_count: request.room, bytes: Cow::Borrowed(BOOK) };
            Ok(ReadBookReply { size: 9, text, status: SUCCESS })
        } else {
            Err(Win32Error::ERROR_MORE_DATA.into())
        }
    }

    fn write_book(&mut self, request: &WriteBookRequest<'_>) -> ServerResult<WriteBookReply<'_>, Win32Error> {
        if request.text.0.is_empty() {
            return Err(FaultStatus::NCA_S_FAULT_UNSPEC.into());
        }
        let text = ConformantBytes(Cow::Owned(request.text.0.to_ascii_uppercase()));
        Ok(WriteBookReply { text, status: SUCCESS })
    }

    fn is_there(&mut self, request: &IsThereRequest) -> ServerResult<IsThereReply, Win32Error> {
        match request.book {
            0 => Err(Win32Error::ERROR_FILE_NOT_FOUND.into()),
            book => Ok(IsThereReply { shelves: 7, is_there: book, status: Win32Error::ERROR_MORE_DATA }),
        }
    }
}

/// Leads to a library.
pub(crate) struct Loop(pub(crate) Library);

impl Channel for Loop {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        _object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        ready(self.0.dispatch(&CallInfo::default(), opnum, stub))
    }
}

/// Answers the same to every call.
pub(crate) struct Canned(pub(crate) Vec<u8>);

impl Channel for Canned {
    type Error = Infallible;

    fn call(
        &mut self,
        _opnum: u16,
        _object: Option<Guid>,
        _stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Infallible>> + Send {
        ready(Ok(self.0.clone()))
    }
}
