#!/usr/bin/env python3
"""Lists a server's endpoint map with impacket, follows it, and asks the management interface at each endpoint.

    impacket_epm.py --host 127.0.0.1 --port 1135 --smb-port 4450 --account 'CORP\\svc-metrics' --password-file FILE

Prints one JSON object.
"""

import argparse
import json
import sys

from impacket.dcerpc.v5 import epm, mgmt, rrp, transport
from impacket.dcerpc.v5.dtypes import NULL
from impacket.dcerpc.v5.rpcrt import RPC_C_AUTHN_LEVEL_PKT_PRIVACY, DCERPCException
from impacket.uuid import bin_to_string, uuidtup_to_bin

TRACKER = uuidtup_to_bin(("B60040E0-BCF3-11D1-861D-0080C729264D", "0.0"))
NOBODY = uuidtup_to_bin(("01010101-0101-0101-0101-010101010101", "1.0"))
PERFLIB = "DA5A86C5-12C2-4943-AB30-7F74A813D853"
NTLM, KERBEROS = 10, 16
NOT_REGISTERED, ACCESS_DENIED, UNKNOWN_AUTHN_SERVICE = 0x16C9A0D6, 5, 1747


def connect(binding, interface=None, login=None):
    """Binds an interface, if there is one; with a login calls are sealed."""
    rpc = transport.DCERPCTransportFactory(binding)
    if login:
        rpc.set_credentials(*login)
    dce = rpc.get_dce_rpc()
    if login and binding.startswith("ncacn_ip_tcp"):
        dce.set_auth_level(RPC_C_AUTHN_LEVEL_PKT_PRIVACY)
    dce.connect()
    if interface:
        dce.bind(interface)
    return dce


def code_of(call, *arguments):
    """The status of a call that has to fail."""
    try:
        call(*arguments)
    except DCERPCException as error:
        return error.get_error_code()
    return None


def shown(tower, annotation):
    interface = bin_to_string(tower["Floors"][0]["InterfaceUUID"])
    return interface, epm.PrintStringBinding(tower["Floors"]), annotation.decode().rstrip("\0")


def in_pages(mapper, size):
    """The map, as many entries at a time; and how many pages there were."""
    found, pages, handle = [], 0, None
    while True:
        request = epm.ept_lookup()
        request["inquiry_type"], request["vers_option"], request["max_ents"] = 0, 1, size
        request["object"] = request["Ifid"] = NULL
        if handle:
            request["entry_handle"] = handle
        response = mapper.request(request)
        for entry in response["entries"][: response["num_ents"]]:
            tower = epm.EPMTower(b"".join(entry["tower"]["tower_octet_string"]))
            found.append(shown(tower, b"".join(entry["annotation"])))
        pages += 1
        handle = response["entry_handle"]
        if handle["context_handle_uuid"] == b"\0" * 16:
            return found, pages


def manage(dce):
    """What a server says of itself. Each call adds one to the calls, and a packet each way, if nobody else calls."""
    problems = []
    interfaces = {bin_to_string(one["Data"]["Uuid"]) for one in mgmt.hinq_if_ids(dce)["if_id_vector"]["if_id"]}
    before, after = (list(mgmt.hinq_stats(dce, 4)["statistics"]) for _ in range(2))
    if [later - earlier for earlier, later in zip(before, after)] != [1, 0, 1, 1]:
        problems.append(f"one call lets {before} become {after}")
    if not mgmt.his_server_listening(dce)["status"] == 0:
        problems.append("it does not listen")
    name = b"".join(mgmt.hinq_princ_name(dce, NTLM, 64)["princ_name"]).decode().rstrip("\0")
    if not name.startswith("host/"):
        problems.append(f"its name is {name!r}")
    if mgmt.hinq_princ_name(dce, KERBEROS, 64)["status"] != UNKNOWN_AUTHN_SERVICE:
        problems.append("it has a name for Kerberos")
    if code_of(mgmt.hstop_server_listening, dce) != ACCESS_DENIED:
        problems.append("anybody can stop it")
    return interfaces, after, problems


def main():
    parser = argparse.ArgumentParser()
    for name in ("host", "port", "smb-port", "account", "password-file"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    domain, user = arguments.account.split("\\")
    password = open(arguments.password_file, encoding="utf-8").read().removesuffix("\n")
    login = (user, password, domain)
    mapper_binding = f"ncacn_ip_tcp:{arguments.host}[{arguments.port}]"
    problems = []

    # impacket binds by itself here.
    listed = epm.hept_lookup(None, dce=connect(mapper_binding))
    whole = [shown(entry["tower"], entry["annotation"]) for entry in listed]
    paged, pages = in_pages(connect(mapper_binding, epm.MSRPC_UUID_PORTMAP, login), 2)
    if paged != whole or pages != (len(whole) + 1) // 2:
        problems.append(f"{pages} pages of two entries have {paged} and not {whole}")

    ask = lambda interface, protocol, login=None: epm.hept_map(
        arguments.host, interface, protocol=protocol, dce=connect(mapper_binding, login=login)
    )
    tcp = ask(TRACKER, "ncacn_ip_tcp")
    if ask(TRACKER, "ncacn_ip_tcp", login) != tcp:
        problems.append("with a logon the port is another one")
    pipe = ask(rrp.MSRPC_UUID_RRP, "ncacn_np", login)
    if "winreg" not in pipe or f"{arguments.host}[" not in tcp:
        problems.append(f"{tcp}, {pipe}")
    nobody = code_of(ask, NOBODY, "ncacn_ip_tcp")
    if nobody != NOT_REGISTERED:
        problems.append(f"nobody's interface: {nobody}")

    asked = {}
    over_smb = transport.SMBTransport(arguments.host, int(arguments.smb_port), "winreg", user, password, domain)
    behind_pipe = over_smb.get_dce_rpc()
    behind_pipe.connect()
    behind_pipe.bind(mgmt.MSRPC_UUID_MGMT)
    servers = [
        ("mapper", connect(mapper_binding, mgmt.MSRPC_UUID_MGMT), bin_to_string(epm.MSRPC_UUID_PORTMAP)),
        ("objects", connect(tcp, mgmt.MSRPC_UUID_MGMT), bin_to_string(TRACKER)),
        ("objects, sealed", connect(tcp, mgmt.MSRPC_UUID_MGMT, login), bin_to_string(TRACKER)),
        ("pipe", behind_pipe, PERFLIB),
    ]
    for name, dce, interface in servers:
        interfaces, counted, wrong = manage(dce)
        problems += [f"{name}: {problem}" for problem in wrong]
        if interface not in interfaces or bin_to_string(mgmt.MSRPC_UUID_MGMT) not in interfaces:
            problems.append(f"{name}: {interfaces}")
        asked[name] = {"interfaces": len(interfaces), "counted": counted}
    annotations = sorted({annotation for _, _, annotation in whole})
    found = {"entries": len(whole), "pages": pages, "annotations": annotations, "asked": asked, "problems": problems}
    print(json.dumps(found))
    return 1 if problems or len(whole) < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
