/* SPDX-License-Identifier: Apache-2.0 */
/* Does not accept its settings, and says where. */
#include "common.h"
#define VALIDATE validate
#define CREATE validate
static perfmon_status validate(const perfmon_configure *request) {
    const perfmon_problem problems[] = {
        {.size = sizeof(perfmon_problem), .pointer = STR("/modules/0/food"), .message = STR("unknown food"),
         .suggestion = STR("did you mean `hay`?")},
        {.size = sizeof(perfmon_problem), .pointer = STR("no pointer"), .message = STR("never seen")},
    };
    host->problem(request->report, &problems[0]);
    host->problem(request->report, &problems[1]);
    return PERFMON_INVALID;
}
#include "table.h"
