// Long-term memory of an agent. Records of earlier sessions are recalled before each round, and a
// finished run stores one record (RT-56..RT-61).
#pragma once

#include <stop_token>
#include <string>

#include "agent/run/asker.h"
#include "agent/run/runtime_parts.h"
#include "agent/run/settings.h"

namespace sallyport::agent {

// Belongs to one run. All references must outlive it.
class Memory {
 public:
  Memory(RuntimeParts& parts, const MemorySettings& settings, Asker asker)
      : parts_(parts), settings_(settings), asker_(std::move(asker)) {}

  // Returns the records that match the text, as the second door releases them. Empty: no match, or
  // the search failed and the round continues without it.
  Async<std::string> recall(std::string query, std::stop_token cancel);

  // Stores one redacted record of the task and its answer, if this revision was not ingested
  // before. Takes at most 5 s. After a failure, the next start of the session ingests it.
  Async<void> ingest(std::uint64_t revision, std::string task, std::string answer);

 private:
  struct Found {
    std::string text{};
    std::uint64_t count = 0;
  };
  Async<Result<Found>> search(std::string query, std::stop_token cancel);
  Async<std::string> released(std::string text);
  std::string redacted(std::string text) const;
  Subject subject() const { return asker_.subject(parts_.plans.current()->hash()); }

  RuntimeParts& parts_;
  MemorySettings settings_;
  Asker asker_;
};

}  // namespace sallyport::agent
