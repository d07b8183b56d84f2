/* SPDX-License-Identifier: Apache-2.0 */
/* Does nothing wrong; what the others are compared with. */
#include "common.h"
#include "table.h"
