/* SPDX-License-Identifier: Apache-2.0 */
/* Ends its collection only when it is asked to validate something. */
#include "common.h"
#define COLLECT collect
#define VALIDATE validate
#define CANCEL cancel
static perfmon_collect owed;
static perfmon_status collect(const perfmon_collect *request) {
    owed = *request;
    return PERFMON_OK;
}
static void cancel(uint64_t token) { say(host->library, "cancelled", token == owed.collection); }
static perfmon_status validate(const perfmon_configure *request) {
    (void)request;
    say(host->library, "late", complete_full(owed.instance, owed.collection));
    return PERFMON_OK;
}
#include "table.h"
