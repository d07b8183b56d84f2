//! What holds for all values.

use com::dcom::activation::{Activation, ActivationProperties, ActivationRequest, ObjectExporter};
use com::dcom::activator::IRemoteSCMActivator;
use com::dcom::remote_unknown::IRemUnknown2;
use com::dcom::resolver::IObjectExporter;
use com::dcom::types::{AuthenticationService, Oid, Oxid, ProtocolSequence, ReferenceFlags, StdObjref};
use com::dcom::wire::{
    Context, DataElement, DualStringArray, ErrorInfo, Objref, ObjrefBody, SecurityBinding, StringBinding,
};
use proptest::collection::vec;
use proptest::prelude::*;
use rpc::ndr::{InterfacePointer, Reader, Writer};
use rpc::orpc::ComVersion;
use rpc::{Direction, Interface};
use wire::{Guid, HResult, decode, encode_vec};

fn guid() -> impl Strategy<Value = Guid> {
    (1..=u128::MAX).prop_map(Guid::from_u128)
}

fn bindings() -> impl Strategy<Value = DualStringArray> {
    let string = (1..=u16::MAX, "[^\0]{0,20}")
        .prop_map(|(protocol, address)| StringBinding { protocol: ProtocolSequence(protocol), address });
    let security = (1..=u16::MAX, "[^\0]{0,20}").prop_map(|(service, principal)| SecurityBinding {
        service: AuthenticationService(service),
        principal,
    });
    (vec(string, 0..5), vec(security, 0..5))
        .prop_map(|(strings, security)| DualStringArray { strings, security })
}

fn std_objref() -> impl Strategy<Value = StdObjref> {
    (any::<u32>(), any::<u32>(), any::<u64>(), any::<u64>(), any::<u128>()).prop_map(
        |(flags, public_refs, oxid, oid, ipid)| StdObjref {
            flags: ReferenceFlags(flags),
            public_refs,
            oxid: Oxid(oxid),
            oid: Oid(oid),
            ipid: Guid::from_u128(ipid),
        },
    )
}

fn objref(iid: Guid) -> impl Strategy<Value = Objref<'static>> {
    let body = prop_oneof![
        (std_objref(), bindings()).prop_map(|(std, resolver)| ObjrefBody::Standard { std, resolver }),
        (std_objref(), any::<u128>(), bindings()).prop_map(|(std, clsid, resolver)| ObjrefBody::Handler {
            std,
            clsid: Guid::from_u128(clsid),
            resolver,
        }),
        (any::<u128>(), vec(any::<u8>(), 0..40)).prop_map(|(clsid, data)| ObjrefBody::Custom {
            clsid: Guid::from_u128(clsid),
            data: data.into(),
        }),
        (std_objref(), bindings(), guid(), vec(any::<u8>(), 1..40)).prop_map(|(std, resolver, id, data)| {
            ObjrefBody::Extended { std, resolver, context: DataElement { id, data: data.into() } }
        }),
    ];
    body.prop_map(move |body| Objref { iid, body })
}

fn activation() -> impl Strategy<Value = Activation> {
    let result = guid().prop_flat_map(|iid| {
        let failure = (0x8000_0000..=u32::MAX).prop_map(|status| Err(HResult(status)));
        (Just(iid), prop_oneof![objref(iid).prop_map(Ok), failure])
    });
    let exporter = (any::<u64>(), bindings(), any::<u128>(), any::<u32>(), any::<u16>());
    (exporter, vec(result, 1..4)).prop_map(|((oxid, bindings, ipid, authn_hint, minor), results)| {
        Activation {
            exporter: ObjectExporter {
                oxid: Oxid(oxid),
                bindings,
                ipid_rem_unknown: Guid::from_u128(ipid),
                authn_hint,
                version: ComVersion { major: 5, minor },
            },
            results,
        }
    })
}

prop_compose! {
    fn request()(
        class in guid(),
        interfaces in vec(guid(), 1..4),
        numbers in any::<[u32; 4]>(),
        partition in proptest::option::of(guid()),
        protocols in vec(any::<u16>().prop_map(ProtocolSequence), 0..3),
        server_name in proptest::option::of("[^\0]{0,20}"),
        context in proptest::option::of(guid()),
    ) -> ActivationRequest {
        let [class_context, flags, authn_level, session] = numbers;
        ActivationRequest {
            class, interfaces, class_context, flags, version: ComVersion::V5_6, authn_level, session, partition,
            protocols, server_name, context,
        }
    }
}

/// Bytes that are nearly something.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![6 => 0_u8..4, 1 => any::<u8>()], 0..200)
}

proptest! {
    #[test]
    fn an_object_reference_is_read_as_it_was_written(objref in guid().prop_flat_map(objref)) {
        let bytes = encode_vec(&objref).unwrap();
        prop_assert_eq!(decode::<Objref<'_>>(&bytes).unwrap(), objref.clone());
        let pointer = objref.to_pointer().unwrap();
        prop_assert_eq!(Objref::from_pointer(&pointer).unwrap(), objref);
    }

    #[test]
    fn bindings_are_read_as_they_were_written_in_both_forms(bindings in bindings()) {
        let bytes = encode_vec(&bindings).unwrap();
        prop_assert_eq!(decode::<DualStringArray>(&bytes).unwrap(), bindings.clone());
        let mut dst = Writer::new();
        dst.write(&bindings).unwrap();
        let stub = dst.into_stub();
        prop_assert_eq!(Reader::new(&stub, "Test").read::<DualStringArray>("array").unwrap(), bindings);
    }

    #[test]
    fn activations_are_read_as_they_were_written(request in request(), reply in activation()) {
        let pointer = request.to_pointer().unwrap();
        prop_assert_eq!(ActivationRequest::from_pointer(&pointer).unwrap(), request);
        let pointer = reply.to_pointer().unwrap();
        prop_assert_eq!(Activation::from_pointer(&pointer).unwrap(), reply);
    }

    #[test]
    fn an_activation_that_is_changed_is_read_or_refused(
        reply in activation(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = reply.to_pointer().unwrap().data.into_owned();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let pointer = InterfacePointer { size: 0, data: bytes.into() };
        if let Ok(read) = Activation::from_pointer(&pointer) && let Ok(again) = read.to_pointer() {
            prop_assert_eq!(Activation::from_pointer(&again).unwrap(), read);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in bytes()) {
        let _ = decode::<Objref<'_>>(&bytes);
        let _ = decode::<DualStringArray>(&bytes);
        let _ = decode::<ActivationProperties<'_>>(&bytes);
        let _ = decode::<Context<'_>>(&bytes);
        let _ = decode::<ErrorInfo>(&bytes);
    }

    #[test]
    fn what_is_read_is_written_as_it_is(opnum in 0_u16..7, is_request: bool, stub in bytes()) {
        let direction = if is_request { Direction::Request } else { Direction::Reply };
        let interfaces = [IObjectExporter::recode, IRemoteSCMActivator::recode, IRemUnknown2::recode];
        for recode in interfaces {
            if let Some(Ok(Ok(written))) = recode(direction, opnum, &stub) {
                let again = recode(direction, opnum, &written).unwrap().unwrap().unwrap();
                prop_assert_eq!(again, written);
            }
        }
    }
}
