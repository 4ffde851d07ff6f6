//===- ClusterTest.cpp - Messages between hosts ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Cluster/Cluster.h"
#include "Tuning/Cluster/Key.h"
#include "Tuning/Cluster/Socket.h"

#include "Driver/ProgramCache.h"
#include "llvm/ADT/StringRef.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

using namespace tessera::tuning;
namespace json = llvm::json;

namespace {

/// A run, and the other ends of connections to it.
class ClusterTest : public ::testing::Test {
protected:
  void SetUp() override {
    llvm::Expected<std::string> made = makeKey();
    ASSERT_TRUE(static_cast<bool>(made));
    key = *made;
    auto created = Cluster::create("127.0.0.1", key);
    if (!created)
      GTEST_SKIP() << llvm::toString(created.takeError());
    cluster = std::move(*created);
    cluster->setWork("cuda", "sm_90a");
    cluster->setReport([&](const std::string &line) { lines.push_back(line); });
    auto client = TlsContext::create(key, /*isServer=*/false);
    ASSERT_TRUE(static_cast<bool>(client));
    tls = std::move(*client);
  }

  void step() {
    for (ClusterEvent &event : cluster->take())
      events.push_back(std::move(event));
  }

  /// An encrypted connection to the run; the run answers meanwhile.
  std::unique_ptr<Channel> call(TlsContext &context) {
    llvm::StringRef address = cluster->getAddresses();
    auto file = connectTo(address.split(',').first, /*seconds=*/10);
    EXPECT_TRUE(static_cast<bool>(file));
    if (!file) {
      llvm::consumeError(file.takeError());
      return nullptr;
    }
    auto channel = std::make_unique<Channel>(*file, context.connect(*file));
    while (true) {
      switch (channel->getTls()->handshake()) {
      case TlsSession::State::Done:
        return channel;
      case TlsSession::State::Failed:
        return nullptr;
      case TlsSession::State::Working:
        step();
      }
    }
  }

  /// The next message of the run.
  std::optional<Message> receive(Channel &channel) {
    while (true) {
      step();
      bool isThere = channel.take();
      if (std::optional<Message> message = channel.next())
        return message;
      if (!isThere)
        return std::nullopt;
    }
  }

  static json::Object makeHello(llvm::StringRef kind) {
    return json::Object{{"op", "hello"},
                        {"kind", kind},
                        {"protocol", clusterProtocol},
                        {"build", mlir::tessera::getCompilerIdentity().str()},
                        {"host", "other"}};
  }

  /// Joins with two compile workers and one device.
  std::unique_ptr<Channel> join() {
    std::unique_ptr<Channel> channel = call(*tls);
    if (!channel)
      return nullptr;
    EXPECT_TRUE(channel->send({makeHello("agent"), ""}));
    std::optional<Message> welcome = receive(*channel);
    EXPECT_TRUE(welcome && getText(welcome->head, "op") == "welcome");
    if (welcome) {
      EXPECT_EQ(getText(welcome->head, "target"), "cuda");
      EXPECT_EQ(getText(welcome->head, "chip"), "sm_90a");
    }
    EXPECT_TRUE(channel->send(
        {json::Object{{"op", "offer"},
                      {"jobs", 2},
                      {"measurers", 1000},
                      {"devices",
                       json::Array{json::Object{{"number", 3},
                                                {"identity", "machine cuda:3"},
                                                {"name", "GPU"}}}}},
         ""}));
    while (events.empty())
      step();
    return channel;
  }

  std::string key;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<TlsContext> tls;
  std::vector<ClusterEvent> events;
  std::vector<std::string> lines;
};

TEST_F(ClusterTest, HostJoinsAndLeaves) {
  std::unique_ptr<Channel> agent = join();
  ASSERT_TRUE(agent);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, ClusterEvent::Joined);
  const Cluster::Host *host = cluster->getHost(events[0].host);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->name, "other");
  EXPECT_EQ(host->jobs, 2u);
  // A host cannot have the run start any number of processes.
  EXPECT_EQ(host->measurers, 64u);
  ASSERT_EQ(host->devices.size(), 1u);
  EXPECT_EQ(host->devices[0].ordinal, 3);
  EXPECT_EQ(host->devices[0].identity, "machine cuda:3");
  agent.reset();
  while (events.size() < 2)
    step();
  EXPECT_EQ(events[1].kind, ClusterEvent::Gone);
  EXPECT_EQ(events[1].host, events[0].host);
  EXPECT_FALSE(cluster->getHost(events[0].host));
}

TEST_F(ClusterTest, StartsAndEndsWorkers) {
  std::unique_ptr<Channel> agent = join();
  ASSERT_TRUE(agent);
  std::unique_ptr<RemoteWorker> worker =
      cluster->start(events[0].host, {"measure", "cuda", "3"});
  std::optional<Message> start = receive(*agent);
  ASSERT_TRUE(start);
  EXPECT_EQ(getText(start->head, "op"), "start");
  int64_t number = *start->head.getInteger("worker");
  EXPECT_EQ(start->head.getArray("arguments")->size(), 3u);
  EXPECT_FALSE(worker->getChannel());

  // Its own connection is handed to it.
  std::unique_ptr<Channel> line = call(*tls);
  ASSERT_TRUE(line);
  json::Object hello = makeHello("worker");
  hello["worker"] = number;
  ASSERT_TRUE(line->send({std::move(hello), ""}));
  while (!worker->getChannel())
    step();
  ASSERT_TRUE(line->send({json::Object{{"op", "ready"}}, "bytes"}));
  std::optional<Message> ready = worker->getChannel()->receive();
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->bytes, "bytes");

  EXPECT_FALSE(worker->getEnd());
  ASSERT_TRUE(agent->send(
      {json::Object{{"op", "died"}, {"worker", number}, {"how", "signal 11"}},
       ""}));
  while (!worker->getEnd())
    step();
  EXPECT_EQ(worker->getEnd(), "signal 11");

  // One that has not died is ended with the object.
  worker = cluster->start(events[0].host, {"compile"});
  number = *receive(*agent)->head.getInteger("worker");
  worker.reset();
  std::optional<Message> end = receive(*agent);
  ASSERT_TRUE(end);
  EXPECT_EQ(getText(end->head, "op"), "end");
  EXPECT_EQ(end->head.getInteger("worker"), number);
}

TEST_F(ClusterTest, RejectsOtherBuilds) {
  std::unique_ptr<Channel> agent = call(*tls);
  ASSERT_TRUE(agent);
  json::Object hello = makeHello("agent");
  hello["build"] = "another";
  ASSERT_TRUE(agent->send({std::move(hello), ""}));
  std::optional<Message> answer = receive(*agent);
  ASSERT_TRUE(answer);
  EXPECT_EQ(getText(answer->head, "op"), "refused");
  EXPECT_NE(getText(answer->head, "error").find("another build"),
            std::string::npos);
  EXPECT_TRUE(events.empty());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("was rejected"), std::string::npos) << lines[0];
}

TEST_F(ClusterTest, RejectsOtherKeys) {
  llvm::Expected<std::string> other = makeKey();
  ASSERT_TRUE(static_cast<bool>(other));
  auto context = TlsContext::create(*other, /*isServer=*/false);
  ASSERT_TRUE(static_cast<bool>(context));
  std::unique_ptr<Channel> agent = call(**context);
  while (lines.empty())
    step();
  EXPECT_NE(lines[0].find("its key is not the key of this run"),
            std::string::npos)
      << lines[0];
  EXPECT_TRUE(events.empty());
}

} // namespace
