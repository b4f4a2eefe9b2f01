#include "external/serve_peer.h"

#include <poll.h>

#include <atomic>
#include <boost/json.hpp>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/mutex.h"
#include "base/on_pool.h"
#include "base/try.h"
#include "external/wire.h"

namespace sallyport::external {

namespace {

constexpr std::size_t kMostPending = 256;
constexpr std::size_t kMostRestarts = 3;
constexpr std::chrono::seconds kRestartWindow{60};
constexpr int kLook = 1000;  // milliseconds between checks whether to stop

// One process and its open questions. Any thread; destroyed by a thread that asks, never by the
// reader.
class Session {
 public:
  Session(std::unique_ptr<Child> child, std::shared_ptr<const Launch> launch)
      : launch_(std::move(launch)), child_(std::move(child)), reader_([this] { read(); }) {}

  ~Session() {
    end(ErrorCode::Unavailable, "the policy has ended");
    reader_.join();
  }

  bool runs() const {
    const MutexLock lock(mutex_);
    return !over_;
  }

  Result<json::object> ask(std::uint64_t id, const std::string& line, SteadyPoint deadline) {
    {
      const MutexLock lock(mutex_);
      if (over_) return std::unexpected(*over_);
      if (pending_.size() >= kMostPending) {
        return fail(ErrorCode::Exhausted, "too many questions wait for it");
      }
      pending_.emplace(id, std::nullopt);
    }
    SALLYPORT_CHECK_OK(write(line, deadline));
    if (!wait_for_answer(id, deadline)) end(ErrorCode::Deadline, "it did not answer in time");
    const MutexLock lock(mutex_);
    std::optional<json::object> answer = std::move(pending_.at(id));
    pending_.erase(id);
    if (answer) return std::move(*answer);
    return std::unexpected(*over_);
  }

 private:
  // False: the time is over.
  bool wait_for_answer(std::uint64_t id, SteadyPoint deadline) {
    const MutexLock lock(mutex_);
    while (!pending_.at(id) && !over_) {
      if (!changed_.wait_until(mutex_, deadline)) return pending_.at(id) || over_;
    }
    return true;
  }

  // A partly written line cannot be withdrawn, so the process is ended.
  Result<void> write(std::string_view line, SteadyPoint deadline) {
    const std::unique_lock turn(writing_, deadline);
    if (!turn.owns_lock()) return end(ErrorCode::Deadline, "it did not answer in time");
    while (!line.empty()) {
      {
        const MutexLock lock(mutex_);
        if (over_) return std::unexpected(*over_);
      }
      pollfd watched{child_->input(), POLLOUT, 0};
      (void)::poll(&watched, 1, std::min(poll_time(deadline), kLook));
      if (std::chrono::steady_clock::now() >= deadline) {
        return end(ErrorCode::Deadline, "it did not read the question in time");
      }
      const Result<std::size_t> size = write_some(child_->input(), line);
      if (!size) return end(size.error().code, size.error().message);
      line.remove_prefix(*size);
    }
    return {};
  }

  void read() {
    bool output_open = true;
    bool errors_open = true;
    while (runs()) {
      pollfd watched[] = {{child_->ended(), POLLIN, 0},
                          {output_open ? child_->output() : -1, POLLIN, 0},
                          {errors_open ? child_->errors() : -1, POLLIN, 0}};
      if (::poll(watched, std::size(watched), kLook) <= 0) continue;
      if (watched[1].revents != 0) {
        const std::optional<std::string> piece = read_some(child_->output());
        output_open = piece.has_value();
        if (piece) take(*piece);
      }
      if (watched[2].revents != 0) {
        const std::optional<std::string> piece = read_some(child_->errors());
        errors_open = piece.has_value();
        if (piece)
          errors_ += piece->substr(0, kMostErrorText - std::min(kMostErrorText, errors_.size()));
      }
      if (watched[0].revents != 0 && watched[1].revents == 0) break;
    }
    const MutexLock lock(mutex_);
    // Under the lock, so that no thread kills a reused process id.
    const std::string ending = child_->finish();
    if (!over_) over_ = Error{.code = ErrorCode::Unavailable, .message = "it ended with " + ending};
    changed_.notify_all();
    launch_->log_failure(over_->message, errors_);
  }

  void take(std::string_view piece) {
    buffer_ += piece;
    std::size_t begin = 0;
    for (std::size_t end_of_line = 0;
         (end_of_line = buffer_.find('\n', begin)) != std::string::npos; begin = end_of_line + 1) {
      const Result<void> good =
          take_line(std::string_view(buffer_).substr(begin, end_of_line - begin));
      if (!good) (void)end(good.error().code, good.error().message);
    }
    buffer_.erase(0, begin);
    if (buffer_.size() > kLargestAnswer) (void)end(ErrorCode::Corrupt, "the answer is over 1 MiB");
  }

  Result<void> take_line(std::string_view line) {
    SALLYPORT_TRY(json::object answer, answer_from(line));
    const json::value* const id = answer.if_contains("id");
    boost::system::error_code code;
    const auto number = id ? id->to_number<std::uint64_t>(code) : 0;
    const MutexLock lock(mutex_);
    const auto found = id && !code ? pending_.find(number) : pending_.end();
    if (found == pending_.end() || found->second) {
      return fail(ErrorCode::Corrupt, "it answered a question that was not asked");
    }
    answer.erase("id");
    found->second = std::move(answer);
    changed_.notify_all();
    return {};
  }

  // The first reason stays.
  std::unexpected<Error> end(ErrorCode code, std::string why) {
    const MutexLock lock(mutex_);
    if (!over_) {
      over_ = Error{.code = code, .message = std::move(why)};
      child_->kill();
    }
    changed_.notify_all();
    return std::unexpected(*over_);
  }

  std::shared_ptr<const Launch> launch_;
  std::unique_ptr<Child> child_;
  std::timed_mutex writing_;  // the turn to write to the process
  mutable Mutex mutex_;
  Condition changed_;
  std::map<std::uint64_t, std::optional<json::object>> pending_ SALLYPORT_GUARDED_BY(mutex_);
  std::optional<Error> over_ SALLYPORT_GUARDED_BY(mutex_);
  std::string buffer_;  // of the reader
  std::string errors_;  // of the reader
  std::thread reader_;
};

}  // namespace

class ServePeer::State {
 public:
  explicit State(std::shared_ptr<const Launch> launch) : launch_(std::move(launch)) {}

  Host& host() const { return *launch_->host; }

  Result<json::object> ask(PeerRequest question) {
    const std::uint64_t id = next_id_++;
    question.request["id"] = id;
    SALLYPORT_TRY(const std::shared_ptr<Session> session, running(question.workspaces));
    return session->ask(id, json::serialize(question.request) + "\n", question.deadline);
  }

 private:
  Result<std::shared_ptr<Session>> running(const std::vector<std::string>& workspaces) {
    const MutexLock lock(mutex_);
    if (session_ && session_->runs()) return session_;
    const SteadyPoint now = std::chrono::steady_clock::now();
    while (!restarts_.empty() && now - restarts_.front() >= kRestartWindow) restarts_.pop_front();
    if (started_ && restarts_.size() >= kMostRestarts) {
      return fail(ErrorCode::Unavailable, "it was restarted three times within a minute");
    }
    if (std::exchange(started_, true)) restarts_.push_back(now);
    Result<std::unique_ptr<Child>> child = launch_->start(workspaces);
    if (!child) {
      launch_->log_failure(child.error().message, "");
      return std::unexpected(child.error());
    }
    session_ = std::make_shared<Session>(std::move(*child), launch_);
    return session_;
  }

  std::shared_ptr<const Launch> launch_;
  std::atomic<std::uint64_t> next_id_ = 1;
  Mutex mutex_;
  std::shared_ptr<Session> session_ SALLYPORT_GUARDED_BY(mutex_);
  bool started_ SALLYPORT_GUARDED_BY(mutex_) = false;
  std::deque<SteadyPoint> restarts_ SALLYPORT_GUARDED_BY(mutex_);
};

ServePeer::ServePeer(std::shared_ptr<const Launch> launch)
    : state_(std::make_shared<State>(std::move(launch))) {}

ServePeer::~ServePeer() = default;

Task<json::object> ServePeer::ask(PeerRequest question) const {
  Host& host = state_->host();
  co_return co_await on_pool<Result<json::object>>(
      host.pool(), [state = state_, question = std::move(question)]() mutable {
        return state->ask(std::move(question));
      });
}

}  // namespace sallyport::external
