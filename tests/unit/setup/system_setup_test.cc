#include "machine/system_setup.h"

#include <gtest/gtest.h>

#include "setup/setup_files.h"
#include "workspace/config/config.h"

namespace sallyport::app {
namespace {

std::string refusal_of(const std::string& serve) {
  const Result<Config> config = parse_config("version: 1\nserve: " + serve, "/etc/c.yaml");
  EXPECT_FALSE(config) << serve;
  return config ? "" : config.error().message;
}

TEST(SystemSetupTest, WhatIsWrittenIsWhatIsRead) {
  const SystemSetup setup{.service_user = "gate",
                          .service_uid = 4'000'000'000u,
                          .socket_dir = "/run/x",
                          .data_dir = "/var/lib/x",
                          .config = "/etc/x"};
  const Result<SystemSetup> read = system_setup_in(to_text(setup));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, setup);
}

TEST(SystemSetupTest, AFileThatLacksSomethingIsNotBelieved) {
  const std::string good = to_text({.service_user = "gate", .service_uid = 7});
  for (const auto& [part, instead] : {std::pair("\"version\":1", "\"version\":2"),
                                      std::pair("\"service_uid\":7", "\"service_uid\":-1"),
                                      std::pair("\"service_uid\":7", "\"service_uid\":4294967295"),
                                      std::pair("\"service_uid\":7", "\"service_uid\":\"7\""),
                                      std::pair("\"socket_dir\"", "\"socketdir\"")}) {
    std::string text = good;
    text.replace(text.find(part), std::string(part).size(), instead);
    const Result<SystemSetup> read = system_setup_in(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::Unauthenticated);
  }
  for (const char* const text : {"", "[]", "{", "{\"version\":1}"}) {
    EXPECT_FALSE(system_setup_in(text)) << text;
  }
}

TEST(SystemSetupTest, TheConfigurationThatIsInstalledIsOneAndOpensNoPort) {
  const Result<Config> config = parse_config(config_text({}), "/etc/sallyport/sallyport.yaml");
  ASSERT_TRUE(config) << config.error().message << config.error().where;
  ASSERT_TRUE(config->serve);
  EXPECT_TRUE(config->serve->is_system_service());
  EXPECT_FALSE(config->serve->has_http());
  EXPECT_EQ(config->serve->run_as, "sallyport-tools");
  EXPECT_EQ(config->data_dir, "/var/lib/sallyport");
  EXPECT_EQ(config->reviewers, "/etc/sallyport/reviewers.yaml");
  EXPECT_EQ(config->serve->policy, "/etc/sallyport/policy.yaml");
}

TEST(SystemSetupTest, AConfigurationThatWouldOpenAWayAroundIsRefused) {
  const std::string command = "upstreams: [{name: t, command: [x]}]";
  EXPECT_NE(refusal_of("{socket_dir: /run/x, listen: none, " + command + "}").find("run_as"),
            std::string::npos);
  EXPECT_NE(refusal_of("{socket_dir: /run/x, auth: none}").find("need tokens"), std::string::npos);
  EXPECT_NE(refusal_of("{listen: none}").find("socket_dir"), std::string::npos);
  EXPECT_NE(refusal_of("{upstreams: [{name: t, url: 'https://x/mcp', run_as: y}]}").find("run_as"),
            std::string::npos);
  EXPECT_TRUE(parse_config("version: 1\nserve: {socket_dir: /run/x, run_as: t, " + command + "}",
                           "/etc/c.yaml"));
}

}  // namespace
}  // namespace sallyport::app
