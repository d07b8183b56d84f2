/* SPDX-License-Identifier: Apache-2.0 */
/* Fills less of its table than version 1.0 asks for. */
#include "common.h"
perfmon_status perfmon_plugin_entry_v1(const perfmon_host *table, perfmon_plugin *plugin_host, perfmon_text *error_host) {
    host = table;
    (void)error_host;
    plugin_host->size = 40;
    plugin_host->abi_major = PERFMON_ABI_MAJOR;
    return PERFMON_OK;
}
