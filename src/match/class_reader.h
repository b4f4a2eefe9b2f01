// Reads the text between [ and ].
#pragma once

#include "match/escape_reader.h"

namespace sallyport::match {

struct ClassReading {
  Alphabet alphabet;
  bool caseless;
};

// The cursor is after the opening bracket. Afterwards it is after the closing one.
Result<CharSet> read_class(PatternCursor& cursor, ClassReading options);

}  // namespace sallyport::match
