use com::dcom::activation::{
    Activation, ActivationProperties, ActivationRequest, InstantiationInfo, LocationInfo, Property,
    PropsOutInfo, ScmRequestInfo, SpecialProperties,
};
use com::dcom::types::{
    CLSID_ACTIVATION_PROPERTIES_IN, CLSID_ACTIVATION_PROPERTIES_OUT, IID_ACTIVATION_PROPERTIES_IN,
    IID_ACTIVATION_PROPERTIES_OUT, ProtocolSequence, property,
};
use com::dcom::wire::Objref;
use rpc::ndr::{InterfacePointer, from_pickle};
use rpc::orpc::ComVersion;
use wire::{Guid, HResult, decode, encode_vec};

use crate::dcom::fixture::{CID, CLASS, IID, IPID, activation, objref, pointer};

fn request() -> ActivationRequest {
    ActivationRequest {
        flags: 0x20,
        session: 3,
        partition: Some(IPID),
        protocols: vec![ProtocolSequence::TCP, ProtocolSequence::NAMED_PIPE],
        server_name: Some("web1".to_owned()),
        context: Some(CID),
        version: ComVersion::V5_6,
        ..ActivationRequest::new(CLASS, vec![IID, IPID])
    }
}

/// The properties in a pointer that this crate wrote.
fn properties(pointer: &InterfacePointer<'_>) -> Vec<Property<'static>> {
    let objref = Objref::from_pointer(pointer).unwrap();
    let formats = [CLSID_ACTIVATION_PROPERTIES_IN, CLSID_ACTIVATION_PROPERTIES_OUT];
    let data = formats.iter().find_map(|&format| objref.custom_data(format)).unwrap();
    let properties: ActivationProperties<'_> = decode(data).unwrap();
    let owned = |property: Property<'_>| Property {
        format: property.format,
        data: property.data.into_owned().into(),
    };
    properties.properties.into_iter().map(owned).collect()
}

fn request_of(properties: Vec<Property<'_>>) -> InterfacePointer<'static> {
    let data = encode_vec(&ActivationProperties { properties }).unwrap();
    Objref::custom(IID_ACTIVATION_PROPERTIES_IN, CLSID_ACTIVATION_PROPERTIES_IN, data).to_pointer().unwrap()
}

fn reply_of(properties: Vec<Property<'_>>) -> InterfacePointer<'static> {
    let data = encode_vec(&ActivationProperties { properties }).unwrap();
    Objref::custom(IID_ACTIVATION_PROPERTIES_OUT, CLSID_ACTIVATION_PROPERTIES_OUT, data).to_pointer().unwrap()
}

#[test]
fn a_request_and_a_reply_are_read_as_they_were_written() {
    for request in [request(), ActivationRequest::new(CLASS, vec![IID])] {
        assert_eq!(ActivationRequest::from_pointer(&request.to_pointer().unwrap()).unwrap(), request);
    }
    let reply = activation();
    assert_eq!(Activation::from_pointer(&reply.to_pointer().unwrap()).unwrap(), reply);
    assert_eq!(reply.interface(IID), Ok(&objref()));
    assert_eq!(reply.interface(CLASS), Err(HResult::E_NOINTERFACE));
    assert_eq!(reply.interface(CID), Err(HResult::E_NOINTERFACE));
}

/// [MS-DCOM] <74>, and the order of captures.
#[test]
fn a_request_has_the_properties_that_windows_sends() {
    let sent = properties(&request().to_pointer().unwrap());
    let formats: Vec<Guid> = sent.iter().map(|property| property.format).collect();
    let expected = [
        property::SPECIAL_SYSTEM_PROPERTIES,
        property::INSTANTIATION_INFO,
        property::ACTIVATION_CONTEXT_INFO,
        property::SECURITY_INFO,
        property::LOCATION_INFO,
        property::SCM_REQUEST_INFO,
    ];
    assert_eq!(formats, expected);
    assert!(sent.iter().all(|property| property.data.len() % 8 == 0));
    let special: SpecialProperties = from_pickle(&sent[0].data, "Test").unwrap();
    assert_eq!((special.session, special.is_this_session, special.has_partition), (3, 1, 1));
    assert_eq!((special.flags, special.original_class_context, special.authn_level), (2, 0x14, 6));
    // Its headers, and both definitions' common part with the members of the first one.
    assert_eq!(sent[0].data.len(), 16 + 88);
    let instance: InstantiationInfo = from_pickle(&sent[1].data, "Test").unwrap();
    assert_eq!(usize::try_from(instance.size).unwrap(), sent[1].data.len());
    let scm: ScmRequestInfo = from_pickle(&sent[5].data, "Test").unwrap();
    assert_eq!(scm.request.unwrap().impersonation_level, 2);
}

#[test]
fn a_request_needs_its_class_and_its_protocols_alone() {
    let sent = properties(&request().to_pointer().unwrap());
    let few = [&sent[1], &sent[5]].map(Clone::clone).to_vec();
    let read = ActivationRequest::from_pointer(&request_of(few)).unwrap();
    let expected = ActivationRequest {
        session: u32::MAX,
        partition: None,
        server_name: None,
        context: None,
        authn_level: 0,
        ..request()
    };
    assert_eq!(read, expected);
    for missing in [1, 5] {
        let others = sent.iter().enumerate().filter(|(index, _)| *index != missing);
        let others = others.map(|(_, property)| property.clone()).collect();
        let error = ActivationRequest::from_pointer(&request_of(others)).unwrap_err().to_string();
        assert!(error.starts_with("activation properties: ") && error.contains("is missing"), "{error}");
    }
}

#[test]
fn unknown_properties_are_passed_over_and_of_two_the_first_counts() {
    let mut sent = properties(&request().to_pointer().unwrap());
    sent.insert(0, Property { format: IPID, data: b"unknown!"[..].into() });
    sent.push(properties(&ActivationRequest::new(IPID, vec![CID]).to_pointer().unwrap())[1].clone());
    assert_eq!(ActivationRequest::from_pointer(&request_of(sent)).unwrap(), request());

    let mut sent = properties(&activation().to_pointer().unwrap());
    sent.insert(1, Property::new(property::LOCATION_INFO, &LocationInfo::default()).unwrap());
    assert_eq!(Activation::from_pointer(&reply_of(sent)).unwrap(), activation());
}

/// [MS-DCOM] 2.2.22.2.2: servers take the definition of old clients, too, which is 8 bytes shorter.
#[test]
fn special_properties_of_old_clients_are_read() {
    let mut sent = properties(&request().to_pointer().unwrap());
    let mut old = sent[0].data.to_vec();
    old.truncate(old.len() - 8);
    old[8..12].copy_from_slice(&80_u32.to_le_bytes());
    old[16 + 48..].fill(0xcc);
    sent[0].data = old.into();
    assert_eq!(ActivationRequest::from_pointer(&request_of(sent)).unwrap(), request());
}

#[test]
fn an_interface_that_is_promised_is_there_and_is_the_one_that_was_asked_for() {
    let promise = |iid, result, data: Option<InterfacePointer<'static>>| {
        let written = properties(&activation().to_pointer().unwrap());
        let mut out: PropsOutInfo<'_> = from_pickle(&written[0].data, "Test").unwrap();
        out.interfaces.as_mut().unwrap().0[0] = iid;
        out.results.as_mut().unwrap().0[0] = result;
        out.pointers.as_mut().unwrap().0[0] = data.map(Box::new);
        let sent = vec![Property::new(property::PROPS_OUT_INFO, &out).unwrap(), written[1].clone()];
        Activation::from_pointer(&reply_of(sent)).map_err(|error| error.to_string())
    };
    let there = || Some(objref().to_pointer().unwrap());
    assert_eq!(promise(IID, HResult::S_OK, there()).unwrap(), activation());
    let error = promise(IID, HResult::S_OK, None).unwrap_err();
    assert!(error.contains("`ppIntfData`: is NULL where phresults is success"), "{error}");
    let error = promise(CID, HResult::S_OK, there()).unwrap_err();
    assert!(error.contains("is of another interface"), "{error}");
    let error = promise(IID, HResult::S_OK, Some(pointer(b"WOOF".to_vec()))).unwrap_err();
    assert!(error.starts_with("OBJREF: "), "{error}");
    // What comes with a failure is not looked at.
    let failed = promise(IID, HResult::E_FAIL, Some(pointer(b"WOOF".to_vec()))).unwrap();
    assert_eq!(failed.interface(IID), Err(HResult::E_FAIL));
}

#[test]
fn properties_of_the_other_direction_are_none() {
    let error = Activation::from_pointer(&request().to_pointer().unwrap()).unwrap_err().to_string();
    assert!(error.contains("activation properties of this direction"), "{error}");
    let error = ActivationRequest::from_pointer(&activation().to_pointer().unwrap()).unwrap_err().to_string();
    assert!(error.contains("activation properties of this direction"), "{error}");
}

#[test]
fn what_cannot_be_counted_is_not_written() {
    let none = ActivationRequest::new(CLASS, Vec::new());
    assert_eq!(
        none.to_pointer().unwrap_err().to_string(),
        "InstantiationInfoData: `cIID`: is not 1 to 32768"
    );
    let many = ActivationRequest::new(CLASS, vec![IID; 0x8001]);
    assert!(many.to_pointer().is_err());
    let nobody = Activation { results: Vec::new(), ..activation() };
    assert_eq!(nobody.to_pointer().unwrap_err().to_string(), "PropsOutInfo: `cIfs`: is not 1 to 32768");
    let property = Property { format: IID, data: b"12345678"[..].into() };
    for count in [0, 11] {
        let properties = ActivationProperties { properties: vec![property.clone(); count] };
        assert!(encode_vec(&properties).is_err(), "{count}");
    }
    let properties = ActivationProperties { properties: vec![property; 10] };
    let bytes = encode_vec(&properties).unwrap();
    assert_eq!(decode::<ActivationProperties<'_>>(&bytes).unwrap(), properties);
}
