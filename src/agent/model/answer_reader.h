// Reads the events of a model from the bytes of its answer, in pieces of any size (RT-17, RT-91).
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

// Reads the frames of one API. An AnswerReader owns it.
class FrameReader {
 public:
  virtual ~FrameReader() = default;
  // `event` holds valid UTF-8. Frames of unknown types add nothing.
  virtual ModelResult<void> take(const net::SseEvent& event, std::vector<ModelEvent>& out) = 0;
  virtual bool ended() const = 0;  // the API says so; later frames are not read
  // Called when the body has ended. An error: the answer was not complete.
  virtual ModelResult<void> finish() const = 0;
};

// Reads one answer of at most 16 MiB. The same bytes give the same events and the same error,
// however they are cut into pieces. Use it on one thread.
class AnswerReader {
 public:
  explicit AnswerReader(std::unique_ptr<FrameReader> frames);

  // Adds the events of these bytes. After an error or the end, do not call it again.
  ModelResult<void> feed(std::string_view bytes, std::vector<ModelEvent>& out);
  bool ended() const { return frames_->ended(); }
  // Call it after the last byte. `malformed_stream`: the end is missing.
  ModelResult<void> finish() const { return frames_->finish(); }

 private:
  ModelResult<void> take_line(std::vector<ModelEvent>& out);

  std::unique_ptr<FrameReader> frames_;
  net::SseParser parser_;
  std::string line_;  // the line that has not ended yet
  std::size_t bytes_ = 0;
};

// Builds the error `malformed_stream`.
std::unexpected<ProviderError> malformed_stream(std::string message);

}  // namespace sallyport::agent
