#include "app/agents/agent_servers.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sallyport::app {
namespace {

TEST(OfferedName, APlainNameStaysAsItIs) {
  EXPECT_EQ(offered_name("files", "read_file"), "files__read_file");
  const std::string longest(64 - 7, 'a');
  EXPECT_EQ(offered_name("files", longest), "files__" + longest);
}

TEST(OfferedName, EveryNameFitsIntoApisOfModelsAndTwoToolsKeepTwoNames) {
  const std::string tools[] = {"a.b",
                               "a b",
                               "a/b",
                               "\xd1\x82\xd1\x83\xd1\x82",
                               std::string(512, 'a'),
                               std::string(511, 'a'),
                               "\x1b[2J",
                               std::string("\0", 1)};
  std::vector<std::string> names;
  for (const std::string& tool : tools) {
    const std::string name = offered_name("files", tool);
    EXPECT_LE(name.size(), 64u);
    EXPECT_EQ(
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"),
        std::string::npos)
        << name;
    EXPECT_TRUE(name.starts_with("files__"));
    EXPECT_EQ(std::ranges::count(names, name), 0);
    names.push_back(name);
  }
}

}  // namespace
}  // namespace sallyport::app
