#include "bench/bench_ledger.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <numeric>

#include "base/try.h"
#include "bench/bench.h"

namespace sallyport::bench {

BenchLedger::BenchLedger(Keep keep, const core::Redactor* redactor)
    : keep_(keep), redactor_(redactor ? redactor : &no_redactor_) {
  std::string name = (std::filesystem::current_path() / "sallyport-bench-XXXXXX").string();
  folder_ = mkdtemp(name.data());
  open();
}

BenchLedger::~BenchLedger() {
  ledger_.reset();
  store_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void BenchLedger::open() {
  auto store = keep_ == Keep::InMemory ? store::SqliteStore::in_memory()
                                       : store::SqliteStore::open({.file = folder_ / "ledger.db",
                                                                   .sync = keep_ == Keep::OnDisk});
  SALLYPORT_INVARIANT(store.has_value());
  store_ = std::move(*store);
  auto ledger = ledger::Ledger::open({*store_, *redactor_, clock_, entropy_},
                                     {.data_folder = folder_, .role = "bench", .in_place = true});
  SALLYPORT_INVARIANT(ledger.has_value());
  ledger_ = std::move(*ledger);
}

void BenchLedger::reopen() {
  ledger_.reset();
  store_.reset();
  open();
}

core::Draft BenchLedger::record(std::uint64_t n, std::size_t session) {
  core::Draft draft{.kind = core::Kind::ToolAudit, .outcome = "completed"};
  draft.subject = Subject{
      .policy_hash = "sha256:1111111111111111111111111111111111111111111111111111111111111111",
      .call_id = fmt::format("0199a1b2-0000-7000-8000-{:012x}", n),
      .session_id = fmt::format("session-{}", session),
      .agent_id = fmt::format("agent:{}", n % 7),
      .server = "files",
      .tool_name = n % 3 == 0 ? "write_file" : "read_file"};
  draft.body = {
      {"tool_call_id", "toolu_01"},
      {"tier", "Observe"},
      {"effective_input", {{"path", "/srv/data/report.txt"}, {"offset", n}}},
      {"turn", n % 50},
      {"outcome",
       {{"kind", "completed"},
        {"result", {{"success", true}, {"output", "forty-two lines of text"}}}}},
      {"guards",
       json::array{json::object{{"guard", "paths"}, {"verdict", "allow"}, {"duration_us", 3}},
                   json::object{{"guard", "secrets"}, {"verdict", "allow"}, {"duration_us", 5}}}},
      {"terminal", true}};
  return draft;
}

namespace {

// Call ids rise with time, as UUIDv7 does; each caller has a session of its own.
Async<void> caller(ledger::Ledger& ledger, std::atomic<std::uint64_t>& next, std::size_t session,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<core::Draft> drafts;
    drafts.push_back(BenchLedger::record(next++, session));
    const auto written = co_await ledger.append(std::move(drafts), core::Urgency::Announces);
    SALLYPORT_INVARIANT(written.has_value());
  }
}

}  // namespace

double append_to(ledger::Ledger& ledger, std::size_t count, std::size_t callers) {
  static std::atomic<std::uint64_t> next = 0;
  boost::asio::io_context loop;
  for (std::size_t i = 0; i < callers; ++i) {
    boost::asio::co_spawn(loop, caller(ledger, next, i, count / callers),
                          [](std::exception_ptr thrown) { SALLYPORT_INVARIANT(!thrown); });
  }
  return seconds_of([&] { loop.run(); });
}

double BenchLedger::append(std::size_t count, std::size_t callers) {
  return append_to(*ledger_, count, callers);
}

double fdatasync_seconds(const std::filesystem::path& folder, int count) {
  const std::vector<double> times = fdatasync_times(folder, count);
  return std::accumulate(times.begin(), times.end(), 0.0) / count;
}

std::vector<double> fdatasync_times(const std::filesystem::path& folder, int count) {
  const std::filesystem::path file = folder / "bare";
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::string pages(8192, 'x');
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    times.push_back(seconds_of([&] {
      SALLYPORT_INVARIANT(pwrite(fd, pages.data(), pages.size(), static_cast<off_t>(i) * 8192) ==
                          8192);
      SALLYPORT_INVARIANT(fdatasync(fd) == 0);
    }));
  }
  ::close(fd);
  std::filesystem::remove(file);
  return times;
}

}  // namespace sallyport::bench
