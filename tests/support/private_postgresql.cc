#include "support/private_postgresql.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

namespace sallyport::test {

namespace {

// Uses the newest release of this machine, unless tools/newest-postgresql.sh names another.
std::filesystem::path programs() {
  if (const char* const named = std::getenv("SALLYPORT_POSTGRESQL")) return named;
  std::error_code code;
  std::filesystem::path newest;
  for (const auto& each : std::filesystem::directory_iterator("/usr/lib/postgresql", code)) {
    if (std::filesystem::exists(each.path() / "bin" / "initdb") && each.path() > newest) {
      newest = each.path();
    }
  }
  return newest.empty() ? newest : newest / "bin";
}

// PostgreSQL does not run as root.
std::string unprivileged() {
  return geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups " : "setpriv ";
}

int run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str());
}

// Creating a cluster takes a second, copying one a tenth of that. Each test has its own process.
std::filesystem::path template_folder() {
  const std::filesystem::path made =
      std::filesystem::temp_directory_path() / fmt::format("sallyport-postgresql-{}", geteuid());
  if (std::filesystem::exists(made / "PG_VERSION")) return made;
  std::string name = made.string() + "-XXXXXX";
  const std::filesystem::path folder = mkdtemp(name.data());
  if (geteuid() == 0) run("chown postgres:postgres " + folder.string());
  run(unprivileged() + (programs() / "initdb").string() +
      " --no-sync --wal-segsize=1 -A trust -U owner -E UTF8 --locale=C -D " + folder.string());
  std::error_code others_were_first;
  std::filesystem::rename(folder, made, others_were_first);
  if (others_were_first) std::filesystem::remove_all(folder, others_were_first);
  return made;
}

using Link = std::unique_ptr<PGconn, decltype(&PQfinish)>;

}  // namespace

PrivatePostgresql* PrivatePostgresql::instance() {
  static std::unique_ptr<PrivatePostgresql> server;
  if (!server && !programs().empty()) server.reset(new PrivatePostgresql);
  return server.get();
}

PrivatePostgresql::PrivatePostgresql() {
  run(fmt::format("cp -a {} {}", template_folder().string(), (folder_ / "data").string()));
  if (geteuid() == 0) run("chown postgres:postgres " + folder_.path().string());
  start();
}

void PrivatePostgresql::start() {
  const std::string command = fmt::format(
      "exec {} --pdeathsig=QUIT {} -D {} -k {} -c listen_addresses= -c shared_buffers=16MB "
      "-c max_connections=200 -c max_wal_size=32MB -c min_wal_size=2MB "
      "-c recovery_init_sync_method=syncfs >/dev/null 2>&1",
      unprivileged(), (programs() / "postgres").string(), (folder_ / "data").string(),
      folder_.path().string());
  const auto spawn = [&] {
    server_ = fork();
    if (server_ != 0) return;
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  };
  spawn();
  const std::string url =
      fmt::format("postgresql:///postgres?host={}&user=owner", folder_.path().string());
  for (int tries = 0; tries < 3000 && PQping(url.c_str()) != PQPING_OK; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    // The server does not start while a process of the previous one is still ending.
    if (waitpid(server_, nullptr, WNOHANG) == server_) spawn();
  }
}

void PrivatePostgresql::kill_and_restart() {
  kill(server_, SIGSTOP);  // so that it starts no more processes
  std::error_code code;
  for (const auto& each : std::filesystem::directory_iterator("/proc", code)) {
    std::ifstream file(each.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t name = stat.rfind(')');
    if (name == std::string::npos) continue;
    char state = 0;
    pid_t parent = 0;
    std::istringstream(stat.substr(name + 1)) >> state >> parent;
    if (parent == server_) kill(std::stoi(each.path().filename().string()), SIGKILL);
  }
  kill(server_, SIGKILL);
  waitpid(server_, nullptr, 0);
  start();
}

PrivatePostgresql::~PrivatePostgresql() {
  kill(server_, SIGQUIT);
  waitpid(server_, nullptr, 0);
}

std::string PrivatePostgresql::new_database() {
  const auto url = [&](const std::string& name) {
    return fmt::format("postgresql:///{}?host={}&user=owner", name, folder_.path().string());
  };
  const std::string name = fmt::format("d{}", ++databases_);
  sql(url("postgres"), "CREATE DATABASE " + name);
  return url(name);
}

std::string PrivatePostgresql::as_role(const std::string& url, const std::string& role) {
  return url.substr(0, url.rfind("user=")) + "user=" + role;
}

std::string PrivatePostgresql::sql(const std::string& url, const std::string& statements) {
  const Link link(PQconnectdb(url.c_str()), &PQfinish);
  PGresult* const result = PQexec(link.get(), statements.c_str());
  const ExecStatusType status = PQresultStatus(result);
  EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
      << PQerrorMessage(link.get()) << statements;
  const std::string value =
      PQntuples(result) > 0 && PQnfields(result) > 0 ? PQgetvalue(result, 0, 0) : "";
  PQclear(result);
  return value;
}

std::string PrivatePostgresql::refusal(const std::string& url, const std::string& statements) {
  const Link link(PQconnectdb(url.c_str()), &PQfinish);
  PGresult* const result = PQexec(link.get(), statements.c_str());
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  std::string found = state == nullptr ? "" : state;
  PQclear(result);
  return found;
}

}  // namespace sallyport::test
