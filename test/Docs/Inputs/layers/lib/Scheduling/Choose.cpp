// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Scheduling/Schedule.h"
#include "Target/Backend.h"
#include <string>
