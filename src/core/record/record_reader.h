// What the product reads of its log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/draft.h"

namespace sallyport::core {

// Reads committed state.
class RecordReader {
 public:
  virtual ~RecordReader() = default;
  // The number of entries and the values of facts at one moment, in the order of `keys`.
  struct Moment {
    std::uint64_t size = 0;
    std::vector<std::optional<std::string>> values{};
  };
  // A reader without snapshots reads one fact after the other and returns 0 as size.
  virtual Result<Moment> moment(const std::vector<FactKey>& keys);
  // The size of the log as this process last saw it, for readers that read no fact. 0 if it cannot
  // be read.
  virtual std::uint64_t size_seen();
  virtual Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) = 0;
  virtual Result<std::vector<Fact>> facts(std::string_view space) = 0;
  // Returns the entry with its body opened. Redacted and erased content stays hidden.
  virtual Result<json::object> entry(std::uint64_t sequence) = 0;
};

}  // namespace sallyport::core
