#include "guards/detect/token_checks.h"

#include <limits>

#include "guards/detect/char_class.h"

namespace sallyport::guards {

namespace {

constexpr CharMask kBase64Url = kAlnum | kUnderscore | kDash;
constexpr CharMask kBearerToken = kBase64Url | kDot | kTilde | kPlus | kSlash | kEquals;
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

// What follows a prefix.
struct Body {
  CharMask chars;
  std::size_t least;
  std::size_t most = kNoLimit;
  bool with_digit = false;
};

void check_prefixed(Candidates& found, Anchor at, Detector detector, const Body& body) {
  const std::string_view text = found.text();
  if (!left_edge(text, at.begin) || found.examined(detector, at.begin)) return;
  std::size_t end = run_end(text, at.end, body.chars);
  found.set_examined(detector, at.begin, end);
  // `_` may follow where it is no part of the body: the match ends at the last word edge.
  while (end > at.end && !right_edge(text, end)) --end;
  const std::size_t size = end - at.end;
  if (size < body.least || size > body.most) return;
  if (body.with_digit && !holds(text.substr(at.end, size), kDigit)) return;
  found.add(detector, at.begin, end);
}

void check_exact(Candidates& found, Anchor at, Detector detector, CharMask chars,
                 std::size_t size) {
  const std::string_view text = found.text();
  const std::size_t end = at.end + size;
  if (end > text.size() || !left_edge(text, at.begin) || !right_edge(text, end)) return;
  for (std::size_t i = at.end; i < end; ++i) {
    if (!is(text[i], chars)) return;
  }
  found.add(detector, at.begin, end);
}

// A path is not a credential. Base64 with `/` has letters of both cases and digits, and none of the
// characters that only the URL-safe alphabet or a path has.
bool looks_like_token(std::string_view token) {
  if (is(token[0], kSlash | kDot | kTilde | kDash)) return false;
  if (!holds(token, kDigit)) return false;
  if (!holds(token, kSlash)) return true;
  return holds(token, kUpper) && holds(token, kLower) &&
         !holds(token, kDot | kTilde | kDash | kUnderscore) &&
         token.find("//") == std::string_view::npos;
}

}  // namespace

void check_aws_access_key_id(Candidates& found, Anchor at) {
  check_exact(found, at, Detector::AwsAccessKeyId, kUpper | kDigit, 16);
}

void check_github_token(Candidates& found, Anchor at) {
  check_prefixed(found, at, Detector::GithubToken, {.chars = kAlnum, .least = 36, .most = 255});
}

void check_github_pat(Candidates& found, Anchor at) {
  check_prefixed(found, at, Detector::GithubToken, {.chars = kWord, .least = 22, .most = 255});
}

void check_gitlab_token(Candidates& found, Anchor at) {
  check_prefixed(found, at, Detector::GitlabToken, {.chars = kBase64Url, .least = 20});
}

void check_slack_token(Candidates& found, Anchor at) {
  check_prefixed(found, at, Detector::SlackToken, {.chars = kAlnum | kDash, .least = 10});
}

void check_slack_webhook(Candidates& found, Anchor at) {
  check_prefixed(found, at, Detector::SlackWebhook, {.chars = kBase64Url | kSlash, .least = 1});
}

void check_google_api_key(Candidates& found, Anchor at) {
  check_exact(found, at, Detector::GoogleApiKey, kBase64Url, 35);
}

void check_model_api_key(Candidates& found, Anchor at) {
  check_prefixed(found, at, Detector::ModelApiKey,
                 {.chars = kBase64Url, .least = 20, .with_digit = true});
}

void check_stripe_key(Candidates& found, Anchor at) {
  check_prefixed(found, at, Detector::StripeKey, {.chars = kAlnum, .least = 16});
}

void check_jwt(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  const std::size_t second_end = run_end(text, at.end, kBase64Url);
  if (!is_at(text, second_end, kDot) || !is_at(text, second_end + 1, kBase64Url)) return;
  const std::size_t first = run_begin(text, at.begin, kBase64Url);
  const std::string_view head = text.substr(first, at.begin - first);
  for (std::size_t i = head.find("eyJ"); i != std::string_view::npos; i = head.find("eyJ", i + 1)) {
    if (!left_edge(text, first + i)) continue;
    found.add(Detector::Jwt, first + i, run_end(text, second_end + 1, kBase64Url));
    return;
  }
}

void check_bearer_header(Candidates& found, Anchor at) {
  constexpr std::size_t kLeast = 16;
  const std::string_view text = found.text();
  if (!left_edge(text, at.begin)) return;
  const std::size_t begin = run_end(text, at.end, kBlank);
  const std::size_t end = run_end(text, begin, kBearerToken);
  if (end - begin < kLeast || !looks_like_token(text.substr(begin, end - begin))) return;
  found.add(Detector::BearerHeader, begin, end);
}

}  // namespace sallyport::guards
