// Replaces the older part of a long transcript by a summary that the model writes (RT-62..RT-70).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/model/model_round.h"
#include "agent/run/asker.h"
#include "agent/run/session_lease.h"
#include "agent/run/settings.h"

namespace sallyport::agent {

// Belongs to one run. All references must outlive it.
class Compaction {
 public:
  struct Parts {
    RuntimeParts& runtime;
    const Settings& settings;
    Model& model;
    RunControl& control;
    SessionLease& lease;
    Asker asker;
  };
  explicit Compaction(Parts parts) : parts_(std::move(parts)) {}

  // `reported`: input tokens of the last answer, if its provider reported them.
  bool due(std::span<const sessions::Item> items, std::optional<std::uint64_t> reported) const;

  // Writes a snapshot, asks for a summary, proposes the change and swaps. `before_swap` runs after
  // the summary; if it appends items, the revision changes and the swap is skipped (RT-67). An
  // abort ends the run. After any other failure the transcript is unchanged.
  Async<std::optional<Abort>> run(std::vector<sessions::Item> items, std::uint64_t revision,
                                  std::function<Async<void>()> before_swap);

 private:
  Async<std::expected<std::string, NoAnswer>> summary(std::vector<sessions::Item> older);
  Async<void> swap(std::uint64_t revision, std::size_t replaced, std::string text,
                   std::string snapshot);
  void give_up(std::string_view why);
  Subject subject() const { return parts_.asker.subject(parts_.runtime.plans.current()->hash()); }

  Parts parts_;
  bool given_up_ = false;  // for this run
};

}  // namespace sallyport::agent
