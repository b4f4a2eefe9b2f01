#include "embed/function_tool.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json.hpp>
#include <deque>
#include <variant>

#include "base/mutex.h"
#include "base/on_pool.h"
#include "base/shielded.h"

namespace sallyport::embed {

namespace asio = boost::asio;

namespace {

struct Chunk {
  json::value value;
};
struct Progress {
  json::value value;
};
using Answer = Result<json::value>;
using Item = std::variant<Chunk, Progress, Answer>;

// A queue from the thread of the function to the strand of its call. If full, the function waits.
class Pipe final : public Invocation::Channel {
 public:
  explicit Pipe(const asio::any_io_executor& executor)
      : bell_(std::make_shared<asio::steady_timer>(executor)) {
    bell_->expires_at(asio::steady_timer::time_point::max());
  }

  bool chunk(json::value piece) override { return put(Chunk{std::move(piece)}); }
  void progress(json::value message) override { (void)put(Progress{std::move(message)}); }
  bool put(Item item) {
    const MutexLock lock(mutex_);
    while (!closed_ && items_.size() >= kItems) room_.wait(mutex_);
    if (closed_) return false;
    items_.push_back(std::move(item));
    asio::post(bell_->get_executor(), [bell = bell_] { bell->cancel(); });
    return true;
  }

  // Call it on the strand.
  Async<Item> take() {
    while (true) {
      if (std::optional<Item> item = poll()) co_return std::move(*item);
      boost::system::error_code ignored;
      co_await bell_->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }

  // Takes no more items, and wakes the function that waits for room.
  void close() {
    const MutexLock lock(mutex_);
    closed_ = true;
    room_.notify_all();
  }

 private:
  static constexpr std::size_t kItems = 256;

  std::optional<Item> poll() {
    const MutexLock lock(mutex_);
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    room_.notify_one();
    return item;
  }

  Mutex mutex_;
  Condition room_;
  std::deque<Item> items_ SALLYPORT_GUARDED_BY(mutex_);
  bool closed_ SALLYPORT_GUARDED_BY(mutex_) = false;
  std::shared_ptr<asio::steady_timer> bell_;  // shared: a post may be on its way
};

// Closes the pipe when the call ends or is abandoned.
class Closing {
 public:
  explicit Closing(std::shared_ptr<Pipe> pipe) : pipe_(std::move(pipe)) {}
  Closing(const Closing&) = delete;
  ~Closing() { pipe_->close(); }

 private:
  std::shared_ptr<Pipe> pipe_;  // shared with the function that still runs
};

// The error of an ended call. The pieces until then are in its record, as a stream that was cut.
std::unexpected<Error> in_the_record() {
  return fail(ErrorCode::Cancelled, "the call has ended");
}

Task<Envelope> run_function(const Tool& tool, asio::thread_pool& pool, Call call,
                            std::shared_ptr<core::Delivery> delivery, std::stop_token cancel) {
  // A function cannot be stopped. This waits until it returns, even after the caller has left,
  // because its result is judged for the record (PI-31).
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  const auto pipe = std::make_shared<Pipe>(co_await asio::this_coro::executor);
  const Closing closing(pipe);
  asio::post(pool, [run = tool.run, pipe, call = std::move(call), cancel]() mutable {
    // The call was abandoned while it waited for a thread, so it must not begin.
    Result<Answer> ended = fail(ErrorCode::Cancelled, "it never began", {}, core::kNotBegun);
    if (!cancel.stop_requested()) {
      ended = shielded("the tool",
                       [&] { return run(Invocation(std::move(call), pipe, std::move(cancel))); });
    }
    (void)pipe->put(ended ? std::move(*ended) : Answer(std::unexpected(ended.error())));
  });
  bool in_pieces = false;
  while (true) {
    Item item = co_await pipe->take();
    if (auto* const chunk = std::get_if<Chunk>(&item)) {
      in_pieces = true;
      if (delivery->add(std::move(chunk->value))) continue;
      if (delivery->closed()) co_return in_the_record();
      co_return delivery->finish();
    } else if (auto* const progress = std::get_if<Progress>(&item)) {
      co_await delivery->progress(std::move(progress->value));
    } else {
      Answer& answer = std::get<Answer>(item);
      if (in_pieces && delivery->closed()) co_return in_the_record();
      const std::string cause = answer ? std::string() : answer.error().cause;
      if (cause == "other_revision" || cause == core::kNotBegun) {
        co_return std::unexpected(answer.error());
      }
      if (!answer) co_return Envelope::error(answer.error().message);
      co_return in_pieces ? delivery->finish() : Envelope::of(std::move(*answer));
    }
  }
}

// The common part of both kinds of tools.
template <class Kind>
class FunctionTool : public Kind {
 public:
  FunctionTool(Tool tool, asio::thread_pool& pool) : tool_(std::move(tool)), pool_(pool) {}

  Task<Envelope> invoke(Call call, std::shared_ptr<core::Delivery> delivery,
                        std::stop_token cancel) override {
    return run_function(tool_, pool_, std::move(call), std::move(delivery), std::move(cancel));
  }
  Result<json::value> structured_input(const Call& call) const override {
    return tool_.structured_input ? tool_.structured_input(call) : Result<json::value>(call.input);
  }

 protected:
  Tool tool_;
  asio::thread_pool& pool_;
};

class OnePreparation final : public core::Preparation {
 public:
  OnePreparation(Tool tool, asio::thread_pool& pool, Call call)
      : tool_(std::move(tool)), pool_(pool), call_(std::move(call)) {}

  Task<std::optional<core::PrepareStep>> next() override {
    using Step = core::PrepareStep;
    Result<Prepared> prepared = co_await on_pool<Result<Prepared>>(
        pool_, [prepare = tool_.prepare, call = call_] { return prepare(call); });
    if (prepared) co_return Step{.kind = Step::Kind::Ready, .prepared = std::move(*prepared)};
    co_return Step{.kind = Step::Kind::Invalid, .text = prepared.error().message};
  }

 private:
  Tool tool_;
  asio::thread_pool& pool_;
  Call call_;
};

class PreparedFunctionTool final : public FunctionTool<core::PreparingUpstream> {
 public:
  using FunctionTool::FunctionTool;

  std::shared_ptr<core::Preparation> prepare(Call call, std::stop_token) override {
    return std::make_shared<OnePreparation>(tool_, pool_, std::move(call));
  }
  void cancel(std::string operation_id) override {
    if (tool_.cancel) tool_.cancel(operation_id);
  }
  bool outlives_process() const override { return tool_.outlives_process; }
};

}  // namespace

std::shared_ptr<core::Upstream> make_function_tool(Tool tool, asio::thread_pool& pool) {
  if (tool.prepare) return std::make_shared<PreparedFunctionTool>(std::move(tool), pool);
  return std::make_shared<FunctionTool<core::Upstream>>(std::move(tool), pool);
}

}  // namespace sallyport::embed
