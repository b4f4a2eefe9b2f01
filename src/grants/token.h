// A capability token: it allows one principal to call some tools under conditions, until a time.
// Reading checks only the form (CG-1..CG-9, CG-31, CG-66, CG-67), not that the token is genuine.
//
//   Result<TokenChain> chain = read_token(text);
//   if (!chain) std::cerr << chain.error().message;   // "`scope.grants` is empty"
//   chain->leaf().grants.at(0).tool;                  // "write_file"
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/budgets.h"
#include "sallyport/json.h"
#include "sallyport/result.h"
#include "sallyport/scope.h"

namespace sallyport::grants {

inline constexpr std::string_view kTokenSchema = "sallyport.grant.v1";
inline constexpr std::size_t kMostSteps = 8;
inline constexpr std::size_t kMostGrants = 64;
inline constexpr std::size_t kMostBytes = 64 * 1024;

// A set of operations (CG-9).
struct Operations {
  bool invoke = false;
  bool read_result = false;
  bool delegate = false;

  bool within(const Operations& other) const {
    return (!invoke || other.invoke) && (!read_result || other.read_result) &&
           (!delegate || other.delegate);
  }
  bool operator==(const Operations&) const = default;
};

// One grant of a token's scope.
struct Terms {
  std::string server;
  std::string tool;
  Operations operations;
  std::vector<Constraint> constraints{};
  std::optional<std::uint64_t> max_invocations{};
  std::optional<core::Rate> rate{};
  std::optional<std::uint64_t> from{};  // the parent's grant that this one narrows
};

struct Token {
  std::string id;
  std::string issuer;  // `ed25519:` and hex
  std::string principal;
  std::optional<std::string> subject_key{};
  std::uint64_t issued_at = 0;
  std::uint64_t expires_at = 0;
  std::vector<Terms> grants{};
  std::string signature{};  // 64 bytes
  std::optional<std::string> parent{};

  std::string signed_bytes{};  // CG-4
  std::string digest{};        // CG-5
};

// The presented token and the ancestors that it contains.
struct TokenChain {
  std::vector<Token> links;  // the ancestors, then the presented token

  const Token& leaf() const { return links.back(); }
  std::span<const Token> ancestors() const { return std::span(links).first(links.size() - 1); }
};

// `InvalidInput` names the malformed member.
Result<TokenChain> read_token(std::string_view text);

// Reads the grants of a scope, in a token or from the person who writes one.
Result<std::vector<Terms>> read_terms(const json::array& grants);

// True for `ed25519:` and 64 hex digits in lower case.
bool is_key(std::string_view text);

// The bytes to sign (CG-4) and the digest (CG-5) of a token, with or without its signature.
std::string signed_bytes_of(const json::object& token);
std::string digest_of(const json::object& token);

}  // namespace sallyport::grants
