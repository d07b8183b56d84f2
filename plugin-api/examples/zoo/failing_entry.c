/* SPDX-License-Identifier: Apache-2.0 */
/* Its entry says no, and why. */
#include "common.h"
perfmon_status perfmon_plugin_entry_v1(const perfmon_host *table, perfmon_plugin *plugin_host, perfmon_text *error_host) {
    host = table;
    (void)plugin_host;
    fail_with(error_host, "no licence for this zoo");
    return PERFMON_FAILED;
}
