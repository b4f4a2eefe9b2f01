// A text in a policy: exact, or a pattern in the linear-time dialect of the pattern library.
//
//   auto set = WordingSet::build({{.text = "ACME-[0-9]{6}", .is_pattern = true}},
//                                WordingSet::Mode::Anywhere);
//   (*set)->find("see ACME-123456");           // [4, 15) of wording 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sallyport/result.h"

struct hs_database;

namespace sallyport::guards {

struct Wording {
  std::string text;
  bool is_pattern = false;
  std::string place{};  // in the policy, for messages

  bool operator==(const Wording& other) const {
    return text == other.text && is_pattern == other.is_pattern;
  }
};

// `InvalidInput` names the place of a pattern that the library refuses.
Result<void> check_wording(const Wording& wording);

// Immutable once built: any thread may call every method at any time.
class WordingSet final {
 public:
  enum class Mode {
    Anywhere,  // finds occurrences
    Whole,     // a text either is one of the wordings, from its first byte to its last, or not
  };

  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t wording = 0;  // its index
  };

  static Result<std::shared_ptr<const WordingSet>> build(const std::vector<Wording>& wordings,
                                                         Mode mode);

  // Returns the longest match for each wording and start. Throws `std::runtime_error` if the text
  // is not UTF-8 or could not be read to its end.
  std::vector<Match> find(std::string_view text) const;

  bool empty() const { return database_ == nullptr; }

 private:
  struct CloseDatabase {
    void operator()(hs_database* database) const;
  };
  using Database = std::unique_ptr<hs_database, CloseDatabase>;

  explicit WordingSet(Database database);

  Database database_;
  std::uint64_t id_;
};

}  // namespace sallyport::guards
