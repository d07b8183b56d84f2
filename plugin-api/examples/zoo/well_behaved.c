/* SPDX-License-Identifier: Apache-2.0 */
/* Does nothing wrong; what the others are compared with. With WARNS it accepts its settings, and warns of them. */
#include "common.h"
#ifdef WARNS
#define VALIDATE warn
static perfmon_status warn(const perfmon_configure *request) {
    const perfmon_problem problem = {
        .size = sizeof(perfmon_problem), .severity = PERFMON_PROBLEM_WARNING, .message = STR("stale food")};
    host->problem(request->report, &problem);
    return PERFMON_INVALID;
}
#define RECONFIGURE accept
static perfmon_status accept(const perfmon_configure *request) { (void)request; return PERFMON_OK; }
#endif
#include "table.h"
