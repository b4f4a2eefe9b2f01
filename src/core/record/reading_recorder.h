// A Recorder for code that may not write: it answers reads and refuses every entry.
//
//   NoRecords nothing;                       // or a reader of a ledger
//   ReadingRecorder recorder(nothing);
//   Governor governor({plans, recorder, ...});
//   governor.rehearse(call, tool);
#pragma once

#include "core/record/recorder.h"

namespace sallyport::core {

// A reader of an empty ledger.
class NoRecords final : public RecordReader {
 public:
  Result<std::optional<std::string>> fact(std::string_view, std::string_view) override {
    return std::nullopt;
  }
  Result<std::vector<Fact>> facts(std::string_view) override { return std::vector<Fact>{}; }
  Result<json::object> entry(std::uint64_t) override {
    return fail(ErrorCode::NotFound, "there is no ledger here");
  }
};

class ReadingRecorder final : public Recorder {
 public:
  // `records` must outlive it.
  explicit ReadingRecorder(RecordReader& records) : records_(records) {}

  Result<Moment> moment(const std::vector<FactKey>& keys) override { return records_.moment(keys); }
  std::uint64_t size_seen() override { return records_.size_seen(); }
  Result<std::optional<std::string>> fact(std::string_view space, std::string_view key) override {
    return records_.fact(space, key);
  }
  Result<std::vector<Fact>> facts(std::string_view space) override { return records_.facts(space); }
  Result<json::object> entry(std::uint64_t sequence) override { return records_.entry(sequence); }

  using Recorder::append;
  Task<std::vector<Position>> append(std::vector<Draft>, Urgency, std::vector<Fact>) override {
    co_return refusal();
  }
  void owe(std::vector<Draft>) override {}
  Result<void> ready() const override { return {}; }
  const std::string& instance_id() const override { return instance_id_; }
  bool alive(const std::string&) const override { return true; }
  std::string encrypt(std::string_view) override { return {}; }
  Result<std::string> decrypt(std::string_view) const override { return refusal(); }

 private:
  static std::unexpected<Error> refusal() {
    return fail(ErrorCode::Unavailable, "nothing is written here: this recorder only reads");
  }

  RecordReader& records_;
  std::string instance_id_ = "rehearsal";
};

}  // namespace sallyport::core
