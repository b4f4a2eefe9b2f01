// Recognises member names that mark any value as a secret (LE-55, AU-82).
#pragma once

#include <string_view>

namespace sallyport::guards {

// Case, `_`, `-` and a leading `x-` do not count: `api_key`, `apiKey` and `X-Api-Key` are one name.
//
// Sensitive are the names of a fixed list (`password`, `token`, `authorization`, `cookie`, ...),
// and those whose last words are `password`, `passwd`, `passphrase`, `secret`, `token`, `api_key`,
// `private_key`, `secret_key` or `secret_access_key`: `db_password`, `githubToken`.
//
// Not sensitive are counters (`max_tokens`, `token_count`), which do not end that way, and tokens
// that are bookmarks, units or vocabulary rather than credentials: `progressToken`,
// `next_page_token`, `continuation_token`, `cost_per_token`, `eos_token`.
bool is_sensitive_name(std::string_view name);

}  // namespace sallyport::guards
