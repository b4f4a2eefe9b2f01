// The parts of an engine, built from the parts that the host program added.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/mutex.h"
#include "core/approval/questions.h"
#include "core/call/governor.h"
#include "core/event/host_events.h"
#include "core/handoff/hand_offs.h"
#include "core/plan/plan_shelf.h"
#include "core/turn/continuations.h"
#include "core/turn/turns.h"
#include "embed/gate_records.h"
#include "embed/run_task.h"
#include "embed/visitors.h"
#include "guards/guardrail_records.h"
#include "ledger/ledger.h"
#include "sallyport/engine.h"
#include "store/shared_log.h"

namespace sallyport {

// Later members use earlier ones, so the order of members is the order of construction.
struct Engine::Body {
  ~Body();

  // Runs a task as a visitor and waits for its result.
  template <class T>
  Result<T> run(Task<T> task) {
    const Result<Visitors::Visit> visit = visitors.enter();
    if (!visit) return std::unexpected(visit.error());
    return embed::run_task(loop, std::move(task));
  }

  // `EngineBuilder::open` calls these in this order (engine_builder.cc).
  Result<void> open_ledger(std::filesystem::path data_folder,
                           std::optional<sallyport::store::SharedLog> shared);
  void start_threads(unsigned for_functions);
  void add_tools(std::vector<Tool> given);
  Result<void> start();

  std::shared_ptr<core::Upstream> find_tool(const Call& call) const;
  embed::GateRecords::Parts gate_parts() { return {visitors, loop, *ledger, guardrails, excerpts}; }
  // Sends late records to the sinks as soon as they are written.
  void listen_for_late_records();

  Visitors visitors;
  std::filesystem::path folder;     // the folder of the ledger
  std::filesystem::path temporary;  // removed at the end; empty: the host named a folder
  SystemClock clock;
  SystemEntropy entropy;
  std::unique_ptr<core::Redactor> redactor;
  std::unique_ptr<ledger::LedgerStore> store;
  std::unique_ptr<ledger::Ledger> ledger;
  std::unique_ptr<core::PlanShelf> plans;
  std::string policy_hash;
  // Shared with abandoned calls.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<core::Upstream>> tools;
  std::unique_ptr<core::Governor> governor;
  std::unique_ptr<core::Continuations> continuations;
  std::unique_ptr<core::Turns> turns;
  std::unique_ptr<core::HandOffs> hand_offs;
  std::unique_ptr<core::Questions> questions;
  std::unique_ptr<core::HostEvents> host_events;
  std::shared_ptr<const guardrails::Guardrails> guardrails;  // null: the policy has no checks
  guards::Excerpts excerpts = guards::Excerpts::Withheld;

  boost::asio::io_context loop;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> working =
      boost::asio::make_work_guard(loop);
  std::unique_ptr<boost::asio::thread_pool> pool;
  // One thread for each listener that waits, so that a hanging listener does not block the others.
  std::vector<std::unique_ptr<boost::asio::thread_pool>> listeners;
  std::vector<std::thread> loops;
};

}  // namespace sallyport
