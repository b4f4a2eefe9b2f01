// A program that talks to a model itself puts each request on record, before it is sent and after
// it has ended.
#include <sallyport/engine.h>

#include <iostream>

using namespace sallyport;

int main() {
  const auto engine = EngineBuilder("").open();
  if (!engine) return 1;
  const Subject about{.session_id = "session-1", .trace_id = "request-1"};
  const std::string agent = "agent:example";

  // Announced first: with an error here nothing may be sent.
  if (!(*engine)->emit(event::ModelRequestStarted{agent, "small-model", 1}, about)) return 1;
  // ... the request is sent, and a response with status 200 is opened ...
  (void)(*engine)->emit(event::ModelRequestFinished{agent, "small-model", 1, true}, about);
  // ... the response is read to its end ...
  const Result<void> ended = (*engine)->emit(
      event::ModelResponseFinished{.agent_id = agent,
                                   .model = "small-model",
                                   .attempt = 1,
                                   .success = true,
                                   .stop_reason = "end_turn",
                                   .usage = Usage{.input_tokens = 12, .output_tokens = 5}},
      about);
  if (!ended) std::cout << ended.error().message << '\n';

  // A finish has exactly one start, and a start exactly one finish.
  const Result<void> twice =
      (*engine)->emit(event::ModelRequestFinished{agent, "small-model", 1, false, "reset"}, about);
  std::cout << twice.error().message << '\n';

  const auto rows = (*engine)->events({.scope = agent});
  if (!rows) return 1;
  for (const json::object& row : *rows) {
    std::cout << row.at("event_type").as_string().c_str() << '\n';
  }
  return 0;
}
