#include "core/plan/command_names.h"

#include <gtest/gtest.h>

#include <string>

namespace sallyport::core {
namespace {

// AU-82 (partly)
TEST(CommandNamesTest, ACommandIsKnownByTheNameOfItsMember) {
  for (const char* const name : {"command", "Command", "command_line", "command-line", "CMD",
                                 "cmd_line", "argv", "sql", "run_command", "build-script"}) {
    EXPECT_TRUE(is_command_name(name)) << name;
  }
  for (const char* const name : {"", "path", "commander", "command.line", "querying", "run sql"}) {
    EXPECT_FALSE(is_command_name(name)) << name;
  }
  EXPECT_TRUE(is_command_name(std::string(57, 'x') + "command"));
  EXPECT_FALSE(is_command_name(std::string(58, 'x') + "command"));
}

}  // namespace
}  // namespace sallyport::core
