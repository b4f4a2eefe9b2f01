#include "proxy/kept_messages.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "base/digest.h"
#include "base/encoding.h"
#include "llm/json_splice.h"

namespace sallyport::proxy {

namespace {

constexpr std::string_view kTopic = "model_messages";

// A short digest for long lists. It distinguishes the messages of one session.
std::string short_mark(const std::string& digest) {
  constexpr std::size_t kLetters = 24;
  return digest.substr(digest.size() - std::min(digest.size(), kLetters));
}

core::Draft entry_of(const ModelRecord& record, json::object body) {
  body["request_id"] = record.request_id;
  return {.kind = core::Kind::Topic,
          .subject = record.subject(),
          .topic = std::string(kTopic),
          .body = std::move(body)};
}

// The digests of stored messages of the session, oldest first.
std::vector<std::string> known_marks(core::RecordReader& reader, const std::string& key) {
  const auto stored = reader.fact(KeptMessages::kSpace, key);
  const auto value = stored && *stored ? parse_own_json(**stored) : fail(ErrorCode::NotFound, "");
  const json::object* const object = value ? value->if_object() : nullptr;
  const json::value* const list = object ? object->if_contains("known") : nullptr;
  std::vector<std::string> known;
  if (list == nullptr || !list->is_array()) return known;
  for (const json::value& mark : list->get_array()) {
    if (mark.is_string()) known.emplace_back(mark.get_string());
  }
  return known;
}

core::Fact known_fact(const std::string& key, std::vector<std::string> known, WallTime now) {
  if (known.size() > KeptMessages::kMostKnown) {
    known.erase(known.begin(), known.end() - static_cast<std::ptrdiff_t>(KeptMessages::kMostKnown));
  }
  return {std::string(KeptMessages::kSpace), key,
          canonical_json(json::object{{"at", rfc3339(now)}, {"known", json::value_from(known)}})};
}

}  // namespace

std::vector<PlacedMessage> messages_of(llm::Api api, std::string_view body) {
  const bool responses = api == llm::Api::OpenAiResponses;
  const std::array<std::string_view, 2> places =
      responses ? std::array<std::string_view, 2>{"/instructions", "/input"}
                : std::array<std::string_view, 2>{"/system", "/messages"};
  std::vector<PlacedMessage> found;
  for (const std::string_view place : places) {
    const std::string_view value = llm::value_at(body, place);
    if (value.empty() || value == "null") continue;
    if (place == "/system" || !value.starts_with('[')) {
      found.push_back({std::string(place), value});
      continue;
    }
    const std::vector<std::string_view> elements = llm::elements_of(value);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      found.push_back({pointer_to(place, i), elements[i]});
    }
  }
  return found;
}

void KeptMessages::add(const ModelRecord& record, llm::Api api, const std::string& body,
                       const std::string& answer, std::vector<core::Draft>& drafts) const {
  const std::string key =
      hex(sha256(canonical_json(json::array{record.agent_id, record.session_id})));
  std::vector<std::string> known = known_marks(reader_, key);
  std::size_t room = kMostBytes;
  json::array listed;
  std::uint64_t left_out = 0;
  const auto keep = [&](const std::string& place, std::string_view text) {
    const std::string digest = digest_(text);
    const bool stored = std::ranges::find(known, short_mark(digest)) != known.end();
    const bool fits = text.size() <= std::min(kLargest, room) && is_utf8(text);
    if (listed.size() < kMostMessages) {
      listed.push_back(json::object{{"place", place}, {"digest", digest}});
    }
    if (stored) return;
    if (!fits) {
      ++left_out;
      return;
    }
    room -= text.size();
    known.push_back(short_mark(digest));
    drafts.push_back(entry_of(record, {{"record", "model_message"},
                                       {"place", place},
                                       {"digest", digest},
                                       {"message", json::value(text)}}));
  };
  const std::vector<PlacedMessage> messages = messages_of(api, body);
  for (const PlacedMessage& message : messages) keep(message.place, message.text);
  if (!answer.empty()) keep("answer", answer);
  core::Draft list = entry_of(record, {{"record", "model_messages"},
                                       {"messages", std::move(listed)},
                                       {"count", static_cast<std::uint64_t>(messages.size())},
                                       {"left_out", left_out}});
  list.facts.push_back(known_fact(key, std::move(known), clock_.wall()));
  drafts.push_back(std::move(list));
}

}  // namespace sallyport::proxy
