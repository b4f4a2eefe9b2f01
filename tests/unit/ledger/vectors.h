// The vectors of section 13 of the ledger's specification, which several tests use.
#pragma once

#include <algorithm>
#include <string>

#include "base/encoding.h"
#include "ledger/proof/note.h"
#include "ledger/proof/receipt.h"

namespace sallyport::ledger::vectors {

inline constexpr std::string_view kOrigin = "sallyport.example/test";
inline constexpr std::string_view kVerifierKey =
    "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4";

inline constexpr std::string_view kCheckpoint =
    "sallyport.example/test\n4\nvQBwrL3GeaJM9EYVhBSD+/zBiroArk2+KgxUrybL2fo=\n\n"
    "— sallyport.example/test 0OWtg7gCnktZiCT2z5WzCVwXnWsi6+Dbu+7Zv3ssqYTzlutAIRWAj62NRwKxEUYXQX/"
    "M4jN6XV880Igemvjz7CRyOAo=\n";

inline constexpr std::string_view kReceipt =
    R"({"schema":"sallyport.receipt.v1","entry":{"schema":"sallyport.entry.v1","id":)"
    R"("01966f4c-2000-7000-8000-000000000001","sequence":0,"recorded_at":)"
    R"("2026-11-15T02:00:00.000000Z","kind":"tool_audit","instance_id":)"
    R"("01966f4c-2000-7000-8000-0000000000aa","policy_hash":)"
    R"("sha256:1111111111111111111111111111111111111111111111111111111111111111","call_id":)"
    R"("call_1","tool_name":"read_file","outcome":"completed","body":{"call_id":"call_1",)"
    R"("effective_input":{"$sealed":)"
    R"("sha256:8b828a4020f822285b72a35479d9cbdcaaabe56a91aa81307996958a641f617c"}}},)"
    R"("leaf_index":0,"tree_size":1,"proof":[],"checkpoint":"sallyport.example/test\n1\n)"
    R"(/mlFgIwAD+kwmuZq8vh6i0AkjgqfguJz3SnqNKVK5G4=\n\n— sallyport.example/test )"
    R"(0OWtg7SDmrHwctX9wLnd9RXZuGrgvpzWRfws66x/0hZ2bLK3Mgt7O6h2i2t1CuNp/wQYu3jCSL7djcPI)"
    R"(kw265LS1AwQ=)"
    R"(\n","openings":[{"path":"/body/effective_input","form":"json","salt":)"
    R"("qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=","value":{"path":"/tmp/x"}}]})";

// The key whose seed is 00 01 02 .. 1f.
inline SigningKey signing_key(std::string name = std::string(kOrigin), std::uint8_t first = 0) {
  std::array<std::uint8_t, 32> seed{};
  std::ranges::generate(seed, [first]() mutable { return first++; });
  return SigningKey::from_seed(std::move(name), seed);
}

inline Trust trust() {
  return {.key = *VerifierKey::parse(kVerifierKey)};
}

inline Hash hash_from_hex(std::string_view digits) {
  const std::string bytes = from_hex(digits).value();
  Hash hash{};
  std::ranges::copy(bytes, hash.begin());
  return hash;
}

// Returns `text` with the first `from` in it replaced by `to`.
inline std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const std::size_t at = changed.find(from);
  if (at == std::string::npos) return "the test looks for text that is not there";
  return changed.replace(at, from.size(), to);
}

}  // namespace sallyport::ledger::vectors
