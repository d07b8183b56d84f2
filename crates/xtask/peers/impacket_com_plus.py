#!/usr/bin/env python3
"""Writes stubs of the COM+ event system and of OLE Automation with impacket, and reads with it what our crates write.

    impacket_com_plus.py write > THEIRS
    impacket_com_plus.py check OURS THEIRS RECODED

Each line of the files has the name of a method, a direction and bytes in hexadecimal digits. OURS is what the example
`com_plus_stubs` prints, RECODED is THEIRS after it was read and written again by the same example. Prints how much was
compared; fails where impacket reads something else in one file than in another.

Not compared, since impacket has them otherwise than the IDL: arrays (its SAFEARRAY has no pointers), BOOL (one byte instead of
four), the response of Invoke (it has no array of references), and VT_UI1 by reference (no pointer).
"""

import sys

from impacket.dcerpc.v5 import dcomrt
from impacket.dcerpc.v5.dcom import comev, oaut
from impacket.dcerpc.v5.dtypes import NULL
from impacket.dcerpc.v5.ndr import NDR
from impacket.uuid import string_to_bin

CID = "01020304-0506-0708-090A-0B0C0D0E0F10"
OBJECT = b"seven b"
STORE, COLLECTION = "EventSystem.EventSubscription", "EventSystem.EventSubscriptionCollection"
CRITERIA = "SubscriptionID={%s}" % CID

# Name of the type: VARIANT type, impacket's name of the union's member, value.
VALUES = {
    "EMPTY": (0x00, None, None),
    "NULL": (0x01, None, None),
    "I2": (0x02, "iVal", -2),
    "I4": (0x03, "lVal", -4),
    "R4": (0x04, "fltVal", 0.5),
    "R8": (0x05, "dblVal", 0.25),
    "CY": (0x06, "cyVal", 52500),
    "DATE": (0x07, "date", 5.25),
    "BSTR": (0x08, "bstrVal", "Gr\xf6\xdfe"),
    "ERROR": (0x0A, "scode", 1),
    "BOOL": (0x0B, "boolVal", 0xFFFF),
    "DECIMAL": (0x0E, "decVal", None),
    "UNKNOWN": (0x0D, "punkVal", OBJECT),
    "DISPATCH": (0x09, "pdispVal", OBJECT),
    "UI2": (0x12, "uiVal", 2),
    "UI4": (0x13, "ulVal", 4),
    "I8": (0x14, "llVal", -8),
    "UI8": (0x15, "ullVal", 8),
    "INT": (0x16, "intVal", -3),
    "UINT": (0x17, "uintVal", 3),
    "I2_BYREF": (0x4002, "piVal", -2),
    "I4_BYREF": (0x4003, "plVal", -4),
    "R8_BYREF": (0x4005, "pdblVal", 0.25),
    "I8_BYREF": (0x4014, "pllVal", -8),
    "BSTR_BYREF": (0x4008, "pbstrVal", "web1"),
    "UNKNOWN_BYREF": (0x400D, "ppunkVal", OBJECT),
}


def fill_object(pointer):
    pointer["ulCntData"], pointer["abData"] = len(OBJECT), [bytes([byte]) for byte in OBJECT]


def fill_variant(variant, name):
    vt, member, value = VALUES[name]
    variant["clSize"], variant["rpcReserved"], variant["vt"] = 3, 0, vt
    union = variant["_varUnion"]
    union["tag"] = vt
    if name == "CY":
        union[member]["int64"] = value
    elif name == "DECIMAL":
        for field, part in (("wReserved", 0), ("scale", 2), ("sign", 0x80), ("Hi32", 1), ("Lo64", 2)):
            union[member][field] = part
    elif isinstance(value, str):
        union[member]["asData"] = value
    elif isinstance(value, bytes):
        fill_object(union[member])
    elif member is not None:
        union[member] = value


def query(call):
    call["progID"]["asData"], call["queryCriteria"]["asData"] = COLLECTION, CRITERIA


def answer_query(answer):
    answer["errorIndex"], answer["ErrorCode"] = 7, 0
    fill_object(answer["ppInterface"])


def store(call):
    call["progID"]["asData"] = STORE
    fill_object(call["pInterface"])


def put_id(call):
    call["bstrSubscriptionID"]["asData"] = "{%s}" % CID


def item(answer):
    fill_variant(answer["pItem"], "UNKNOWN")
    answer["ErrorCode"] = 0


def items(answer):
    pointer = dcomrt.PMInterfacePointer()
    fill_object(pointer)
    answer["ppInterface"].append(pointer)
    answer.fields["ppInterface"].fields["MaximumCount"] = 2
    answer["cRetElem"], answer["ErrorCode"] = 1, 1


def names(call):
    text = oaut.LPOLESTR()
    text["Data"] = "Name\0"
    call["riid"], call["cNames"], call["lcid"] = oaut.IID_NULL, 1, 0x409
    call["rgszNames"].append(text)


def ids(answer):
    answer["rgDispId"], answer["ErrorCode"] = [7], 0


def invoke(call):
    call["dispIdMember"], call["riid"], call["lcid"], call["dwFlags"] = 7, oaut.IID_NULL, 0x409, 1
    params = call["pDispParams"]
    for name, value in (("BSTR", "web1"), ("I4", 7)):
        argument = oaut.VARIANT(None, False)
        fill_variant(argument, name)
        if name == "BSTR":
            argument["_varUnion"]["bstrVal"]["asData"] = value
        else:
            argument["_varUnion"]["lVal"] = value
        params["rgvarg"].append(argument)
    params["rgdispidNamedArgs"], params["cArgs"], params["cNamedArgs"] = NULL, 2, 0
    call["cVarRef"] = 0


def put_property(name):
    def fill(call):
        call["bstrPropertyName"]["asData"] = "Name"
        fill_variant(call["propertyValue"], name)
    return fill


def get_property(name):
    def fill(answer):
        fill_variant(answer["propertyValue"], name)
        answer["ErrorCode"] = 0
    return fill


MESSAGES = {
    ("IEventSystem_Query", "in"): query,
    ("IEventSystem_Query", "out"): answer_query,
    ("IEventSystem_Store", "in"): store,
    ("IEventSystem_Remove", "in"): query,
    ("IEventSubscription_put_SubscriptionID", "in"): put_id,
    ("IEventSubscription_put_SubscriberInterface", "in"): lambda call: fill_object(call["pSubscriberInterface"]),
    ("IEventObjectCollection_get_Item", "out"): item,
    ("IEnumEventObject_Next", "out"): items,
    ("IDispatch_GetIDsOfNames", "in"): names,
    ("IDispatch_GetIDsOfNames", "out"): ids,
    ("IDispatch_Invoke", "in"): invoke,
}
for value_name in VALUES:
    MESSAGES["IEventSubscription_PutPublisherProperty:" + value_name, "in"] = put_property(value_name)
    MESSAGES["IEventSubscription_GetPublisherProperty:" + value_name, "out"] = get_property(value_name)


def kind(name, direction):
    """impacket's class of a message."""
    name = name.split(":")[0] + ("" if direction == "in" else "Response")
    return getattr(oaut if name.startswith("IDispatch") else comev, name)


def write():
    for (name, direction), fill in MESSAGES.items():
        message = kind(name, direction)()
        if direction == "in":
            this = message["ORPCthis"]
            this["cid"], this["extensions"], this["flags"] = string_to_bin(CID), NULL, 0
        else:
            message["ORPCthat"]["flags"], message["ORPCthat"]["extensions"] = 0, NULL
        fill(message)
        print(name, direction, message.getData().hex())


def fields(value):
    """The fields of a structure, without the numbers that stand for its pointers."""
    if isinstance(value, NDR):
        return {name: fields(field) for name, field in value.fields.items() if name != "ReferentID"}
    if isinstance(value, (list, tuple)):
        return [fields(item) for item in value]
    return value


def without_sizes(value):
    """Without clSize of variants, where impacket's users write a constant."""
    if isinstance(value, dict):
        is_variant = "_varUnion" in value
        return {
            name: without_sizes(field)
            for name, field in value.items()
            if not (is_variant and name == "clSize")
        }
    if isinstance(value, list):
        return [without_sizes(item) for item in value]
    return value


def read_lines(path):
    found = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            name, direction, digits = line.rstrip("\n").split(" ")
            found[name, direction] = bytes.fromhex(digits)
    return found


def check(paths):
    ours, theirs, recoded = (read_lines(path) for path in paths)
    assert ours.keys() == theirs.keys() == recoded.keys(), ours.keys() ^ theirs.keys()
    size = 0
    for key, stub in theirs.items():
        mine, other, again = (fields(kind(*key)(data)) for data in (ours[key], stub, recoded[key]))
        assert again == other, (key, again, other)
        assert without_sizes(mine) == without_sizes(other), (key, mine, other)
        assert len(recoded[key]) == len(stub), (key, recoded[key].hex(), stub.hex())
        size += len(stub)
    print(f"{len(theirs)} messages, {size} bytes, {len(VALUES)} types of values")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write()
    else:
        check(sys.argv[2:])
