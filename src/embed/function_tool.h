// Wraps a function of the host as an upstream. It runs on the engine's pool and sends pieces to its
// call through a bounded queue.
#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>

#include "core/call/upstream.h"
#include "sallyport/tool.h"

namespace sallyport::embed {

std::shared_ptr<core::Upstream> make_function_tool(Tool tool, boost::asio::thread_pool& pool);

}  // namespace sallyport::embed
