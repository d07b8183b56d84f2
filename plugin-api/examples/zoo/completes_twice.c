/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a collection twice, and one that never was. */
#include "common.h"
#define COLLECT collect
static perfmon_status collect(const perfmon_collect *request) {
    perfmon_status first = complete_full(request->instance, request->collection);
    perfmon_status second = complete_full(request->instance, request->collection);
    perfmon_status never = complete_full(request->instance, 12345);
    say(host->library, "statuses", first * 100 + second * 10 + never);
    return PERFMON_OK;
}
#include "table.h"
