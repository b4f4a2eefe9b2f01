// The texts of a request and the checks that read each of them (GR-32, GR-33).
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
    Plain,  // the only text of the request
    Leaf,   // a string of a JSON value
    Fixed,  // another part of a JSON value, or all of it: cannot be rewritten
    Error,  // the error text of a tool
  };

  Kind kind = Kind::Plain;
  std::string_view text{};
  const std::vector<bool>* wanted = nullptr;  // rules of the set that read it
  const ArgumentTexts* list = nullptr;        // the texts of a JSON value
  std::size_t place = 0;                      // in the list

  std::optional<std::size_t> leaf() const;
  std::optional<std::string> path() const;
};

// Refers to the request, which must outlive it and must not change.
class RequestTexts {
 public:
  // Marks checks as skipped if they are limited to arguments that this request does not have.
  RequestTexts(const Compiled& compiled, const CheckSet& set, const Request& request,
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
