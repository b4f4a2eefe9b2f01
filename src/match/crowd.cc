#include "match/crowd.h"

#include <algorithm>
#include <utility>

namespace sallyport::match {

std::size_t Crowds::HashContent::operator()(const Content& content) const {
  std::size_t hash = static_cast<std::size_t>(content.before);
  for (const State* const state : content.states) {
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(state)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

const Crowd* Crowds::of(std::vector<const State*> states, Neighbour before) {
  if (states.size() > Crowd::kMost || full_.load(std::memory_order_relaxed)) return nullptr;
  const MutexLock lock(making_);
  return intern({std::move(states), before});
}

const Crowd* Crowds::intern(Content content) {
  if (const auto known = crowds_.find(content); known != crowds_.end()) return known->second.get();
  if (bytes_ > room_) {
    full_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  const std::size_t classes = automaton_.program().classes().count();
  auto crowd = std::make_unique<Crowd>();
  crowd->before = content.before;
  for (const State* const state : content.states) {
    if (state->holds && crowd->first_held == Crowd::kMost) crowd->first_held = crowd->count;
    crowd->states[crowd->count++] = state;
  }
  crowd->moves = std::make_unique<std::atomic<std::uintptr_t>[]>(classes);
  bytes_ += sizeof(Crowd) + content.states.size() * sizeof(const State*) +
            classes * sizeof(std::uintptr_t);
  return crowds_.emplace(std::move(content), std::move(crowd)).first->second.get();
}

struct Crowds::Draft {
  CrowdMove move{};
  std::vector<const State*> states{};
  bool stays = true;  // every group so far is in the place where it was
};

bool Crowds::add(Draft& draft, std::uint8_t group, const State* state,
                 std::uint32_t character_class) const {
  const Move step = automaton_.step(state, character_class);
  if (step.to == nullptr) return false;
  for (const Accepted& accepted : step.accepted) draft.move.reported.push_back({group, accepted});
  if (step.to->waiting.empty()) return true;
  if (std::ranges::find(draft.states, step.to) != draft.states.end()) return true;
  if (draft.states.size() == Crowd::kMost) return false;
  draft.stays = draft.stays && draft.states.size() == group;
  draft.move.from[draft.states.size()] = group;
  draft.states.push_back(step.to);
  return true;
}

std::uintptr_t Crowds::make(const Crowd& from, std::uint32_t character_class) {
  if (full_.load(std::memory_order_relaxed)) return 0;
  Draft draft;
  for (std::uint8_t i = 0; i < from.count; ++i) {
    if (!add(draft, i, from.states[i], character_class)) return 0;
  }
  const State* const first = automaton_.initial(from.before);
  if (!add(draft, CrowdMove::kNew, first, character_class)) return 0;

  const MutexLock lock(making_);
  std::atomic<std::uintptr_t>& place = from.moves[character_class];
  if (const std::uintptr_t made = place.load(std::memory_order_relaxed); made != 0) return made;
  const Neighbour before = automaton_.program().classes().neighbour(character_class);
  draft.move.to = intern({std::move(draft.states), before});
  if (draft.move.to == nullptr) return 0;
  auto value = reinterpret_cast<std::uintptr_t>(draft.move.to);
  if (!draft.stays || !draft.move.reported.empty()) {
    bytes_ += sizeof(CrowdMove) + draft.move.reported.size() * sizeof(CrowdMove::Reported);
    moves_.push_back(std::make_unique<const CrowdMove>(std::move(draft.move)));
    value = reinterpret_cast<std::uintptr_t>(moves_.back().get()) | 1;
  }
  place.store(value, std::memory_order_release);
  return value;
}

}  // namespace sallyport::match
