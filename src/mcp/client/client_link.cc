#include "mcp/client/client_link.h"

namespace sallyport::mcp {

StreamLink::StreamLink(boost::asio::any_io_executor executor, const Limits& limits, int input,
                       int output)
    : input_(executor, input),
      output_(executor, output),
      reader_(input_, limits.frame_bytes),
      writer_(output_, limits.queue_bytes) {
  input_.native_non_blocking(true);
  output_.native_non_blocking(true);
}

void StreamLink::hang_up() {
  boost::system::error_code ignored;
  input_.cancel(ignored);
}

Async<void> StreamLink::flush(std::chrono::milliseconds longest) {
  (void)co_await writer_.flush(longest);
}

}  // namespace sallyport::mcp
