// Boost.JSON's own code, compiled with the flags, the profile and the sanitizer of the product.
#include <boost/json/src.hpp>
