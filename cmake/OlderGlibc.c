// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one symbol of glibc 2.36 that a static link on Debian 12 wants, for
// libstdc++'s random_device. With it here, glibc 2.35 will do (Ubuntu 22.04).
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

uint32_t arc4random(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value)
    abort();
  return value;
}
