#define GEN_PASS_DEF_WRONG
#define DEBUG_TYPE "wrong"
#undef DEBUG_TYPE
