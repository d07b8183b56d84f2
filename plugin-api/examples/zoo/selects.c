/* SPDX-License-Identifier: Apache-2.0 */
/* Says what its settings collect: cows; horses with another food; nothing of the object "stone"; the rest is not known. */
#include "common.h"
static int is(perfmon_str text, const char *word) { return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0; }
static perfmon_status selects(const perfmon_configure *request) {
    const perfmon_family *family = request->family;
    if (is(family->space, "zoo") && is(family->object, "cow") && is(family->item, "milk") && is(family->part, "base"))
        return PERFMON_OK;
    if (is(family->object, "horse")) {
        const perfmon_problem problem = {.size = sizeof(perfmon_problem), .pointer = STR("/food"), .message = STR("feed it"),
                                         .suggestion = STR("hay")};
        host->problem(request->report, &problem);
        return PERFMON_INVALID;
    }
    return is(family->object, "stone") ? PERFMON_INVALID : PERFMON_UNSUPPORTED;
}
#define SELECTS selects
#include "table.h"
