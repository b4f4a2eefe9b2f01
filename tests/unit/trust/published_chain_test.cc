// Chains of another producer whose hashes were published with OpenTrustGraph v0: our hashes equal
// those of others.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <sstream>

#include "trust/chain_file.h"

namespace sallyport::trust {
namespace {

constexpr const char* kOpenedHash =
    "sha256:84facae7d56fd304e040ea18d80bd019e274ad86ddd5a4d732f3ac3d984c48ec";
constexpr const char* kPromotedHash =
    "sha256:6bb2b155ba07c67443c881f2d9dd954083bb44542df81520db1490fcbfdd5bf9";
constexpr const char* kMisLinkedHash =
    "sha256:13f9bf66cea6d09b868318afd40dad1fa6acb35994f64ab3fffcc57d30658c41";
constexpr const char* kUnapprovedHash =
    "sha256:bc337327340a47fa65876090ed7e73218259cb91ca04b9a027670a6bcb9ea5ad";

json::object opened() {
  return {{"schema", "opentrustgraph/v0"},
          {"record_id", "01966f4c-0f31-7b5d-b44b-f7f8e7e1d384"},
          {"agent", "github-triage-bot"},
          {"action", "github.issue.opened"},
          {"approver", nullptr},
          {"outcome", "success"},
          {"trace_id", "trace_valid_01"},
          {"autonomy_tier", "suggest"},
          {"timestamp", "2026-04-19T18:42:11Z"},
          {"cost_usd", nullptr},
          {"chain_index", 1},
          {"previous_hash", nullptr},
          {"entry_hash", kOpenedHash},
          {"metadata", {{"provider", "github"}}}};
}

json::object promoted(const std::string& previous, const char* hash) {
  return {{"schema", "opentrustgraph/v0"},
          {"record_id", "01966f4c-0f32-7d37-b443-d72dd96f0f4f"},
          {"agent", "github-triage-bot"},
          {"action", "trust.promote"},
          {"approver", "maintainer-1"},
          {"outcome", "success"},
          {"trace_id", "trace_valid_02"},
          {"autonomy_tier", "act_auto"},
          {"timestamp", "2026-04-19T18:43:02Z"},
          {"cost_usd", nullptr},
          {"chain_index", 2},
          {"previous_hash", previous},
          {"entry_hash", hash},
          {"metadata", {{"control", true}, {"from_tier", "suggest"}, {"to_tier", "act_auto"}}}};
}

ChainReport verify(const json::array& records, const char* root_hash) {
  std::string list;
  for (const json::value& record : records) {
    // The output format of other producers: in the order of writing, with line ends.
    list += (list.empty() ? "\n  " : ",\n  ") + json::serialize(record);
  }
  std::istringstream in(
      "{\n \"schema\": \"opentrustgraph-chain/v0\",\n \"chain\": " +
      json::serialize(json::object{{"topic", "trust_graph"},
                                   {"total", records.size()},
                                   {"root_hash", root_hash},
                                   {"verified", true},
                                   {"producer", {{"name", "harn"}, {"version", "0.7.x"}}}}) +
      ",\n \"records\": [" + list + "\n ]\n}\n");
  return verify_chain_file(in, {});
}

// TR-22
TEST(PublishedChainTest, AValidChainVerifies) {
  const ChainReport report =
      verify({opened(), promoted(kOpenedHash, kPromotedHash)}, kPromotedHash);
  EXPECT_TRUE(report.verified) << json::serialize(to_json(report));
  EXPECT_EQ(report.root_hash, kPromotedHash);
}

// TR-22
TEST(PublishedChainTest, ATamperedChainFailsAtItsLink) {
  const std::string zeros = "sha256:" + std::string(64, '0');
  const ChainReport report = verify({opened(), promoted(zeros, kMisLinkedHash)}, kMisLinkedHash);
  EXPECT_EQ(report.errors, std::vector<std::string>{"record 2: previous_hash mismatch"});
}

// TR-22
TEST(PublishedChainTest, AMissingApprovalFails) {
  // Boost.JSON would print the cost with an exponent, and numbers are hashed as written.
  const std::string record =
      R"({"schema":"opentrustgraph/v0","record_id":"01966f4c-2000-7763-9b4b-d2bfe8050001",)"
      R"("agent":"deploy-agent","action":"deploy.prod","approver":null,"outcome":"success",)"
      R"("trace_id":"trace_missing_approval_01","autonomy_tier":"act_with_approval",)"
      R"("timestamp":"2026-04-19T20:00:00Z","cost_usd":0.21,"chain_index":1,)"
      R"("previous_hash":null,"entry_hash":")" +
      std::string(kUnapprovedHash) +
      R"(","metadata":{"approval":{"required":true,"quorum":1,"signatures":[]},)"
      R"("provider":"github"}})";
  ChainVerifier verifier({});
  verifier.take(record);
  const ChainReport report = verifier.finish();
  ASSERT_EQ(report.errors.size(), 2u) << json::serialize(to_json(report));
  for (const std::string& error : report.errors) {
    EXPECT_TRUE(error.starts_with("record 1: approval required"));
  }
}

}  // namespace
}  // namespace sallyport::trust
