// The vectors of the page on autonomy: two records, and the promotion that key B signed.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "trust/control.h"

namespace sallyport::trust::vectors {

inline constexpr const char* kFirst =
    R"({"action":"fs.write","agent":"deploy-bot","approver":null,"autonomy_tier":"shadow","chain_index":1,"cost_usd":null,"metadata":{"action_class":"fs.write","autonomy.enforcement":"shadow_noop","builtin":"write_file","call_id":"call_1"},"outcome":"denied","previous_hash":null,"record_id":"01966f4c-3000-7000-8000-000000000001","schema":"opentrustgraph/v0","timestamp":"2026-11-15T02:00:00Z","trace_id":"trace_1"})";
inline constexpr const char* kFirstHash =
    "sha256:5105a4dae4c30d99edfe2050990061a9d18ee29c1ce7364410ced999bc8735d2";
inline constexpr const char* kStatement =
    R"({"action":"trust.promote","agent":"deploy-bot","control_id":"01966f4c-3000-7000-8000-0000000000c1","from_tier":"shadow","ledger":"sallyport.example/test","reviewer":"user:ops-lead","schema":"sallyport.control.v1","signed_at":"2026-11-15T02:01:00Z","to_tier":"act_with_approval"})";
inline constexpr const char* kSignature =
    "ed25519:79Vk8Gao4ghsu/IERt1aZldMkbkcD5bTFR8VH/"
    "V88o8rUFGbSz6idy8R+Z7gYDSCl34Ia1/oOqCcgrwlK7wpDw==";
inline constexpr const char* kSecond =
    R"({"action":"trust.promote","agent":"deploy-bot","approver":"user:ops-lead","autonomy_tier":"act_with_approval","chain_index":2,"cost_usd":null,"metadata":{"approval":{"quorum":1,"required":true,"signatures":[{"reviewer":"user:ops-lead","signature":"ed25519:79Vk8Gao4ghsu/IERt1aZldMkbkcD5bTFR8VH/V88o8rUFGbSz6idy8R+Z7gYDSCl34Ia1/oOqCcgrwlK7wpDw==","signed_at":"2026-11-15T02:01:00Z"}]},"control":true,"control_id":"01966f4c-3000-7000-8000-0000000000c1","from_tier":"shadow","to_tier":"act_with_approval"},"outcome":"success","previous_hash":"sha256:5105a4dae4c30d99edfe2050990061a9d18ee29c1ce7364410ced999bc8735d2","record_id":"01966f4c-3000-7000-8000-000000000002","schema":"opentrustgraph/v0","timestamp":"2026-11-15T02:01:02Z","trace_id":"trace_2"})";
inline constexpr const char* kSecondHash =
    "sha256:d5ef81b488c254914f58d422e0d2754149492ee8ef5dec0fcd32826ff5bd0bec";
inline constexpr const char* kOrigin = "sallyport.example/test";

// With the hash in it.
inline std::string stored(std::string record, const std::string& hash) {
  record.insert(1, "\"entry_hash\":\"" + hash + "\",");
  return record;
}

struct KeyPair {
  PublicKey key{};
  std::array<std::uint8_t, 64> secret{};
};
// Seed `first`, `first + 1`, ...; key B begins with 0x20.
KeyPair key_from_seed(std::uint8_t first);

inline Reviewers people() {
  return {{{.name = "user:ops-lead",
            .roles = {"approver", "controller"},
            .key = key_from_seed(0x20).key}}};
}

}  // namespace sallyport::trust::vectors
