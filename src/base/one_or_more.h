// A list that mostly holds one item, and then needs no memory of its own.
#pragma once

#include <boost/container/small_vector.hpp>

namespace sallyport {

template <class T>
using OneOrMore = boost::container::small_vector<T, 1>;

}  // namespace sallyport
