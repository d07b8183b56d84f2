//! What documents leave open: the size of enumerations, and the pointers before an array.

use core::future::{Future, ready};

use com::oaut::{ArrayParameter, Bstr, IDispatchServer, SafeArray};
use ms_pla::data_collector_set::{
    CommitReply, CommitRequest, GetKeywordsReply, GetStatusReply, PutKeywordsRequest,
    PutSubdirectoryFormatReply, PutSubdirectoryFormatRequest, SetCredentialsRequest,
};
use ms_pla::{
    AutoPathFormat, CommitMode, DataCollectorSetStatus, IDataCollectorSet, IDataCollectorSetServer, Password,
};
use rpc::ndr::EnumForm;
use rpc::orpc::{ComVersion, IUnknownServer, OrpcThis, Proxy, read_reply, read_request, request_stub};
use rpc::{CallInfo, Channel, Error, FaultStatus, ServerResult};
use test_support::future::now;
use wire::{Guid, HResult};

/// A host that reads enumerations in one form, and what it read.
struct Host {
    enums: EnumForm,
    modes: Vec<CommitMode>,
    formats: Vec<AutoPathFormat>,
    stubs: Vec<usize>,
}

impl IUnknownServer for Host {
    fn enums(&self) -> EnumForm {
        self.enums
    }
}

impl IDispatchServer for Host {}

impl IDataCollectorSetServer for Host {
    fn commit(&mut self, request: &CommitRequest) -> ServerResult<CommitReply<'_>, HResult> {
        self.modes.push(request.mode);
        Ok(CommitReply { validation: None, status: HResult::S_OK })
    }

    fn put_subdirectory_format(
        &mut self,
        request: &PutSubdirectoryFormatRequest,
    ) -> ServerResult<PutSubdirectoryFormatReply, HResult> {
        self.formats.push(request.value);
        Ok(PutSubdirectoryFormatReply { status: HResult::S_OK })
    }
}

impl Channel for Host {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        _: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        self.stubs.push(stub.len());
        ready(IDataCollectorSet::dispatch(self, &CallInfo::default(), opnum, stub))
    }
}

fn set(host: EnumForm, client: EnumForm) -> Proxy<Host, IDataCollectorSet> {
    let host = Host { enums: host, modes: Vec::new(), formats: Vec::new(), stubs: Vec::new() };
    Proxy::new(host, Guid::from_u128(1), ComVersion::V5_7, Guid::from_u128(2)).with_enums(client)
}

/// A commit whose last parameter is at a multiple of four, or behind one.
fn commit(server: &str, mode: CommitMode) -> CommitRequest {
    CommitRequest { name: Bstr::new("set").unwrap(), server: Bstr::new(server).unwrap(), mode }
}

const ALL: [EnumForm; 3] = [EnumForm::Either, EnumForm::Short, EnumForm::Long];

#[test]
fn a_client_that_knows_nothing_is_read_by_hosts_of_both_forms_and_a_host_reads_clients_of_both() {
    let understood = |host, client| host == client || host == EnumForm::Either || client == EnumForm::Either;
    for (host, client) in ALL.into_iter().flat_map(|host| ALL.map(|client| (host, client))) {
        let mut set = set(host, client);
        let modes = [CommitMode::CREATE_OR_MODIFY, CommitMode::MODIFY | CommitMode::UPDATE_RUNNING_INSTANCE];
        let mut read = Vec::new();
        for mode in modes {
            for server in ["even", "odd"] {
                // One that reads the other form finds too few bytes, or reads padding.
                if now(set.stub(&commit(server, mode))).is_ok() {
                    read.extend(set.channel().modes.pop());
                }
            }
        }
        let sent = modes.map(|mode| [mode; 2]).concat();
        assert_eq!(read == sent, understood(host, client), "{host:?} {client:?}: {read:?}");
        let value = AutoPathFormat::PATTERN | AutoPathFormat::COMPUTER;
        let is_read = now(set.call(&PutSubdirectoryFormatRequest { value })).is_ok();
        assert!(is_read || (host, client) == (EnumForm::Long, EnumForm::Short));
        assert_eq!(set.channel().formats.pop(), is_read.then_some(value));
    }
}

#[test]
fn stubs_have_the_length_of_their_form() {
    let length = |form, server| {
        let mut set = set(EnumForm::Either, form);
        now(set.stub(&commit(server, CommitMode::MODIFY))).unwrap();
        set.channel().stubs[0]
    };
    assert_eq!(
        [EnumForm::Short, EnumForm::Long, EnumForm::Either].map(|form| length(form, "even")),
        [82, 84, 84]
    );
    assert_eq!(
        [EnumForm::Short, EnumForm::Long, EnumForm::Either].map(|form| length(form, "odd")),
        [80, 84, 84]
    );
}

// [MS-RPCE] 2.2.2.13: a trailer is at a multiple of four after the stub.
#[test]
fn a_verification_trailer_is_no_enumeration() {
    let this = OrpcThis::new(ComVersion::V5_7, Guid::from_u128(2));
    for (server, short) in [("even", 82), ("odd", 80)] {
        let request = commit(server, CommitMode(0x1234));
        let stub = request_stub(&this, &request).unwrap();
        for mut stub in [stub[..short].to_vec(), stub] {
            stub.resize(stub.len().next_multiple_of(4), 0);
            stub.extend([0x8a, 0xe3, 0x13, 0x71, 2, 0xf4, 0x36, 0x71, 1, 0x40, 4, 0, 0, 0, 0, 0]);
            assert_eq!(read_request::<CommitRequest>(&stub).unwrap().1, request);
        }
    }
}

#[test]
fn a_reply_reads_the_same_whether_the_high_half_is_zero_padding_or_noise() {
    for high in [0_u8, 0xcc] {
        let stub = [&[0; 8][..], &[2, 0, high, high], &[0; 4]].concat();
        let (_, reply) = read_reply::<GetStatusReply>(&stub).unwrap();
        assert_eq!(reply.value, DataCollectorSetStatus::COMPILING);
        assert_eq!((reply.value.to_string().as_str(), reply.status), ("COMPILING", HResult::S_OK));
    }
}

#[test]
fn an_array_is_read_behind_one_pointer_and_behind_two() {
    let texts = || vec![Bstr::new("a").unwrap(), Bstr::new("bc").unwrap()];
    let array = || Some(Box::new(SafeArray::of_bstrs(texts()).unwrap()));
    let this = OrpcThis::new(ComVersion::V5_7, Guid::from_u128(2));
    let values = [
        ArrayParameter::Single(array()),
        ArrayParameter::of_bstrs(texts()).unwrap(),
        ArrayParameter::Single(None),
        ArrayParameter::Double(Some(Box::new(None))),
        ArrayParameter::of_bstrs(Vec::new()).unwrap(),
    ];
    let lengths = [116, 120, 36, 40, 80];
    for (value, length) in values.into_iter().zip(lengths) {
        let request = PutKeywordsRequest { value };
        let stub = request_stub(&this, &request).unwrap();
        assert_eq!(stub.len(), length, "{request:?}");
        assert_eq!(read_request::<PutKeywordsRequest<'_>>(&stub).unwrap().1, request);
    }
    assert_eq!(ArrayParameter::Single(array()).bstrs(), Some(&texts()[..]));
    assert_eq!(ArrayParameter::Double(Some(Box::new(array()))).bstrs(), Some(&texts()[..]));
    assert_eq!(ArrayParameter::default().bstrs(), Some(&[][..]));
    assert_eq!(ArrayParameter::Single(array()).bytes(), None);
}

/// Marshalers in C write 1 for a pointer that is not NULL.
#[test]
fn an_array_behind_a_pointer_that_is_one_is_not_taken_for_its_number_of_dimensions() {
    let value = ArrayParameter::of_bstrs(vec![Bstr::new("a").unwrap()]).unwrap();
    let this = OrpcThis::new(ComVersion::V5_7, Guid::from_u128(2));
    let request = PutKeywordsRequest { value };
    let mut stub = request_stub(&this, &request).unwrap();
    stub[32..40].copy_from_slice(&[b'U', b's', b'e', b'r', 1, 0, 0, 0]);
    assert_eq!(read_request::<PutKeywordsRequest<'_>>(&stub).unwrap().1, request);
}

#[test]
fn a_failure_has_no_array() {
    let stub = [0, 0, 0, 0x8007_0005_u32].map(u32::to_le_bytes).concat();
    let (_, reply) = read_reply::<GetKeywordsReply<'_>>(&stub).unwrap();
    assert_eq!((reply.value, reply.status), (ArrayParameter::default(), HResult::E_ACCESSDENIED));
}

#[test]
fn a_password_is_not_printed() {
    let password = Password(Bstr::new("not-a-real-password").unwrap());
    let request = SetCredentialsRequest { user: Bstr::new("web1").unwrap(), password };
    let printed = format!("{request:?}");
    assert!(printed.contains("password: ***"), "{printed}");
    let units = "not-a-real-password".encode_utf16().collect::<Vec<_>>();
    assert!(!printed.contains(&format!("{units:?}")));
}

#[test]
fn a_set_without_a_method_answers_that_it_is_not_there() {
    let mut set = set(EnumForm::Either, EnumForm::Either);
    let error = now(set.call(&ms_pla::data_collector_set::DeleteRequest {})).unwrap_err();
    assert!(matches!(error, Error::Call { source: FaultStatus::NCA_S_OP_RNG_ERROR, .. }), "{error}");
}
