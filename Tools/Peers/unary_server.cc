// CheckAccess as a unary call of gRPC: what the same question costs over the usual framework.
//
//   unary_server PORT CUSTOMER_COUNT
//
// The asynchronous server of gRPC C++ with one completion queue and one thread, the fastest way
// that the framework offers on one core. Customers `customer-` and 31 digits stand in a hash map,
// with the fields that entitled answers with; the map is read only, so there is no lock. Service
// and messages are those of proto/entitled/v1/entitled.proto. Listens on loopback, in clear text.
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "entitled/v1/entitled.grpc.pb.h"

namespace {

using entitled::v1::CheckAccessRequest;
using entitled::v1::CheckAccessResponse;
using entitled::v1::Entitlements;

using Service = Entitlements::WithAsyncMethod_CheckAccess<Entitlements::Service>;
using Answers = std::unordered_map<std::string, CheckAccessResponse>;

constexpr char product_id[] = "com.example.meadow.plus.month";

// As many as a generator of 16 connections has in flight with 64 requests on each.
constexpr int waiting_call_count = 1024;

std::string digits(const char *prefix, int width, long number) {
    char text[64];
    std::snprintf(text, sizeof text, "%s%0*ld", prefix, width, number);
    return text;
}

Answers make_answers(long customer_count) {
    Answers answers;
    answers.reserve(static_cast<size_t>(customer_count));
    for (long number = 0; number < customer_count; number++) {
        CheckAccessResponse answer;
        answer.set_granted(true);
        answer.set_reason(entitled::v1::REASON_ACTIVE);
        answer.set_ownership(entitled::v1::OWNERSHIP_PURCHASED);
        answer.set_valid_until_ms(4102444800000);
        answer.set_product_id(product_id);
        answer.set_transaction_id(digits("2", 15, number));
        answer.set_original_transaction_id(digits("2", 15, number));
        answer.set_revision(static_cast<uint64_t>(customer_count));
        answers.emplace(digits("customer-", 31, number), std::move(answer));
    }
    return answers;
}

// One call after the other: waits for one, answers it, and is used again for the next.
class Call {
  public:
    Call(Service *service, grpc::ServerCompletionQueue *queue, const Answers *answers)
        : service_(service), queue_(queue), answers_(answers) {
        wait();
    }

    // What it waited for has happened; `ok` is false when the server is stopping.
    void proceed(bool ok) {
        if (is_answered_) {
            delete exchange_;
            wait();
        } else if (ok) {
            answer();
        }
    }

  private:
    // The objects of gRPC that serve for one call only.
    struct Exchange {
        grpc::ServerContext context;
        CheckAccessRequest request;
        grpc::ServerAsyncResponseWriter<CheckAccessResponse> writer{&context};
    };

    void wait() {
        is_answered_ = false;
        exchange_ = new Exchange();
        service_->RequestCheckAccess(
            &exchange_->context, &exchange_->request, &exchange_->writer, queue_, queue_, this);
    }

    void answer() {
        is_answered_ = true;
        auto found = answers_->find(exchange_->request.customer().customer_id());
        if (found != answers_->end() && exchange_->request.product_id() == product_id) {
            exchange_->writer.Finish(found->second, grpc::Status::OK, this);
            return;
        }
        CheckAccessResponse unknown;
        unknown.set_reason(entitled::v1::REASON_UNKNOWN_CUSTOMER);
        exchange_->writer.Finish(unknown, grpc::Status::OK, this);
    }

    Service *service_;
    grpc::ServerCompletionQueue *queue_;
    const Answers *answers_;
    Exchange *exchange_ = nullptr;
    bool is_answered_ = false;
};

}  // namespace

int main(int argument_count, char **arguments) {
    long port = argument_count == 3 ? std::strtol(arguments[1], nullptr, 10) : 0;
    long customer_count = argument_count == 3 ? std::strtol(arguments[2], nullptr, 10) : 0;
    if (port < 1 || port > 65535 || customer_count < 1) {
        std::fprintf(stderr, "usage: unary_server PORT CUSTOMER_COUNT\n");
        return 64;
    }
    Answers answers = make_answers(customer_count);
    Service service;
    grpc::ServerBuilder builder;
    builder.AddListeningPort(
        "127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials());
    builder.RegisterService(&service);
    auto queue = builder.AddCompletionQueue();
    auto server = builder.BuildAndStart();
    if (server == nullptr) return 1;
    for (int index = 0; index < waiting_call_count; index++)
        new Call(&service, queue.get(), &answers);  // For as long as the process lives.

    void *tag = nullptr;
    bool ok = false;
    while (queue->Next(&tag, &ok)) static_cast<Call *>(tag)->proceed(ok);
    return 0;
}
