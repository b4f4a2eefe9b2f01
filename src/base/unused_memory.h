// Gives memory that was freed back to the system.
#pragma once

namespace sallyport {

// For a thread that has freed much and will not need it again soon, such as one that has read
// policies. Costs milliseconds.
void return_unused_memory();

}  // namespace sallyport
