#include "match/automaton_builder.h"

#include <algorithm>
#include <utility>

namespace sallyport::match {

void Automaton::Builder::begin() {
  ++turn_;
  content_ = Content{};
  now_.clear();
}

Automaton::Content Automaton::Builder::initial(Neighbour before) {
  begin();
  after_ = before;
  for (const std::uint32_t entry : automaton_.entries()) enter(program_.start_of(entry));
  settle();
  return std::move(content_);
}

Automaton::Content Automaton::Builder::after(const State& from, std::uint32_t character_class,
                                             std::vector<Accepted>& accepted) {
  begin();
  before_ = from.before;
  class_ = character_class;
  after_ = program_.classes().neighbour(character_class);
  accepted_ = &accepted;
  for (const Waiting& item : from.waiting) read(item);
  settle();
  for (const std::uint32_t entry : now_) accepted.push_back({entry, Accepted::End::Now});
  return std::move(content_);
}

std::vector<Accepted> Automaton::Builder::at_end(const State& from) {
  begin();
  std::vector<Accepted> accepted;
  before_ = from.before;
  after_ = Neighbour::Edge;
  accepted_ = &accepted;
  for (const Waiting& item : from.waiting) read(item);
  return accepted;
}

void Automaton::Builder::read(const Waiting& item) {
  const Node& node = program_.nodes()[item.node];
  if (cut(node.entry)) return;
  const bool ended = after_ == Neighbour::Edge;
  if (item.mode == Waiting::Mode::Open) return resolve(item.node, false);
  if (!ended) return;
  if (item.mode == Waiting::Mode::AtEnd) return resolve(item.node, false);
  accepted_->push_back({node.entry, Accepted::End::BeforeThat});
  if (automaton_.order() == Order::Preferred) cut_[node.entry] = turn_;
}

// Depth first by hand: a pattern may chain a hundred thousand optional parts.
void Automaton::Builder::resolve(std::uint32_t first, bool first_final) {
  pending_.assign(1, {first, first_final});
  while (!pending_.empty()) {
    const auto [node, final] = pending_.back();
    pending_.pop_back();
    std::uint64_t& seen = final ? seen_final_[node] : seen_[node];
    if (std::exchange(seen, turn_) == turn_) continue;
    if (cut(program_.nodes()[node].entry)) continue;
    resolve_one(node, final);
  }
}

void Automaton::Builder::resolve_one(std::uint32_t place, bool final) {
  const Node& node = program_.nodes()[place];
  switch (node.kind) {
    case Node::Kind::Split:
      pending_.emplace_back(node.other, final);
      pending_.emplace_back(node.out, final);
      break;
    case Node::Kind::Assert: {
      const Answer answer = decide(node.assertion, before_, after_);
      if (answer != Answer::No) {
        pending_.emplace_back(node.out, final || answer == Answer::IfFinal);
      }
      break;
    }
    case Node::Kind::Characters:
      if (after_ == Neighbour::Edge || !program_.classes().contains(node.set, class_)) break;
      if (final) {
        enter_at_end(node.out);
      } else {
        enter(node.out);
      }
      break;
    case Node::Kind::Accept:
      accept_before(node.entry, final);
      break;
  }
}

void Automaton::Builder::accept_before(std::uint32_t entry, bool final) {
  if (final) {
    const std::uint32_t start = program_.start_of(entry);
    content_.waiting.push_back({start, Waiting::Mode::AcceptAtEnd});
    return;
  }
  accepted_->push_back({entry, Accepted::End::Before});
  if (automaton_.order() == Order::Preferred) cut_[entry] = turn_;
}

void Automaton::Builder::enter_at_end(std::uint32_t node) {
  if (!program_.viable_at_end(node, after_)) return;
  content_.waiting.push_back({node, Waiting::Mode::AtEnd});
}

void Automaton::Builder::enter(std::uint32_t first) {
  entering_.assign(1, first);
  while (!entering_.empty()) {
    const std::uint32_t place = entering_.back();
    entering_.pop_back();
    if (std::exchange(entered_[place], turn_) == turn_) continue;
    const Node& node = program_.nodes()[place];
    if (cut(node.entry) || !program_.viable(place, after_)) continue;
    const Answer answer =
        node.kind == Node::Kind::Assert ? decide(node.assertion, after_) : Answer::Later;
    if (node.kind == Node::Kind::Accept) {
      now_.push_back(node.entry);
      if (automaton_.order() == Order::Preferred) cut_[node.entry] = turn_;
    } else if (node.kind == Node::Kind::Split) {
      entering_.push_back(node.other);
      entering_.push_back(node.out);
    } else if (answer == Answer::Yes) {
      entering_.push_back(node.out);
    } else if (answer == Answer::Later) {
      content_.waiting.push_back({place, Waiting::Mode::Open});
    }
  }
}

// A match may be certain although each way to it waits: `a(?:\b|\B)` matches before any text.
void Automaton::Builder::find_foregone() {
  std::vector<std::uint32_t> asserting;
  for (const Waiting& item : content_.waiting) {
    const Node& node = program_.nodes()[item.node];
    if (item.mode == Waiting::Mode::Open && node.kind == Node::Kind::Assert) {
      asserting.push_back(node.entry);
    }
  }
  std::ranges::sort(asserting);
  for (auto entry = asserting.begin(); entry != asserting.end();) {
    const auto last = std::upper_bound(entry, asserting.end(), *entry);
    bool certain = last - entry > 1 && std::ranges::find(now_, *entry) == now_.end();
    for (unsigned after = 0; certain && after < kNeighbours; ++after) {
      certain = accepts_now(*entry, static_cast<Neighbour>(after));
    }
    if (certain) now_.push_back(*entry);
    entry = last;
  }
}

bool Automaton::Builder::accepts_now(std::uint32_t entry, Neighbour after) const {
  std::vector<std::uint32_t> places;
  for (const Waiting& item : content_.waiting) {
    const bool own = program_.nodes()[item.node].entry == entry;
    if (own && item.mode == Waiting::Mode::Open) places.push_back(item.node);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Node& node = program_.nodes()[places[i]];
    std::vector<std::uint32_t> ways;
    if (node.kind == Node::Kind::Accept) return true;
    if (node.kind == Node::Kind::Split) ways = {node.out, node.other};
    if (node.kind == Node::Kind::Assert && decide(node.assertion, after_, after) == Answer::Yes) {
      ways = {node.out};
    }
    for (const std::uint32_t way : ways) {
      if (std::ranges::find(places, way) == places.end()) places.push_back(way);
    }
  }
  return false;
}

void Automaton::Builder::settle() {
  const bool looks_ahead = std::ranges::any_of(content_.waiting, [&](const Waiting& item) {
    return item.mode == Waiting::Mode::AtEnd ||
           program_.nodes()[item.node].kind == Node::Kind::Assert;
  });
  content_.before = looks_ahead ? after_ : Neighbour::Other;
  if (automaton_.order() == Order::Any) {
    if (looks_ahead) find_foregone();
    std::ranges::sort(content_.waiting);
    const auto [from, to] = std::ranges::unique(content_.waiting);
    content_.waiting.erase(from, to);
    return;
  }
  // Only places that need the end can occur twice, and the first one counts.
  std::vector<Waiting> once;
  for (const Waiting& item : content_.waiting) {
    const bool open = item.mode == Waiting::Mode::Open;
    if (open || std::ranges::find(once, item) == once.end()) once.push_back(item);
  }
  content_.waiting = std::move(once);
}

}  // namespace sallyport::match
