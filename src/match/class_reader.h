// Reads the text between [ and ].
#pragma once

#include "match/escape_reader.h"

namespace sallyport::match {

struct ClassReading {
  Alphabet alphabet;
  bool caseless;
};

// The cursor stands behind the opening bracket, and afterwards behind the closing one.
Result<CharSet> read_class(PatternCursor& cursor, ClassReading how);

}  // namespace sallyport::match
