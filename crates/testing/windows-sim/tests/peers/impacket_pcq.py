#!/usr/bin/env python3
"""Talks to a server of the Performance Counter Query Protocol with impacket, and judges what it answers.

impacket brings SMB, NTLM, RPC and NDR; the structures of [MS-PCQ] are unpacked here, by the specification and
not by any code of this project. All eight methods are called at PKT_PRIVACY, every wild card form is asked for,
and the values of the counterset "Counter Types" are computed again from the clock in the reply's header.

    impacket_pcq.py --host 127.0.0.1 --port 4450 --account 'CORP\\svc-metrics' --password-file /run/secrets/password
    impacket_pcq.py … --level integrity     succeeds if and only if every method that needs no handle is refused with status 5
    impacket_pcq.py … --calls 2000          only times so many small calls on one connection
    impacket_pcq.py … --calls 2000 --interface winreg     the same with BaseRegGetVersion, as Samba serves it

Prints one JSON object. Exits with 1 where anything differs from what is expected, and with 2 where no
conversation came about.
"""

import argparse
import json
import struct
import sys
import time
import uuid

from impacket.dcerpc.v5 import rrp, transport
from impacket.dcerpc.v5.dtypes import DWORD, GUID, ULONG, WSTR
from impacket.dcerpc.v5.ndr import NDRCALL, NDRSTRUCT, NDRUniConformantArray, NDRUniConformantVaryingArray
from impacket.dcerpc.v5.rpcrt import RPC_C_AUTHN_LEVEL_PKT_INTEGRITY, RPC_C_AUTHN_LEVEL_PKT_PRIVACY, DCERPCException
from impacket.uuid import uuidtup_to_bin

INTERFACE = uuidtup_to_bin(("da5a86c5-12c2-4943-ab30-7f74a813d853", "1.0"))
ALL = 0xFFFFFFFF
SUCCESS, ACCESS_DENIED, NOT_ENOUGH_MEMORY, INVALID_PARAMETER = 0, 5, 8, 87
ALREADY_EXISTS, NO_DATA, GUID_NOT_FOUND, ITEMID_NOT_FOUND = 183, 232, 4200, 4202
ERROR_RETURN, SINGLE_COUNTER, MULTI_COUNTERS, MULTI_INSTANCES, COUNTERSET = 0, 1, 2, 4, 6
PROCESSOR_INFORMATION = uuid.UUID("b4fc721a-0378-476f-89ba-a5a79f810b36")
PROCESSOR_PROVIDER = uuid.UUID("383487a6-3676-4870-a4e7-d45b30c35629")
# The counterset of windows-sim for what providers register although nobody should.
ODDITIES = uuid.UUID("53e7b2a5-5c02-4f6d-9f6c-30ed2ff2a005")
NOBODYS = uuid.UUID("00000000-0000-4000-8000-000000000001")
UNKNOWN_LCID = 0x0F0F


# -- the methods --------------------------------------------------------------------------------------------


class HQuery(NDRSTRUCT):
    structure = (("attributes", ULONG), ("uuid", GUID))


class Guids(NDRUniConformantVaryingArray):
    item = GUID


class Bytes(NDRUniConformantVaryingArray):
    item = "c"


class InOutBytes(NDRUniConformantArray):
    item = "c"


def method(name, opnum, request, response):
    """A request class and its response class, under the names that impacket looks them up by."""
    here = globals()
    here[name] = type(name, (NDRCALL,), {"opnum": opnum, "structure": request, "__module__": __name__})
    answer = tuple(response) + (("ErrorCode", ULONG),)
    here[name + "Response"] = type(name + "Response", (NDRCALL,), {"structure": answer, "__module__": __name__})
    return here[name]


SIZED = (("dwOutSize", DWORD), ("dwRtnSize", DWORD), ("lpData", Bytes))
EnumerateCounterSet = method(
    "EnumerateCounterSet", 0, (("szMachine", WSTR), ("dwInSize", DWORD)),
    (("dwOutSize", DWORD), ("dwRtnSize", DWORD), ("lpData", Guids)),
)
QueryRegistration = method(
    "QueryRegistration", 1,
    (("szMachine", WSTR), ("guid", GUID), ("code", DWORD), ("lcid", DWORD), ("dwInSize", DWORD)), SIZED,
)
EnumerateInstances = method(
    "EnumerateInstances", 2, (("szMachine", WSTR), ("guid", GUID), ("dwInSize", DWORD)), SIZED,
)
OpenQuery = method("OpenQuery", 3, (("szMachine", WSTR),), (("hQuery", HQuery),))
CloseQuery = method("CloseQuery", 4, (("hQuery", HQuery),), (("hQuery", HQuery),))
QueryInfo = method("QueryInfo", 5, (("hQuery", HQuery), ("dwInSize", DWORD)), SIZED)
QueryData = method("QueryData", 6, (("hQuery", HQuery), ("dwInSize", DWORD)), SIZED)
ValidateCounters = method(
    "ValidateCounters", 7,
    (("hQuery", HQuery), ("dwInSize", DWORD), ("lpData", InOutBytes), ("dwAdd", DWORD)), (("lpData", InOutBytes),),
)


class Mismatch(Exception):
    """The server did not do what the specification says."""


def expect(what, actual, expected):
    if actual != expected:
        raise Mismatch(f"{what}: {actual!r} instead of {expected!r}")


class Perflib:
    """The eight methods over one association."""

    def __init__(self, dce, machine):
        self.dce, self.machine, self.calls = dce, machine + "\0", 0

    def call(self, kind, **fields):
        request = kind()
        if "szMachine" in dict(kind.structure):
            request["szMachine"] = self.machine
        for name, value in fields.items():
            request[name] = value
        self.calls += 1
        return self.dce.request(request, checkError=False)

    def sized(self, kind, **fields):
        """Asks for the size, then for the data. Answers the status of the first call that failed otherwise."""
        probe = self.call(kind, dwInSize=0, **fields)
        if probe["ErrorCode"] != NOT_ENOUGH_MEMORY:
            return probe["ErrorCode"], b""
        expect(f"{kind.__name__} probe: dwOutSize", probe["dwOutSize"], 0)
        size = probe["dwRtnSize"]
        short = self.call(kind, dwInSize=size - 1, **fields)
        if short["ErrorCode"] == SUCCESS:
            raise Mismatch(f"{kind.__name__} fills a buffer that is one byte short")
        # Instances may come between two calls: some room to spare, as any client leaves.
        answer = self.call(kind, dwInSize=size + 4096, **fields)
        data = b"".join(answer["lpData"])
        expect(f"{kind.__name__}: dwOutSize", answer["dwOutSize"], len(data))
        return answer["ErrorCode"], data

    def data(self, kind, **fields):
        status, data = self.sized(kind, **fields)
        expect(f"{kind.__name__} {fields}: status", status, SUCCESS)
        return data

    def registration(self, guid, code, lcid=0):
        return self.sized(QueryRegistration, guid=guid.bytes_le, code=code, lcid=lcid)

    def countersets(self):
        probe = self.call(EnumerateCounterSet, dwInSize=0)
        expect("EnumerateCounterSet probe", (probe["ErrorCode"], probe["dwOutSize"]), (NOT_ENOUGH_MEMORY, 0))
        answer = self.call(EnumerateCounterSet, dwInSize=probe["dwRtnSize"])
        expect("EnumerateCounterSet", answer["ErrorCode"], SUCCESS)
        guids = [uuid.UUID(bytes_le=item["Data"]) for item in answer["lpData"]]
        expect("EnumerateCounterSet: number of GUIDs", len(guids), probe["dwRtnSize"])
        return guids

    def validate(self, handle, identifiers, add=1):
        buffer = b"".join(identifiers)
        answer = self.call(ValidateCounters, hQuery=handle, dwInSize=len(buffer), lpData=buffer, dwAdd=add)
        expect("ValidateCounters", answer["ErrorCode"], SUCCESS)
        returned = b"".join(answer["lpData"])
        expect("ValidateCounters: size of the buffer", len(returned), len(buffer))
        return parse_identifiers(returned)


# -- the structures of 2.2.4 --------------------------------------------------------------------------------


def padded(size):
    return (size + 7) & ~7


def wide(data):
    """UTF-16 up to its NUL."""
    for end in range(0, len(data) - 1, 2):
        if data[end:end + 2] == b"\0\0":
            return data[:end].decode("utf-16le")
    raise Mismatch("a string without NUL")


def identifier(guid, counter=ALL, name=None, instance=ALL):
    text = b"" if name is None else (name + "\0").encode("utf-16le")
    size = padded(40 + len(text))
    head = guid.bytes_le + struct.pack("<6I", 0, size, counter, instance, 0, 0)
    return head + text + b"\0" * (size - 40 - len(text))


def parse_identifiers(data):
    found = []
    while data:
        status, size, counter, instance, index, _ = struct.unpack_from("<6I", data, 16)
        expect("PERF_COUNTER_IDENTIFIER: Size", (size % 8, 40 <= size <= len(data)), (0, True))
        name = wide(data[40:size]) if size > 40 else None
        key = (uuid.UUID(bytes_le=data[:16]), counter, instance, name)
        found.append({"key": key, "status": status, "index": index})
        data = data[size:]
    return found


def parse_registration(data):
    guid = uuid.UUID(bytes_le=data[:16])
    kind, detail, count, instance_type = struct.unpack_from("<4I", data, 16)
    expect("NumCounters and the size of the registration", len(data), 32 + 48 * count)
    expect("CounterSetType", kind, 0)
    expect("DetailLevel", detail in (100, 200), True)
    counters = [parse_counter(data[32 + 48 * index:][:48]) for index in range(count)]
    return {"guid": guid, "instance_type": instance_type, "counters": {c["id"]: c for c in counters}}


def parse_counter(data):
    names = ("id", "type", "attrib", "detail", "scale", "base", "time", "freq", "multi", "aggregate", "reserved")
    return dict(zip(names, struct.unpack("<IIQIiIIIIII", data)))


def parse_strings(data):
    size, count = struct.unpack_from("<2I", data)
    expect("PERF_STRING_BUFFER_HEADER: dwSize", size, len(data))
    texts = {}
    for index in range(count):
        counter, offset = struct.unpack_from("<2I", data, 8 + 8 * index)
        texts[counter] = None if offset == ALL else wide(data[offset:])
    return texts


def parse_instances(data):
    found = []
    while data:
        size, number = struct.unpack_from("<2I", data)
        expect("PERF_INSTANCE_HEADER: Size", (size % 8, 16 <= size <= len(data)), (0, True))
        found.append((wide(data[8:size]), number))
        data = data[size:]
    return found


def take_value(data, at):
    length, size = struct.unpack_from("<2I", data, at)
    expect("PERF_COUNTER_DATA: dwSize", size, padded(8 + length))
    value = data[at + 8:at + 8 + length]
    return (int.from_bytes(value, "little") if length in (4, 8) else value), at + size


def take_values(data, at, count):
    values = []
    for _ in range(count):
        value, at = take_value(data, at)
        values.append(value)
    return values, at


def take_ids(data, at):
    size, count = struct.unpack_from("<2I", data, at)
    # perflib.h: the structure and the ids. What follows begins there, also behind an odd number of them.
    expect("PERF_MULTI_COUNTERS: dwSize", size, 8 + 4 * count)
    return struct.unpack_from(f"<{count}I", data, at + 8), at + size


def take_instances(data, at, each):
    start = at
    total, count = struct.unpack_from("<2I", data, at)
    at += 8
    found = {}
    for _ in range(count):
        size, number = struct.unpack_from("<2I", data, at)
        values, end = take_values(data, at + size, each)
        found[wide(data[at + 8:at + size]), number] = values
        at = end
    expect("PERF_MULTI_INSTANCES: dwTotalSize", at - start, total)
    return found, at


def parse_data(data):
    """The header's clocks, and for each block (type, status, ids, {instance: values})."""
    total, count, stamp, now, freq = struct.unpack_from("<IIqqq", data)
    expect("PERF_DATA_HEADER: dwTotalSize", total, len(data))
    blocks, at = [], 48
    for _ in range(count):
        status, kind, size, _ = struct.unpack_from("<4I", data, at)
        ids, instances, end = (), {}, at + 16
        if kind == SINGLE_COUNTER:
            value, end = take_value(data, end)
            instances = {None: [value]}
        elif kind == MULTI_COUNTERS:
            ids, end = take_ids(data, end)
            values, end = take_values(data, end, len(ids))
            instances = {None: values}
        elif kind == MULTI_INSTANCES:
            instances, end = take_instances(data, end, 1)
        elif kind == COUNTERSET:
            ids, end = take_ids(data, end)
            instances, end = take_instances(data, end, len(ids))
        expect(f"PERF_COUNTER_HEADER of type {kind}: dwSize", size, padded(end - at))
        blocks.append((kind, status, ids, instances))
        at += size
    expect("blocks fill dwTotalSize", at, total)
    return {"stamp": stamp, "now": now, "freq": freq, "system_time": struct.unpack_from("<8H", data, 32)}, blocks


# -- what the values have to be -----------------------------------------------------------------------------


def counter_types(clocks, n):
    """Raw values of instance n of the counterset "Counter Types", computed from the header's clocks."""
    p, f = clocks["stamp"], clocks["freq"]
    expect("the model's performance clock makes ten million ticks a second", f, 10_000_000)
    t = p
    r = 10_000_000 if n == 4 else 100 * n
    rate = lambda per_second: t * per_second // 10_000_000
    ob, stamp = t // 10, t - t % 156_250
    wide_values = {
        2: 0xFEEDC0DE00000000 + n, 5: (n << 40) + t // 10**7, 7: rate(1_000 * r), 10: n * p, 11: n * t, 12: n * ob,
        14: rate(1_000 * r), 15: p * n // 10, 16: p * (10 - n) // 10, 17: t * n // 10, 18: t * (10 - n) // 10,
        19: ob * n // 10, 20: 4 * p * n // 10, 21: 4 * p * (10 - n) // 10, 22: 4 * t * n // 10,
        23: 4 * t * (10 - n) // 10, 25: n << 33, 28: rate(r) * 512 * n, 29: 60 * n * 10**6, 30: stamp * n // 10,
        31: stamp * n // 10, 32: ob * n // 10, 40: ob, 41: 10**6, 43: 4, 45: 8 << 33, 49: stamp, 50: stamp, 51: ob,
    }
    narrow = {
        1: 0xC0DE0000 + n, 4: 100 * n + t // 10**7 % 60, 6: rate(r), 8: rate(2 * r), 9: n * p, 13: rate(r), 24: n,
        26: rate(100 * n), 27: rate(100 * n) * n * f // 1_000, 42: 4, 44: 8, 46: rate(1_000), 47: rate(100 * n),
        48: rate(r),
    }
    other = {3: f"text {n}\0".encode("utf-16le"), 33: b""}
    return {**wide_values, **{key: value % 2**32 for key, value in narrow.items()}, **other}


def judge_metadata(perflib, summary):
    """Methods 0, 1 and 2. Answers the countersets by their English name."""
    sets = {}
    for guid in perflib.countersets():
        status, data = perflib.registration(guid, 1)
        expect("request code 1", status, SUCCESS)
        if guid == ODDITIES:
            judge_oddities(perflib, data)
            continue
        info = parse_registration(data)
        expect("GUID in the registration", info["guid"], guid)
        expect("ids are unique", len(info["counters"]), (len(data) - 32) // 48)
        texts = {code: perflib.registration(guid, code)[1] for code in (3, 4, 5, 6, 7, 8, 9, 10)}
        names = parse_strings(texts[10])
        expect("a name for each counter", set(names), set(info["counters"]))
        expect("the default language is English", (texts[3], texts[5]), (texts[9], texts[10]))
        expect("explain texts", set(parse_strings(texts[6])), set(info["counters"]))
        expect("explain text and provider are there", bool(wide(texts[4]) and wide(texts[7])), True)
        expect("the provider's GUID", len(texts[8]), 16)
        for counter in info["counters"].values():
            _, one = perflib.registration(guid, 2, counter["id"])
            expect("request code 2", parse_counter(one), counter)
            for other in ("base", "time", "freq", "multi"):
                expect(f"{other} of a counter exists", counter[other] in (ALL, *info["counters"]), True)
        status, instances = perflib.sized(EnumerateInstances, guid=guid.bytes_le)
        expect("EnumerateCounterSetInstances", status, SUCCESS)
        sets[wide(texts[9])] = {**info, "names": names, "instances": parse_instances(instances)}
    expect("request code 11", perflib.registration(PROCESSOR_INFORMATION, 11)[0], INVALID_PARAMETER)
    expect("request code 0", perflib.registration(PROCESSOR_INFORMATION, 0)[0], INVALID_PARAMETER)
    expect("a counterset that is not there", perflib.registration(NOBODYS, 1)[0], GUID_NOT_FOUND)
    expect("its instances", perflib.sized(EnumerateInstances, guid=NOBODYS.bytes_le)[0], GUID_NOT_FOUND)
    expect("a counter that is not there", perflib.registration(PROCESSOR_INFORMATION, 2, 999)[0], ITEMID_NOT_FOUND)
    refused = perflib.registration(PROCESSOR_INFORMATION, 3, UNKNOWN_LCID)[0]
    expect("a language that is not installed is refused", refused not in (SUCCESS, NOT_ENOUGH_MEMORY), True)
    german = wide(perflib.registration(PROCESSOR_INFORMATION, 3, 1031)[1])
    expect("German name", german, "Prozessorinformationen")
    provider = uuid.UUID(bytes_le=perflib.registration(PROCESSOR_INFORMATION, 8)[1])
    expect("provider of Processor Information", provider, PROCESSOR_PROVIDER)
    summary["countersets"] = {name: len(info["counters"]) for name, info in sorted(sets.items())}
    return sets


def judge_oddities(perflib, data):
    """What is registered wrongly on purpose: an id twice, counters without a name, levels above the document's."""
    counters = [parse_counter(data[at:at + 48]) for at in range(32, len(data), 48)]
    ids = [counter["id"] for counter in counters]
    expect("one id of Oddities is there twice", len(ids) - len(set(ids)), 1)
    expect("levels of Oddities", {counter["detail"] for counter in counters}, {100, 200, 300, 400})
    expect("scales of Oddities", {counter["scale"] for counter in counters}, set(range(-3, 4)))
    names = parse_strings(perflib.registration(ODDITIES, 10)[1])
    expect("counters of Oddities without a name", sorted(id for id in names if names[id] is None), [1, 8])


def judge_query(perflib, sets, summary):
    """Methods 3 to 7: every form of identifier, and the kind of block that it has to give."""
    processors, types, http = sets["Processor Information"], sets["Counter Types"], sets["HTTP Service"]
    together = sets["Workers Together"]
    handle = perflib.call(OpenQuery)["hQuery"]
    forms = [
        (identifier(types["guid"], ALL, "*"), COUNTERSET),
        (identifier(processors["guid"], 0, "_Total"), SINGLE_COUNTER),
        (identifier(processors["guid"], 26, "0,*"), MULTI_INSTANCES),
        (identifier(processors["guid"], ALL, "0,?"), COUNTERSET),
        (identifier(processors["guid"], ALL, "0,0"), MULTI_COUNTERS),
        (identifier(processors["guid"], 0, "no such instance"), ERROR_RETURN),
        (identifier(processors["guid"], 0, "_Total", 4711), ERROR_RETURN),
        (identifier(http["guid"], ALL), MULTI_COUNTERS),
        (identifier(http["guid"], 3), SINGLE_COUNTER),
        # Asked for without a name, and still several instances.
        (identifier(together["guid"], ALL), COUNTERSET),
        (identifier(together["guid"], 1), MULTI_INSTANCES),
    ]
    for added in perflib.validate(handle, [form for form, _ in forms]):
        expect(f"adding {added}", added["status"], SUCCESS)
    wrong = [identifier(NOBODYS, ALL, "*"), identifier(processors["guid"], 999, "*"), forms[0][0]]
    statuses = [found["status"] for found in perflib.validate(handle, wrong)]
    expect("adding what is wrong", statuses, [GUID_NOT_FOUND, ITEMID_NOT_FOUND, ALREADY_EXISTS])
    misnamed = [identifier(http["guid"], ALL, "*"), identifier(together["guid"], ALL, "*"), identifier(types["guid"], ALL)]
    statuses = [found["status"] for found in perflib.validate(handle, misnamed)]
    expect("names where there are none, none where there are", statuses, [INVALID_PARAMETER] * 3)

    listed = parse_identifiers(perflib.data(QueryInfo, hQuery=handle))
    expect("identifiers of the query", len(listed), len(forms))
    expect("indexes", sorted(found["index"] for found in listed), list(range(len(forms))))
    clocks, blocks = parse_data(perflib.data(QueryData, hQuery=handle))
    expect("blocks of the data", len(blocks), len(forms))
    judge_clocks(clocks)
    block_of = {found["key"]: blocks[found["index"]] for found in listed}
    for form, kind in forms:
        key = parse_identifiers(form)[0]["key"]
        expect(f"block of {key}", block_of[key][:2], (kind, NO_DATA if kind == ERROR_RETURN else SUCCESS))

    judge_formulas(clocks, block_of[types["guid"], ALL, ALL, "*"], summary)
    expect("removing", [found["status"] for found in perflib.validate(handle, [forms[0][0]], 0)], [SUCCESS])
    again = perflib.validate(handle, [forms[0][0]], 0)[0]["status"]
    expect("removing what is not there", again, INVALID_PARAMETER)
    expect("blocks after removing", len(parse_data(perflib.data(QueryData, hQuery=handle))[1]), len(forms) - 1)
    judge_end(perflib, handle)
    summary["blocks"] = len(blocks)


def judge_clocks(clocks):
    year, month, _, day, hour, minute, second, milliseconds = clocks["system_time"]
    seconds = clocks["now"] // 10_000_000 - 11_644_473_600
    expect("SYSTEMTIME and PerfTime100NSec", (year, month, day, hour, minute, second), time.gmtime(seconds)[:6])
    expect("milliseconds", milliseconds, clocks["now"] // 10_000 % 1_000)


def judge_formulas(clocks, block, summary):
    _, _, ids, instances = block
    expect("instances of Counter Types", sorted(instances), [(str(n), n) for n in (1, 2, 3, 4)])
    checked = 0
    for (name, n), values in instances.items():
        expected = counter_types(clocks, n)
        expect("ids of Counter Types", sorted(ids), sorted(expected))
        for counter, value in zip(ids, values):
            expect(f"Counter Types({name}) counter {counter}", value, expected[counter])
            checked += 1
    summary["values_checked"] = checked


def judge_end(perflib, handle):
    """A buffer above the range is a fault, closing gives a null handle, and a closed handle is a fault."""
    expect_fault("a buffer for 257 GUIDs", perflib, EnumerateCounterSet, dwInSize=257)
    closed = perflib.call(CloseQuery, hQuery=handle)
    expect("CloseQueryHandle", (closed["ErrorCode"], closed["hQuery"]["uuid"]), (SUCCESS, bytes(16)))
    expect_fault("a closed handle", perflib, QueryData, hQuery=handle, dwInSize=0)


def expect_fault(what, perflib, kind, **fields):
    try:
        answer = perflib.call(kind, **fields)
    except DCERPCException:
        return
    raise Mismatch(f"{what}: status {answer['ErrorCode']} instead of a fault")


def judge_refusal(perflib, summary):
    """Below PKT_PRIVACY the methods answer ERROR_ACCESS_DENIED; the others need the handle that one of them refuses."""
    calls = {
        EnumerateCounterSet: {"dwInSize": 0},
        QueryRegistration: {"guid": PROCESSOR_INFORMATION.bytes_le, "code": 1, "lcid": 0, "dwInSize": 0},
        EnumerateInstances: {"guid": PROCESSOR_INFORMATION.bytes_le, "dwInSize": 0},
        OpenQuery: {},
    }
    summary["refused"] = {}
    for kind, fields in calls.items():
        status = perflib.call(kind, **fields)["ErrorCode"]
        summary["refused"][kind.__name__] = status
        expect(f"{kind.__name__} below PKT_PRIVACY", status, ACCESS_DENIED)


def time_calls(dce, machine, interface, count, summary):
    if interface == "winreg":
        handle = rrp.hOpenLocalMachine(dce)["phKey"]
        call = lambda: rrp.hBaseRegGetVersion(dce, handle)
    else:
        perflib = Perflib(dce, machine)
        call = lambda: perflib.call(EnumerateCounterSet, dwInSize=0)
    call()
    start = time.perf_counter()
    for _ in range(count):
        call()
    elapsed = time.perf_counter() - start
    summary.update(calls=count, seconds=elapsed, calls_per_second=count / elapsed)


def connect(arguments):
    domain, _, user = arguments.account.rpartition("\\")
    with open(arguments.password_file, encoding="utf-8") as file:
        password = file.read().removesuffix("\n")
    rpc = transport.DCERPCTransportFactory(rf"ncacn_np:{arguments.host}[\pipe\winreg]")
    rpc.set_dport(arguments.port)
    rpc.set_credentials(user, password, domain)
    dce = rpc.get_dce_rpc()
    levels = {"privacy": RPC_C_AUTHN_LEVEL_PKT_PRIVACY, "integrity": RPC_C_AUTHN_LEVEL_PKT_INTEGRITY}
    dce.set_auth_level(levels[arguments.level])
    dce.connect()
    dce.bind(rrp.MSRPC_UUID_RRP if arguments.interface == "winreg" else INTERFACE)
    return dce, rpc.get_smb_connection().getDialect()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, default=445)
    parser.add_argument("--account", required=True, help=r"DOMAIN\user")
    parser.add_argument("--password-file", required=True)
    parser.add_argument("--level", choices=("privacy", "integrity"), default="privacy")
    parser.add_argument("--calls", type=int, metavar="N")
    parser.add_argument("--interface", choices=("pcq", "winreg"), default="pcq")
    arguments = parser.parse_args()
    summary = {"ok": False, "level": arguments.level}
    code = 1
    try:
        dce, dialect = connect(arguments)
        summary["dialect"] = hex(dialect)
        perflib = Perflib(dce, arguments.host)
        if arguments.calls:
            time_calls(dce, arguments.host, arguments.interface, arguments.calls, summary)
        elif arguments.level == "privacy":
            sets = judge_metadata(perflib, summary)
            judge_query(perflib, sets, summary)
            summary["rpc_calls"] = perflib.calls
        else:
            judge_refusal(perflib, summary)
        summary["ok"], code = True, 0
    except Mismatch as mismatch:
        summary["mismatch"] = str(mismatch)
    except Exception as error:  # whatever impacket raises: no conversation came about
        summary["error"], code = f"{type(error).__name__}: {error}", 2
    print(json.dumps(summary))
    return code


if __name__ == "__main__":
    sys.exit(main())
