// A list that usually holds one item; one item needs no heap memory.
#pragma once

#include <boost/container/small_vector.hpp>

namespace sallyport {

template <class T>
using OneOrMore = boost::container::small_vector<T, 1>;

}  // namespace sallyport
