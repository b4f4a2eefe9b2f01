// A relay between a program and PostgreSQL on the loopback interface; it cuts connections at a
// message that the test chooses.
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
  // `address`: an address of this machine, 127.0.0.0/8.
  explicit CuttingRelay(std::filesystem::path socket, std::string address = "127.0.0.1");
  ~CuttingRelay();

  // Returns the URL of the same database through the relay.
  std::string through(const std::string& url) const;

  enum class Cut {
    Question,  // the client's message is lost
    Answer,    // the message arrives, and the server's answer is lost
  };
  // Lets so many more answers pass on any connection, then cuts the connection that asks, once.
  void cut_after(int answers, Cut what);

  enum class Then {
    Close,  // both ends see that the connection is gone
    Stall,  // half of the message passes, and the connection stays open without another byte
  };
  // Lets so many more protocol messages pass from the client (Question) or from the server (Answer)
  // on the connection that sends the first of them, then cuts that connection, once.
  void cut_at_message(int messages, Cut what, Then then);
  // The number of messages that have passed in this direction since, on that connection.
  int messages() const { return messages_; }
  // Stops cutting.
  void spare();

  // From now on replaces this text by another of the same length in the clients' messages.
  void exchange(std::string text, std::string other);

  // Waits until no answer has passed for a while: a ledger checks for lost gateways every second.
  void wait_until_quiet() const;
  bool has_cut() const { return cuts_ > 0; }
  // While closed, the relay refuses new connections.
  void close_doors(bool closed) { closed_ = closed; }

 private:
  // One direction of a connection, read as messages of a kind, a length and a body.
  struct Stream {
    bool greets = false;     // the first message of a client has no kind
    std::uint64_t skip = 0;  // bytes of the present message that have not arrived yet
    std::string head{};      // the part of the next header that has arrived
    // Where in `data` the last permitted message ends; the size of `data` if all may pass.
    std::size_t end_of(std::string_view data, int& messages);
  };

  void accept_all();
  void relay(int client);
  bool should_cut(Cut what);
  // The number of bytes that may pass. If it is less than all, the connection is cut there.
  std::size_t may_pass(std::string_view data, Stream& stream, Cut what, int client);
  void stall() const;

  std::filesystem::path socket_;
  std::string address_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> closed_ = false;
  std::atomic<int> left_ = -1;  // answers that may still pass; below zero: nothing is cut
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
