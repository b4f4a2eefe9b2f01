// The settings and dependencies of a gateway, which its parts share.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bell.h"
#include "core/call/governor.h"
#include "mcp/call/call_desk.h"
#include "mcp/call/task_owners.h"
#include "mcp/client/client_session.h"
#include "mcp/gateway_meter.h"
#include "mcp/message/message_door.h"
#include "mcp/server/server_session.h"
#include "net/quota.h"
#include "net/task_group.h"

namespace sallyport::mcp {

struct GatewayParts {
  core::Governor& governor;
  const core::PlanSource& plans;
  core::Recorder& recorder;
  const core::Redactor& redactor;
  const Clock& clock;
  Entropy& entropy;
  PinBook& pins;
  GatewayMeter* meter = nullptr;  // null: nothing is counted
  net::Quota held{};  // memory of requests and answers, shared by all gateways with this quota
  // Called when the question about a call is recorded and has no answer yet. Must not block.
  std::function<void(const core::WaitingCall&)> waiting{};
};

struct GatewaySettings {
  std::string name;         // name of the server in records
  ServerMaker make_server;  // makes the server, of any kind
  std::string agent_id;     // the authenticated agent of the client
  std::string session_id;
  bool shared = false;  // several clients of that agent share it
  EraHint era{};        // of the server
  // all agents share the server, and it cannot tell them apart
  bool serves_others = false;
  std::string grant{};                 // token for calls without one; empty: they have none
  CallSetting setting{};               // of its calls
  std::vector<std::string> command{};  // starts the server; empty: it runs elsewhere
  Limits limits{};
  Server::Log log;  // for operators; must not block
};

// Owned by the gateway, which outlives its parts.
struct GatewayContext {
  boost::asio::any_io_executor executor;
  const GatewayParts& parts;
  const GatewaySettings& settings;
  net::TaskGroup& tasks;
  Bell& bell;  // rings `ended` when a call or a request has ended
  MessageDoor& door;
  ClientSession& client;
  ServerSession& server;
  CallDesk& desk;
  TaskOwners& owners;               // of tasks of the server
  const std::weak_ptr<void>& self;  // keeps a gateway that is shared while calls of it run

  bool bridges(Era client_era, Era server_era) const { return server.has(server_era, client_era); }
  Subject subject(std::string call_id = {}) const {
    return {.call_id = std::move(call_id),
            .session_id = settings.session_id,
            .agent_id = settings.agent_id,
            .server = settings.name};
  }
};

}  // namespace sallyport::mcp
