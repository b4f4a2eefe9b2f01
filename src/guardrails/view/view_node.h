// One view of a text while the text is read: what makes it, what looks at it, and the views that
// are made from it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "guardrails/check/check_set.h"
#include "guardrails/view/view_decoder.h"
#include "guardrails/view/view_normaliser.h"
#include "match/other_readings.h"

namespace sallyport::guardrails {

class MatchSink {
 public:
  virtual ~MatchSink() = default;
  virtual void tell(match::OtherMatch&& match) = 0;
  // More of a run was there than is decoded.
  virtual void truncated(std::size_t view) = 0;
};

// Looks at the characters of a view.
class ViewReader {
 public:
  virtual ~ViewReader() = default;

  virtual void read(const match::Unit& unit, MatchSink& sink) = 0;
  // The text ends. Another may follow.
  virtual void end(MatchSink& sink) = 0;
  // The text was none, and is forgotten.
  virtual void drop() = 0;

  virtual std::optional<std::uint64_t> held_from() const { return std::nullopt; }
  virtual std::optional<match::Match> earliest_held() const { return std::nullopt; }
  virtual bool overflowed() const { return false; }
  virtual std::size_t state_bytes() const { return 0; }
};

class ViewNode final : private TextSink, private MatchSink {
 public:
  // All of these must outlive it. Without a reader the view only serves those made from it.
  ViewNode(const CheckSet& plan, const ViewGroup& group, std::size_t view,
           std::unique_ptr<ViewReader> reader, MatchSink& above);

  ViewNode& add_child(std::size_t view, std::unique_ptr<ViewReader> reader);

  // A character of the text that the view is made from.
  void take(const match::Unit& unit);
  // That text ends; another may follow.
  void finish();
  // That text was none.
  void drop();

  // From where on source bytes wait: for an open match, or because a unit is not complete.
  std::optional<std::uint64_t> held_from() const;
  // Adds what waits. A unit that is not complete is held by the group's first enforcing rule.
  void collect_held(std::vector<match::Match>& held) const;
  bool overflowed() const;
  std::size_t state_bytes() const;

 private:
  void character(const match::Unit& unit) override;
  void end() override;
  void begin_run() override;
  void run_counts() override;
  void drop_run() override;
  void run_truncated() override;

  void tell(match::OtherMatch&& match) override;
  void truncated(std::size_t view) override { above_.truncated(view); }

  void read(const match::Unit& unit);
  std::optional<std::uint64_t> pending_from() const;
  bool holds(std::uint32_t rule) const;

  const CheckSet& plan_;
  const ViewGroup& group_;
  std::size_t view_;
  MatchSink& above_;
  std::unique_ptr<Decoder> decoder_;
  std::optional<Normaliser> normaliser_;
  std::unique_ptr<ViewReader> reader_;
  std::vector<std::unique_ptr<ViewNode>> children_;
  bool untouched_ = true;                   // nothing was read since the text began
  bool provisional_ = false;                // the run may be too short to count
  std::vector<match::OtherMatch> waiting_;  // found in such a run
};

// Reads everything that is made from a text.
class ViewTree {
 public:
  // Makes the reader of a view; nothing: the view is only needed for others.
  using MakeReader = std::function<std::unique_ptr<ViewReader>(std::size_t view)>;

  // `only`: this view and those it is made from; else all.
  ViewTree(const CheckSet& plan, const ViewGroup& group, const MakeReader& make_reader,
           MatchSink& sink, std::optional<std::size_t> only = std::nullopt);

  void take(const match::Unit& unit) {
    for (const auto& node : roots_) node->take(unit);
  }
  void finish() {
    for (const auto& node : roots_) node->finish();
  }
  const std::vector<std::unique_ptr<ViewNode>>& roots() const { return roots_; }

 private:
  std::vector<std::unique_ptr<ViewNode>> roots_;
};

}  // namespace sallyport::guardrails
