"""impacket logs on to a remote registry by Kerberos, with the tickets of the cache that KRB5CCNAME names.

usage: kerberos_registry.py HOST PORT USER REALM
Prints the registry's version as JSON, for sealed calls of both impacket's ways to bind.
"""

import json
import sys

from impacket.dcerpc.v5 import rrp, transport
from impacket.dcerpc.v5.rpcrt import RPC_C_AUTHN_GSS_NEGOTIATE, RPC_C_AUTHN_LEVEL_PKT_PRIVACY


def main() -> None:
    host, port, user, realm = sys.argv[1:]
    pipe = transport.DCERPCTransportFactory(rf"ncacn_np:{host}[\pipe\winreg]")
    pipe.set_dport(int(port))
    pipe.set_credentials(user, "", realm)
    pipe.set_kerberos(True)
    dce = pipe.get_dce_rpc()
    dce.set_auth_type(RPC_C_AUTHN_GSS_NEGOTIATE)
    dce.set_auth_level(RPC_C_AUTHN_LEVEL_PKT_PRIVACY)
    dce.connect()
    dce.bind(rrp.MSRPC_UUID_RRP)
    key = rrp.hOpenLocalMachine(dce)["phKey"]
    versions = {rrp.hBaseRegGetVersion(dce, key)["lpdwVersion"] for _ in range(50)}
    print(json.dumps(sorted(versions)))


if __name__ == "__main__":
    main()
