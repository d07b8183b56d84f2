#!/usr/bin/env python3
"""Writes what impacket's DCOM client sends, and reads with it what our crate writes.

    impacket_dcom.py write > THEIRS
    impacket_dcom.py check OURS THEIRS RECODED

Each line of the files has a name, a direction and bytes in hexadecimal digits. OURS is what the example `dcom_stubs` prints,
RECODED is THEIRS after it was read and written again by the same example. Prints how much was compared; fails where impacket
reads something else than was meant.
"""

import sys

from impacket.dcerpc.v5 import dcomrt
from impacket.dcerpc.v5.dtypes import NULL
from impacket.dcerpc.v5.ndr import NDR
from impacket.uuid import bin_to_string, string_to_bin

CID = "01020304-0506-0708-090A-0B0C0D0E0F10"
IPID = "11121314-1516-1718-191A-1B1C1D1E1F20"
IID = "B60040E0-BCF3-11D1-861D-0080C729264D"
CLASS = "ECABAFB9-7F19-11D2-978E-0000F8757E2A"
REM_UNKNOWN = "00000131-0000-0000-C000-000000000046"
OXID, OID = 0x0123456789ABCDEF, 0xFEDCBA9876543210
E_NOINTERFACE, CO_E_OBJNOTREG, OR_INVALID_SET = 0x80004002, 0x800401FB, 1912
SECURITY = [(10, "RPCSS/web1"), (16, "host/web1")]


class Sent(Exception):
    """A request was written, and there is no answer."""


class Association:
    """What impacket's client calls: records requests, and answers those that it has an answer to."""

    def __init__(self, answers=None):
        self.answers, self.requests = answers, []

    def connect(self):
        pass

    def bind(self, _iid):
        pass

    def get_auth_type(self):
        return 10

    def get_rpc_transport(self):
        return self

    def getRemoteName(self):
        return "web1"

    def request(self, request, _uuid=None):
        name = type(request).__name__
        self.requests.append((name, "in", request.getData()))
        if self.answers is None:
            raise Sent
        return getattr(dcomrt, name + "Response")(self.answers[name, "out"])


class RemUnknown(dcomrt.IRemUnknown2):
    """impacket's proxy, on an association that stands already."""

    def __init__(self, association, instance):
        super().__init__(dcomrt.INTERFACE(instance, None, guid(IPID), guid(IPID), OXID, OID, "web1"))
        self.association = association

    def request(self, req, iid=None, uuid=None):
        return self.association.request(req, uuid)


def guid(text):
    return string_to_bin(text)


def text_of(identifier):
    return bin_to_string(identifier[:16]).upper()


def remote_unknown(association):
    this = dcomrt.ORPCTHIS()
    this["cid"], this["extensions"] = guid(CID), NULL
    return RemUnknown(association, dcomrt.CLASS_INSTANCE(this, []))


def calls(association):
    """Each call that impacket's client can make."""
    resolver, activator = dcomrt.IObjectExporter(association), dcomrt.IRemoteSCMActivator(association)
    unknown = remote_unknown(association)
    return {
        "ResolveOxid": lambda: resolver.ResolveOxid(OXID, (7,)),
        "SimplePing": lambda: resolver.SimplePing(7),
        "ComplexPing": lambda: resolver.ComplexPing(0, 1, [1, 2, OID], []),
        "ServerAlive": resolver.ServerAlive,
        "ResolveOxid2": lambda: resolver.ResolveOxid2(OXID, (7,)),
        "ServerAlive2": resolver.ServerAlive2,
        "RemoteGetClassObject": lambda: activator.RemoteGetClassObject(guid(CLASS), guid(IID)),
        "RemoteCreateInstance": lambda: activator.RemoteCreateInstance(guid(CLASS), guid(IID)),
        "RemQueryInterface": lambda: unknown.RemQueryInterface(5, (guid(IID),)),
        "RemAddRef": unknown.RemAddRef,
        "RemRelease": unknown.RemRelease,
    }


def std(objref):
    fields = objref["std"]
    fields["flags"], fields["cPublicRefs"], fields["oxid"], fields["oid"] = 0x1000, 5, OXID, OID
    fields["ipid"] = guid(IPID)


def objrefs():
    """The four forms of an object reference, as impacket writes them."""
    units = "\x07web1\0\0\x0a\uffff\0\0".encode("utf-16le")
    array = (len(units) // 2).to_bytes(2, "little") + (7).to_bytes(2, "little") + units
    for name in ("OBJREF_STANDARD", "OBJREF_HANDLER", "OBJREF_CUSTOM"):
        objref = getattr(dcomrt, name)()
        objref["iid"] = guid(IID)
        if name != "OBJREF_STANDARD":
            objref["clsid"] = guid(CLASS)
        if name == "OBJREF_CUSTOM":
            objref["cbExtension"], objref["ObjectReferenceSize"], objref["pObjectData"] = 0, 7, b"seven b"
        else:
            std(objref)
            objref["saResAddr"] = array
        yield name, "struct", objref.getData()


def activation():
    """The properties that a server returns, as impacket writes them, with one that it does not know."""
    out, reply = dcomrt.PropsOutInfo(), dcomrt.ScmReplyInfoData()
    objref = next(objrefs())[2]
    out["cIfs"] = 1
    iid = dcomrt.IID()
    iid["Data"] = guid(IID)
    out["piid"].append(iid)
    status = dcomrt.HRESULT()
    status["Data"] = 0
    out["phresults"].append(status)
    pointer = dcomrt.PMInterfacePointer()
    pointer["ulCntData"], pointer["abData"] = len(objref), list(map(lambda byte: bytes([byte]), objref))
    out["ppIntfData"].append(pointer)
    reply["pdwReserved"] = NULL
    remote = reply["remoteReply"]
    remote["Oxid"], remote["ipidRemUnknown"], remote["authnHint"] = OXID, guid(IPID), 5
    units = list("\x07web1[49664]\0\0\x0a\uffff\0\0".encode("utf-16le"))
    words = [low | high << 8 for low, high in zip(units[::2], units[1::2])]
    remote["pdsaOxidBindings"]["wNumEntries"], remote["pdsaOxidBindings"]["wSecurityOffset"] = len(words), 14
    remote["pdsaOxidBindings"]["aStringArray"] = words
    blob = dcomrt.ACTIVATION_BLOB()
    blob["CustomHeader"]["destCtx"], blob["CustomHeader"]["pdwReserved"] = 2, NULL
    properties = b""
    unknown = dcomrt.LocationInfoData()
    unknown["machineName"] = NULL
    for format, value in (
        (guid(CLASS), unknown),
        (dcomrt.CLSID_PropsOutInfo, out),
        (dcomrt.CLSID_ScmReplyInfo, reply),
    ):
        data = value.getData() + value.getDataReferents()
        data += b"\xfa" * (-len(data) % 8)
        clsid, size = dcomrt.CLSID(), dcomrt.DWORD()
        clsid["Data"], size["Data"] = format[:16], len(data)
        blob["CustomHeader"]["pclsid"].append(clsid)
        blob["CustomHeader"]["pSizes"].append(size)
        properties += data
    blob["Property"] = properties
    objref = dcomrt.OBJREF_CUSTOM()
    objref["iid"], objref["clsid"] = guid("000001A3-0000-0000-C000-000000000046"), dcomrt.CLSID_ActivationPropertiesOut[:16]
    objref["pObjectData"] = blob.getData()
    objref["cbExtension"], objref["ObjectReferenceSize"] = 0, len(objref["pObjectData"]) + 8
    return "Activation", "struct", objref.getData()


def extended():
    """A release of references with two extents before its parameters."""
    request = dcomrt.RemRelease()
    request["ORPCthis"]["cid"], request["ORPCthis"]["flags"] = guid(CID), 0
    extensions = request["ORPCthis"]["extensions"]
    extensions["size"] = 2
    for id, size in ((CLASS, 12), (IID, 16)):
        extent = dcomrt.PORPC_EXTENT()
        extent["id"], extent["size"], extent["data"] = guid(id), size, [b"x"] * 16
        extensions["extent"].append(extent)
    request["cInterfaceRefs"] = 1
    element = dcomrt.REMINTERFACEREF()
    element["ipid"], element["cPublicRefs"], element["cPrivateRefs"] = guid(IPID), 5, 0
    request["InterfaceRefs"].append(element)
    return "RemRelease", "in", request.getData()


def write():
    association = Association()
    for call in calls(association).values():
        try:
            call()
        except Sent:
            pass
    created = dcomrt.RemoteCreateInstance(association.requests[7][2])
    properties = b"".join(created["pActProperties"]["abData"])
    structures = list(objrefs()) + [("ActivationRequest", "struct", properties), activation()]
    lines = association.requests + structures + [extended()]
    for name, direction, data in lines:
        print(name, direction, data.hex())


def fields(value):
    """The fields of a structure, without the numbers that stand for its pointers."""
    if isinstance(value, NDR):
        return {name: fields(field) for name, field in value.fields.items() if name != "ReferentID"}
    if isinstance(value, (list, tuple)):
        return [fields(item) for item in value]
    return value


def read_lines(path):
    found = []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            name, direction, digits = line.rstrip("\n").split(" ")
            found.append((name, direction, bytes.fromhex(digits)))
    return found


def bound(bindings):
    return [(binding["wTowerId"], binding["aNetworkAddr"].rstrip("\0")) for binding in bindings]


def check_answers(ours):
    """impacket's client understands our replies."""
    association = Association(ours)
    call = calls(association)
    exporter = [(7, "web1[49664]"), (7, "10.0.0.12[49664]")]
    assert bound(call["ResolveOxid"]()) == exporter
    assert bound(call["ResolveOxid2"]()) == exporter
    assert bound(call["ServerAlive2"]()) == [(7, "web1"), (7, "10.0.0.12")]
    assert call["SimplePing"]()["ErrorCode"] == OR_INVALID_SET
    answer = call["ComplexPing"]()
    assert (answer["pSetId"], answer["pPingBackoffFactor"], answer["ErrorCode"]) == (7, 2, 0)
    assert call["ServerAlive"]()["ErrorCode"] == 0
    for name in ("RemoteGetClassObject", "RemoteCreateInstance"):
        proxy = call[name]()
        assert bound(proxy.get_cinstance().get_string_bindings()) == exporter
        found = (proxy.get_oxid(), proxy.get_oid(), text_of(proxy.get_iPid()), text_of(proxy.get_ipidRemUnknown()))
        assert found == (OXID, OID, IPID, IPID), found
    proxy = call["RemQueryInterface"]()
    assert (proxy.get_oxid(), text_of(proxy.get_iPid())) == (OXID, IPID)
    results = [result["Data"] & 0xFFFFFFFF for result in call["RemAddRef"]()["pResults"]]
    assert results == [0, CO_E_OBJNOTREG], results
    assert call["RemRelease"]()["ErrorCode"] == 0
    return len(association.requests)


def check_requests(ours):
    """impacket's structures have what we mean by our requests."""
    def read_request(name):
        return getattr(dcomrt, name)(ours[name, "in"])

    for name in ("ResolveOxid", "ResolveOxid2"):
        request = read_request(name)
        assert (request["pOxid"], request["cRequestedProtseqs"], list(request["arRequestedProtseqs"])) == (OXID, 1, [7])
    assert read_request("SimplePing")["pSetId"] == 7
    request = read_request("ComplexPing")
    assert (request["pSetId"], request["SequenceNum"]) == (0, 1)
    assert [oid["Data"] for oid in request["AddToSet"]] == [1, 2, OID]
    assert request.fields["DelFromSet"].fields["ReferentID"] == 0
    request = read_request("RemQueryInterface")
    assert (text_of(request["ripid"]), request["cRefs"], request["cIids"]) == (IPID, 5, 2)
    assert [text_of(iid["Data"]) for iid in request["iids"]] == [IID, CLASS]
    for name in ("RemAddRef", "RemRelease"):
        request = read_request(name)
        refs = [(text_of(ref["ipid"]), ref["cPublicRefs"], ref["cPrivateRefs"]) for ref in request["InterfaceRefs"]]
        assert refs == [(IPID, 5, 0), (CID, 1, 2)], refs
        this = request["ORPCthis"]
        version = (this["version"]["MajorVersion"], this["version"]["MinorVersion"])
        assert (version, this["flags"], text_of(this["cid"])) == ((5, 7), 0, CID)
    for name in ("RemoteGetClassObject", "RemoteCreateInstance"):
        data = b"".join(read_request(name)["pActProperties"]["abData"])
        check_activation(data, [IID, REM_UNKNOWN], context=CID, server="web1\0")
    return 10


def check_activation(data, iids, level=6, context=None, server=None):
    """impacket's structures have what we mean by the properties of an activation."""
    objref = dcomrt.OBJREF_CUSTOM(data)
    assert objref["clsid"] == dcomrt.CLSID_ActivationPropertiesIn[:16]
    blob = dcomrt.ACTIVATION_BLOB(objref["pObjectData"])
    header, rest = blob["CustomHeader"], blob["Property"]
    assert blob["dwSize"] == len(objref["pObjectData"]) - 8 == header["totalSize"]
    values = {}
    for clsid, size in zip(header["pclsid"], header["pSizes"]):
        values[clsid["Data"][:16]], rest = rest[:size["Data"]], rest[size["Data"]:]
    assert rest == b"", "bytes behind the last property"

    def property_of(kind, format):
        value = kind()
        value.fromStringReferents(values[format[:16]][value.fromString(values[format[:16]]):])
        return value

    instance = property_of(dcomrt.InstantiationInfoData, dcomrt.CLSID_InstantiationInfo)
    assert text_of(instance["classId"]) == CLASS
    assert [text_of(iid["Data"]) for iid in instance["pIID"]] == iids
    assert instance["thisSize"] == len(values[dcomrt.CLSID_InstantiationInfo[:16]])
    request = property_of(dcomrt.ScmRequestInfoData, dcomrt.CLSID_ScmRequestInfo)["remoteRequest"]
    assert (request["ClientImpLevel"], list(request["pRequestedProtseqs"])) == (2, [7])
    client = property_of(dcomrt.ActivationContextInfoData, dcomrt.CLSID_ActivationContextInfo)
    if context is not None:
        client = dcomrt.OBJREF_CUSTOM(b"".join(client["pIFDClientCtx"]["abData"]))
        assert client["iid"] == guid("000001C0-0000-0000-C000-000000000046")
        assert text_of(client["pObjectData"][4:20]) == context
    security = property_of(dcomrt.SecurityInfoData, dcomrt.CLSID_SecurityInfo)
    if server is not None:
        assert security["pServerInfo"]["pwszName"] == server
    special = property_of(dcomrt.SpecialPropertiesData, dcomrt.CLSID_SpecialSystemProperties)
    assert (special["dwSessionId"], special["dwDefaultAuthnLvl"]) == (0xFFFFFFFF, level)


def check_structures(ours):
    """impacket's structures have what we mean by ours."""
    for name in ("OBJREF_STANDARD", "OBJREF_HANDLER", "OBJREF_EXTENDED", "OBJREF_CUSTOM"):
        objref = getattr(dcomrt, name)(ours[name, "struct"])
        assert objref["signature"] == 0x574F454D and text_of(objref["iid"]) == IID
        if name in ("OBJREF_HANDLER", "OBJREF_CUSTOM"):
            assert text_of(objref["clsid"]) == CLASS
        if name == "OBJREF_CUSTOM":
            assert objref["pObjectData"] == b"seven b"
            continue
        std = objref["std"]
        assert (std["oxid"], std["oid"], text_of(std["ipid"]), std["cPublicRefs"]) == (OXID, OID, IPID, 5)
        if name == "OBJREF_EXTENDED":
            assert (objref["nElms"], objref["Signature2"]) == (1, 0x4E535956)
            element = objref.fields["ElmArray"].fields
            sizes = [element[name]["Data"] for name in ("cbSize", "cbRounded")]
            assert (text_of(element["dataID"]["Data"]), sizes) == (CID, [9, 16])
            assert element["Data"][:9] == b"a context"
        else:
            assert objref["saResAddr"] == ours["DUALSTRINGARRAY", "struct"]
    check_bindings(ours["DUALSTRINGARRAY", "struct"])
    response = dcomrt.RemReleaseResponse(ours["ORPCTHAT", "struct"])
    extents = response["ORPCthat"]["extensions"]
    assert extents["size"] == 3
    assert [extent["size"] for extent in extents["extent"][1:3]] == [12, 0]
    assert b"".join(extents["extent"][1]["data"])[:12] == b"twelve bytes"
    assert response["ErrorCode"] & 0xFFFFFFFF == 0x80004005
    return 6


def check_bindings(data):
    """Both lists of an array, as impacket takes them apart."""
    array = dcomrt.DUALSTRINGARRAYPACKED(data)
    units, split = array["aStringArray"], array["wSecurityOffset"] * 2
    assert len(units) == array["wNumEntries"] * 2
    rest, strings, security = units[:split], [], []
    while rest[:2] != b"\0\0":
        strings.append(dcomrt.STRINGBINDING(rest))
        rest = rest[len(strings[-1]):]
    rest = units[split:]
    while rest[:2] != b"\0\0":
        binding = dcomrt.SECURITYBINDING(rest)
        security.append((binding["wAuthnSvc"], binding["aPrincName"].rstrip("\0")))
        rest = rest[len(binding):]
    assert bound(strings) == [(7, "web1"), (7, "10.0.0.12")], strings
    assert security == SECURITY, security


def check_recoded(theirs, recoded):
    """What we read of impacket's bytes and wrote again means the same to it."""
    assert [line[:2] for line in theirs] == [line[:2] for line in recoded]
    for (name, direction, before), (_, _, after) in zip(theirs, recoded):
        if name == "ActivationRequest":
            check_activation(after, [IID], level=0)
        if name in ("Activation", "ActivationRequest"):
            continue  # Properties are written in our order.
        kind = getattr(dcomrt, name)
        assert fields(kind(before)) == fields(kind(after)), name
    objref = next(data for name, _, data in recoded if name == "Activation")
    answer = dcomrt.RemoteCreateInstanceResponse()
    answer["ORPCthat"]["extensions"] = NULL
    answer["ppActProperties"]["ulCntData"] = len(objref)
    answer["ppActProperties"]["abData"] = [bytes([byte]) for byte in objref]
    answer["ErrorCode"] = 0
    proxy = calls(Association({("RemoteCreateInstance", "out"): answer.getData()}))["RemoteCreateInstance"]()
    assert (proxy.get_oxid(), proxy.get_oid(), text_of(proxy.get_iPid())) == (OXID, OID, IPID)
    return len(recoded)


def main():
    if sys.argv[1:] == ["write"]:
        return write()
    _, _, ours_path, theirs_path, recoded_path = sys.argv
    ours = {(name, direction): data for name, direction, data in read_lines(ours_path)}
    answers, requests, structures = check_answers(ours), check_requests(ours), check_structures(ours)
    recoded = check_recoded(read_lines(theirs_path), read_lines(recoded_path))
    print(f"{requests} requests, {answers} replies and {structures} structures of ours, {recoded} of impacket's")


if __name__ == "__main__":
    sys.exit(main())
