// Redacts and seals the body of an entry.
#pragma once

#include <boost/container/small_vector.hpp>
#include <boost/json/array.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/entropy.h"
#include "base/json_cursor.h"
#include "base/keyed_digest.h"
#include "core/record/draft.h"
#include "core/record/redactor.h"
#include "ledger/entry/opening.h"

namespace sallyport::ledger {

// One walk over the text of one body. Content, which is known by its name, is replaced by a
// commitment and becomes an opening; everything else is redacted. What needs neither is copied.
class Sealer {
 public:
  struct Parts {
    const core::Redactor& redactor;
    const KeyedDigest& digest;
    Entropy& entropy;
  };
  // `body` is JSON as `CanonicalWriter` writes it. All three outlive the sealer.
  Sealer(const Parts& parts, const std::vector<core::ExactContent>& exact, std::string_view body)
      : parts_(parts), exact_(exact), body_(body), cursor_(body) {}

  // Appends the sealed form. `InvalidInput`: the body breaks LE-1 or LE-80. Once for each object.
  Result<void> append_to(std::string& out);

  std::vector<Opening> openings{};
  json::array redactions{};

 private:
  // A member of the body, by its written name without quotes, or an item.
  struct Step {
    std::string_view name{};
    std::size_t index = 0;
    bool is_item = false;
  };

  // Each reads one value of the body and copies or replaces it. False: the value is invalid.
  bool value(std::string_view name, std::size_t depth);
  bool object(std::size_t depth);
  bool array(std::size_t depth);
  bool string(std::string_view name);
  bool number(std::string_view name);
  bool content(std::string_view name, std::size_t depth);

  bool fault(const char* why);
  // The text from `begin` up to here becomes `with`.
  void replace(std::size_t begin, std::string_view with);
  void redact_leaf(std::string_view name, std::size_t begin, std::string_view written);
  bool redact(json::value& value, std::string_view name, std::string_view original);
  void redact_identifier(std::size_t begin, std::string_view written);
  std::string detector_of(std::string_view identifier) const;
  const core::ExactContent* misplaced() const;
  const core::ExactContent* exact_content(std::string_view path) const;
  std::string path() const;

  const Parts& parts_;
  const std::vector<core::ExactContent>& exact_;
  std::string_view body_;
  JsonCursor cursor_;
  std::size_t copied_ = 0;  // `out_` has the body up to here
  std::string* out_ = nullptr;
  boost::container::small_vector<Step, 8> steps_{};
  const char* fault_ = nullptr;
};

}  // namespace sallyport::ledger
