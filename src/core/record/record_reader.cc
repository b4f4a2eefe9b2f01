#include "core/record/record_reader.h"

#include "base/try.h"

namespace sallyport::core {

Result<RecordReader::Moment> RecordReader::moment(const std::vector<FactKey>& keys) {
  Moment found;
  for (const FactKey& key : keys) {
    SALLYPORT_TRY(std::optional<std::string> value, fact(key.space, key.key));
    found.values.push_back(std::move(value));
  }
  return found;
}

std::uint64_t RecordReader::size_seen() {
  const Result<Moment> now = moment({});
  return now ? now->size : 0;
}

}  // namespace sallyport::core
