// One view of a text while the text is read: its decoder, its reader, and the views made from it.
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
  virtual void add(match::OtherMatch&& match) = 0;
  // A run was longer than the part that is decoded.
  virtual void truncated(std::size_t view) = 0;
};

// Reads the characters of a view.
class ViewReader {
 public:
  virtual ~ViewReader() = default;

  virtual void read(const match::Unit& unit, MatchSink& sink) = 0;
  // The text ends. Another one may follow.
  virtual void end(MatchSink& sink) = 0;
  // The run was too short to be a text. Forget it.
  virtual void drop() = 0;

  virtual std::optional<std::uint64_t> held_from() const { return std::nullopt; }
  virtual std::optional<match::Match> earliest_held() const { return std::nullopt; }
  virtual bool overflowed() const { return false; }
  virtual std::size_t state_bytes() const { return 0; }
};

class ViewNode final : private TextSink, private MatchSink {
 public:
  // The references must outlive it. A view without a reader only feeds the views made from it.
  ViewNode(const CheckSet& set, const ViewGroup& group, std::size_t view,
           std::unique_ptr<ViewReader> reader, MatchSink& above);

  ViewNode& add_child(std::size_t view, std::unique_ptr<ViewReader> reader);

  // Takes a character of the parent text.
  void take(const match::Unit& unit);
  // The parent text ends; another one may follow.
  void finish();
  // The parent text was a run that was too short.
  void drop();

  // The first source byte that waits: for an open match, or for an incomplete unit.
  std::optional<std::uint64_t> held_from() const;
  // Adds the waiting matches. The group's first enforcing rule holds an incomplete unit.
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

  void add(match::OtherMatch&& match) override;
  void truncated(std::size_t view) override { above_.truncated(view); }

  void read(const match::Unit& unit);
  std::optional<std::uint64_t> pending_from() const;
  bool holds(std::uint32_t rule) const;

  const CheckSet& set_;
  const ViewGroup& group_;
  std::size_t view_;
  MatchSink& above_;
  std::unique_ptr<Decoder> decoder_;
  std::optional<Normaliser> normaliser_;
  std::unique_ptr<ViewReader> reader_;
  std::vector<std::unique_ptr<ViewNode>> children_;
  bool untouched_ = true;                   // nothing was read since the text began
  bool provisional_ = false;                // the run may be too short to count
  std::vector<match::OtherMatch> waiting_;  // matches in such a run
};

// Reads all views that are made from a text.
class ViewTree {
 public:
  // Makes the reader of a view. Null: the view only feeds others.
  using MakeReader = std::function<std::unique_ptr<ViewReader>(std::size_t view)>;

  // `only`: limits the tree to this view and its ancestors.
  ViewTree(const CheckSet& set, const ViewGroup& group, const MakeReader& make_reader,
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
