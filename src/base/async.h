// The return types of functions that may wait. Coroutines take their arguments by value.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "sallyport/result.h"

namespace sallyport {

template <class T>
using Async = boost::asio::awaitable<T>;

template <class T>
using Task = Async<Result<T>>;

}  // namespace sallyport
