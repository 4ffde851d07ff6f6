// Copies the tile. Of its rows, the first is padded.
// The buffer is
// no view of the array.
int a; // Loads what was written behind the barrier.
/// What is a multiple of this: from a row to the next one.
/* The mend is below. */
const char *b = "the bundle is no "
                "program";
const char *c = R"(a device of no use)";
int d; // The sums of the last turn are stored one behind the other.
// The head dimensions are to be known.
