// The texts of a request, and which checks look at which of them (GR-32, GR-33).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guardrails/check/argument_texts.h"
#include "guardrails/check/compiled.h"

namespace sallyport::guardrails {

struct RequestText {
  enum class Kind : std::uint8_t {
    Plain,  // all of the request is this text
    Leaf,   // a string of a JSON value
    Fixed,  // another part of a JSON value, or all of it: cannot be rewritten
    Error,  // what a tool said of its failure
  };

  Kind kind = Kind::Plain;
  std::string_view text{};
  const std::vector<bool>* wanted = nullptr;  // rules of the set that look at it
  const ArgumentTexts* list = nullptr;        // of a JSON value
  std::size_t place = 0;                      // in the list

  std::optional<std::size_t> leaf() const;
  std::optional<std::string> path() const;
};

// Refers to the request, which must live as long and not change.
class RequestTexts {
 public:
  // Checks that are limited to arguments which this request does not have are marked as skipped.
  RequestTexts(const Compiled& compiled, const CheckSet& plan, const Request& request,
               std::vector<Coverage>& coverage);
  RequestTexts(const RequestTexts&) = delete;
  RequestTexts& operator=(const RequestTexts&) = delete;

  const std::vector<RequestText>& all() const { return all_; }

 private:
  void add_list(const ArgumentTexts& list, const std::vector<bool>& wanted);

  std::deque<std::vector<bool>> wanted_;
  std::deque<ArgumentTexts> lists_;
  std::vector<RequestText> all_;
};

}  // namespace sallyport::guardrails
