#include "guardrails/view/view_node.h"

#include <algorithm>
#include <utility>

#include "base/smaller_of.h"

namespace sallyport::guardrails {

ViewNode::ViewNode(const CheckSet& set, const ViewGroup& group, std::size_t view,
                   std::unique_ptr<ViewReader> reader, MatchSink& above)
    : set_(set), group_(group), view_(view), above_(above), reader_(std::move(reader)) {
  const ViewSpec& spec = group.views[view];
  if (spec.decoder) decoder_ = make_decoder(*spec.decoder);
  if (spec.normalised) normaliser_.emplace(group.normalisers);
}

ViewNode& ViewNode::add_child(std::size_t view, std::unique_ptr<ViewReader> reader) {
  MatchSink& above = *this;
  children_.push_back(std::make_unique<ViewNode>(set_, group_, view, std::move(reader), above));
  return *children_.back();
}

void ViewNode::take(const match::Unit& unit) {
  if (decoder_) {
    decoder_->take(unit, *this);
  } else {
    character(unit);
  }
}

void ViewNode::finish() {
  if (decoder_) {
    decoder_->finish(*this);
  } else {
    end();
  }
}

void ViewNode::drop() {
  if (decoder_) decoder_->reset();
  drop_run();
}

void ViewNode::character(const match::Unit& unit) {
  untouched_ = false;
  if (normaliser_) {
    for (const match::Unit& done : normaliser_->take(unit)) read(done);
  } else {
    read(unit);
  }
}

void ViewNode::read(const match::Unit& unit) {
  if (reader_) reader_->read(unit, *this);
  for (const auto& child : children_) child->take(unit);
}

void ViewNode::end() {
  if (normaliser_) {
    for (const match::Unit& done : normaliser_->finish()) read(done);
  }
  if (reader_) reader_->end(*this);
  for (const auto& child : children_) child->finish();
  untouched_ = true;
}

void ViewNode::begin_run() {
  provisional_ = true;
}

void ViewNode::run_counts() {
  provisional_ = false;
  for (match::OtherMatch& match : waiting_) above_.add(std::move(match));
  waiting_.clear();
}

void ViewNode::drop_run() {
  provisional_ = false;
  waiting_.clear();
  if (std::exchange(untouched_, true)) return;
  if (normaliser_) normaliser_->reset();
  if (reader_) reader_->drop();
  for (const auto& child : children_) child->drop();
}

void ViewNode::run_truncated() {
  above_.truncated(view_);
}

void ViewNode::add(match::OtherMatch&& match) {
  if (provisional_) {
    waiting_.push_back(std::move(match));
  } else {
    above_.add(std::move(match));
  }
}

bool ViewNode::holds(std::uint32_t rule) const {
  return set_.raw->effect(rule) != match::Effect::Log;
}

std::optional<std::uint64_t> ViewNode::pending_from() const {
  std::optional<std::uint64_t> from;
  if (decoder_) from = decoder_->pending_from();
  if (normaliser_) from = smaller_of(from, normaliser_->pending_from());
  return from;
}

std::optional<std::uint64_t> ViewNode::held_from() const {
  std::optional<std::uint64_t> from = pending_from();
  if (untouched_) return from;
  if (reader_) from = smaller_of(from, reader_->held_from());
  for (const match::OtherMatch& match : waiting_) {
    if (holds(match.match.rule)) from = smaller_of(from, match.match.start);
  }
  for (const auto& child : children_) from = smaller_of(from, child->held_from());
  return from;
}

void ViewNode::collect_held(std::vector<match::Match>& held) const {
  if (const auto from = pending_from()) {
    const auto rule = std::ranges::find_if(group_.rules, [&](auto r) { return holds(r); });
    held.push_back({.rule = *rule, .entry = match::kNoEntry, .start = *from});
  }
  if (reader_) {
    if (const auto match = reader_->earliest_held()) held.push_back(*match);
  }
  for (const match::OtherMatch& match : waiting_) {
    if (holds(match.match.rule)) held.push_back(match.match);
  }
  for (const auto& child : children_) child->collect_held(held);
}

bool ViewNode::overflowed() const {
  if (untouched_) return false;
  return (reader_ && reader_->overflowed()) ||
         std::ranges::any_of(children_, [](const auto& child) { return child->overflowed(); });
}

std::size_t ViewNode::state_bytes() const {
  std::size_t bytes = sizeof(ViewNode) + waiting_.capacity() * sizeof(match::OtherMatch);
  if (reader_) bytes += reader_->state_bytes();
  for (const auto& child : children_) bytes += child->state_bytes();
  return bytes;
}

ViewTree::ViewTree(const CheckSet& set, const ViewGroup& group, const MakeReader& make_reader,
                   MatchSink& sink, std::optional<std::size_t> only) {
  std::vector<bool> wanted(group.views.size(), !only);
  for (std::size_t view = only.value_or(0); view != 0; view = group.views[view].parent) {
    wanted[view] = true;
  }
  std::vector<ViewNode*> nodes(group.views.size());
  for (std::size_t view = 1; view < group.views.size(); ++view) {
    if (!wanted[view]) continue;
    auto reader = !only || *only == view ? make_reader(view) : nullptr;
    const std::size_t parent = group.views[view].parent;
    if (parent != 0) {
      nodes[view] = &nodes[parent]->add_child(view, std::move(reader));
    } else {
      roots_.push_back(std::make_unique<ViewNode>(set, group, view, std::move(reader), sink));
      nodes[view] = roots_.back().get();
    }
  }
}

}  // namespace sallyport::guardrails
