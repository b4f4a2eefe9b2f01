// A `RecordReader` over a store. It cannot write.
#pragma once

#include "core/record/record_reader.h"
#include "ledger/store.h"

namespace sallyport::ledger {

class StoreReader final : public core::RecordReader {
 public:
  explicit StoreReader(LedgerStore& store) : store_(store) {}

  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override;
  Result<std::vector<core::Fact>> facts(std::string_view space) override;
  Result<Moment> moment(const std::vector<core::FactKey>& keys) override;
  Result<json::object> entry(std::uint64_t sequence) override;

 private:
  LedgerStore& store_;
};

}  // namespace sallyport::ledger
