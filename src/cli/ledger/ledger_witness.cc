// Offers checkpoints to witnesses from the command line, for those who run no server.
#include <fmt/format.h>
#include <signal.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include "base/metrics.h"
#include "base/run_on.h"
#include "base/try.h"
#include "cli/command.h"
#include "outside/witness_file.h"
#include "outside/witness_rounds.h"
#include "terminal/output.h"

namespace sallyport::app {

namespace {

struct WitnessOptions {
  bool once = false;
};

namespace asio = boost::asio;
using Round = WitnessRounds::Round;

bool cosigned(const WitnessRounds::MemberAnswer& member) {
  return member.answer.kind == WitnessAnswer::Kind::Cosigned;
}

Result<void> print_round(const Context& context, const Round& round) {
  if (context.json()) {
    json::array list;
    for (const WitnessRounds::MemberAnswer& member : round.answers) {
      list.push_back(json::object{{"witness", member.witness},
                                  {"cosigned", cosigned(member)},
                                  {"status", member.answer.status},
                                  {"detail", member.answer.detail}});
    }
    print_line(visible_json(canonical_json(json::object{
        {"size", round.size}, {"quorum", round.has_quorum}, {"witnesses", std::move(list)}})));
    return finish_output();
  }
  for (const WitnessRounds::MemberAnswer& member : round.answers) {
    print_line(fmt::format("{} {:<16} {}", context.terminal.mark(cosigned(member)),
                           visible(member.witness), visible(member.answer.detail)));
  }
  print_line(fmt::format("size {}: {}", round.size,
                         round.has_quorum ? "a quorum of witnesses has cosigned it"
                                          : "no quorum of witnesses has cosigned it"));
  return finish_output();
}

// Until a signal comes.
Task<Round> keep_offering(const Context& context, WitnessRounds& rounds, asio::io_context& loop) {
  asio::steady_timer pause(loop);
  bool stopped = false;
  asio::signal_set signals(loop, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    stopped = true;
    pause.cancel();
    rounds.cancel();
  });
  Round newest;
  while (!stopped) {
    SALLYPORT_CO_TRY(newest, co_await rounds.offer(false));
    if (!newest.answers.empty() && !stopped) SALLYPORT_CO_CHECK_OK(print_round(context, newest));
    if (stopped) break;
    pause.expires_after(std::chrono::seconds(1));
    co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return newest;
}

Result<int> ledger_witness(const Context& context, const WitnessOptions& options) {
  SALLYPORT_TRY(const std::unique_ptr<Workspace> workspace, context.open_maintaining());
  const auto& file = workspace->place().config.ledger.witnesses;
  if (!file) {
    return fail(ErrorCode::InvalidInput,
                "the configuration names no witnesses; write `ledger: {witnesses: FILE}`, see "
                "docs/witnesses.md");
  }
  SALLYPORT_TRY(ledger::WitnessPolicy policy, load_witness_policy(*file));
  Metrics unread;
  asio::io_context loop{1};
  SALLYPORT_TRY(const std::unique_ptr<WitnessRounds> rounds,
                WitnessRounds::open(loop.get_executor(),
                                    {.ledger = workspace->ledger(),
                                     .clock = workspace->clock(),
                                     .metrics = unread,
                                     .log = [](std::string_view) {}},
                                    std::move(policy)));
  SALLYPORT_TRY(const bool claimed, rounds->claim());
  if (!claimed) {
    return fail(ErrorCode::Conflict,
                "another process offers the checkpoints of this folder to witnesses already");
  }
  if (!options.once) {
    SALLYPORT_TRY(const Round last, run_on(loop, keep_offering(context, *rounds, loop)));
    return last.has_quorum ? 0 : 1;
  }
  SALLYPORT_TRY(const Round round, run_on(loop, rounds->offer(true)));
  SALLYPORT_CHECK_OK(print_round(context, round));
  return round.has_quorum ? 0 : 1;
}

const Command kLedgerWitness("ledger witness", "offer checkpoints to witnesses, which cosign them",
                             ledger_witness, [](Syntax& syntax, WitnessOptions& options) {
                               syntax.flag("--once", options.once,
                                           "offer the newest checkpoint, and exit");
                             });

}  // namespace

}  // namespace sallyport::app
