#include "external/command_peer.h"

#include <poll.h>

#include <boost/json.hpp>

#include "base/on_pool.h"
#include "base/try.h"
#include "external/wire.h"

namespace sallyport::external {

namespace {

// One run of the program, on a thread that may block.
class Run {
 public:
  Run(Child& child, std::string question) : child_(child), question_(std::move(question)) {}

  // Runs until the program has ended, or the deadline.
  Result<void> exchange(SteadyPoint deadline) {
    while (true) {
      if (child_.input() >= 0 && written_ == question_.size()) child_.close_input();
      pollfd watched[] = {{child_.ended(), POLLIN, 0},
                          {output_open_ ? child_.output() : -1, POLLIN, 0},
                          {errors_open_ ? child_.errors() : -1, POLLIN, 0},
                          {child_.input(), POLLOUT, 0}};
      const int ready = ::poll(watched, std::size(watched), poll_time(deadline));
      if (std::chrono::steady_clock::now() >= deadline) {
        return fail(ErrorCode::Deadline, "it did not answer in time");
      }
      if (ready <= 0) continue;
      if (watched[3].revents != 0) write();
      if (watched[2].revents != 0) read_errors();
      if (watched[1].revents != 0) SALLYPORT_CHECK_OK(read_output());
      if (watched[0].revents != 0) return drain();
    }
  }

  const std::string& output() const { return output_; }
  const std::string& errors() const { return errors_; }

 private:
  // A program may answer without reading the question.
  void write() {
    const Result<std::size_t> size =
        write_some(child_.input(), std::string_view(question_).substr(written_));
    written_ = size ? written_ + *size : question_.size();
  }

  Result<void> read_output() {
    const std::optional<std::string> piece = read_some(child_.output());
    output_open_ = piece.has_value();
    if (piece) output_ += *piece;
    if (output_.size() <= kLargestAnswer) return {};
    return fail(ErrorCode::Corrupt, "the answer is over 1 MiB");
  }

  void read_errors() {
    const std::optional<std::string> piece = read_some(child_.errors());
    errors_open_ = piece.has_value();
    if (piece)
      errors_ += piece->substr(0, kMostErrorText - std::min(kMostErrorText, errors_.size()));
  }

  // Reads the rest of the output.
  Result<void> drain() {
    while (output_open_) {
      const std::size_t before = output_.size();
      SALLYPORT_CHECK_OK(read_output());
      if (output_.size() == before) break;
    }
    if (errors_open_) read_errors();
    return {};
  }

  Child& child_;
  std::string question_;
  std::size_t written_ = 0;
  bool output_open_ = true;
  bool errors_open_ = true;
  std::string output_;
  std::string errors_;
};

Result<json::object> run_once(const Launch& launch, const PeerRequest& question) {
  if (std::chrono::steady_clock::now() >= question.deadline) {
    return fail(ErrorCode::Deadline, "too many questions wait");
  }
  Result<std::unique_ptr<Child>> child = launch.start(question.workspaces);
  if (!child) {
    launch.log_failure(child.error().message, "");
    return std::unexpected(child.error());
  }
  Run run(**child, json::serialize(question.request) + "\n");
  Result<void> done = run.exchange(question.deadline);
  const std::string ending = (*child)->finish();
  if (done && ending != "exit code 0") done = fail(ErrorCode::Unavailable, ending);
  Result<json::object> answer = done ? answer_from(run.output()) : std::unexpected(done.error());
  if (!answer) launch.log_failure(answer.error().message, run.errors());
  return answer;
}

}  // namespace

Task<json::object> CommandPeer::ask(PeerRequest question) const {
  co_return co_await on_pool<Result<json::object>>(
      launch_->host->pool(),
      [launch = launch_, question = std::move(question)] { return run_once(*launch, question); });
}

}  // namespace sallyport::external
