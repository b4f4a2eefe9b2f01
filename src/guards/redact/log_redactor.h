// Removes secrets from the log lines of the program, also keys over several lines (AU-84).
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

// The writer of the log owns it. Any thread may call it; lines of one source must come in order.
class LogRedactor {
 public:
  // `redactor` must outlive it.
  LogRedactor(const core::Redactor& redactor, std::shared_ptr<const Detectors> detectors)
      : redactor_(redactor), detectors_(std::move(detectors)) {}

  // Returns the redacted line. A line that begins with `[NAME] ` comes from that server: personal
  // data and internal addresses are removed too, and lines of others do not end a key that it
  // prints. Our own lines keep our own addresses.
  std::string line(std::string_view text);

 private:
  struct OpenKey {
    std::size_t indent = 0;  // its place on the line, after a prefix such as the time
    std::size_t lines = 0;
    std::size_t others = 0;  // lines in a row that are not part of it
  };
  using OpenKeys = std::map<std::string, OpenKey, std::less<>>;  // by source
  static bool belongs_to_key(OpenKeys& open, std::string_view source, std::string_view text);
  std::string redacted(std::string_view text, bool from_server) const;

  const core::Redactor& redactor_;
  std::shared_ptr<const Detectors> detectors_;
  Guarded<OpenKeys> open_;
};

}  // namespace sallyport::guards
