// Stands between a program and PostgreSQL on the loopback interface, and cuts connections at a
// message of the test's choice.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace sallyport::test {

class CuttingRelay {
 public:
  explicit CuttingRelay(std::filesystem::path socket);
  ~CuttingRelay();

  // The same database through the relay.
  std::string through(const std::string& url) const;

  enum class Cut {
    Question,  // what the client sends is lost
    Answer,    // it arrives, and what the server answers is lost
  };
  // Lets so many further answers pass on whichever connection asks, then cuts that one, once.
  void cut_after(int answers, Cut what);
  // Waits until no answer has passed for a while: a ledger looks for lost gateways once a second.
  void wait_until_quiet() const;
  bool has_cut() const { return cuts_ > 0; }
  // From now on nobody is let in.
  void close_doors(bool closed) { closed_ = closed; }

 private:
  void accept_all();
  void relay(int client);
  bool should_cut(Cut what);

  std::filesystem::path socket_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> closed_ = false;
  std::atomic<int> left_ = -1;  // answers that still pass; below zero: nothing is cut
  std::atomic<Cut> what_ = Cut::Question;
  std::atomic<int> cuts_ = 0;
  std::atomic<int> passed_ = 0;  // answers
  std::thread acceptor_;
  std::vector<std::thread> relays_;
};

}  // namespace sallyport::test
