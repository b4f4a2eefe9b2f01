#include "agent/model/answer_reader.h"

#include <utility>

#include "sallyport/json.h"

namespace sallyport::agent {

std::unexpected<ProviderError> malformed_stream(std::string message) {
  return std::unexpected(provider_error(TransportFault::BadFraming, std::move(message)));
}

AnswerReader::AnswerReader(std::unique_ptr<FrameReader> frames)
    : frames_(std::move(frames)), parser_(kLargestAnswer) {}

// Reads by lines, so that an error does not depend on how the bytes are cut.
ModelResult<void> AnswerReader::feed(std::string_view bytes, std::vector<ModelEvent>& out) {
  while (!bytes.empty() && !ended()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
    bytes_ += size;
    if (bytes_ > kLargestAnswer) return malformed_stream("the answer is over 16 MiB");
    line_.append(bytes.substr(0, size));
    bytes.remove_prefix(size);
    if (end == std::string_view::npos) break;
    if (auto taken = take_line(out); !taken) return taken;
  }
  return {};
}

ModelResult<void> AnswerReader::take_line(std::vector<ModelEvent>& out) {
  if (!is_utf8(line_)) return malformed_stream("the stream holds bytes that are not UTF-8");
  parser_.feed(line_);
  line_.clear();
  while (!ended()) {
    const net::SseEvent* const event = parser_.next();
    if (!event) break;
    if (auto taken = frames_->take(*event, out); !taken) return taken;
  }
  return {};
}

}  // namespace sallyport::agent
