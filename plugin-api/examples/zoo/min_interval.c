/* SPDX-License-Identifier: Apache-2.0 */
/* Asks not to be asked so often, when it is made and when it collects: for more than a day, too. */
#include "common.h"
static perfmon_status create(const perfmon_configure *request) {
    return host->min_interval(request->instance, 60000);
}
static perfmon_status collect(const perfmon_collect *request) {
    static int collections;
    static const uint64_t intervals_ms[] = {90000, UINT64_MAX, 0};
    say(request->instance, "asked", host->min_interval(request->instance, intervals_ms[collections++ % 3]));
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
static void destroy(uint64_t instance) {
    say(host->library, "ending", host->min_interval(instance, 1));
    host->destroyed(instance);
}
#define CREATE create
#define COLLECT collect
#define DESTROY destroy
#include "table.h"
