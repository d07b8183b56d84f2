/* SPDX-License-Identifier: Apache-2.0 */
/* Takes settings as a whole, unless they are {"sick":true}, and says what it was asked. */
#include "common.h"
static perfmon_status check(const perfmon_configure *request) {
    static const char sick[] = "{\"sick\":true}";
    if (request->settings.len != sizeof(sick) - 1 || memcmp(request->settings.ptr, sick, sizeof(sick) - 1) != 0)
        return PERFMON_OK;
    const perfmon_problem problem = {.size = sizeof(perfmon_problem), .pointer = STR("/sick"), .message = STR("get well")};
    host->problem(request->report, &problem);
    return PERFMON_INVALID;
}
static perfmon_status configure(const perfmon_configure *request) {
    say(host->library, "configured as", request->source);
    return check(request);
}
#define VALIDATE check
#define CONFIGURE configure
#include "table.h"
