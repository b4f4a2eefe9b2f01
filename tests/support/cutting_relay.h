// Stands between a program and PostgreSQL on the loopback interface, and cuts connections at a
// message of the test's choice.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace sallyport::test {

class CuttingRelay {
 public:
  // `address`: one of this machine, 127.0.0.0/8.
  explicit CuttingRelay(std::filesystem::path socket, std::string address = "127.0.0.1");
  ~CuttingRelay();

  // The same database through the relay.
  std::string through(const std::string& url) const;

  enum class Cut {
    Question,  // what the client sends is lost
    Answer,    // it arrives, and what the server answers is lost
  };
  // Lets so many further answers pass on whichever connection asks, then cuts that one, once.
  void cut_after(int answers, Cut what);

  enum class Then {
    Close,  // both ends see that the connection is gone
    Stall,  // half of the message passes, and the connection stays open without another byte
  };
  // Lets so many further messages of the protocol pass from the client (Question) or from the
  // server (Answer) on the connection that sends the first of them, then cuts that one, once.
  void cut_at_message(int messages, Cut what, Then then);
  // How many have passed that way since, on that connection.
  int messages() const { return messages_; }
  // Nothing is cut any more.
  void spare();

  // From now on this text is exchanged for one of the same length, in what clients send.
  void exchange(std::string text, std::string other);

  // Waits until no answer has passed for a while: a ledger looks for lost gateways once a second.
  void wait_until_quiet() const;
  bool has_cut() const { return cuts_ > 0; }
  // From now on nobody is let in.
  void close_doors(bool closed) { closed_ = closed; }

 private:
  // One direction of a connection, read as messages: a kind, the length, the rest.
  struct Stream {
    bool greets = false;     // the first message of a client has no kind
    std::uint64_t skip = 0;  // bytes of the present message that are still to come
    std::string head{};      // of the next one, as far as it has come
    // Where in `data` the message ends before which so many may pass; its size where none is over.
    std::size_t end_of(std::string_view data, int& messages);
  };

  void accept_all();
  void relay(int client);
  bool should_cut(Cut what);
  // How much of it may pass. Less than all: this connection is to be cut there.
  std::size_t may_pass(std::string_view data, Stream& stream, Cut what, int client);
  void stall() const;

  std::filesystem::path socket_;
  std::string address_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> closed_ = false;
  std::atomic<int> left_ = -1;  // answers that still pass; below zero: nothing is cut
  std::atomic<Cut> what_ = Cut::Question;
  std::atomic<int> left_messages_ = -1;
  std::atomic<int> at_ = -1;  // the connection whose messages are counted
  std::atomic<int> messages_ = 0;
  std::atomic<Then> then_ = Then::Close;
  std::atomic<int> cuts_ = 0;
  std::atomic<int> passed_ = 0;  // answers
  std::string text_;             // set before connections are made
  std::string other_;
  std::thread acceptor_;
  std::vector<std::thread> relays_;
};

}  // namespace sallyport::test
