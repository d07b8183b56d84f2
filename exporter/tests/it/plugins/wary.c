/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts the food of its second animal, and warns of it, also in its settings as a whole. */
#include "common.h"
#define VALIDATE validate
static perfmon_status validate(const perfmon_configure *request) {
    const perfmon_problem problem = {
        .size = sizeof(perfmon_problem), .severity = PERFMON_PROBLEM_WARNING, .pointer = STR("/animals/1/food"),
        .message = STR("stale food `hey`"), .suggestion = STR("did you mean `hay`?")};
    host->problem(request->report, &problem);
    return PERFMON_INVALID;
}
#define CONFIGURE configure
static perfmon_status configure(const perfmon_configure *request) { (void)request; return PERFMON_OK; }
#include "table.h"
