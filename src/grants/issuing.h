// Makes tokens. An authority issues tokens, and a holder delegates narrower ones (CG-57, CG-58).
#pragma once

#include <optional>
#include <string>

#include "grants/signer.h"
#include "grants/token.h"

namespace sallyport::grants {

struct NewToken {
  std::string id;
  std::string principal;
  std::optional<std::string> subject_key{};
  std::uint64_t issued_at = 0;
  std::uint64_t expires_at = 0;
  json::array grants{};
};

struct IssuedToken {
  std::string text;  // RFC 8785
  Token token;
};

// `InvalidInput`: the form is wrong, or a constraint could never match: an unknown type, a value of
// the wrong form, or a pattern that does not compile (CG-46).
Result<IssuedToken> issue(const NewToken& wanted, const Signer& signer);

// Makes a child of `parent_text`. `Conflict` names the grant and the rule that it would break.
Result<IssuedToken> attenuate(std::string_view parent_text, const NewToken& wanted,
                              const Signer& holder);

}  // namespace sallyport::grants
