// A switchboard between a scripted client and played servers.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <deque>
#include <map>

#include "mcp/message/json_text.h"
#include "mcp/switchboard/switchboard.h"

namespace sallyport::mcp::test {

using namespace std::chrono_literals;
namespace asio = boost::asio;

// Plays a client: sends one message for each answer, and keeps all received
// messages.
class ScriptedClient final : public ClientLink {
 public:
  explicit ScriptedClient(asio::any_io_executor executor) : bell_(executor) {
    bell_.expires_at(asio::steady_timer::time_point::max());
  }
  Async<std::optional<net::Line>> next() override {
    boost::system::error_code ignored;
    while (waiting.empty() && !ended) {
      co_await bell_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (waiting.empty()) co_return std::nullopt;
    net::Line line{.text = waiting.front()};
    waiting.pop_front();
    co_return line;
  }
  void hang_up() override { end(); }
  Async<void> run() override { co_return; }
  bool send(std::string text, std::string_view) override {
    heard.push_back(std::move(text));
    return true;
  }
  Async<void> room(std::chrono::milliseconds) override { co_return; }
  Async<void> flush(std::chrono::milliseconds) override { co_return; }
  void close() override {}
  bool broken() const override { return false; }

  void say(std::string text) {
    waiting.push_back(std::move(text));
    bell_.cancel();
  }
  void end() {
    ended = true;
    bell_.cancel();
  }

  std::deque<std::string> waiting;
  std::vector<std::string> heard;
  bool ended = false;

 private:
  asio::steady_timer bell_;
};

// A server behind its gateway: answers by a function, and can send messages.
class ScriptedServer final : public Conversation {
 public:
  using Answer = std::function<std::string(const Message&)>;  // empty: none
  ScriptedServer(std::unique_ptr<ClientLink> link, Answer answer)
      : link(std::move(link)), answer_(std::move(answer)) {}
  Task<void> run() override {
    while (auto line = co_await link->next()) {
      Result<Message> message = Message::read(line->text, {});
      if (message) heard.push_back(*message);
      const std::string text = message ? answer_(*message) : "";
      if (text == "die") co_return fail(ErrorCode::Unavailable, "it died");
      if (!text.empty()) EXPECT_TRUE(link->send(text, {})) << "the switchboard takes every message";
    }
    co_return Result<void>{};
  }
  void stop() override { link->hang_up(); }
  bool holds_calls() const override { return busy; }
  bool quiet() const override { return !busy; }

  bool busy = false;
  std::unique_ptr<ClientLink> link;
  std::vector<Message> heard;

 private:
  Answer answer_;
};

inline std::string by_default(const std::string& name, const Message& message) {
  if (message.kind != Message::Kind::Request) return {};
  const std::string& id = message.id;
  if (message.method == "initialize") {
    return result_text(
        id, R"({"protocolVersion":"2025-06-18","instructions":"be kind","capabilities":{")" + name +
                R"(":{},"resources":{},"tools":{"listChanged":)" +
                (name == "b" ? "true" : "false") + "}}}");
  }
  if (message.method == "tools/list") {
    const auto cursor = find(message.params_text(), {"cursor"});
    if (name == "a" && !cursor) {
      return result_text(id, R"({"tools":[{"name":"one","x":1.50}],"nextCursor":"p2"})");
    }
    return result_text(id, R"({"tools":[{"name":"two"}]})");
  }
  if (message.method == "resources/list") {
    return result_text(id, R"({"resources":[{"uri":"x://)" + name + R"("},{"uri":"x://both"}]})");
  }
  if (message.method == "prompts/list") return error_text(id, kMethodNotFound, "no prompts");
  return result_text(id, "{\"from\":\"" + name + "\"}");
}

class SwitchboardBench : public testing::Test {
 protected:
  void connect(std::vector<std::string> names, Limits limits = {}) {
    auto script = std::make_unique<ScriptedClient>(loop_.get_executor());
    client_ = script.get();
    std::vector<Switchboard::NamedServer> upstreams;
    for (const std::string& name : names) {
      upstreams.push_back({name, [this, name](std::unique_ptr<ClientLink> link) {
                             auto answer = [this, name](const Message& message) {
                               return answers_[name] ? answers_[name](message)
                                                     : by_default(name, message);
                             };
                             auto fake = std::make_shared<ScriptedServer>(std::move(link), answer);
                             fakes_[name] = fake;
                             return fake;
                           }});
    }
    board_.emplace(
        loop_.get_executor(), std::move(script), std::move(upstreams),
        Switchboard::Settings{limits, [this](std::string_view line) { log_.emplace_back(line); },
                              refuse_});
    asio::co_spawn(loop_, board_->run(), [this](const std::exception_ptr&, Result<void> result) {
      ended_ = std::move(result);
    });
    settle();
  }

  // All messages that the client gets because of it.
  std::vector<json::value> said(const std::string& text,
                                std::chrono::milliseconds patience = 100ms) {
    const std::size_t before = client_->heard.size();
    client_->say(text);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (client_->heard.size() == before && std::chrono::steady_clock::now() < end) {
      loop_.run_for(2ms);
    }
    settle();
    std::vector<json::value> out;
    for (std::size_t i = before; i < client_->heard.size(); ++i) {
      out.push_back(json::parse(client_->heard[i]));
    }
    return out;
  }
  // Runs until only waiting work is left.
  void settle() {
    do {
      loop_.restart();
    } while (loop_.poll() > 0);
  }
  json::value asked(const std::string& method, const std::string& params) {
    const auto heard = said(request_text(std::to_string(++id_), method, params));
    EXPECT_EQ(heard.size(), 1u);
    return heard.empty() ? json::value() : heard.front();
  }
  ~SwitchboardBench() override {
    client_->end();
    loop_.run_for(50ms);
    EXPECT_TRUE(ended_.has_value());
  }

  asio::io_context loop_;
  ScriptedClient* client_ = nullptr;
  std::map<std::string, std::shared_ptr<ScriptedServer>> fakes_;  // shared with the switchboard
  std::map<std::string, ScriptedServer::Answer> answers_;
  std::vector<std::string> log_;
  std::function<Task<sallyport::Answer>(Call)> refuse_;
  std::optional<Switchboard> board_;
  std::optional<Result<void>> ended_;
  int id_ = 0;
};

}  // namespace sallyport::mcp::test
