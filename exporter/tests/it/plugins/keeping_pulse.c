/* SPDX-License-Identifier: Apache-2.0 */
/* stubborn_pulse.c, which declares that it keeps files. */
#define KEEPS_FILES
#include "stubborn_pulse.c"
