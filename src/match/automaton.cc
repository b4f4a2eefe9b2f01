#include "match/automaton.h"

#include <algorithm>
#include <utility>

#include "match/automaton_builder.h"
#include "match/crowd.h"

namespace sallyport::match {

Automaton::Automaton(const Program& program, const std::vector<EntryRole>& roles,
                     std::vector<std::uint32_t> entries, Order order, std::size_t room)
    : program_(program),
      roles_(roles),
      chosen_(std::move(entries)),
      order_(order),
      builder_(std::make_unique<Builder>(*this)),
      crowds_(std::make_unique<Crowds>(*this, room / 4)) {
  for (unsigned before = 0; before < kNeighbours; ++before) {
    initial_[before] = intern(builder_->initial(static_cast<Neighbour>(before)));
  }
  room_ = bytes_ + room;
}

Automaton::~Automaton() = default;

std::size_t Automaton::HashContent::operator()(const Content& content) const {
  std::size_t hash = static_cast<std::size_t>(content.before);
  const auto mix = [&](std::size_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  for (const Waiting& item : content.waiting) {
    mix(std::size_t{item.node} * 4 + static_cast<std::size_t>(item.mode));
  }
  return hash;
}

const State* Automaton::intern(Content content) const {
  if (const auto known = states_.find(content); known != states_.end()) return known->second.get();
  auto state = std::make_unique<State>();
  state->before = content.before;
  state->waiting = content.waiting;
  for (const Waiting& item : content.waiting) {
    const std::uint32_t entry = program_.nodes()[item.node].entry;
    const EntryRole& role = roles_[entry];
    state->holds = state->holds || role.holds;
    state->entries.push_back(entry);
    if (role.exception) state->exceptions.push_back(role.rule);
  }
  for (auto* list : {&state->entries, &state->exceptions}) {
    std::ranges::sort(*list);
    const auto [from, to] = std::ranges::unique(*list);
    list->erase(from, to);
    list->shrink_to_fit();
  }
  const std::size_t classes = program_.classes().count();
  state->edges = std::make_unique<std::atomic<std::uintptr_t>[]>(classes);
  bytes_ += sizeof(State) + classes * sizeof(std::uintptr_t) +
            content.waiting.size() * 2 * sizeof(Waiting) +
            state->entries.size() * sizeof(std::uint32_t);
  return states_.emplace(std::move(content), std::move(state)).first->second.get();
}

Move Automaton::make_step(const State* from, std::uint32_t character_class, bool insist) const {
  const MutexLock lock(making_);
  std::atomic<std::uintptr_t>& edge = from->edges[character_class];
  if (const auto made = edge.load(std::memory_order_relaxed); made != 0) return move_of(made);
  if (full() && !insist) return {};
  std::vector<Accepted> accepted;
  const State* to = intern(builder_->after(*from, character_class, accepted));
  auto value = reinterpret_cast<std::uintptr_t>(to);
  if (!accepted.empty()) {
    full_edges_.push_back(std::make_unique<Edge>(to, std::move(accepted)));
    bytes_ += sizeof(Edge) + full_edges_.back()->accepted.size() * sizeof(Accepted);
    value = reinterpret_cast<std::uintptr_t>(full_edges_.back().get()) | IsEdge;
  }
  if (to->waiting.empty()) value |= Dead;
  edge.store(value, std::memory_order_release);
  return move_of(value);
}

std::vector<Accepted> Automaton::finish(const State* from) const {
  const MutexLock lock(making_);
  return builder_->at_end(*from);
}

const State* Automaton::adopt(const State* foreign) const {
  const MutexLock lock(making_);
  return intern({.before = foreign->before, .waiting = foreign->waiting});
}

const std::vector<const State*>& Automaton::make_singles(const State* state) const {
  const MutexLock lock(making_);
  if (const auto* const made = state->singles.load(std::memory_order_relaxed)) return *made;
  auto singles = std::make_unique<std::vector<const State*>>();
  for (const Waiting& item : state->waiting) {
    const bool looks_back =
        item.mode == Waiting::Mode::AtEnd || program_.nodes()[item.node].kind == Node::Kind::Assert;
    const Neighbour before = looks_back ? state->before : Neighbour::Other;
    singles->push_back(intern({.before = before, .waiting = {item}}));
  }
  // NOLINTNEXTLINE(bugprone-sizeof-container): the vector itself takes memory too.
  bytes_ += sizeof(*singles) + singles->size() * sizeof(const State*);
  singles_.push_back(std::move(singles));
  state->singles.store(singles_.back().get(), std::memory_order_release);
  return *singles_.back();
}

}  // namespace sallyport::match
