// forge_answer DIR: writes approval answers into a ledger without checking the approver's identity,
// for tests of gates that must reject them.
//
// Each line of standard input is a yes: {"request_id","by","binding","responded_at","signature"}.
// Prints one line for each: `written` or the reason of the refusal.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <cstdio>
#include <iostream>
#include <string>

#include "base/json_members.h"
#include "core/approval/approvals.h"
#include "workspace/workspace.h"

namespace {

using namespace sallyport;

std::string forge(app::Workspace& workspace, const std::string& line) {
  const json::object said = json::parse(line).as_object();
  Reply reply = Reply::approve(text_or_empty(said, "by"));
  reply.door = "console";
  reply.binding = text_or_empty(said, "binding");
  reply.responded_at = text_or_empty(said, "responded_at");
  reply.signature = text_or_empty(said, "signature");
  // Without policy rules it accepts everyone.
  core::Approvals approvals(workspace.ledger(), workspace.clock(), workspace.redactor());
  boost::asio::io_context loop;
  std::string outcome = "it did not end";
  const auto answered = [&](const std::exception_ptr&, Result<void> written) {
    outcome = written ? "written" : written.error().message;
  };
  boost::asio::co_spawn(loop, approvals.answer(text_or_empty(said, "request_id"), reply), answered);
  loop.run();
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: forge_answer DIR\n", stderr);
    return 64;
  }
  app::Config config;
  config.ledger.reserve_bytes = 64 * 1024;
  const auto workspace = app::Workspace::open_writing({.data_dir = argv[1], .config = config},
                                                      {.role = "forge_answer"});
  if (!workspace) {
    std::fprintf(stderr, "forge_answer: %s\n", workspace.error().message.c_str());
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << forge(**workspace, line) << std::endl;
  }
  return 0;
}
