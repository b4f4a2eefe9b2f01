// Shows a page to the person who sits here.
#pragma once

#include <string>

namespace sallyport::app {

// Uses `$BROWSER`, else `xdg-open` on a desktop. Its output is dropped, because standard output may
// carry messages to a client. Without either it does nothing; the address is printed too.
void open_in_browser(const std::string& url);

}  // namespace sallyport::app
