// Beast's own code, compiled once.
#include <boost/beast/src.hpp>
