#include "guardrails/stream/gate.h"

namespace sallyport::guardrails {

std::string Passed::text() const {
  std::string joined;
  for (const Piece& piece : pieces) joined += piece.text;
  if (block && block->replacement) joined += *block->replacement;
  return joined;
}

}  // namespace sallyport::guardrails
