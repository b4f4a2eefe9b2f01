// The keys and tokens of section 7 of the grants page, and a function to make others.
#pragma once

#include <boost/json.hpp>
#include <numeric>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/encoding.h"
#include "grants/checks.h"
#include "grants/issuing.h"
#include "grants/signer.h"

namespace sallyport::grants::test {

inline Signer signer(std::uint8_t first) {
  Signer::Seed seed;
  std::iota(seed.begin(), seed.end(), first);
  return Signer::from_seed(seed);
}
inline Signer key_a() {
  return signer(0);
}
inline Signer key_b() {
  return signer(32);
}
inline Signer key_c() {
  return signer(64);
}

inline constexpr std::string_view kKeyA =
    "ed25519:03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8";
inline constexpr std::string_view kKeyB =
    "ed25519:29acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7";

inline constexpr std::string_view kRootBytes =
    R"({"expires_at":1794704400,"id":"01966f4c-4000-7000-8000-000000000001","issued_at":1794700800,"issuer":"ed25519:03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8","schema":"sallyport.grant.v1","scope":{"grants":[{"constraints":[{"type":"path_prefix","value":"/srv/app"}],"max_invocations":10,"operations":["delegate","invoke","read_result"],"server":"fs","tool":"write_file"}]},"subject":{"key":"ed25519:29acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7","principal":"agent:deploy-bot"}})";
inline constexpr std::string_view kRootSignature =
    "DWSFQJ2fy0s+TJbvlpql/w749f0sq5Ms0uoaOfJyXuYnmidlXWQZXrmrns6wLJbW9U8sP/OjiKx8sqO9MNnlCQ==";
inline constexpr std::string_view kRootDigest =
    "sha256:101b478252dde8ee0dbb28da53f197b5c73de265e5954b4979255628066ef772";
inline constexpr std::string_view kChildBytes =
    R"({"expires_at":1794702600,"id":"01966f4c-4000-7000-8000-000000000002","issued_at":1794700860,"issuer":"ed25519:29acbae141bccaf0b22e1a94d34d0bc7361e526d0bfe12c89794bc9322966dd7","parent":"sha256:101b478252dde8ee0dbb28da53f197b5c73de265e5954b4979255628066ef772","schema":"sallyport.grant.v1","scope":{"grants":[{"constraints":[{"type":"path_prefix","value":"/srv/app/tmp"}],"from":0,"max_invocations":3,"operations":["invoke","read_result"],"server":"fs","tool":"write_file"}]},"subject":{"principal":"agent:deploy-bot/tester"}})";
inline constexpr std::string_view kChildSignature =
    "64VJUr3puz41PMxP3et2Bx74AhfHaMSbPuc/jTtwmza8r/HG9319AULz0PB4GmVC9FRM71dT2LXdC6H7XzKtDQ==";
inline constexpr std::string_view kChildDigest =
    "sha256:9fafe6840c1fd7655a7c5914adf74f776a362abaa5aea08dbed9e302a193670a";
inline constexpr std::string_view kRootId = "01966f4c-4000-7000-8000-000000000001";
inline constexpr std::string_view kChildId = "01966f4c-4000-7000-8000-000000000002";
inline constexpr std::uint64_t kInside = 1794701000;

inline json::object parsed(std::string_view text) {
  return parse_json(text)->value.as_object();
}
inline std::string text_of(const json::object& token) {
  return canonical_json(token);
}

inline json::object root_token() {
  json::object token = parsed(kRootBytes);
  token["signature"] = kRootSignature;
  return token;
}
inline json::object child_token() {
  json::object token = parsed(kChildBytes);
  token["signature"] = kChildSignature;
  token["chain"] = json::array{root_token()};
  return token;
}

// Signs again after a test's changes.
inline void sign(json::object& token, const Signer& by) {
  token["issuer"] = by.key();
  token["signature"] = base64(as_bytes(by.sign(signed_bytes_of(token))));
}

inline json::object grant(std::string_view server = "*", std::string_view tool = "*") {
  return {{"server", server},
          {"tool", tool},
          {"operations", json::array{"delegate", "invoke", "read_result"}}};
}
inline json::object with(json::object grant, std::string_view member, json::value value) {
  grant[member] = std::move(value);
  return grant;
}
inline json::object limited_to(std::string_view type, json::value value) {
  return with(grant(), "constraints",
              json::array{json::object{{"type", type}, {"value", std::move(value)}}});
}

// A token of key A for `agent:a`, which may delegate with key B.
inline json::object token_with(json::array grants, std::uint64_t id = 7) {
  json::object token{{"schema", kTokenSchema},
                     {"id", "01966f4c-4000-7000-8000-" +
                                hex(std::array<std::uint8_t, 6>{0, 0, 0, 0, 0, std::uint8_t(id)})},
                     {"subject", json::object{{"principal", "agent:a"}, {"key", kKeyB}}},
                     {"issued_at", 1794700800},
                     {"expires_at", 1794704400},
                     {"scope", json::object{{"grants", std::move(grants)}}}};
  sign(token, key_a());
  return token;
}

// A token of key B, delegated from such a token.
inline json::object child_of(const json::object& parent, json::array grants, std::uint64_t id = 8) {
  json::object token = token_with(std::move(grants), id);
  json::object link = parent;
  json::array chain;
  if (json::value* const ancestors = link.if_contains("chain")) {
    chain = ancestors->as_array();
    link.erase("chain");
  }
  token["parent"] = digest_of(link);
  chain.push_back(std::move(link));
  token["chain"] = std::move(chain);
  sign(token, key_b());
  return token;
}

inline TrustedIssuers trusting_a() {
  return {std::string(kKeyA)};
}
inline WallTime at(std::uint64_t second) {
  return WallTime(std::chrono::seconds(second));
}

inline std::string code_of(const Examination& examination) {
  return examination.failure ? std::string(examination.failure->code) : "good";
}

}  // namespace sallyport::grants::test
