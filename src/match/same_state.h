// Merges groups that are in the same state.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "match/automaton.h"

namespace sallyport::match {

// Keeps the first group of each state; `absorb(kept, dropped)` is called for every other one.
template <class Group, class Absorb>
void merge_same_states(std::vector<Group>& groups, Absorb absorb) {
  constexpr std::size_t kFew = 12;
  std::size_t kept = 0;
  const auto place = [&](std::size_t i) {
    if (kept != i) groups[kept] = std::move(groups[i]);
    ++kept;
  };
  if (groups.size() <= kFew) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      std::size_t same = 0;
      while (same < kept && groups[same].state != groups[i].state) ++same;
      if (same < kept) {
        absorb(groups[same], groups[i]);
      } else {
        place(i);
      }
    }
  } else {
    std::vector<std::uint32_t> table(std::bit_ceil(groups.size() * 2));  // 0 is free
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(groups[i].state);
      std::size_t slot = (address >> 4) * 0x9E3779B97F4A7C15u >> 32;
      for (;; ++slot) {
        std::uint32_t& entry = table[slot & (table.size() - 1)];
        if (entry == 0) {
          place(i);
          entry = static_cast<std::uint32_t>(kept);
          break;
        }
        if (groups[entry - 1].state == groups[i].state) {
          absorb(groups[entry - 1], groups[i]);
          break;
        }
      }
    }
  }
  groups.resize(kept);
}

}  // namespace sallyport::match
