#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fstream>
#include <map>
#include <thread>

#include "base/try.h"
#include "cli/command.h"
#include "cli/demo/demo_person.h"
#include "cli/demo/demo_scene.h"
#include "core/approval/escalations.h"
#include "core/handoff/waiting_facts.h"
#include "ledger/proof/key_history.h"
#include "ledger/proof/receipt.h"
#include "ledger/proof/verify.h"
#include "ledger/read/look_at.h"
#include "ledger/read/query.h"
#include "ledger/read/store_reader.h"
#include "store/open_store.h"
#include "terminal/exit_code.h"
#include "terminal/output.h"
#include "terminal/terminal.h"

extern char** environ;

namespace sallyport::app {

namespace {

struct DemoOptions {
  // Nothing: a folder of its own, gone afterwards unless kept.
  std::optional<Workspace::Place> place;
  bool keep = false;
  bool plain = false;  // neither colours nor redrawing
  bool colour = false;
  bool json = false;
  bool no_pause = false;
  bool yes = false;   // the script answers the question, also at a terminal
  std::string stage;  // which process of the demo this is; empty: the one a person started
};

// A made-up secret in the form of real ones.
constexpr const char* kSettings = "REGION=eu-central-1\nAWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\n";

struct Scripted {
  std::string title;
  std::string id;
  std::string tool;
  json::value input;
};

constexpr std::size_t kWidth = 80;

// The outcome of a call, in words for a new user.
std::string in_words(const std::string& title) {
  static const std::map<std::string, std::string, std::less<>> kWords = {
      {"allowed", "the policy lets it run, and it ran"},
      {"cached", "the same call again: it did not run twice, the agent gets the first answer"},
      {"denied", "a rule refused it before it ran"},
      {"rejected", "a person said no, so it did not run"},
      {"approved", "a person said yes, so it ran once"},
      {"refused by you", "you said no, so it did not run"},
      {"in the shadow", "the tier is shadow: it did not run, and the agent is told so"},
      {"redacted", "it ran, and the key was removed from the result"},
      {"withheld after run", "it ran, and the agent does not get to see the result"},
      {"escalated", "it ran, and a person will look at it"},
      {"failed", "it ran and failed, and the agent sees why"},
      {"killed, recovered", "whether it took effect is unknown; the record says so"},
  };
  return kWords.at(title);
}

struct Shown {
  std::string title;
  std::string tool;
  std::string outcome;
  std::string effect;
  std::string agent_saw;
  std::uint64_t record = 0;
};

// A tool's text in one line of a table.
std::string one_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return visible(text);
}

class Demo {
 public:
  Demo(const DemoOptions& options, Workspace::Place place, std::filesystem::path folder)
      : options_(options),
        terminal_({.colour = options.colour, .signs = options.colour}),
        place_(std::move(place)),
        folder_(std::move(folder)) {}

  Result<int> play() {
    headline("Sallyport demo: a scripted agent, real tools, every call through both doors");
    line(Paint::Faint, kept() ? fmt::format("ledger in {}", place_.data_dir.string())
                              : "ledger in a temporary folder that is deleted at the end");
    SALLYPORT_CHECK_OK(act_one());
    SALLYPORT_CHECK_OK(be_killed());
    SALLYPORT_CHECK_OK(restart());
    table();
    SALLYPORT_TRY(const bool clean, verify_all());
    SALLYPORT_TRY(const bool proved, prove_one());
    SALLYPORT_TRY(const bool found, tamper());
    if (options_.json) print_line(canonical_json(summary(clean, proved, found)));
    return clean && proved && found ? 0 : kRefused;
  }

 private:
  Result<void> act_one() {
    std::ofstream(folder_ / "settings.env") << kSettings;
    std::ofstream(folder_ / "plan.txt") << "STRICTLY CONFIDENTIAL: the merger\n";
    std::ofstream(folder_ / "mail.txt") << "Reminder: payment due on Friday\n";
    std::ofstream(folder_ / "scratch.txt") << "nobody needs this\n";
    SALLYPORT_TRY(const auto scene, DemoScene::open(place_, folder_, person()));
    const auto file = [&](const char* name) { return (folder_ / name).string(); };
    const json::value note = {{"path", file("notes.txt")}, {"text", "meet at the sally port"}};
    const Scripted script[] = {
        {"allowed", "c1", "write_file", note},
        {"cached", "c1", "write_file", note},
        {"denied", "c2", "write_file", {{"path", "/etc/motd"}, {"text", "hello"}}},
        {"rejected", "c3", "shell", {{"command", "rm notes.txt"}}},
        {"approved", "c8", "shell", {{"command", "rm -v scratch.txt"}}},
        {"in the shadow", "c9", "deploy", {{"version", "7"}}},
        {"redacted", "c4", "read_file", {{"path", file("settings.env")}}},
        {"withheld after run", "c5", "read_file", {{"path", file("plan.txt")}}},
        {"escalated", "c6", "read_file", {{"path", file("mail.txt")}}},
        {"failed", "c7", "shell", {{"command", "cat no-such-file.txt"}}},
    };
    headline("1. ten calls");
    for (const Scripted& step : script) {
      SALLYPORT_TRY(const Answer answer, scene->call(step.id, step.tool, step.input));
      Shown shown{step.title,
                  step.tool,
                  std::string(to_string(answer.outcome.kind)),
                  std::string(to_string(answer.effect)),
                  answer.result.output,
                  answer.sequence};
      if (step.title == "redacted") receipt_of_ = answer.sequence;
      const bool refused = answer.outcome.kind == Outcome::Kind::Blocked;
      if (step.title == "approved" && refused) shown.title = "refused by you";
      show(shown, canonical_json(step.input));
    }
    ledger::StoreReader records(scene->workspace().store());
    SALLYPORT_TRY(const auto waiting, core::waiting_escalations(records));
    for (const EscalationItem& item : waiting) {
      line(Paint::Doubtful, fmt::format("   waits for a person: {}", visible(item.message)));
      if (kept()) command("approvals list --data-dir", {place_.data_dir.string()});
    }
    return {};
  }

  // The person at the terminal. In a pipe there is none, and the script does not wait.
  std::shared_ptr<const core::Approver> person() {
    const bool there =
        !options_.yes && !options_.json && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
    return std::make_shared<DemoPerson>(there ? DemoPerson::Who::User : DemoPerson::Who::Script,
                                        [this](const std::string& text) {
                                          line(Paint::Doubtful, text);
                                          std::fflush(stdout);
                                        });
  }

  // A second process starts a slow call and is killed in the middle of it.
  Result<void> be_killed() {
    headline("2. a process is killed while its call runs");
    SALLYPORT_TRY(const std::size_t open_before, open_calls());
    SALLYPORT_TRY(const pid_t child, start_victim());
    const Result<void> seen = wait_for_intent(open_before);
    ::kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    SALLYPORT_CHECK_OK(seen);
    line(Paint::Doubtful,
         fmt::format("   process {} got kill -9 after its call was on record and before it ended",
                     child));
    return {};
  }

  Result<pid_t> start_victim() {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    std::vector<std::string> words = {
        self, "demo", "--stage", folder_.string(), "--data-dir", place_.data_dir.string()};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = -1;
    const int error =
        posix_spawn(&child, self.c_str(), nullptr, nullptr, arguments.data(), environ);
    if (error != 0) return fail(ErrorCode::Unavailable, "the demo cannot start its second process");
    return child;
  }

  Result<std::size_t> open_calls() {
    SALLYPORT_TRY(const auto reader, Workspace::open_reading(place_));
    SALLYPORT_TRY(const std::vector<core::Fact> calls,
                  ledger::look_at(reader->store(), [](ledger::ReadView& view) {
                    return view.facts(core::kOpenCall);
                  }));
    return calls.size();
  }

  Result<void> wait_for_intent(std::size_t open_before) {
    for (int tries = 0; tries < 500; ++tries) {
      SALLYPORT_TRY(const std::size_t open, open_calls());
      if (open > open_before) return {};
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return fail(ErrorCode::Deadline, "the demo's second process did not begin its call in 10 s");
  }

  Result<void> restart() {
    headline("3. restart: what the dead process left open is closed, and nothing runs twice");
    SALLYPORT_TRY(const auto scene, DemoScene::open(place_, folder_, person()));
    ledger::Filter unknown{.facets = {{ledger::Facet::Outcome, "persistence_failed"}},
                           .after = shown_.back().record};
    return scene->workspace().store().read([&](ledger::ReadView& view) {
      return ledger::find_entries(
          view, unknown,
          [&](const ledger::StoredEntry& stored, const ledger::EntryView& entry) -> Result<bool> {
            show({"killed, recovered", entry.tool_name, entry.outcome, "unknown", "(nothing)",
                  stored.sequence},
                 R"({"command":"sleep 30"})");
            return true;
          });
    });
  }

  Result<bool> verify_all() {
    headline("4. the ledger is checked from its first byte to its last");
    SALLYPORT_TRY(const auto reader, Workspace::open_reading(place_));
    const ledger::LedgerReport report = ledger::verify_ledger(reader->store(), {}, {}, 2);
    line(report.ok ? Paint::Good : Paint::Bad,
         fmt::format("   {} {} entries, one tree, every checkpoint signed by {}",
                     terminal_.mark(report.ok), report.tree_size, report.origin));
    entries_ = report.tree_size;
    return report.ok;
  }

  Result<bool> prove_one() {
    headline("5. one receipt, checked with nothing but a public key");
    SALLYPORT_TRY(const auto reader, Workspace::open_reading(place_));
    std::string receipt;
    SALLYPORT_CHECK_OK(reader->store().read([&](ledger::ReadView& view) -> Result<void> {
      SALLYPORT_TRY(const auto keys, ledger::key_history(view));
      key_ = keys.back().key.text();
      // Without content: what an erase takes away is then in no file of the folder (LE-58).
      SALLYPORT_TRY(const ledger::Receipt made, ledger::make_receipt(view, receipt_of_, false));
      receipt = made.json();
      return {};
    }));
    const std::filesystem::path file = place_.data_dir / "demo-receipt.json";
    SALLYPORT_CHECK_OK(write_output(file, receipt + "\n"));
    SALLYPORT_TRY(ledger::VerifierKey pinned, ledger::VerifierKey::parse(key_));
    const ledger::Verification answer = ledger::verify_receipt(receipt, {.key = std::move(pinned)});
    line(answer.ok ? Paint::Good : Paint::Bad,
         fmt::format("   {} record {} ({}) is in the log and says what it said",
                     terminal_.mark(answer.ok), answer.sequence, answer.kind));
    if (kept()) {
      const std::filesystem::path key_file = place_.data_dir / "demo-key.txt";
      SALLYPORT_CHECK_OK(write_output(key_file, key_ + "\n"));
      command("verify", {file.string(), "--key " + key_file.string()});
    }
    return answer.ok;
  }

  // Changes one bit of one record's bytes, in a copy and past the gate.
  Result<bool> tamper() {
    headline("6. one byte of a copy of the file is changed");
    const std::filesystem::path copy = place_.data_dir / "demo-tampered.db";
    SALLYPORT_TRY(const auto reader, Workspace::open_reading(place_));
    SALLYPORT_TRY(const auto entry, ledger::look_at(reader->store(), [&](ledger::ReadView& view) {
                    return view.entry(receipt_of_);
                  }));
    SALLYPORT_TRY(const ledger::EntryView seen, ledger::view_entry(*entry->bytes));
    const std::string id = seen.id;
    std::ifstream in(place_.data_dir / "ledger.db", std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const std::size_t place = bytes.find(id);
    if (place == std::string::npos) return fail(ErrorCode::Internal, "the demo lost its record");
    bytes[place + id.size() - 1] ^= 1;
    SALLYPORT_CHECK_OK(write_output(copy, bytes));
    const ledger::LedgerReport report = verify_copy(copy);
    for (const char* const end : {"", "-wal", "-shm"}) std::filesystem::remove(copy.string() + end);
    const bool found = !report.ok && report.first_bad && report.first_bad->sequence == receipt_of_;
    line(found ? Paint::Good : Paint::Bad,
         report.ok ? "   not found"
                   : fmt::format("   {} found: entry {}, {}: {}", terminal_.mark(found),
                                 report.first_bad->sequence, report.first_bad->check,
                                 report.first_bad->detail));
    return found;
  }

  static ledger::LedgerReport verify_copy(const std::filesystem::path& copy) {
    const auto store = store::open_store({.file = copy, .access = store::Access::ReadOnly});
    if (!store) return {};
    return ledger::verify_ledger(**store, {}, {}, 2);
  }

  void show(Shown shown, const std::string& asked) {
    const Paint paint = shown.outcome == "blocked"              ? Paint::Bad
                        : shown.outcome == "persistence_failed" ? Paint::Doubtful
                                                                : Paint::Good;
    line(Paint::Strong, fmt::format("   {} {}", shown.tool,
                                    shortened(visible(asked), kWidth - 4 - shown.tool.size())));
    line(paint,
         fmt::format("     {}: {} (record {})", shown.title, in_words(shown.title), shown.record));
    line(Paint::Faint,
         fmt::format("     the agent sees: {}", shortened(one_line(shown.agent_saw), kWidth - 21)));
    if (options_.colour && !options_.no_pause) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    shown_.push_back(std::move(shown));
  }

  void table() {
    headline("   what happened");
    line(Paint::Strong, fmt::format("   {:<18} {:<11} {:<19} {:<8} {:>6}", "story", "tool",
                                    "outcome", "effect", "record"));
    for (const Shown& row : shown_) {
      line(Paint::Faint, fmt::format("   {:<18} {:<11} {:<19} {:<8} {:>6}", row.title, row.tool,
                                     row.outcome, row.effect, row.record));
    }
  }

  json::object summary(bool clean, bool proved, bool found) const {
    json::array calls;
    for (const Shown& row : shown_) {
      calls.push_back(json::object{{"story", row.title},
                                   {"tool", row.tool},
                                   {"outcome", row.outcome},
                                   {"effect_state", row.effect},
                                   {"record", row.record},
                                   {"agent_saw", row.agent_saw}});
    }
    return {{"calls", std::move(calls)}, {"data_dir", place_.data_dir.string()},
            {"entries", entries_},       {"key", key_},
            {"ledger_clean", clean},     {"receipt_verified", proved},
            {"tampering_found", found}};
  }

  void headline(const std::string& text) {
    if (!options_.json) print_line("\n" + terminal_.paint(Paint::Strong, text));
  }
  void line(Paint paint, const std::string& text) {
    if (options_.json) return;
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size()) + 2;
    for (const std::string& part : wrapped(text, kWidth, indent))
      print_line(terminal_.paint(paint, part));
  }
  // To be copied into a shell, on as many lines as it needs.
  void command(const std::string& words, const std::vector<std::string>& rest) {
    std::string text = "     sallyport " + words;
    for (const std::string& word : rest) {
      const bool fits = text.size() - (text.rfind('\n') + 1) + word.size() + 3 <= kWidth;
      text += (fits ? " " : " \\\n       ") + word;
    }
    if (!options_.json) print_line(terminal_.paint(Paint::Faint, text));
  }
  // Is the ledger still there when the demo is over?
  bool kept() const { return options_.place || options_.keep; }

  const DemoOptions& options_;
  Terminal terminal_;
  Workspace::Place place_;
  std::filesystem::path folder_;
  std::vector<Shown> shown_;
  std::uint64_t receipt_of_ = 0;
  std::uint64_t entries_ = 0;
  std::string key_;
};

// The second process: begins a call that it will not live to finish.
Result<int> play_victim(const DemoOptions& options) {
  const auto nobody =
      std::make_shared<DemoPerson>(DemoPerson::Who::Script, [](const std::string&) {});
  SALLYPORT_TRY(const auto scene, DemoScene::open(*options.place, options.stage, nobody));
  SALLYPORT_TRY([[maybe_unused]] const Answer answer,
                scene->call("victim", "shell", {{"command", "sleep 30"}}));
  return 0;
}

// The demo's own folder. It is removed afterwards unless the user keeps it.
class Stage {
 public:
  explicit Stage(bool keep) : keep_(keep) {
    std::string name = (std::filesystem::temp_directory_path() / "sallyport-demo-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  Stage(const Stage&) = delete;
  ~Stage() {
    std::error_code ignored;
    if (!keep_ && !path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  bool keep_;
  std::filesystem::path path_;
};

Result<int> demo(const Context& context, const DemoOptions& typed) {
  DemoOptions options = typed;
  options.json = context.json();
  options.colour = context.terminal.colour() && !typed.plain;
  if (context.globals.data_dir) {
    SALLYPORT_TRY(options.place, context.place());
  }
  if (!options.stage.empty()) return play_victim(options);
  const Stage stage(options.keep);
  if (stage.path().empty()) return fail(ErrorCode::Unavailable, "no temporary folder can be made");
  const std::filesystem::path folder = stage.path() / "workspace";
  std::filesystem::create_directory(folder);
  Demo play(options, options.place.value_or(Workspace::Place{.data_dir = stage.path() / "state"}),
            folder);
  SALLYPORT_TRY(const int code, play.play());
  if (!options.json && !options.place && !options.keep) {
    print_line(
        "\nThe temporary folder is deleted. To keep the ledger and explore it, run\n"
        "`sallyport demo --data-dir DIR`.");
  }
  return code;
}

const Command kDemo(
    "demo", "run a scripted agent through the real gates; no network, no set-up", demo,
    [](Syntax& syntax, DemoOptions& options) {
      syntax.flag("--plain", options.plain, "no colours and no redrawing");
      syntax.flag("--keep", options.keep, "keep the demo's data folder");
      syntax.flag("--no-pause", options.no_pause, "do not pause between steps");
      syntax.flag("--yes", options.yes,
                  "let the script answer the question that you would be asked");
      syntax.text("--stage", options.stage, "which process of the demo this is").hidden();
    });

}  // namespace

}  // namespace sallyport::app
