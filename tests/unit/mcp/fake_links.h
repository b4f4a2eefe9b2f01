// A client and a tool server of a gateway, in this process: each keeps its received messages.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mcp/client/client_link.h"
#include "mcp/message/json_text.h"
#include "mcp/server/server.h"

namespace sallyport::mcp::test {

// Runs the loop until the condition holds. Returns false if it does not hold within half a minute.
inline bool run_until(boost::asio::io_context& loop, const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds() && std::chrono::steady_clock::now() < end) {
    loop.restart();
    loop.run_for(std::chrono::milliseconds(1));
  }
  return holds();
}

class FakeClient final : public ClientLink {
 public:
  explicit FakeClient(boost::asio::any_io_executor executor) : bell_(std::move(executor)) {
    bell_.expires_at(boost::asio::steady_timer::time_point::max());
  }

  void say(std::string text) {
    lines_.push_back(std::move(text));
    bell_.cancel();
  }
  // Returns the answer to this request, or an empty string if there is none yet.
  std::string answer_to(std::string_view id) const {
    for (const std::string& text : told) {
      if (find(text, {"id"}) == id && !find(text, {"method"})) return text;
    }
    return {};
  }
  // Returns the first message of this method, or an empty string if there is none yet.
  std::string message(std::string_view method) const {
    for (const std::string& text : told) {
      if (find(text, {"method"}) == json_quoted(method)) return text;
    }
    return {};
  }

  Async<std::optional<net::Line>> next() override {
    boost::system::error_code ignored;
    while (lines_.empty() && !ended_) {
      co_await bell_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    if (lines_.empty()) co_return std::nullopt;
    net::Line line{.text = lines_.front()};
    lines_.pop_front();
    co_return line;
  }
  void hang_up() override {
    ended_ = true;
    bell_.cancel();
  }
  Async<void> run() override { co_return; }
  bool send(std::string text, std::string_view) override {
    if (!reads) return false;
    told.push_back(std::move(text));
    return true;
  }
  Async<void> room(std::chrono::milliseconds) override { co_return; }
  Async<void> flush(std::chrono::milliseconds) override { co_return; }
  void close() override {}
  bool broken() const override { return gone; }

  std::vector<std::string> told;
  bool reads = true;
  bool gone = false;

 private:
  std::deque<std::string> lines_;
  bool ended_ = false;
  boost::asio::steady_timer bell_;
};

// The answer of a server that requires a login.
inline constexpr std::string_view kWantsLogin = "log in first";

// Answers by a function; if the function leaves a request open, `reply` answers it.
class FakeServer final : public Server {
 public:
  using Answer = std::function<std::string(const Message& request)>;  // empty: none yet

  FakeServer(Parts parts, Answer answer)
      : parts_(std::move(parts)), answer_(std::move(answer)), bell_(parts_.executor) {
    bell_.expires_at(boost::asio::steady_timer::time_point::max());
  }

  void start(bool again) {
    up_ = true;
    parts_.listener.server_started(again);
  }
  void end(const std::string& how) {
    up_ = false;
    parts_.listener.server_ended(how);
  }
  void give_up(std::string why) {
    gave_up_ = Error{ErrorCode::Unavailable, std::move(why), {}, {}};
    bell_.cancel();
  }
  void notify(const std::string& text) {
    spawn(parts_.listener.on_server_notification(read(text)));
  }
  void ask(const std::string& text) { spawn(parts_.listener.on_server_request(read(text))); }
  // Answers the request of this number with a result in JSON text.
  void reply(std::uint64_t id, const std::string& result) {
    const auto found = waiters_.find(id);
    if (found == waiters_.end()) return;
    const std::shared_ptr<Waiter> waiter = std::move(found->second);
    waiters_.erase(found);
    spawn(give(waiter, {.message = read(result_text(std::to_string(id), result))}));
  }
  // Returns how often this method was requested, and its last request.
  std::size_t times(std::string_view method) const {
    std::size_t found = 0;
    for (const Message& request : requests) found += request.method == method ? 1 : 0;
    return found;
  }
  const Message& last(std::string_view method) const {
    for (auto one = requests.rbegin(); one != requests.rend(); ++one) {
      if (one->method == method) return *one;
    }
    throw std::out_of_range(std::string(method));
  }

  Task<void> run() override {
    start(false);
    boost::system::error_code ignored;
    while (!stopped_ && !gave_up_) {
      co_await bell_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    if (gave_up_) co_return std::unexpected(*gave_up_);
    co_return Result<void>{};
  }
  Async<void> stop() override {
    stopped_ = true;
    up_ = false;
    for (auto& [id, waiter] : std::exchange(waiters_, {})) {
      co_await waiter->answered(failed("the server has ended"));
    }
    bell_.cancel();
  }
  bool up() const override { return up_; }
  void ready() override { ++readies; }
  Result<std::uint64_t> request(const Compose& compose, std::shared_ptr<Waiter> waiter) override {
    const std::uint64_t id = ++last_;
    requests.push_back(read(compose(std::to_string(id))));
    waiters_[id] = std::move(waiter);
    const std::string answer = answer_(requests.back());
    if (answer.starts_with("error ")) {
      const std::shared_ptr<Waiter> waiting = std::move(waiters_.extract(id).mapped());
      spawn(give(waiting, {.message = read(error_text(std::to_string(id), kMethodNotFound,
                                                      answer.substr(6)))}));
    } else if (answer.starts_with(R"({"error":)")) {
      const std::shared_ptr<Waiter> waiting = std::move(waiters_.extract(id).mapped());
      const std::string head = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + ",";
      spawn(give(waiting, {.message = read(head + answer.substr(1))}));
    } else if (answer == kWantsLogin) {
      const std::shared_ptr<Waiter> waiting = std::move(waiters_.extract(id).mapped());
      spawn(give(waiting,
                 {.error = {ErrorCode::Unavailable, answer, {}, std::string(kLoginRequired)}}));
    } else if (!answer.empty()) {
      reply(id, answer);
    }
    return id;
  }
  void abandon(std::uint64_t id, std::string_view) override { abandoned.push_back(id); }
  bool send(std::string text) override {
    told.push_back(std::move(text));
    return true;
  }

  std::vector<Message> requests;
  std::vector<std::string> told;
  std::vector<std::uint64_t> abandoned;
  int readies = 0;

 private:
  static Message read(const std::string& text) { return Message::read(text, {}).value(); }
  static Async<void> give(std::shared_ptr<Waiter> waiter, Response reply) {
    co_await waiter->answered(std::move(reply));
  }
  // Answers later, because no server answers while it is being asked.
  void spawn(Async<void> work) {
    const auto later = std::make_shared<Async<void>>(std::move(work));
    boost::asio::post(parts_.executor, [executor = parts_.executor, later] {
      boost::asio::co_spawn(executor, std::move(*later), boost::asio::detached);
    });
  }

  Parts parts_;
  Answer answer_;
  boost::asio::steady_timer bell_;
  bool up_ = false;
  bool stopped_ = false;
  std::optional<Error> gave_up_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, std::shared_ptr<Waiter>> waiters_;  // shared with the waiting coroutines
};

}  // namespace sallyport::mcp::test
