// Turns a memory search into an FTS5 expression. No query text can inject operators (RT-54).
#pragma once

#include <string>
#include <string_view>

namespace sallyport::sessions {

inline constexpr std::size_t kQueryWords = 64;       // distinct words; more are left out
inline constexpr std::size_t kQueryWordBytes = 256;  // a longer word is cut

// `fix the "build"` gives `"fix" OR "the" OR """build"""`. Empty: the query has no words.
std::string memory_query(std::string_view query);

}  // namespace sallyport::sessions
