#include "workspace/config/config.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/nearest.h"
#include "machine/environment.h"
#include "machine/network_fs.h"
#include "support/temp_folder.h"

namespace sallyport::app {
namespace {

using std::chrono::hours;

Error error_of(const std::string& text) {
  const Result<Config> config = parse_config(text, "/etc/sallyport.yaml");
  EXPECT_FALSE(config) << text;
  return config ? Error{} : config.error();
}

TEST(ConfigTest, EveryKeyIsRead) {
  const Result<Config> config = parse_config(R"(
version: 1
ledger:
  origin: ledger.example.com/agents
  witness_path: witness/copy
  retention: {event: 90d, tool_audit: 26w}
  reserve_bytes: 1048576
  lock_wait_ms: 250
  allow_network_fs: true
)",
                                             "/etc/sallyport/config.yaml");
  ASSERT_TRUE(config) << config.error().message;
  const LedgerConfig& ledger = config->ledger;
  EXPECT_EQ(ledger.origin, "ledger.example.com/agents");
  EXPECT_TRUE(ledger.keeps_witness);
  EXPECT_EQ(ledger.witness_path, "/etc/sallyport/witness/copy");
  EXPECT_EQ(ledger.retention.at("event"), hours(24 * 90));
  EXPECT_EQ(ledger.retention.at("tool_audit"), hours(24 * 7 * 26));
  EXPECT_EQ(ledger.reserve_bytes, 1048576u);
  EXPECT_EQ(ledger.lock_wait, std::chrono::milliseconds(250));
  EXPECT_TRUE(ledger.allow_network_fs);
}

TEST(ConfigTest, JsonIsAcceptedAndSectionsMayBeEmpty) {
  EXPECT_TRUE(parse_config(R"({"version": 1, "ledger": {"lock_wait_ms": 10}})", "c.json"));
  EXPECT_TRUE(parse_config("version: 1\nledger:\n", "c.yaml"));
  EXPECT_TRUE(parse_config("# nothing set\nversion: 1\n", "c.yaml"));
}

TEST(ConfigTest, WitnessCanBeSwitchedOff) {
  EXPECT_FALSE(
      parse_config("version: 1\nledger: {witness_path: off}", "c.yaml")->ledger.keeps_witness);
  const Result<Config> quoted =
      parse_config("version: 1\nledger: {witness_path: 'off'}", "/c.yaml");
  EXPECT_EQ(quoted->ledger.witness_path, "/off");
  EXPECT_EQ(parse_config("version: 1\nledger: {witness_path: /mnt/w}", "/etc/c.yaml")
                ->ledger.witness_path,
            "/mnt/w");
}

TEST(ConfigTest, AnUnknownKeyIsAnErrorWithItsPlaceAndASuggestion) {
  const Error error = error_of("version: 1\nledger:\n  lock_wait_sm: 5\n");
  EXPECT_EQ(error.message, "unknown key `lock_wait_sm`, did you mean `lock_wait_ms`");
  EXPECT_EQ(error.where, "/etc/sallyport.yaml:3:3");
  EXPECT_EQ(error.code, ErrorCode::InvalidInput);
  EXPECT_EQ(error_of("version: 1\nlegder: {}\n").where, "/etc/sallyport.yaml:2:1");
  EXPECT_EQ(error_of("version: 1\nledger: {retention: {evnt: 1d}}").message,
            "unknown key `evnt`, did you mean `event`");
}

TEST(ConfigTest, WrongValuesAreErrorsWithTheirPlace) {
  EXPECT_EQ(error_of("version: 2\n").where, "/etc/sallyport.yaml:1:10");
  EXPECT_EQ(error_of("version: '1'\n").where, "/etc/sallyport.yaml:1:10");
  EXPECT_EQ(error_of("version: 1\nledger:\n  reserve_bytes: -1\n").where,
            "/etc/sallyport.yaml:3:18");
  for (const char* const line :
       {"reserve_bytes: 1.5", "reserve_bytes: '5'", "lock_wait_ms: 600001", "allow_network_fs: yes",
        "retention: {event: 90}", "retention: {event: soon}", "retention: [event]", "origin: 'a b'",
        "origin:", "witness_path: {}", "lock_wait_ms: [1]"}) {
    EXPECT_EQ(error_of("version: 1\nledger:\n  " + std::string(line)).code, ErrorCode::InvalidInput)
        << line;
  }
}

TEST(ConfigTest, ADurationThatIsMissingIsSaidToBe) {
  EXPECT_EQ(error_of("version: 1\nledger: {retention: {event: }}").message,
            "a duration is missing; write 12h, 90d or 26w");
  EXPECT_EQ(error_of("version: 1\nledger: {retention: {event: soon}}").message,
            "`soon` is not a duration; write 12h, 90d or 26w");
}

TEST(ConfigTest, WhatIsNoConfigurationIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("ledger: {}"), std::string("[1, 2]"), std::string("version"),
        std::string("version: 1\nversion: 1\n"), std::string("version: 1\n--- \nversion: 1\n"),
        std::string("a: &x 1\nversion: *x\n"), std::string("version: !!int 1\n"),
        std::string("version: 1\n<<: {}\n"), std::string("version: {1"),
        std::string("\xff\xfe\x00z", 4), std::string("version: 1\n\x01\x02"),
        std::string(100'000, '['), std::string(100'000, '{'),
        std::string("version: \"\\ud800\"")}) {
    EXPECT_EQ(error_of(text).code, ErrorCode::InvalidInput) << text.substr(0, 40);
  }
}

// Of two credentials of one provider the last in the file once won in silence, and two agents could
// have one token: the first in the list was recorded for both.
TEST(ConfigTest, TwoCredentialsOfOneProviderAndOneTokenOfTwoAgentsAreErrors) {
  const std::string providers =
      "version: 1\nserve:\n  models:\n    upstreams:\n"
      "      - {name: a, api: openai_chat, url: \"https://a.example\", ";
  const std::pair<const char*, const char*> kPairs[] = {
      {"key_env: A, key_file: b", "`key_env` and `key_file` exclude each other; keep one"},
      {"key: none, key_file: b", "`key` and `key_file` exclude each other; keep one"},
      {"key_env: A, key: client", "`key_env` and `key` exclude each other; keep one"}};
  for (const auto& [keys, why] : kPairs) {
    const Error error = error_of(providers + keys + "}\n");
    EXPECT_EQ(error.message, why);
    EXPECT_TRUE(error.where.starts_with("/etc/sallyport.yaml:5:")) << error.where;
  }
  EXPECT_TRUE(parse_config(providers + "key_env: A}\n", "c.yaml"));
  EXPECT_EQ(error_of("version: 1\nserve: {models: {upstreams: []}}\n").message,
            "`upstreams` is empty; name at least one provider, or leave `models` out");
  const std::string token(64, 'a');
  const std::string agents =
      "version: 1\nserve:\n  agents:\n    - {name: ada, token_sha256: " + token +
      "}\n    - {name: bo, token_sha256: ";
  const Error error = error_of(agents + token + "}\n");
  EXPECT_EQ(error.message, "`ada` and `bo` have the same token; give each agent its own");
  EXPECT_EQ(error.where.substr(0, 21), "/etc/sallyport.yaml:5");
  EXPECT_TRUE(parse_config(agents + std::string(64, 'b') + "}\n", "c.yaml"));
}

TEST(ConfigTest, AFileIsBounded) {
  const test::TempFolder folder;
  std::ofstream(folder / "big.yaml") << "version: 1\n" << std::string(1u << 20, '#');
  const Result<Config> big = load_config(folder / "big.yaml");
  ASSERT_FALSE(big);
  EXPECT_EQ(big.error().message, "a configuration is at most 1 MiB");
  EXPECT_EQ(load_config(folder / "none.yaml").error().code, ErrorCode::NotFound);
  EXPECT_EQ(load_config(folder.path()).error().code, ErrorCode::InvalidInput);
}

TEST(Duration, UnitsAreSecondsToWeeks) {
  EXPECT_EQ(parse_duration("45s"), std::chrono::seconds(45));
  EXPECT_EQ(parse_duration("30m"), std::chrono::minutes(30));
  EXPECT_EQ(parse_duration("12h"), hours(12));
  EXPECT_EQ(parse_duration("90d"), hours(24 * 90));
  EXPECT_EQ(parse_duration("2w"), hours(24 * 14));
  for (const char* const text : {"", "d", "90", "90 d", "-1d", "1.5h", "90D", "99999999d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Nearest, FindsSlipsAndNothingElse) {
  const std::vector<std::string> known = {"tail", "show", "stats", "export"};
  EXPECT_EQ(nearest("tial", known), "tail");
  EXPECT_EQ(nearest("shwo", known), "show");
  EXPECT_EQ(nearest("exprot", known), "export");
  EXPECT_FALSE(nearest("frobnicate", known));
  EXPECT_FALSE(nearest("", known));
}

TEST(DataDir, TheFirstThatIsSetWins) {
  Environment environment{.data_dir = "/a", .state_home = "/b", .home = "/c"};
  EXPECT_EQ(default_data_dir(environment).value(), "/a");
  environment.data_dir.reset();
  EXPECT_EQ(default_data_dir(environment).value(), "/b/sallyport");
  environment.state_home = "relative";
  EXPECT_EQ(default_data_dir(environment).value(), "/c/.local/state/sallyport");
  environment.home.reset();
  EXPECT_FALSE(default_data_dir(environment));
}

// LE-44 (partly)
TEST(NetworkFileSystem, IsKnownByItsNumber) {
  EXPECT_EQ(network_file_system_name(0x6969, ""), "NFS");
  EXPECT_EQ(network_file_system_name(0xff534d42, ""), "CIFS");
  EXPECT_EQ(network_file_system_name(static_cast<int>(0xfe534d42), ""), "SMB");
  EXPECT_EQ(network_file_system_name(0x01021997, ""), "9p");
  EXPECT_EQ(network_file_system_name(0x00c36400, ""), "Ceph");
  EXPECT_EQ(network_file_system_name(0x0bd00bd0, ""), "Lustre");
  EXPECT_EQ(network_file_system_name(0x65735546, "fuse.sshfs"), "fuse.sshfs");
  EXPECT_EQ(network_file_system_name(0x65735546, ""), "FUSE");
  EXPECT_EQ(network_file_system_name(0x65735546, "fuseblk"), "");
  EXPECT_EQ(network_file_system_name(0xef53, ""), "");      // ext4
  EXPECT_EQ(network_file_system_name(0x9123683e, ""), "");  // btrfs
}

TEST(NetworkFileSystem, AFolderThatIsNotThereYetIsJudgedByWhatIsAboveIt) {
  const test::TempFolder folder;
  EXPECT_EQ(network_file_system(folder / "not/there").value(),
            network_file_system(folder.path()).value());
}

}  // namespace
}  // namespace sallyport::app
