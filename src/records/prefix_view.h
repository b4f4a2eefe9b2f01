// A log as it was when it had fewer entries: later entries are invisible (CO-43). Reading stops
// when the caller no longer waits, and a search stops at its bound.
#pragma once

#include <algorithm>
#include <functional>

#include "ledger/store.h"

namespace sallyport::app {

// How far a search has come. It ends between two ranges that are read, never inside of one.
struct Search {
  std::uint64_t left;         // entries that may still be looked at
  bool stopped = false;       // there was more to look at
  std::uint64_t lowest = 0;   // the range that was read last
  std::uint64_t highest = 0;  // behind its end
};

// Used on one thread. `view` and `search` must outlive it.
class PrefixView final : public ledger::ReadView {
 public:
  using Wanted = std::function<bool()>;
  PrefixView(ledger::ReadView& view, std::uint64_t size, Wanted wanted = {},
             Search* search = nullptr)
      : view_(view), size_(size), wanted_(std::move(wanted)), search_(search) {}

  Result<std::uint64_t> size() override { return size_; }
  Result<Head> head() override { return view_.head(); }
  Result<std::optional<ledger::StoredEntry>> entry(std::uint64_t sequence) override {
    if (sequence >= size_) return std::optional<ledger::StoredEntry>();
    return view_.entry(sequence);
  }
  Result<void> scan(std::uint64_t begin, std::uint64_t end, const Visit& visit) override {
    const auto look = [&](const ledger::StoredEntry& stored) -> Result<bool> {
      if (wanted_ && !wanted_()) return fail(ErrorCode::Cancelled, "the caller no longer waits");
      return visit(stored);
    };
    end = std::min(end, size_);
    if (search_ != nullptr && begin < end) {
      search_->stopped = search_->stopped || search_->left == 0;
      if (search_->stopped) return {};
      search_->left -= std::min(search_->left, end - begin);
      search_->lowest = begin;
      search_->highest = end;
    }
    return view_.scan(begin, end, look);
  }
  Result<std::vector<Hash>> leaves(std::uint64_t begin, std::uint64_t end) override {
    return view_.leaves(begin, std::min(end, size_));
  }
  Result<std::vector<Hash>> nodes(int level, std::uint64_t begin, std::uint64_t end) override {
    return view_.nodes(level, begin, end);
  }
  Result<std::uint64_t> indexed_blocks() override {
    Result<std::uint64_t> indexed = view_.indexed_blocks();
    if (indexed) *indexed = std::min(*indexed, size_ / ledger::kBlock);
    return indexed;
  }
  Result<std::vector<std::uint64_t>> blocks_with(ledger::Facet facet, std::string_view value,
                                                 std::uint64_t from) override {
    return whole(view_.blocks_with(facet, value, from));
  }
  Result<std::vector<std::uint64_t>> blocks_between(WallTime since, WallTime until,
                                                    std::uint64_t from) override {
    return whole(view_.blocks_between(since, until, from));
  }
  Result<std::vector<std::uint64_t>> blocks_with_id(const Uuid& id) override {
    return whole(view_.blocks_with_id(id));
  }
  Result<bool> has_block_index(const ledger::BlockIndex& index) override {
    return view_.has_block_index(index);
  }
  Result<void> scan_blocks(const OnBlock& on_block) override { return view_.scan_blocks(on_block); }
  Result<void> scan_counts(const OnCount& on_count) override { return view_.scan_counts(on_count); }
  Result<Rows> rows() override { return view_.rows(); }
  Result<std::vector<ledger::BlockIndex::Count>> totals(ledger::Facet facet) override {
    return view_.totals(facet);
  }
  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override {
    return view_.fact(space, key);
  }
  Result<std::vector<core::Fact>> facts(std::string_view space) override {
    return view_.facts(space);
  }
  Result<bool> has_more_facts_than(std::uint64_t count) override {
    return view_.has_more_facts_than(count);
  }
  Result<void> scan_facts(const OnFact& on_fact) override { return view_.scan_facts(on_fact); }

 private:
  // The block in which the prefix ends is read as a tail.
  Result<std::vector<std::uint64_t>> whole(Result<std::vector<std::uint64_t>> blocks) const {
    if (blocks) {
      std::erase_if(*blocks, [&](std::uint64_t block) { return block >= size_ / ledger::kBlock; });
    }
    return blocks;
  }

  ledger::ReadView& view_;
  std::uint64_t size_;
  Wanted wanted_;
  Search* search_;
};

}  // namespace sallyport::app
