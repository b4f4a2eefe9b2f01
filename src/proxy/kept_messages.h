// Stores the content of a request for `keep: content`. Messages that the session has not stored
// before are stored redacted, as they went to the model; the others by digest (MP-69).
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/keyed_digest.h"
#include "core/record/record_reader.h"
#include "llm/api.h"
#include "proxy/record.h"

namespace sallyport::proxy {

class KeptMessages {
 public:
  static constexpr std::size_t kLargest = 256u << 10;  // bytes of one message; larger: its digest
  static constexpr std::size_t kMostBytes = 2u << 20;  // of one request; the rest: their digests
  static constexpr std::size_t kMostMessages = 256;    // that an entry lists
  static constexpr std::size_t kMostKnown = 512;       // that a session knows; older: stored again
  static constexpr std::string_view kSpace = "model_kept";
  static constexpr std::chrono::hours kKnownFor{30 * 24};

  KeptMessages(core::RecordReader& reader, const KeyedDigest& digest, const Clock& clock)
      : reader_(reader), digest_(digest), clock_(clock) {}

  // Adds the entries with the content of a request and its answer, before the record of the
  // request. `body` is the request as sent upstream. `answer` has the released texts; empty: none
  // can be kept. The ledger redacts and seals the texts, and `ledger erase` removes them.
  void add(const ModelRecord& record, llm::Api api, const std::string& body,
           const std::string& answer, std::vector<core::Draft>& drafts) const;

 private:
  core::RecordReader& reader_;
  const KeyedDigest& digest_;
  const Clock& clock_;
};

// The messages of a request, in order, with their places.
struct PlacedMessage {
  std::string place;  // JSON Pointer
  std::string_view text;
};
std::vector<PlacedMessage> messages_of(llm::Api api, std::string_view body);

}  // namespace sallyport::proxy
