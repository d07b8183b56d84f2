/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the process when it collects, as if that had been asked for. */
#include "common.h"
#include <stdlib.h>
#define COLLECT collect
static perfmon_status collect(const perfmon_collect *request) {
    (void)request;
    exit(0);
}
#include "table.h"
