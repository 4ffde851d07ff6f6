#define GEN_PASS_DEF_GOOD
#define DEBUG_TYPE "planted-good"
