// `opentrustgraph-chain/v0` documents: written record by record, and read the same way, so that a
// chain of any length needs the memory of one record (TR-20).
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "trust/chain.h"

namespace sallyport::trust {

inline constexpr std::string_view kChainSchema = "opentrustgraph-chain/v0";

// The members before the records, which follow as JSON objects with commas between them. Then
// `kChainEnd`.
struct ChainHead {
  std::string topic{kTopic};
  std::uint64_t total = 0;
  std::optional<std::string> root_hash{};
  bool verified = false;  // only after the whole was checked
  std::string generated_at{};
  std::string producer_version{};
};
std::string chain_begin(const ChainHead& head);
inline constexpr std::string_view kChainEnd = "]}\n";

// What a document states besides its records.
struct ChainDocument {
  std::optional<std::uint64_t> total{};
  std::optional<std::string> root_hash{};
  std::string topic{kTopic};
  std::string producer{};
};
// Receives the records as written in the document, and the head when it is read, which may follow
// the records. `InvalidInput`: no such document, with the byte.
struct OnChain {
  std::function<Result<void>(std::string_view record)> record;
  std::function<void(const ChainDocument& head)> head{};
};
Result<ChainDocument> read_chain(std::istream& in, const OnChain& on_chain);

// Records must keep our own rules if the producer is Sallyport or not yet known.
ChainReport verify_chain_file(std::istream& in, ChainVerifier::Rules rules);

}  // namespace sallyport::trust
