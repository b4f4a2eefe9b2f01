// The views of a stream, read together with its text.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "guardrails/check/check_set.h"
#include "guardrails/view/view_node.h"
#include "match/other_readings.h"

namespace sallyport::guardrails {

class Views final : public match::OtherReadings {
 public:
  // The set must outlive it.
  Views(const CheckSet& set, std::uint64_t most_held);

  void step(const match::Unit& unit, std::vector<match::OtherMatch>& certain) override;
  void finish(std::vector<match::OtherMatch>& certain) override;
  void mute(std::uint32_t rule) override { muted_[rule] = true; }
  std::optional<std::uint64_t> held_from() const override;
  std::optional<match::Match> earliest_held() const override;
  bool overflowed() const override;
  std::optional<match::OtherMatch> truncated() const override;
  std::size_t state_bytes() const override;

  // True if a rule, enforcing or not, has not read the whole text.
  bool truncated(std::uint32_t rule) const;

 private:
  // The views of one group of rules.
  struct Group final : MatchSink {
    Group(const CheckSet& set, const ViewGroup& rules, const std::vector<bool>& muted,
          std::uint64_t quoted);
    void add(match::OtherMatch&& match) override { certain->push_back(std::move(match)); }
    void truncated(std::size_t view) override;

    const ViewGroup& rules;
    std::vector<match::OtherMatch>* certain = nullptr;
    std::optional<std::size_t> truncated_view{};  // the first of them
    ViewTree tree;
  };

  const CheckSet& set_;
  std::vector<bool> muted_;
  std::deque<Group> groups_;
};

}  // namespace sallyport::guardrails
