/* SPDX-License-Identifier: Apache-2.0 */
/* Does not accept the food of its second animal, and says where. */
#include "common.h"
#define VALIDATE validate
#define CREATE validate
static perfmon_status validate(const perfmon_configure *request) {
    const perfmon_problem problem = {
        .size = sizeof(perfmon_problem), .pointer = STR("/animals/1/food"), .message = STR("unknown food `hey`"),
        .suggestion = STR("did you mean `hay`?")};
    host->problem(request->report, &problem);
    return PERFMON_INVALID;
}
#include "table.h"
