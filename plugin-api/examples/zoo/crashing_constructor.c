/* SPDX-License-Identifier: Apache-2.0 */
/* Its constructor crashes the process. */
#include "common.h"
static int *volatile nowhere;
__attribute__((constructor)) static void crash(void) { *nowhere = 1; }
#include "table.h"
