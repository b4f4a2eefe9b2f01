// Readers of views. Inside a view, places are counted in characters of the view, because several
// characters may come from the same source bytes: an exception that covers one letter of a ligature
// must not cover the other.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "guardrails/view/view_node.h"
#include "match/preferred_end.h"
#include "match/scanner.h"

namespace sallyport::guardrails {

// Reports matches in source bytes, for streams and for the spans of redactions.
class SpanReader final : public ViewReader {
 public:
  // `quoted`: the least number of source bytes for which the start of a match is kept.
  SpanReader(const ViewGroup& group, std::size_t view, const std::vector<bool>& muted,
             std::uint64_t quoted = std::numeric_limits<std::uint64_t>::max());

  void read(const match::Unit& unit, MatchSink& sink) override;
  void end(MatchSink& sink) override;
  void drop() override;
  std::optional<std::uint64_t> held_from() const override;
  std::optional<match::Match> earliest_held() const override;
  bool overflowed() const override { return scanner_.overflowed(); }
  std::size_t state_bytes() const override;

 private:
  void deliver(MatchSink& sink);
  void forget();
  const match::Unit& at(std::uint64_t place) const;
  std::string excerpt(std::uint64_t start, std::uint64_t end) const;

  const ViewGroup& group_;
  std::size_t view_;
  const match::PatternSet& set_;
  const std::vector<bool>& muted_;  // rules of the set
  std::uint64_t quoted_;
  match::Scanner scanner_;
  std::uint64_t place_ = 0;
  std::vector<match::Unit> window_;  // the open characters, from `window_from_` on
  std::uint64_t window_from_ = 0;
  std::vector<match::Match> certain_;
};

// Reports every match, for whole texts. The start is a place in the view.
class PlaceReader final : public ViewReader {
 public:
  PlaceReader(const ViewGroup& group, std::size_t view);

  // Starts another source text.
  void begin() { place_ = 0; }
  void read(const match::Unit& unit, MatchSink& sink) override;
  void end(MatchSink& sink) override;
  void drop() override { scanner_.reset(); }

 private:
  void deliver(MatchSink& sink);

  const ViewGroup& group_;
  std::size_t view_;
  match::Scanner scanner_;
  std::uint64_t place_ = 0;
  std::vector<match::Match> certain_;
};

// A match as it is reported.
struct Located {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string matched{};
};

// Reads a view again to find the end, preferred by Perl, of a match with a known start.
class MatchLocator final : public ViewReader {
 public:
  // `match` is a match of the set of the view.
  MatchLocator(const ViewGroup& group, std::size_t view, const match::Match& match);

  void read(const match::Unit& unit, MatchSink& sink) override;
  void end(MatchSink& sink) override;
  void drop() override { before_.reset(); }
  bool done() const { return done_; }
  const Located& located() const { return located_; }

 private:
  void settle();

  match::PreferredEnd end_;
  std::uint64_t start_;
  std::uint64_t place_ = 0;
  std::optional<char32_t> before_;
  std::vector<char32_t> beginning_;             // the part that may be quoted
  std::array<std::uint64_t, 3> source_ends_{};  // of the last characters, by place
  bool done_ = false;
  Located located_;
};

}  // namespace sallyport::guardrails
