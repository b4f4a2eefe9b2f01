#include "daemon/api/log_size.h"

#include <memory>

#include "ledger/read/look_at.h"

namespace sallyport::app {

Async<std::uint64_t> LogSize::newest(api::Readers& readers) {
  if (asking_ || clock_.steady() - size_at_ < kBeat) co_return size_;
  asking_ = true;
  const std::shared_ptr<void> turn(nullptr, [this](void*) { asking_ = false; });
  const std::function<Result<std::uint64_t>(const api::Readers::Wanted&)> ask =
      [this](const api::Readers::Wanted&) -> Result<std::uint64_t> {
    return ledger::look_at(ledger_.store(), &ledger::ReadView::size);
  };
  const Result<std::uint64_t> size = co_await readers.run<std::uint64_t>(ask);
  if (size) size_ = *size;
  size_at_ = clock_.steady();
  co_return size_;
}

}  // namespace sallyport::app
