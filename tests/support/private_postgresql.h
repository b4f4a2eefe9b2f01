// A PostgreSQL server of a test's own: a folder under /tmp, a Unix socket, no network. It is
// started once in a test program and ends with it. A fresh database is cheap.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "support/temp_folder.h"

namespace sallyport::test {

class PrivatePostgresql {
 public:
  // Null: Debian's `postgresql` is not installed.
  static PrivatePostgresql* instance();
  ~PrivatePostgresql();

  std::string new_database();  // its address, as the owner of all
  // The same database for another role.
  static std::string as_role(const std::string& url, const std::string& role);
  // As when the machine stops: every process of the server at once. Then it starts again.
  void kill_and_restart();
  std::filesystem::path socket_file() const { return folder_ / ".s.PGSQL.5432"; }

  // Runs statements; the first value of the last one. Fails the test where one is refused.
  static std::string sql(const std::string& url, const std::string& statements);
  // The SQLSTATE of a refusal; empty: it was done.
  static std::string refusal(const std::string& url, const std::string& statements);

 private:
  PrivatePostgresql();
  void start();

  TempFolder folder_;
  pid_t server_ = -1;
  int databases_ = 0;
};

}  // namespace sallyport::test
