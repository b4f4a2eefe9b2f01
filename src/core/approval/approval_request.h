// The shapes of a question, of what it binds, and of what a person signs (AP-1, AP-5, AP-16).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/entropy.h"
#include "core/record/record_reader.h"
#include "sallyport/approval.h"

namespace sallyport::core {

inline constexpr std::string_view kRequestSpace = "approval_request";

// 16 fresh random bytes in hex.
std::string fresh_nonce(Entropy& entropy);

// The canonical JSON whose digest is the binding. `question` has all but the binding; `exact` is
// the text of an input that JSON numbers cannot hold, else empty.
std::string bound_text(const Question& question, const std::string& exact = {});
// `sha256:` and hex.
std::string binding_of(const Question& question, const std::string& exact = {});

// The bytes that a reviewer signs.
struct ResponseStatement {
  std::string request_id{};
  std::string reviewer{};
  std::string binding{};
  std::string responded_at{};
  bool approved = false;

  std::string text() const;
};

// The question as the log and every door have it.
json::object request_json(const Question& question);

// Returns the body of the entry that asked, with its content opened. `NotFound`: there is no such
// question.
Result<json::object> request_entry(RecordReader& records, const std::string& approval_id);
// Exactly the members of AP-1, from that entry.
json::object request_of(const json::object& entry);
// Both at once.
Result<json::object> stored_request(RecordReader& records, const std::string& approval_id);

// No value: another release wrote a kind that this release does not know.
std::optional<QuestionKind> kind_of(const json::object& request);
// True if the question is not about a call and takes an answer in words.
inline bool is_question(const json::object& request) {
  return kind_of(request) == QuestionKind::Question;
}

}  // namespace sallyport::core
