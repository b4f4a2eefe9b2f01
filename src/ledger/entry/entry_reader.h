// Reads and checks the canonical bytes of entries, one after the other, without building a value of
// each: `ledger verify` does this for every entry there is. Belongs to one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/entry/entry.h"

namespace sallyport::ledger {

class EntryReader {
 public:
  EntryReader();
  ~EntryReader();

  // Checks everything that LE-1, LE-2, LE-4, LE-7 and LE-14 demand of an entry's bytes. `where`
  // names the member. The other methods are about the bytes of the last successful read.
  Result<void> read(std::string_view bytes);

  const EntryView& view() const { return view_; }
  WallTime recorded_at() const { return recorded_at_; }
  const Uuid& id() const { return id_; }
  std::size_t sealed_fields() const { return sealed_fields_; }

  // The `sha256:...` of the sealed field at a JSON Pointer into the entry.
  std::optional<std::string_view> commitment(std::string_view pointer) const;

 private:
  struct Document;
  Result<void> read_members();
  Result<void> check_body();

  std::unique_ptr<Document> document_;
  EntryView view_;
  WallTime recorded_at_{};
  Uuid id_{};
  std::size_t sealed_fields_ = 0;
};

}  // namespace sallyport::ledger
