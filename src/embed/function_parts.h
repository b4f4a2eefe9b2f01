// Wraps functions of the host as guards, hooks, sinks and an approver.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>

#include "core/event/hook_registry.h"
#include "core/plan/approver.h"
#include "core/plan/guard.h"
#include "core/record/sink.h"
#include "sallyport/engine.h"

namespace sallyport::embed {

std::shared_ptr<const core::Guard> make_guard(std::string name, EngineBuilder::Guard judge,
                                              const GuardOptions& options,
                                              boost::asio::thread_pool& pool);
std::shared_ptr<const core::ResultGuard> make_result_guard(std::string name,
                                                           EngineBuilder::ResultGuard judge,
                                                           const GuardOptions& options,
                                                           boost::asio::thread_pool& pool);
std::shared_ptr<const core::Guard> make_pre_hook(std::string name, EngineBuilder::PreHook decide,
                                                 const GuardOptions& options, bool rewrites,
                                                 boost::asio::thread_pool& pool);
std::shared_ptr<const core::Guard> make_authorizer(std::string name,
                                                   EngineBuilder::Authorizer authorize,
                                                   const GuardOptions& options,
                                                   boost::asio::thread_pool& pool);
// `thread` belongs to this listener, which may block. Null: the listener is quick.
std::shared_ptr<const core::EventHook> make_hook(std::string name, EngineBuilder::RowHook on_event,
                                                 std::chrono::milliseconds limit,
                                                 boost::asio::thread_pool* thread);
std::shared_ptr<const core::Sink> make_sink(std::string name, EngineBuilder::Sink take,
                                            std::chrono::milliseconds limit,
                                            boost::asio::thread_pool* thread);
std::shared_ptr<const core::Approver> make_approver(EngineBuilder::Approver answer,
                                                    boost::asio::thread_pool& pool);

}  // namespace sallyport::embed
