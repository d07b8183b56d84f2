/* SPDX-License-Identifier: Apache-2.0 */
/* Its constructor never returns: whoever opens it hangs. */
#include "common.h"
#include <unistd.h>
__attribute__((constructor)) static void hang(void) {
    for (;;)
        pause();
}
#include "table.h"
