/* SPDX-License-Identifier: Apache-2.0 */
/* Tells what a target says of itself, and what none can say. */
#include "common.h"
#define COLLECT collect
static void tell(uint64_t owner, const char *what, perfmon_label fact) {
    say(owner, what, host->fact(owner, &fact));
}
static perfmon_status collect(const perfmon_collect *request) {
    tell(request->instance, "version", (perfmon_label){STR("os.version"), STR("10.0.20348")});
    tell(request->instance, "taken back", (perfmon_label){STR("os.version"), {NULL, 0}});
    tell(request->instance, "capital", (perfmon_label){STR("OS"), STR("a")});
    tell(request->instance, "two lines", (perfmon_label){STR("os.name"), STR("a\nb")});
    tell(request->instance, "no text", (perfmon_label){STR("os.name"), STR("\xff")});
    say(request->instance, "null", host->fact(request->instance, NULL));
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#include "table.h"
