// Beast's own code, compiled once.
#define BOOST_BEAST_SEPARATE_COMPILATION
#include <boost/beast/src.hpp>
