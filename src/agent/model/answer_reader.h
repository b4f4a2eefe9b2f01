// Events of a model out of the bytes of its answer, whatever pieces these come in (RT-17, RT-91).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/model.h"
#include "net/sse_parser.h"

namespace sallyport::agent {

inline constexpr std::size_t kLargestAnswer = 16u << 20;  // RT-91

// One API's frames. Owned by an AnswerReader.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  // `event` holds valid UTF-8. Frames of unknown types add nothing.
  virtual ModelResult<void> take(const net::SseEvent& event, std::vector<ModelEvent>& out) = 0;
  virtual bool ended() const = 0;  // as the API demands; what follows is not read
  // The body ended before the answer. An error: that is not a valid end.
  virtual ModelResult<void> finish() const = 0;
};

// The bytes of one answer, at most 16 MiB. The same bytes give the same events and the same error,
// however they are cut. On one thread.
class AnswerReader {
 public:
  explicit AnswerReader(std::unique_ptr<FrameReader> frames);

  // Adds the events of these bytes. After an error, or once it ended, nothing more may be fed.
  ModelResult<void> feed(std::string_view bytes, std::vector<ModelEvent>& out);
  bool ended() const { return frames_->ended(); }
  // There are no more bytes. `malformed_stream`: the end is missing.
  ModelResult<void> finish() const { return frames_->finish(); }

 private:
  ModelResult<void> take_line(std::vector<ModelEvent>& out);

  std::unique_ptr<FrameReader> frames_;
  net::SseParser parser_;
  std::string line_;  // that is not ended yet
  std::size_t bytes_ = 0;
};

// How `malformed_stream` is said.
std::unexpected<ProviderError> malformed_stream(std::string message);

}  // namespace sallyport::agent
