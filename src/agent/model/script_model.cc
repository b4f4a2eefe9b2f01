#include "agent/model/script_model.h"

#include <fmt/format.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <fstream>

#include "agent/model/history_text.h"
#include "agent/model/script.h"
#include "base/cut_text.h"
#include "base/race.h"
#include "base/try.h"
#include "llm/wire_json.h"

namespace sallyport::agent {

namespace {

constexpr std::size_t kLargestScript = 8u << 20;
constexpr std::string_view kIdBegin = "script_";

ProviderError cancelled_wait() {
  return provider_error(TransportFault::Reset, kCancelled);
}

Async<bool> pause_for(std::chrono::milliseconds wait) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, wait);
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  co_return true;
}

// False: a cancel came first.
Async<bool> wait_for(std::chrono::milliseconds wait, std::stop_token cancel) {
  if (cancel.stop_requested()) co_return false;
  if (wait.count() == 0) co_return true;
  const Raced<bool> raced = co_await race(pause_for(wait), SteadyTime::max(), std::move(cancel));
  co_return raced.value.has_value();
}

std::string call_id(std::size_t turn, std::size_t place) {
  return fmt::format("{}{}_{}", kIdBegin, turn, place);
}

// The turn in one of our call ids.
std::optional<std::uint64_t> turn_of(std::string_view id) {
  if (!id.starts_with(kIdBegin)) return std::nullopt;
  id.remove_prefix(kIdBegin.size());
  std::uint64_t turn = 0;
  const auto read = std::from_chars(id.data(), id.data() + id.size(), turn);
  const bool good = read.ec == std::errc() && read.ptr != id.data() + id.size() && *read.ptr == '_';
  return good ? std::optional(turn) : std::nullopt;
}

// Counts the assistant messages. Compaction removes early ones, but the ids of remaining calls
// still name their turns.
std::uint64_t next_turn(const std::vector<sessions::Item>& history) {
  std::uint64_t next = 0;
  for (const sessions::Item& item : history) {
    if (item.role != sessions::Role::Assistant) continue;
    ++next;
    for (const json::value& block : item.content) {
      if (llm::text_in(block, "type") != "tool_call") continue;
      if (const auto turn = turn_of(llm::text_in(block, "id"))) next = *turn + 1;
    }
  }
  return next;
}

bool holds_since_last_answer(const std::vector<sessions::Item>& history, std::string_view text) {
  for (auto item = history.rbegin(); item != history.rend(); ++item) {
    if (item->role == sessions::Role::Assistant) return false;
    if (text_of_item(*item).contains(text)) return true;
  }
  return false;
}

std::vector<std::string> pieces_of(std::string_view text, std::uint64_t size) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    std::string piece(text);
    if (size != 0) piece = cut_utf8_bytes(text, size);
    if (piece.empty()) piece = cut_code_points(text, 1);
    text.remove_prefix(piece.size());
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::vector<ModelEvent> events_of(const ScriptTurn& turn, std::uint64_t number) {
  std::vector<ModelEvent> events;
  for (std::string& piece : pieces_of(turn.text, turn.chunk)) {
    events.emplace_back(TextDelta{std::move(piece)});
  }
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    const ScriptCall& call = turn.calls[i];
    const std::string id = call.id.empty() ? call_id(number, i) : call.id;
    events.emplace_back(CallDelta{.index = i, .id = id, .name = call.tool});
    for (std::string& piece : pieces_of(call.arguments, turn.chunk)) {
      events.emplace_back(CallDelta{.index = i, .arguments = std::move(piece)});
    }
  }
  if (turn.breaks) return events;
  if (turn.usage) events.emplace_back(UsageReport{*turn.usage});
  std::string reason = turn.stop;
  if (reason.empty()) reason = turn.calls.empty() ? "end_turn" : "tool_use";
  const bool at_limit = reason == "max_tokens" || reason == "length";
  events.emplace_back(StopReport{std::move(reason), at_limit});
  return events;
}

class ScriptStream final : public ModelStream {
 public:
  ScriptStream(std::vector<ModelEvent> events, std::chrono::milliseconds pause,
               std::optional<ProviderError> breaks, std::stop_token cancel)
      : events_(std::move(events)),
        pause_(pause),
        breaks_(std::move(breaks)),
        cancel_(std::move(cancel)) {}

  Async<ModelResult<std::optional<ModelEvent>>> next() override {
    const bool waits = at_ > 0 && at_ < events_.size();
    if (!co_await wait_for(waits ? pause_ : std::chrono::milliseconds(0), cancel_)) {
      co_return std::unexpected(cancelled_wait());
    }
    if (at_ == events_.size()) {
      if (breaks_) co_return std::unexpected(*breaks_);
      co_return std::nullopt;
    }
    const ModelEvent& event = events_[at_++];
    if (const auto* const text = std::get_if<TextDelta>(&event)) bytes_ += text->text.size();
    if (const auto* const call = std::get_if<CallDelta>(&event)) bytes_ += call->arguments.size();
    co_return std::optional(event);
  }

  std::uint64_t bytes() const override { return bytes_; }
  std::string provider_request_id() const override { return {}; }

 private:
  std::vector<ModelEvent> events_;
  std::chrono::milliseconds pause_;
  std::optional<ProviderError> breaks_;
  std::stop_token cancel_;
  std::size_t at_ = 0;
  std::uint64_t bytes_ = 0;
};

class ScriptModel final : public Model {
 public:
  ScriptModel(Script script, std::string file)
      : script_(std::move(script)), file_(std::move(file)) {}

  Async<ModelResult<std::unique_ptr<ModelStream>>> open(ModelRequest request,
                                                        std::stop_token cancel) override {
    const bool summary = request.purpose == Purpose::Summary;
    const std::uint64_t number = next_turn(request.history);
    if (!summary && number >= script_.turns.size()) {
      co_return std::unexpected(refused(fmt::format("script `{}` has {} turns; turn {} is missing",
                                                    file_, script_.turns.size(), number + 1)));
    }
    const ScriptTurn& turn = summary ? script_.summary : script_.turns[number];
    if (!co_await wait_for(turn.delay, cancel)) co_return std::unexpected(cancelled_wait());
    if (turn.error && request.attempt <= turn.error->times) {
      co_return std::unexpected(turn.error->error);
    }
    if (!turn.expect.empty() && !holds_since_last_answer(request.history, turn.expect)) {
      co_return std::unexpected(
          refused(fmt::format("turn {} of script `{}` expects `{:.200}`, which did not come",
                              number + 1, file_, turn.expect)));
    }
    co_return std::make_unique<ScriptStream>(events_of(turn, number), turn.pause, turn.breaks,
                                             std::move(cancel));
  }

  std::string api() const override { return "script"; }
  std::string upstream() const override { return file_; }
  std::string credential() const override { return {}; }

 private:
  static ProviderError refused(std::string message) {
    return {.kind = ProviderError::Kind::InvalidRequest, .message = std::move(message)};
  }

  Script script_;
  std::string file_;  // its name without folders
};

}  // namespace

Result<std::unique_ptr<Model>> open_script_model(const ModelSettings& settings, ModelParts) {
  const std::string file = settings.script.string();
  std::ifstream in(settings.script, std::ios::binary);
  std::string text;
  bool readable = false;
  if (in) {
    text.resize(kLargestScript + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    readable = !in.bad();
  }
  if (text.empty()) {
    return fail(ErrorCode::InvalidInput, fmt::format("script `{}` {}; check `model.script`", file,
                                                     readable ? "is empty" : "cannot be read"));
  }
  if (text.size() > kLargestScript) {
    return fail(ErrorCode::InvalidInput, fmt::format("script `{}` is over 8 MiB", file));
  }
  SALLYPORT_TRY(Script script, parse_script(text, file));
  if (script.summary.text.empty() && !script.summary.error && !script.summary.breaks) {
    script.summary.text = "A scripted summary of what happened so far.";
  }
  return std::make_unique<ScriptModel>(std::move(script), settings.script.filename().string());
}

}  // namespace sallyport::agent
