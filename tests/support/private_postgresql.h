// A PostgreSQL server for a test: a folder under /tmp, a Unix socket, no network. A test program
// starts it once and ends it. A fresh database is cheap.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "support/temp_folder.h"

namespace sallyport::test {

class PrivatePostgresql {
 public:
  // Returns null if Debian's `postgresql` is not installed.
  static PrivatePostgresql* instance();
  ~PrivatePostgresql();

  std::string new_database();  // its address, as the owner of all objects
  // Returns the address of the same database for another role.
  static std::string as_role(const std::string& url, const std::string& role);
  // Kills every process of the server at once, as a machine failure does, and starts it again.
  void kill_and_restart();
  std::filesystem::path socket_file() const { return folder_ / ".s.PGSQL.5432"; }

  // Runs statements and returns the first value of the last one. Fails the test on a refusal.
  static std::string sql(const std::string& url, const std::string& statements);
  // Returns the SQLSTATE of a refusal, or an empty string if the statement succeeded.
  static std::string refusal(const std::string& url, const std::string& statements);

 private:
  PrivatePostgresql();
  void start();

  TempFolder folder_;
  pid_t server_ = -1;
  int databases_ = 0;
};

}  // namespace sallyport::test
