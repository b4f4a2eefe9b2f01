#include "guards/token_checks.h"

#include <limits>

#include "guards/char_class.h"

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

// The end of the boundary line whose `PRIVATE KEY` ends at `at`: ` BLOCK` and the dashes.
std::size_t boundary_end(std::string_view text, std::size_t at) {
  constexpr std::string_view kBlock = " BLOCK";
  if (text.substr(at).starts_with(kBlock)) at += kBlock.size();
  if (is_at(text, at, kBlank) && is_at(text, at + 1, kDash)) ++at;
  return run_end(text, at, kDash);
}

// True when the `PRIVATE KEY` at `key` closes a boundary that `word` opens, as in
// `END RSA PRIVATE KEY`. `begin` is then the place of the word.
bool has_boundary_word(std::string_view text, std::size_t key, std::string_view word,
                       std::size_t& begin) {
  constexpr std::size_t kLongestLabel = 40;
  std::size_t from = key;
  while (from > 0 && key - from < kLongestLabel && is(text[from - 1], kUpper | kDigit | kBlank)) {
    --from;
  }
  const std::size_t place = text.substr(from, key - from).rfind(word);
  begin = from + place;
  return place != std::string_view::npos && left_edge(text, begin);
}

std::size_t end_of_key_block(std::string_view text, std::size_t from) {
  constexpr std::string_view kKey = "PRIVATE KEY";
  for (std::size_t key = text.find(kKey, from); key != std::string_view::npos;
       key = text.find(kKey, key + kKey.size())) {
    std::size_t begin = 0;
    if (has_boundary_word(text, key, "END ", begin)) return boundary_end(text, key + kKey.size());
  }
  return text.size();
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

void check_private_key_pem(Candidates& found, Anchor at) {
  const std::string_view text = found.text();
  if (found.examined(Detector::PrivateKeyPem, at.begin)) return;
  std::size_t begin = 0;
  if (!has_boundary_word(text, at.begin, "BEGIN ", begin)) return;
  if (begin > 0 && is(text[begin - 1], kBlank)) --begin;
  const std::size_t dashes = run_begin(text, begin, kDash);
  // A page that merely speaks of BEGIN PRIVATE KEY would otherwise be taken to its end.
  if (begin - dashes < 2) return;
  const std::size_t end = end_of_key_block(text, at.end);
  found.set_examined(Detector::PrivateKeyPem, dashes, end);
  found.add(Detector::PrivateKeyPem, dashes, end);
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
  if (end - begin < kLeast || !holds(text.substr(begin, end - begin), kDigit)) return;
  found.add(Detector::BearerHeader, begin, end);
}

}  // namespace sallyport::guards
