// Writes a ledger as the product does, for tests that kill it, stop it or remove its disk.
//
//   ledger_writer DIR --threads K --count N   appends; prints `id sequence` after each is durable
//   ledger_writer DIR --commands              does what it reads: announce, report, owe, health
//   ledger_writer DIR --verify                prints the report of the whole ledger; exit 0 or 1
//   ledger_writer DIR --list                  prints `id sequence` of every entry
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <cstdlib>
#include <iostream>
#include <map>
#include <thread>

#include "base/entropy.h"
#include "base/try.h"
#include "ledger/ledger.h"
#include "ledger/proof/verify.h"
#include "ledger/secret/private_file.h"
#include "store/sqlite/sqlite_store.h"

namespace sallyport {
namespace {

struct Arguments {
  std::filesystem::path folder;
  std::string mode = "write";
  std::map<std::string, std::uint64_t> numbers{
      {"threads", 4}, {"count", 0}, {"lock-wait", 5000}, {"reserve", 8u << 20}};
};

// Each line is one call of write(2), so that printed lines survive a kill of the process.
void say(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(STDOUT_FILENO, whole.data(), whole.size()) < 0) std::_Exit(3);
}

int complain(const Error& error) {
  say(canonical_json(
      json::object{{"ok", false}, {"cause", error.cause}, {"message", error.message}}));
  return 2;
}

core::Draft numbered(std::uint64_t thread, std::uint64_t n) {
  core::Draft draft{.kind = core::Kind::Event,
                    .body = {{"n", n}, {"text", std::string(40 + n * 37 % 900, 'x')}}};
  draft.subject.set(&Subject::call_id, fmt::format("{}-{}-{}", getpid(), thread, n));
  return draft;
}

Result<ledger::Positions> append(ledger::Ledger& ledger, core::Draft draft, core::Urgency urgency) {
  std::vector<core::Draft> drafts;
  drafts.push_back(std::move(draft));
  return ledger.append_blocking(std::move(drafts), urgency);
}

int write_all(ledger::Ledger& ledger, const Arguments& arguments) {
  std::atomic<int> failed = 0;
  std::vector<std::jthread> threads;
  const std::uint64_t count = arguments.numbers.at("count");
  for (std::uint64_t thread = 0; thread < arguments.numbers.at("threads"); ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t n = 0; (count == 0 || n < count) && failed == 0; ++n) {
        const auto written = append(ledger, numbered(thread, n), core::Urgency::Announces);
        if (!written) {
          failed = complain(written.error());
          return;
        }
        say(fmt::format("{} {}", written->at(0).id, written->at(0).sequence));
      }
    });
  }
  threads.clear();
  return failed;
}

void obey(ledger::Ledger& ledger) {
  std::uint64_t n = 0;
  for (std::string command; std::getline(std::cin, command) && command != "quit"; ++n) {
    if (command == "health") {
      const ledger::Health health = ledger.health();
      say(canonical_json(json::object{{"ok", health.ok}, {"cause", health.cause}}));
    } else if (command == "owe") {
      std::vector<core::Draft> drafts;
      drafts.push_back(numbered(0, n));
      ledger.owe(std::move(drafts));
      say(R"({"ok":true})");
    } else {
      const auto written =
          append(ledger, numbered(0, n),
                 command == "report" ? core::Urgency::Reports : core::Urgency::Announces);
      if (!written) {
        complain(written.error());
        continue;
      }
      say(canonical_json(json::object{
          {"ok", true}, {"id", written->at(0).id}, {"sequence", written->at(0).sequence}}));
    }
  }
}

int look(const Arguments& arguments) {
  auto store = store::SqliteStore::open(
      {.file = arguments.folder / "ledger.db", .mode = store::SqliteStore::Mode::ReadOnly});
  if (!store) return complain(store.error());
  if (arguments.mode == "verify") {
    const ledger::LedgerReport report =
        ledger::verify_ledger(**store, std::nullopt, std::nullopt, 2);
    say(canonical_json(report.to_json()));
    return report.ok ? 0 : 1;
  }
  const Result<void> listed = (*store)->read([](ledger::ReadView& view) {
    return view.scan(0, INT64_MAX, [](const ledger::StoredEntry& stored) -> Result<bool> {
      SALLYPORT_TRY(const ledger::EntryView entry, ledger::view_entry(*stored.bytes));
      fmt::print("{} {}\n", entry.id, entry.sequence);
      return true;
    });
  });
  return listed ? 0 : complain(listed.error());
}

int write(const Arguments& arguments) {
  const SystemClock clock;
  SystemEntropy entropy;
  const core::NoRedactor redactor;
  if (auto made = ledger::make_private_folder(arguments.folder); !made)
    return complain(made.error());
  auto store = store::SqliteStore::open(
      {.file = arguments.folder / "ledger.db",
       .lock_wait = std::chrono::milliseconds(arguments.numbers.at("lock-wait"))});
  if (!store) return complain(store.error());
  auto ledger = ledger::Ledger::open(
      {**store, redactor, clock, entropy},
      {.data_folder = arguments.folder, .reserve_bytes = arguments.numbers.at("reserve")});
  if (!ledger) return complain(ledger.error());
  if (arguments.mode == "write") return write_all(**ledger, arguments);
  say(R"({"ok":true})");
  obey(**ledger);
  return 0;
}

int run(int count, char** values) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string word = values[i];
    const auto number = arguments.numbers.find(word.starts_with("--") ? word.substr(2) : "");
    if (number != arguments.numbers.end() && i + 1 < count) {
      number->second = std::strtoull(values[++i], nullptr, 10);
    } else if (word == "--verify" || word == "--list" || word == "--commands") {
      arguments.mode = word.substr(2);
    } else {
      arguments.folder = word;
    }
  }
  if (arguments.folder.empty()) {
    std::cerr << "usage: ledger_writer DIR [--verify|--list|--commands] [--threads K] [--count N] "
                 "[--lock-wait MS] [--reserve BYTES]\n";
    return 64;
  }
  return arguments.mode == "verify" || arguments.mode == "list" ? look(arguments)
                                                                : write(arguments);
}

}  // namespace
}  // namespace sallyport

int main(int count, char** values) {
  return sallyport::run(count, values);
}
