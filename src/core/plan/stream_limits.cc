#include "core/plan/stream_limits.h"

#include <utility>

#include "sallyport/json.h"

namespace sallyport::core {

std::size_t chunk_bytes(const json::value& chunk) {
  return chunk.is_string() ? chunk.get_string().size() : canonical_json(chunk).size();
}

void cut_short(Envelope& stream, std::string reason) {
  if (!stream.complete) return;
  stream.complete = false;
  stream.reason = std::move(reason);
}

void cut_to_limits(const StreamLimits& limits, Envelope& stream) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < stream.chunks.size(); ++i) {
    bytes += chunk_bytes(stream.chunks[i]);
    if (i < limits.chunks && bytes <= limits.bytes) continue;
    stream.chunks.resize(i);
    cut_short(stream, i == limits.chunks ? "too many chunks" : "too many bytes");
    return;
  }
}

}  // namespace sallyport::core
