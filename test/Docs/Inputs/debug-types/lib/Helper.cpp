#define DEBUG_TYPE "planted-other"
