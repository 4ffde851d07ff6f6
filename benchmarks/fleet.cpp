//===- fleet.cpp - Simulated hosts of a run of the tuner ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fleet-benchmark --join-file=FILE --records=EXPORT.jsonl [options]
//
// Joins `gpu-tune run --listen` as many hosts, each of which has connections of
// its own, as those of `gpu-tune join`: encrypted, and with the same messages
// (Cluster.h, CompileWorker.cpp, MeasureWorker.cpp). Nothing is compiled or
// measured: the answers are records that `gpu-tune export` wrote. A candidate
// that has a record gets its outcome, times and message; any other one those of
// a record of its task that its schedule's hash chooses, or of any task if its
// own has none. One process has all hosts, so the time of the run's process is
// that of a fleet of as many machines.
//
//   --hosts=N          1000, each with one device
//   --jobs=N           compile workers of each host (1)
//   --measurers=N      measure workers of each host (2)
//   --compile-ms=MS    until a candidate is compiled (1000)
//   --measure-ms=MS    until it is measured (1000)
//   --bundle-bytes=N   the size of a compiled candidate (40000)
//
// Prints JSON: `joined`, when the last host had joined, in seconds after the
// start; `compiled` and `measured` candidates, `exact` ones among them that had
// a record, and `results`, how many were measured by the end of each second.
//
// fleet.py beside this file starts both, and measures the run.
//
//===----------------------------------------------------------------------===//

#include "Tuning/Arguments.h"
#include "Tuning/Cluster/Channel.h"
#include "Tuning/Cluster/Cluster.h"
#include "Tuning/Cluster/JoinFile.h"
#include "Tuning/Cluster/Socket.h"
#include "Tuning/Cluster/Tls.h"
#include "Tuning/Json.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <map>
#include <netinet/in.h>
#include <queue>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace tessera::tuning;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

using Clock = std::chrono::steady_clock;

/// Handshakes at a time, so that the kernel's queue of callers is not full.
constexpr size_t mostCalling = 100;

struct Options {
  std::string joinFile, records;
  unsigned hosts = 1000, jobs = 1, measurers = 2;
  unsigned compileTime = 1000, measureTime = 1000, bundleBytes = 40000;
};

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

struct Answer {
  std::string outcome, error, chosen;
  json::Array times;
  int64_t clock = 0;
};

/// The answers of an export.
class Records {
public:
  static llvm::Expected<Records> read(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return llvm::createStringError(path + ": " + buffer.getError().message());
    Records records;
    for (StringRef rest = (*buffer)->getBuffer(), line; !rest.empty();) {
      std::tie(line, rest) = rest.split('\n');
      llvm::Expected<json::Value> value =
          mlir::tessera::tuning::parseJson(line);
      if (!value)
        return value.takeError();
      const json::Object *object = value->getAsObject();
      if (object && getText(*object, "kind") == "record")
        records.add(*object);
    }
    if (records.all.empty())
      return llvm::createStringError(path + ": no record with times");
    return std::move(records);
  }

  struct Found {
    const Answer *answer;
    bool isExact;
  };
  Found find(const std::string &task, const std::string &schedule) const {
    auto own = tasks.find(task);
    if (own != tasks.end())
      if (auto exact = own->second.find(schedule); exact != own->second.end())
        return {&exact->second, true};
    uint64_t hash = llvm::xxh3_64bits(schedule);
    if (own == tasks.end())
      return {all[hash % all.size()], false};
    auto other = own->second.begin();
    std::advance(other, hash % own->second.size());
    return {&other->second, false};
  }

private:
  void add(const json::Object &object) {
    Answer answer;
    answer.outcome = getText(object, "outcome");
    answer.error = getText(object, "error");
    answer.chosen = getText(object, "chosen");
    if (const json::Array *times = object.getArray("times"))
      answer.times = *times;
    answer.clock = object.getInteger("clock_before").value_or(0);
    // Other messages report the other outcomes.
    if (answer.outcome != "measured" && answer.outcome != "slow")
      return;
    Answer &kept = tasks[getText(object, "task")][getText(object, "schedule")];
    kept = std::move(answer);
    all.push_back(&kept);
  }

  std::map<std::string, std::map<std::string, Answer>> tasks;
  std::vector<const Answer *> all;
};

//===----------------------------------------------------------------------===//
// The fleet
//===----------------------------------------------------------------------===//

/// A connection of a host.
struct Line {
  explicit Line(Channel channel) : channel(std::move(channel)) {}
  Channel channel;
  enum Kind { Agent, Compile, Measure } kind = Agent;
  unsigned host = 0;
  int64_t worker = 0;
  bool isUp = false;
  /// The run rejected it.
  bool isRejected = false;
  /// The task and the schedule of loaded candidates.
  std::map<int64_t, std::pair<std::string, std::string>> loaded;
};

/// A connection that must be made.
struct Call {
  Line::Kind kind;
  unsigned host;
  int64_t worker;
};

struct Delayed {
  Clock::time_point when;
  int file;
  std::shared_ptr<Message> message;
  bool operator<(const Delayed &other) const { return when > other.when; }
};

class Fleet {
public:
  Fleet(const Options &options, const Records &records, uint16_t port,
        TlsContext &tls)
      : options(options), records(records), port(port), tls(tls),
        poll(epoll_create1(EPOLL_CLOEXEC)), bundle(options.bundleBytes, 'b') {}
  ~Fleet() { close(poll); }

  /// False after an error, which was printed.
  bool run();
  void print(llvm::raw_ostream &os) const;

private:
  double getSeconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  bool call(const Call &call);
  bool serve(Line &line);
  void hear(Line &line, Message message);
  void hearAgent(Line &line, const json::Object &head);
  void hearMeasurer(Line &line, const json::Object &head);
  void send(Line &line, json::Object head, std::string bytes = "") {
    (void)line.channel.send({std::move(head), std::move(bytes)});
  }
  void sendLater(Line &line, unsigned milliseconds, json::Object head,
                 std::string bytes = "") {
    delayed.push({Clock::now() + std::chrono::milliseconds(milliseconds),
                  line.channel.getFile(),
                  std::make_shared<Message>(
                      Message{std::move(head), std::move(bytes)})});
  }
  void sendHello(Line &line);

  const Options &options;
  const Records &records;
  uint16_t port;
  TlsContext &tls;
  int poll;
  std::string bundle;
  Clock::time_point start = Clock::now();
  std::map<int, Line> lines;
  std::deque<Call> calls;
  size_t calling = 0;
  std::priority_queue<Delayed> delayed;
  /// The run's identity of its build, which it reports to a host of another.
  std::string build;
  /// The schedules that compile workers were asked for, by their candidates.
  std::map<int64_t, std::string> schedules;
  bool isDone = false, isBroken = false;
  double joined = 0;
  unsigned offers = 0;
  uint64_t compiled = 0, measured = 0, exact = 0;
  std::vector<uint64_t> results;
};

} // namespace

/// Connects from an address of the loopback interface that is the host's own:
/// the run limits the callers of one address.
static int connectFrom(unsigned host, uint16_t port) {
  int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in own = {}, run = {};
  own.sin_family = run.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 256 + host);
  run.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  run.sin_port = htons(port);
  if (file >= 0 &&
      bind(file, reinterpret_cast<sockaddr *>(&own), sizeof(own)) == 0 &&
      connect(file, reinterpret_cast<sockaddr *>(&run), sizeof(run)) == 0) {
    watchConnection(file);
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
    return file;
  }
  llvm::errs() << "error: cannot connect to port " << port << ": "
               << std::strerror(errno) << "\n";
  if (file >= 0)
    close(file);
  return -1;
}

bool Fleet::call(const Call &call) {
  int file = connectFrom(call.host, port);
  if (file < 0)
    return false;
  auto [position, isNew] =
      lines.emplace(file, Line(Channel(file, tls.connect(file))));
  Line &line = position->second;
  line.kind = call.kind;
  line.host = call.host;
  line.worker = call.worker;
  ++calling;
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.fd = file;
  epoll_ctl(poll, EPOLL_CTL_ADD, file, &event);
  return serve(line);
}

void Fleet::sendHello(Line &line) {
  json::Object hello{{"op", "hello"},
                     {"kind", line.kind == Line::Agent ? "agent" : "worker"},
                     {"protocol", clusterProtocol},
                     {"build", build}};
  if (line.kind == Line::Agent)
    hello["host"] = llvm::formatv("simulated-{0}", line.host).str();
  else
    hello["worker"] = line.worker;
  send(line, std::move(hello));
  if (line.kind == Line::Measure)
    send(line, json::Object{{"op", "ready"},
                            {"device", "a simulated device"},
                            {"driver", "none"},
                            {"chip", ""},
                            {"targetId", ""},
                            {"target", ""}});
}

/// False if the connection has ended.
bool Fleet::serve(Line &line) {
  if (!line.isUp) {
    switch (line.channel.getTls()->handshake()) {
    case TlsSession::State::Working:
      return true;
    case TlsSession::State::Failed:
      llvm::errs() << "error: " << line.channel.getTls()->getFailure() << "\n";
      isBroken = true;
      return false;
    case TlsSession::State::Done:
      line.isUp = true;
      --calling;
      sendHello(line);
    }
  }
  bool isThere = line.channel.take();
  while (std::optional<Message> message = line.channel.next())
    hear(line, std::move(*message));
  return isThere;
}

void Fleet::hear(Line &line, Message message) {
  const json::Object &head = message.head;
  if (line.kind == Line::Agent)
    return hearAgent(line, head);
  if (line.kind == Line::Measure)
    return hearMeasurer(line, head);
  int64_t id = head.getInteger("id").value_or(0);
  std::string schedule = getText(head, "schedule");
  const Answer &answer = *records.find(getText(head, "task"), schedule).answer;
  ++compiled;
  sendLater(
      line, options.compileTime,
      json::Object{{"op", "compiled"},
                   {"id", id},
                   {"error", ""},
                   {"chosen", schedule.empty() ? answer.chosen : schedule},
                   {"ms", options.compileTime}},
      bundle);
  schedules[id] = std::move(schedule);
}

void Fleet::hearAgent(Line &line, const json::Object &head) {
  std::string op = getText(head, "op");
  if (op == "refused") {
    // The first host asks which build the run is of.
    std::string why = getText(head, "error");
    StringRef rest = why;
    if (build.empty() && rest.contains("the run uses ")) {
      build = rest.split("the run uses ").second.split(')').first.str();
      calls.push_front({Line::Agent, line.host, 0});
      line.isRejected = true;
      return;
    }
    llvm::errs() << "error: rejected: " << why << "\n";
    isBroken = true;
  } else if (op == "welcome") {
    json::Array devices;
    devices.push_back(json::Object{
        {"number", 0},
        {"identity", llvm::formatv("device of {0}", line.host).str()},
        {"name", "a simulated device"}});
    send(line, json::Object{{"op", "offer"},
                            {"jobs", options.jobs},
                            {"measurers", options.measurers},
                            {"devices", std::move(devices)},
                            {"notes", json::Array()}});
    if (++offers == options.hosts)
      joined = getSeconds();
  } else if (op == "start") {
    const json::Array *arguments = head.getArray("arguments");
    bool compiles = arguments && !arguments->empty() &&
                    arguments->front().getAsString() == "compile";
    calls.push_back({compiles ? Line::Compile : Line::Measure, line.host,
                     head.getInteger("worker").value_or(0)});
  } else if (op == "done") {
    isDone = true;
  }
}

void Fleet::hearMeasurer(Line &line, const json::Object &head) {
  std::string op = getText(head, "op"), task = getText(head, "task");
  int64_t id = head.getInteger("id").value_or(0);
  if (op == "open") {
    send(line,
         json::Object{{"op", "opened"}, {"task", task}, {"checksum", "0"}});
    if (head.getBoolean("check").value_or(false))
      send(line,
           json::Object{{"op", "checked"}, {"task", task}, {"error", ""}});
  } else if (op == "load") {
    line.loaded[id] = {task, std::exchange(schedules[id], "")};
    schedules.erase(id);
    send(line, json::Object{{"op", "loaded"}, {"id", id}});
  } else if (op == "go") {
    auto [key, schedule] = std::move(line.loaded[id]);
    line.loaded.erase(id);
    Records::Found found = records.find(key, schedule);
    exact += found.isExact;
    sendLater(line, options.measureTime,
              json::Object{{"op", "result"},
                           {"id", id},
                           {"outcome", found.answer->outcome},
                           {"error", found.answer->error},
                           {"times", json::Array(found.answer->times)},
                           {"clockBefore", found.answer->clock},
                           {"clockAfter", found.answer->clock}});
  } else if (op == "final") {
    json::Array answers;
    if (const json::Array *candidates = head.getArray("candidates"))
      for (const json::Value &value : *candidates)
        if (const json::Object *candidate = value.getAsObject())
          answers.push_back(json::Object{
              {"id", candidate->getInteger("id").value_or(0)},
              {"outcome", "measured"},
              {"error", ""},
              {"times", json::Array(records.find(task, "").answer->times)}});
    sendLater(line, options.measureTime,
              json::Object{{"op", "final"},
                           {"task", task},
                           {"results", std::move(answers)},
                           {"library", ""},
                           {"libraryError", "simulated"},
                           {"libraryTimes", json::Array()},
                           {"clockBefore", 0},
                           {"clockAfter", 0}});
  }
}

bool Fleet::run() {
  calls.push_back({Line::Agent, 0, 0});
  bool isFirst = true;
  while (!isDone && !isBroken) {
    // All of them, once the build is known.
    if (!build.empty() && std::exchange(isFirst, false))
      for (unsigned host = 1; host < options.hosts; ++host)
        calls.push_back({Line::Agent, host, 0});
    while (!calls.empty() && calling < mostCalling) {
      Call next = calls.front();
      calls.pop_front();
      if (!call(next))
        return false;
    }
    int wait = 100;
    if (!delayed.empty()) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          delayed.top().when - Clock::now());
      wait = static_cast<int>(std::clamp<int64_t>(left.count(), 0, wait));
    }
    epoll_event events[256];
    int count = epoll_wait(poll, events, 256, wait);
    for (int i = 0; i < count; ++i) {
      auto found = lines.find(events[i].data.fd);
      if (found == lines.end() || serve(found->second))
        continue;
      if (found->second.kind == Line::Agent && !found->second.isRejected &&
          !isDone) {
        llvm::errs() << "error: the run ended early\n";
        return false;
      }
      lines.erase(found);
    }
    while (!delayed.empty() && delayed.top().when <= Clock::now()) {
      Delayed next = delayed.top();
      delayed.pop();
      auto found = lines.find(next.file);
      if (found == lines.end())
        continue;
      (void)found->second.channel.send(*next.message);
      if (getText(next.message->head, "op") != "result")
        continue;
      ++measured;
      results.resize(static_cast<size_t>(getSeconds()) + 1);
      ++results.back();
    }
  }
  return !isBroken;
}

void Fleet::print(llvm::raw_ostream &os) const {
  json::Array perSecond;
  for (uint64_t count : results)
    perSecond.push_back(count);
  os << json::Value(json::Object{{"hosts", options.hosts},
                                 {"joined", joined},
                                 {"compiled", compiled},
                                 {"measured", measured},
                                 {"exact", exact},
                                 {"results", std::move(perSecond)}})
     << "\n";
}

int main(int argc, char **argv) {
  Options options;
  mlir::tessera::tuning::Arguments arguments(
      "usage: fleet-benchmark --join-file=FILE "
      "--records=EXPORT.jsonl [options of benchmarks/"
      "fleet.cpp]\n");
  arguments.addText("--join-file", options.joinFile);
  arguments.addText("--records", options.records);
  arguments.addNumber("--hosts", options.hosts);
  arguments.addNumber("--jobs", options.jobs, 0);
  arguments.addNumber("--measurers", options.measurers);
  arguments.addNumber("--compile-ms", options.compileTime, 0);
  arguments.addNumber("--measure-ms", options.measureTime, 0);
  arguments.addNumber("--bundle-bytes", options.bundleBytes);
  llvm::SmallVector<StringRef> words(argv + 1, argv + argc);
  auto fail = [](llvm::Error error) {
    llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
    return 1;
  };
  if (llvm::Error error = arguments.parse(words))
    return fail(std::move(error));
  if (arguments.wantsHelp()) {
    llvm::outs() << arguments.getHelp();
    return 0;
  }
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
  }
  JoinOptions run;
  if (llvm::Error error = findRun(options.joinFile, "", run))
    return fail(std::move(error));
  llvm::Expected<Records> records = Records::read(options.records);
  if (!records)
    return fail(records.takeError());
  llvm::Expected<std::unique_ptr<TlsContext>> tls =
      TlsContext::create(run.key, /*isServer=*/false);
  if (!tls)
    return fail(tls.takeError());
  // The run is on this machine.
  uint16_t port = 0;
  if (StringRef(run.addresses.back()).rsplit(':').second.getAsInteger(10, port))
    return fail(llvm::createStringError("no port in " + run.addresses.back()));
  Fleet fleet(options, *records, port, **tls);
  if (!fleet.run())
    return 1;
  fleet.print(llvm::outs());
  return 0;
}
