// Takes secrets out of the lines of a program's own log (AU-84), also out of keys that go over
// several lines.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/guarded.h"
#include "core/record/redactor.h"
#include "guards/detect/detectors.h"

namespace sallyport::guards {

// Redacts log lines. The writer of the log owns it. Callable from any thread; lines of one source
// must come in their order.
class LogRedactor {
 public:
  // `redactor` must outlive it.
  LogRedactor(const core::Redactor& redactor, std::shared_ptr<const Detectors> detectors)
      : redactor_(redactor), detectors_(std::move(detectors)) {}

  // The line as it may be written. A line that begins with `[NAME] ` is what that server said:
  // personal data and internal addresses are taken out of it too, and a key that it prints is not
  // ended by what others say meanwhile. Lines of our own keep our own addresses.
  std::string line(std::string_view text);

 private:
  struct OpenKey {
    std::size_t indent = 0;  // where it began on its line: a log may put the time before each
    std::size_t lines = 0;
    std::size_t others = 0;  // lines in a row that are no part of it
  };
  using OpenKeys = std::map<std::string, OpenKey, std::less<>>;  // by source
  static bool belongs_to_key(OpenKeys& open, std::string_view source, std::string_view text);
  std::string redacted(std::string_view text, bool said_by_server) const;

  const core::Redactor& redactor_;
  std::shared_ptr<const Detectors> detectors_;
  Guarded<OpenKeys> open_;
};

}  // namespace sallyport::guards
