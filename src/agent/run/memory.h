// Long-term memory of an agent: what earlier sessions left is recalled before a round, and a
// finished run leaves one record (RT-56..RT-61).
#pragma once

#include <stop_token>
#include <string>

#include "agent/run/asker.h"
#include "agent/run/runtime_parts.h"
#include "agent/run/settings.h"

namespace sallyport::agent {

// Of one run. All references outlive it.
class Memory {
 public:
  Memory(RuntimeParts& parts, const MemorySettings& settings, Asker asker)
      : parts_(parts), settings_(settings), asker_(std::move(asker)) {}

  // What fits this text, as the second door releases it; empty: nothing does, or the search failed,
  // and the round goes on without it.
  Async<std::string> recall(std::string query, std::stop_token cancel);

  // One record of the task and its answer, redacted. A revision that was ingested before stores
  // nothing. At most 5 s; what fails is made up for at the session's next start.
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
