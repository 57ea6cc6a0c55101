#include "dlcbf.h"
const struct noun restore_noun = { .name = "restore" };
