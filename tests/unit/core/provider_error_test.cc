#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <stdexcept>

#include "core/event/abort_reason.h"
#include "core/record/redactor.h"
#include "sallyport/model_error.h"

namespace sallyport::core {
namespace {

using Kind = ProviderError::Kind;
using namespace std::chrono_literals;

constexpr std::string_view kPlainKinds[] = {
    "transport",       "decode",           "serialize",        "deserialize",
    "invalid_request", "invalid_response", "malformed_stream", "unsupported_capability"};

std::vector<std::string> texts() {
  std::vector<std::string> all = {
      R"({"delay_ms":250,"kind":"retryable","message":"m"})",
      R"({"delay_ms":null,"kind":"retryable","message":"m"})",
      R"({"body":"b","kind":"http","retry_after_ms":1000,"status":503})",
      R"({"body":"","kind":"http","retry_after_ms":null,"status":400})"};
  for (const std::string_view kind : kPlainKinds) {
    all.push_back(R"({"kind":")" + std::string(kind) + R"(","message":"m"})");
  }
  return all;
}

ProviderError read(std::string_view text) {
  const auto error = provider_error_from_json(*parse_own_json(text));
  EXPECT_TRUE(error) << text << error.error().message;
  return error ? *error : ProviderError{};
}

// EV-90
TEST(ProviderErrorTest, EachOfTheTenKindsIsReadAndWrittenByteForByte) {
  for (const std::string& text : texts()) EXPECT_EQ(canonical_json(to_json(read(text))), text);
}

// EV-90 EV-109
TEST(ProviderErrorTest, EachMissingOrWrongFieldIsRefusedByName) {
  for (const std::string& text : texts()) {
    const json::object good = parse_own_json(text)->as_object();
    for (const auto& member : good) {
      json::object broken = good;
      broken[member.key()] = json::array{};
      const auto wrong = provider_error_from_json(broken, "cause");
      ASSERT_FALSE(wrong) << text << member.key();
      EXPECT_EQ(wrong.error().where, "cause." + std::string(member.key()));
      broken.erase(member.key());
      const bool optional = member.key() == "delay_ms" || member.key() == "retry_after_ms";
      EXPECT_EQ(provider_error_from_json(broken).has_value(), optional) << text << member.key();
    }
  }
  const auto unknown = provider_error_from_json({{"kind", "weather"}, {"message", "m"}});
  EXPECT_NE(unknown.error().message.find("is `weather`, it must be one of `transport`"),
            std::string::npos);
}

// EV-91
TEST(ProviderErrorTest, TransientIsWhatAnotherAttemptMayMend) {
  for (const std::string_view kind : kPlainKinds) {
    const ProviderError error = read(R"({"kind":")" + std::string(kind) + R"(","message":"m"})");
    EXPECT_EQ(is_transient(error), kind == "transport" || kind == "decode") << kind;
  }
  EXPECT_TRUE(is_transient({.kind = Kind::Retryable}));
  for (std::uint64_t status = 0; status < 1000; ++status) {
    const bool expected = (status >= 500 && status <= 599) || status == 429 || status == 408;
    EXPECT_EQ(is_transient({.kind = Kind::Http, .status = status}), expected) << status;
  }
}

// EV-92
TEST(ProviderErrorTest, FaultsOfATransportHaveTheirKind) {
  const std::pair<TransportFault, Kind> kinds[] = {
      {TransportFault::NameLookup, Kind::Transport},
      {TransportFault::Connect, Kind::Transport},
      {TransportFault::Tls, Kind::Transport},
      {TransportFault::Reset, Kind::Transport},
      {TransportFault::Silence, Kind::Transport},
      {TransportFault::BrokenEncoding, Kind::Decode},
      {TransportFault::CutBody, Kind::Decode},
      {TransportFault::BadFraming, Kind::MalformedStream},
      {TransportFault::MissingEnd, Kind::MalformedStream}};
  for (const auto& [fault, kind] : kinds) {
    EXPECT_EQ(provider_error(fault, "m"), (ProviderError{.kind = kind, .message = "m"}));
  }
}

// EV-93
TEST(ProviderErrorTest, AnErrorFrameIsRetryableOnlyWhenItSaysTryLater) {
  for (const std::string_view type :
       {"overloaded_error", "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"}) {
    EXPECT_EQ(provider_error_of_frame(type, "m", 250ms),
              (ProviderError{.kind = Kind::Retryable, .message = "m", .delay_ms = 250}))
        << type;
  }
  for (const std::string message : {"The model is overloaded.", "Rate limit reached for m"}) {
    EXPECT_EQ(provider_error_of_frame("", message).kind, Kind::Retryable) << message;
  }
  for (const std::string_view type : {"", "api_error", "invalid_request_error", "server_error"}) {
    EXPECT_EQ(provider_error_of_frame(type, "something broke", 250ms),
              (ProviderError{.kind = Kind::InvalidResponse, .message = "something broke"}))
        << type;
  }
}

class WordRedactor final : public Redactor {
 public:
  std::vector<Removal> redact(std::string_view, json::value& value) const override {
    if (throws) throw std::runtime_error("broken");
    std::string text(value.as_string());
    const std::size_t at = text.find("SECRET");
    if (at == std::string::npos) return {};
    value = text.replace(at, 6, "[REDACTED:word]");
    return {{"", "word", "SECRET"}};
  }
  bool redact_identifier(std::string&) const override { return false; }

  bool throws = false;
};

// EV-94
TEST(ProviderErrorTest, AnErrorBodyIsRedactedBeforeItIsCut) {
  const WordRedactor redactor;
  const ProviderError small = ProviderError::http(429, "a SECRET b", 1500ms, redactor);
  EXPECT_EQ(small.body, "a [REDACTED:word] b");
  EXPECT_EQ(small.status, 429u);
  EXPECT_EQ(small.retry_after_ms, 1500u);
  const std::string across_the_limit = std::string(4093, 'x') + "SECRET";
  const ProviderError large = ProviderError::http(500, across_the_limit, {}, redactor);
  EXPECT_EQ(large.body, std::string(4093, 'x') + "[RE");
  EXPECT_EQ(large.retry_after_ms, std::nullopt);
}

// EV-94
TEST(ProviderErrorTest, AnErrorBodyIsAtMost4KiBOfWholeCharacters) {
  const NoRedactor redactor;
  EXPECT_EQ(ProviderError::http(500, std::string(4096, 'x'), {}, redactor).body.size(), 4096u);
  const std::string split = std::string(4095, 'x') + "é";
  EXPECT_EQ(ProviderError::http(500, split, {}, redactor).body, std::string(4095, 'x'));
  EXPECT_EQ(ProviderError::http(500, "a\xff\xc3z€", {}, redactor).body, "a\uFFFD\uFFFDz€");
}

// EV-94 AU-85 (partly)
TEST(ProviderErrorTest, ABodyThatCannotBeRedactedIsNotKept) {
  WordRedactor redactor;
  redactor.throws = true;
  EXPECT_EQ(ProviderError::http(500, "a SECRET", {}, redactor).body, "[REDACTED:unreadable]");
}

// EV-90 EV-101
TEST(ProviderErrorTest, TheWaitAProviderAsksForIsFoundInBothKinds) {
  EXPECT_EQ(asked_wait({.kind = Kind::Retryable, .delay_ms = 5}), 5ms);
  EXPECT_EQ(asked_wait({.kind = Kind::Http, .retry_after_ms = 7}), 7ms);
  EXPECT_EQ(asked_wait({.kind = Kind::Http}), std::nullopt);
  EXPECT_EQ(asked_wait({.kind = Kind::Transport}), std::nullopt);
}

TEST(ProviderErrorTest, AnErrorReadsAsOneLine) {
  EXPECT_EQ(text_of({.kind = Kind::Http, .status = 503, .body = "busy"}), "http 503: busy");
  EXPECT_EQ(text_of({.kind = Kind::Decode, .message = "cut"}), "decode: cut");
}

}  // namespace
}  // namespace sallyport::core
