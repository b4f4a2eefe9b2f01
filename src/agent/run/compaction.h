// Replaces the older part of a long transcript by a summary of the model's (RT-62..RT-70).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/model/exchange.h"
#include "agent/run/asker.h"
#include "agent/run/session_lease.h"
#include "agent/run/settings.h"

namespace sallyport::agent {

// Of one run. All references outlive it.
class Compaction {
 public:
  struct Parts {
    RuntimeParts& runtime;
    const Settings& settings;
    Model& model;
    RunControl& control;
    SessionLease& hold;
    Asker asker;
  };
  explicit Compaction(Parts parts) : parts_(std::move(parts)) {}

  // `reported`: input tokens of the last answer, where its provider said how many.
  bool due(std::span<const sessions::Item> items, std::optional<std::uint64_t> reported) const;

  // Snapshot, summary, proposal, swap. `before_swap` runs when the summary is there; what it
  // appends moves the revision, and the swap is skipped (RT-67). An abort ends the run; any other
  // failure leaves the transcript as it is.
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
