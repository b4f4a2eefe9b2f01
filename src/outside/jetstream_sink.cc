// Entries as messages of NATS JetStream. The only place that knows the client library.
#include <fmt/format.h>
#include <nats/nats.h>

#include <atomic>

#include "base/try.h"
#include "machine/environment.h"
#include "outside/event_sink.h"

namespace sallyport::app {

namespace {

constexpr std::int64_t kLongestWaitMs = 5'000;
constexpr const char* kSystemCertificates = "/etc/ssl/certs/ca-certificates.crt";

template <class T, void (*Destroy)(T*)>
struct Destroyer {
  void operator()(T* owned) const { Destroy(owned); }
};
using Options = std::unique_ptr<natsOptions, Destroyer<natsOptions, natsOptions_Destroy>>;
using Connection =
    std::unique_ptr<natsConnection, Destroyer<natsConnection, natsConnection_Destroy>>;
using Stream = std::unique_ptr<jsCtx, Destroyer<jsCtx, jsCtx_Destroy>>;
using Message = std::unique_ptr<natsMsg, Destroyer<natsMsg, natsMsg_Destroy>>;
using Receipt = std::unique_ptr<jsPubAck, Destroyer<jsPubAck, jsPubAck_Destroy>>;

Result<void> checked(natsStatus status, std::string_view what) {
  if (status == NATS_OK) return {};
  return fail(status == NATS_TIMEOUT ? ErrorCode::Deadline : ErrorCode::Unavailable,
              fmt::format("{}: {}", what, natsStatus_GetText(status)));
}

class JetStreamSink final : public EventSink {
 public:
  JetStreamSink(JetStreamConfig config, Options options)
      : config_(std::move(config)), options_(std::move(options)) {}

  EventForm form() const override { return EventForm::Json; }
  void cancel() override { cancelled_ = true; }

  // One after the other: a message that is refused must not be overtaken by the next.
  Delivered deliver(std::span<const OutgoingEvent> events) override {
    Delivered delivered;
    const Result<void> connected = connect();
    if (!connected) return {.error = connected.error()};
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kLongestWaitMs);
    for (const OutgoingEvent& event : events) {
      if (cancelled_ || std::chrono::steady_clock::now() >= until) return delivered;
      if (const Result<void> sent = publish(event); !sent) {
        stream_.reset();
        connection_.reset();
        delivered.error = sent.error();
        return delivered;
      }
      ++delivered.count;
    }
    return delivered;
  }

 private:
  Result<void> connect() {
    if (connection_ && natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED) {
      return {};
    }
    stream_.reset();
    natsConnection* connection = nullptr;
    SALLYPORT_CHECK_OK(checked(natsConnection_Connect(&connection, options_.get()), config_.url));
    connection_.reset(connection);
    jsOptions settings;
    jsOptions_Init(&settings);
    settings.Wait = kLongestWaitMs;
    jsCtx* stream = nullptr;
    SALLYPORT_CHECK_OK(
        checked(natsConnection_JetStream(&stream, connection, &settings), config_.url));
    stream_.reset(stream);
    return {};
  }

  Result<void> publish(const OutgoingEvent& event) {
    const std::string subject = fmt::format("{}.{}", config_.subject, event.kind);
    natsMsg* made = nullptr;
    SALLYPORT_CHECK_OK(checked(natsMsg_Create(&made, subject.c_str(), nullptr, event.line.data(),
                                              static_cast<int>(event.line.size())),
                               subject));
    const Message message(made);
    const std::string sequence = std::to_string(event.sequence);
    SALLYPORT_CHECK_OK(
        checked(natsMsgHeader_Set(made, "Sallyport-Sequence", sequence.c_str()), subject));
    jsPubOptions options;
    jsPubOptions_Init(&options);
    options.MaxWait = kLongestWaitMs;
    options.MsgId = event.id.c_str();  // Nats-Msg-Id: a message that was sent before is known there
    if (!config_.stream.empty()) options.ExpectStream = config_.stream.c_str();
    jsPubAck* taken = nullptr;
    jsErrCode code{};
    const natsStatus status = js_PublishMsg(&taken, stream_.get(), made, &options, &code);
    const Receipt receipt(taken);
    if (status == NATS_NO_RESPONDERS) {
      return fail(ErrorCode::Unavailable,
                  fmt::format("no stream has the subject `{}`; add one on the broker", subject));
    }
    return checked(status, code == 0
                               ? subject
                               : fmt::format("{} (error {})", subject, static_cast<int>(code)));
  }

  JetStreamConfig config_;
  Options options_;
  Connection connection_;
  Stream stream_;
  std::atomic<bool> cancelled_ = false;
};

Result<void> set_tls(natsOptions* options, const JetStreamConfig& config, const net::Url& url) {
  SALLYPORT_CHECK_OK(checked(natsOptions_SetSecure(options, true), "TLS"));
  const std::string file = config.ca_file ? config.ca_file->string() : kSystemCertificates;
  SALLYPORT_CHECK_OK(checked(natsOptions_LoadCATrustedCertificates(options, file.c_str()), file));
  return checked(natsOptions_SetExpectedHostname(options, url.host.c_str()), url.host);
}

Result<void> set_credentials(natsOptions* options, const JetStreamConfig& config) {
  if (config.credentials) {
    const std::string file = config.credentials->string();
    SALLYPORT_CHECK_OK(
        checked(natsOptions_SetUserCredentialsFromFiles(options, file.c_str(), nullptr), file));
  }
  if (config.token_env.empty()) return {};
  const auto token = variable_of_this_process(config.token_env);
  if (!token) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("the variable `{}` is not set", config.token_env));
  }
  return checked(natsOptions_SetToken(options, token->c_str()), "token");
}

}  // namespace

Result<std::unique_ptr<EventSink>> open_jetstream(const JetStreamConfig& config) {
  const std::optional<net::Url> url = broker_address(config.url);
  if (!url) return fail(ErrorCode::InvalidInput, "no address of NATS");
  if (!url->tls && !url->is_loopback() && !config.allow_plain) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("entries would go to `{}` without encryption; use tls://, or write "
                            "`allow_plain: true`",
                            config.url));
  }
  natsOptions* made = nullptr;
  SALLYPORT_CHECK_OK(checked(natsOptions_Create(&made), "options"));
  Options options(made);
  const std::string address = fmt::format("nats://{}", url->authority());
  SALLYPORT_CHECK_OK(checked(natsOptions_SetURL(made, address.c_str()), config.url));
  SALLYPORT_CHECK_OK(checked(natsOptions_SetTimeout(made, kLongestWaitMs), config.url));
  SALLYPORT_CHECK_OK(checked(natsOptions_SetAllowReconnect(made, false), config.url));
  SALLYPORT_CHECK_OK(checked(natsOptions_SetWriteDeadline(made, kLongestWaitMs), config.url));
  SALLYPORT_CHECK_OK(checked(natsOptions_SetName(made, "sallyport"), config.url));
  if (url->tls) SALLYPORT_CHECK_OK(set_tls(made, config, *url));
  SALLYPORT_CHECK_OK(set_credentials(made, config));
  return std::make_unique<JetStreamSink>(config, std::move(options));
}

}  // namespace sallyport::app
