#include "api/problem.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "net/page_headers.h"

namespace sallyport::api {

namespace {

struct Known {
  std::string_view code;
  unsigned status;
};
// Causes of errors that are used as codes. For other errors the code is their kind.
constexpr auto kKnown = std::to_array<Known>({
    {"bad_cursor", 400},
    {"reason_needed", 400},
    {"webauthn_form", 400},
    {"link_unknown", 401},
    {"no_session", 401},
    {"page_secret_missing", 401},
    {"session_ended", 401},
    {"unknown_token", 401},
    {"cross_site", 403},
    {"host_not_served", 403},
    {"key_needed", 403},
    {"no_key", 403},
    {"origin_missing", 403},
    {"origin_not_served", 403},
    {"passkey_removed", 403},
    {"passkey_unknown", 403},
    {"policies_read_only", 403},
    {"role", 403},
    {"strong_needed", 403},
    {"tls_required", 403},
    {"user_not_present", 403},
    {"user_not_verified", 403},
    {"webauthn_challenge", 403},
    {"webauthn_origin", 403},
    {"webauthn_rp_id", 403},
    {"webauthn_signature", 403},
    {"webauthn_type", 403},
    {"method", 405},
    {"backtest_runs", 409},
    {"enrolled", 409},
    {"binding_mismatch", 412},
    {"precondition_failed", 412},
    {"too_large", 413},
    {"content_type", 415},
    {"idempotency_key_reused", 422},
    {"haste", 429},
    {"too_many_logins", 429},
    {"too_many_requests", 429},
    {"busy", 503},
    {"timeout", 503},
});

struct Kind {
  unsigned status;
  const char* code;
};
Kind kind_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidInput:
      return {400, "invalid"};
    case ErrorCode::Unauthenticated:
      return {403, "forbidden"};
    case ErrorCode::NotFound:
      return {404, "not_found"};
    case ErrorCode::Conflict:
      return {409, "conflict"};
    case ErrorCode::Exhausted:
      return {429, "too_many_requests"};
    case ErrorCode::Deadline:
      return {503, "timeout"};
    case ErrorCode::Unavailable:
      return {503, "unavailable"};
    case ErrorCode::Cancelled:
    case ErrorCode::Corrupt:
    case ErrorCode::Internal:
      return {500, "internal"};
  }
  return {500, "internal"};
}

}  // namespace

std::string_view title_of(unsigned status) {
  static constexpr auto kTitles = std::to_array<std::pair<unsigned, std::string_view>>({
      {200, "OK"},
      {202, "Accepted"},
      {204, "No Content"},
      {303, "See Other"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {409, "Conflict"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {422, "Unprocessable Content"},
      {429, "Too Many Requests"},
      {503, "Service Unavailable"},
  });
  const auto found =
      std::ranges::find(kTitles, status, &std::pair<unsigned, std::string_view>::first);
  return found == kTitles.end() ? "Internal Server Error" : found->second;
}

json::object Problem::to_json() const {
  json::object object{{"error", detail},           {"code", code},     {"status", status},
                      {"title", title_of(status)}, {"detail", detail}, {"type", "about:blank"}};
  if (!place.empty()) object["place"] = place;
  for (const json::key_value_pair& pair : more) object[pair.key()] = pair.value();
  return object;
}

net::ServerResponse Problem::response() const {
  net::ServerResponse response{
      .status = status,
      .headers = {{"content-type", "application/problem+json"}, {"cache-control", "no-store"}},
      .body = json::serialize(to_json())};
  if (status == 401) response.headers.emplace_back("www-authenticate", "Bearer");
  if (status == 503) response.headers.emplace_back("retry-after", "1");
  net::add_page_headers(response);
  return response;
}

Problem problem_of(const Error& error) {
  const Kind kind = kind_of(error.code);
  Problem problem{kind.status, kind.code, error.message, error.where, {}};
  const std::string_view cause =
      error.cause == "reason_required" ? std::string_view("reason_needed") : error.cause;
  const auto* const known = std::ranges::find(kKnown, cause, &Known::code);
  if (known != kKnown.end()) {
    problem.status = known->status;
    problem.code = known->code;
  } else if (error.code == ErrorCode::Conflict && !error.cause.empty()) {
    // The state of an approval request that is no longer pending.
    problem.code = "not_pending";
    problem.more["state"] = error.cause;
  }
  return problem;
}

}  // namespace sallyport::api
