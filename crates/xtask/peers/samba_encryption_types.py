"""Sets the encryption types of an account in a domain of Samba's that does not run: CONFIGURATION DATABASE ACCOUNT TYPES."""

import sys

import ldb
from samba.auth import system_session
from samba.param import LoadParm
from samba.samdb import SamDB

configuration, database, account, types = sys.argv[1:]
domain = SamDB(database, session_info=system_session(), lp=LoadParm(configuration))
[found] = domain.search(expression=f"(sAMAccountName={ldb.binary_encode(account)})", attrs=[])
change = ldb.Message(found.dn)
change["types"] = ldb.MessageElement(types, ldb.FLAG_MOD_REPLACE, "msDS-SupportedEncryptionTypes")
domain.modify(change)
