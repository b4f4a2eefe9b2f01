#include "oauth/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/cut_text.h"
#include "base/json_members.h"
#include "base/try.h"
#include "base/visible_text.h"
#include "oauth/metadata.h"

namespace sallyport::oauth {

namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kLongestToken = 16 * 1024;  // it travels in a header
constexpr std::uint64_t kLongestLife = 10ull * 366 * 24 * 3600;

std::string member(const json::object& object, std::string_view name) {
  return std::string(text_in(object, name).value_or(""));
}

// A value must not end its header line, and blanks separate the words of a scope.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7F; });
}
bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= kLongestToken && is_plain(text) &&
         text.find(' ') == std::string_view::npos;
}

Result<json::object> read_answer(std::string_view body, std::string_view endpoint) {
  Result<ParsedJson> parsed = parse_json(body, {.bytes = kMostBytes, .depth = 32});
  if (parsed && parsed->value.is_object()) return std::move(parsed->value.get_object());
  return fail(ErrorCode::Corrupt, fmt::format("the {} gives no JSON object", endpoint));
}

// Quotes only the members of RFC 6749, section 5.2, and nothing else of the answer.
std::unexpected<Error> refused(unsigned status, std::string_view body, std::string_view endpoint) {
  const Result<json::object> object = read_answer(body, endpoint);
  const std::string code = object ? member(*object, "error") : std::string();
  const std::string why = object ? member(*object, "error_description") : std::string();
  return fail(ErrorCode::Unauthenticated,
              fmt::format("the {} refuses (HTTP {}{}{})", endpoint, status,
                          code.empty() ? "" : ", `" + visible(code.substr(0, 100)) + '`',
                          why.empty() ? "" : ": " + visible(cut_whole_words(why, 200))),
              {}, code == "invalid_grant" ? "invalid_grant" : "");
}

}  // namespace

Account binding_of(Account account) {
  account.tokens = {};
  account.client.secret.clear();
  account.scope.clear();
  return account;
}

std::string account_text(const Account& account) {
  json::object client{{"id", account.client.id}, {"method", account.client.method}};
  if (!account.client.secret.empty()) client["secret"] = account.client.secret;
  if (!account.client.redirect_uri.empty()) client["redirect_uri"] = account.client.redirect_uri;
  json::object tokens{{"access", account.tokens.access}};
  if (!account.tokens.refresh.empty()) tokens["refresh"] = account.tokens.refresh;
  if (!account.tokens.scope.empty()) tokens["scope"] = account.tokens.scope;
  if (account.tokens.expires) tokens["expires"] = rfc3339(*account.tokens.expires);
  return json::serialize(json::object{{"version", kVersion},
                                      {"server", account.server},
                                      {"resource", account.resource},
                                      {"issuer", account.issuer},
                                      {"token_endpoint", account.token_endpoint},
                                      {"revocation_endpoint", account.revocation_endpoint},
                                      {"scope", account.scope},
                                      {"client", std::move(client)},
                                      {"tokens", std::move(tokens)}}) +
         '\n';
}

Result<Account> read_account(std::string_view text) {
  Result<ParsedJson> parsed = parse_json(text, {.bytes = kMostBytes, .depth = 8});
  const json::object* const object = parsed ? parsed->value.if_object() : nullptr;
  const json::object* const client = object ? object_in(*object, "client") : nullptr;
  const json::object* const tokens = object ? object_in(*object, "tokens") : nullptr;
  if (client == nullptr || tokens == nullptr || number_in(*object, "version") != kVersion) {
    return fail(ErrorCode::Corrupt, "it holds no login that this version can read");
  }
  Account out{.server = member(*object, "server"),
              .resource = member(*object, "resource"),
              .issuer = member(*object, "issuer"),
              .token_endpoint = member(*object, "token_endpoint"),
              .revocation_endpoint = member(*object, "revocation_endpoint"),
              .scope = member(*object, "scope")};
  out.client = {member(*client, "id"), member(*client, "secret"), member(*client, "method"),
                member(*client, "redirect_uri")};
  out.tokens = {member(*tokens, "access"), member(*tokens, "refresh"), member(*tokens, "scope"),
                from_rfc3339(member(*tokens, "expires"))};
  return out;
}

Result<Tokens> read_tokens(unsigned status, std::string_view body, WallTime now) {
  constexpr std::string_view kEndpoint = "token endpoint of the authorization server";
  if (status != 200) return refused(status, body, kEndpoint);
  SALLYPORT_TRY(const json::object object, read_answer(body, kEndpoint));
  Tokens out{member(object, "access_token"), member(object, "refresh_token"),
             member(object, "scope"), std::nullopt};
  std::string type = member(object, "token_type");
  std::ranges::transform(type, type.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  const bool good = is_word(out.access) && (out.refresh.empty() || is_word(out.refresh)) &&
                    is_plain(out.scope) && out.scope.size() <= kLongestToken && type == "bearer";
  if (!good) {
    return fail(ErrorCode::Corrupt, fmt::format("the {} gives no bearer token", kEndpoint));
  }
  if (const auto seconds = number_in(object, "expires_in")) {
    out.expires = now + std::chrono::seconds(std::min(*seconds, kLongestLife));
  }
  return out;
}

Result<Client> read_registration(unsigned status, std::string_view body, std::string method) {
  constexpr std::string_view kEndpoint = "registration endpoint of the authorization server";
  if (status != 200 && status != 201) return refused(status, body, kEndpoint);
  SALLYPORT_TRY(const json::object object, read_answer(body, kEndpoint));
  Client out{member(object, "client_id"),
             member(object, "client_secret"),
             std::string(text_in(object, "token_endpoint_auth_method").value_or(method)),
             {}};
  const bool good = !out.id.empty() && out.id.size() <= kLongestToken && is_plain(out.id) &&
                    out.secret.size() <= kLongestToken && is_plain(out.secret);
  if (!good) return fail(ErrorCode::Corrupt, fmt::format("the {} gives no client id", kEndpoint));
  return out;
}

std::string joined_scopes(std::string_view first, std::string_view second) {
  std::vector<std::string_view> words;
  for (std::string_view text : {first, second}) {
    while (!text.empty()) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(word.size() + 1, text.size()));
      if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace sallyport::oauth
