// Shows a page to the person who sits here.
#pragma once

#include <string>

namespace sallyport::app {

// With `$BROWSER`, else with `xdg-open` where there is a desktop. Whatever it writes is dropped:
// standard output may be a conversation with a client. Without either it does nothing; the address
// was printed as well.
void open_in_browser(const std::string& url);

}  // namespace sallyport::app
