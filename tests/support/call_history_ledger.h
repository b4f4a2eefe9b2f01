// A ledger in memory that outlives the processes that write to it. The disk refuses, or the power
// fails, at a write that the test chooses.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/record/recorder.h"

namespace sallyport::test {

struct Fault {
  enum class Kind { None, Refuses, RefusesAnnouncements, DiesBefore, DiesAfter };
  Kind kind = Kind::None;
  std::size_t at = 0;      // the number of the write, from 1
  std::size_t period = 1;  // the number of refused writes
};

// The state that survives a crash.
class ModelDisk {
 public:
  struct Entry {
    core::Draft draft;
    std::size_t commit = 0;
    std::uint64_t moment = 0;
    std::string instance;
  };
  using Facts = std::map<std::pair<std::string, std::string>, std::string>;

  // Every event has its own moment, so that a test can compare before and after.
  std::uint64_t next_moment() { return ++moments_; }

  std::optional<std::string> fact(std::string_view space, std::string_view key) const;
  void erase_fact(std::string_view space, std::string_view key);
  core::Position place(core::Draft draft, std::uint64_t moment, const std::string& instance);
  static void apply(const core::Draft& draft, std::uint64_t sequence, Facts& facts);

  std::vector<Entry> entries;
  Facts facts;
  std::set<std::string> alive;
  Fault fault;
  std::size_t writes = 0;
  std::size_t commits = 0;
  std::size_t refusals = 0;
  bool died = false;

 private:
  std::uint64_t moments_ = 0;
};

// The ledger as one process has it open. Entries that it still owes are lost with the process.
class ModelLedger final : public core::Recorder {
 public:
  ModelLedger(ModelDisk& disk, boost::asio::io_context& loop, std::string instance);

  using core::Recorder::append;
  Task<std::vector<core::Position>> append(std::vector<core::Draft> drafts, core::Urgency urgency,
                                           std::vector<core::Fact> expected) override;
  void owe(std::vector<core::Draft> drafts) override;
  Result<void> ready() const override;
  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override;
  Result<std::vector<core::Fact>> facts(std::string_view space) override;
  Result<json::object> entry(std::uint64_t sequence) override;
  const std::string& instance_id() const override { return instance_; }
  bool alive(const std::string& instance_id) const override;
  std::string encrypt(std::string_view text) override { return "sealed:" + std::string(text); }
  Result<std::string> decrypt(std::string_view sealed) const override;

  // Closes the open calls of dead processes, in one write, as a start does.
  Task<void> recover();
  // A write without an entry of its own: it pays debts if the disk accepts it.
  Task<void> probe();
  bool owes() const { return !owed_.empty(); }

  // Called with every draft that has become durable.
  std::function<void(const core::Draft&)> on_written;

 private:
  Async<void> hesitate();
  Async<void> die();
  // Returns true if the disk accepts this write.
  Async<bool> begin_write(core::Urgency urgency);
  void pay_debts();

  ModelDisk& disk_;
  boost::asio::io_context& loop_;
  std::string instance_;
  std::vector<core::Draft> owed_;
  bool healthy_ = true;
};

}  // namespace sallyport::test
