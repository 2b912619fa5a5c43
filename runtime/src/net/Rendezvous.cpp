//===- Rendezvous.cpp - how processes connect -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rendezvous.h"

#include "Endpoints.h"
#include "Frame.h"
#include "PeerUser.h"
#include "TimeoutParts.h"

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/ip/udp.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/system_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <sstream>

using namespace veeline;
using namespace veeline::net;
using asio::ip::tcp;
using std::chrono::steady_clock;

/// A silent connection is dropped after this time or a quarter of the timeout,
/// and earlier if no further one could be accepted.
static constexpr std::chrono::seconds helloTime(5);
static constexpr std::chrono::milliseconds crowdTime(10);
/// The maximal number of dropped connections that are reported.
static constexpr int32_t maxDropsTold = 20;
static constexpr std::chrono::milliseconds retryTime(50);
/// The time within which Ctrl-C is noticed.
static constexpr std::chrono::milliseconds interruptTime(50);
/// The time that it may take to tell an error to the processes that have come.
static constexpr std::chrono::seconds farewellTime(1);

namespace {
/// One process's part of the meeting.
class Meeting {
public:
  explicit Meeting(const MeetingOptions &options)
      : options(options), rank(options.place.rank),
        numRanks(options.place.numRanks), port(options.place.port),
        about("job " + options.place.job + "\n" + options.about),
        isNamed(!options.token.empty() || !options.place.job.empty()),
        acceptor(io), deadline(io), ports(static_cast<size_t>(numRanks)) {
    for (int32_t i = 0; i < numRanks; ++i)
      peers.emplace_back(io);
  }

  /// Runs the meeting. The sockets then belong to `target`.
  Expected<std::vector<tcp::socket>> run(asio::io_context &target);

private:
  Status wait();
  Status listen();
  asio::awaitable<void> acceptAll();
  asio::awaitable<void> receive(tcp::socket socket);
  asio::awaitable<void> join();
  asio::awaitable<bool> greet(tcp::socket &socket, int32_t peer,
                              Welcome &welcome, std::string &text);
  asio::awaitable<tcp::socket> reach(std::string host, std::string port);
  asio::awaitable<void> answerAll();
  asio::awaitable<void> answer(tcp::socket &socket, bool isError,
                               std::string text);
  asio::awaitable<void> tellResult(tcp::socket &socket);
  asio::awaitable<void> tellFailure(tcp::socket &socket);
  std::string table() const;
  std::string findDifference(const Hello &hello, const std::string &about);
  void welcome(const Hello &hello, tcp::socket socket);
  asio::awaitable<void> watch(int32_t who);
  void drop(tcp::socket &socket, const char *why);
  void dropSilent();
  std::string whyStranger(const tcp::socket &socket,
                          const std::string &theirs) const;
  asio::awaitable<void> refuse(tcp::socket &socket, int32_t who,
                               std::string text);
  void startDeadline();
  std::string inVain() const;
  void finish(Status status);
  void finishIfComplete();
  std::string missing() const;
  std::string whoLeft() const;
  void noteLeft();
  bool hasToken(const Hello &hello) const;

  /// Owned by the meeting, so that connections that are still silent end with
  /// it.
  asio::io_context io;
  const MeetingOptions &options;
  const int32_t rank, numRanks;
  uint16_t port; ///< The port of rank 0.
  const std::string about;
  const bool isNamed; ///< A token or a launcher identifies the run.
  tcp::acceptor acceptor;
  asio::steady_timer deadline;
  std::vector<tcp::socket> peers;
  std::vector<std::string> ports; ///< "address port" of each rank.
  bool isJoined = false;          ///< Connected to all lower ranks.
  int32_t sought = 0;             ///< The rank that it connects to next.
  std::string soughtAt;           ///< As "address port".
  bool isComplete = false;        ///< For rank 0: all have come.
  std::set<int32_t> left;         ///< Ranks that came, and left silently.
  /// By rank: why a process that may be of another run was turned away.
  std::map<int32_t, std::string> refused;
  const Time begin = steady_clock::now();
  Time end;    ///< The timeout.
  Time giveUp; ///< An earlier end, if `refused` has an entry.
  std::optional<Status> result;
  int32_t numTold = 0; ///< Ranks that were told an error.
  int32_t numDrops = 0;
  /// Connections that have not said who they are, the oldest first.
  std::deque<std::weak_ptr<tcp::socket>> silent;
};
} // namespace

/// For errors whose cause may be two runs at the same place.
static constexpr const char *otherRun =
    "; is another run at this place? MASTER_PORT or VEELINE_TOKEN keep them "
    "apart";

static std::string describe(const tcp::socket &socket) {
  asio::error_code error;
  tcp::endpoint endpoint = socket.remote_endpoint(error);
  if (error)
    return "an unknown address";
  return nameOf(endpoint);
}

//===----------------------------------------------------------------------===//
// Listening
//===----------------------------------------------------------------------===//

/// Rank 0 listens at the address that all know. The others listen at any port
/// of the interface that leads to rank 0, which is the loopback unless the
/// address says otherwise.
Status Meeting::listen() {
  asio::error_code error;
  tcp::resolver resolver(io);
  auto found = resolver.resolve(options.place.address,
                                std::to_string(options.place.port), error);
  if (error || found.empty())
    return Status::error("cannot find the address '" + options.place.address +
                         "' (MASTER_ADDR): " + error.message());
  tcp::endpoint endpoint = found.begin()->endpoint();
  if (options.token.size() > sizeof(Hello::token))
    return Status::error(
        "VEELINE_TOKEN has " + std::to_string(options.token.size()) +
        " bytes, it may have " + std::to_string(sizeof(Hello::token)));
  if (options.token.empty() && !endpoint.address().is_loopback())
    return Status::error("MASTER_ADDR is '" + options.place.address +
                         "', which others can reach; set VEELINE_TOKEN, to "
                         "the same secret for all ranks");
  if (rank == 0)
    warnOfLoopback(options.place.address, endpoint);
  if (rank > 0 && !endpoint.address().is_loopback()) {
    // This sends nothing, but tells which own address leads to rank 0.
    asio::ip::udp::socket probe(io);
    probe.connect({endpoint.address(), endpoint.port()}, error);
    if (!error)
      endpoint.address(probe.local_endpoint().address());
  }
  if (rank > 0 || options.sharePort)
    endpoint.port(0);
  std::string where = nameOf(endpoint);
  bindTo(acceptor, endpoint, options.place.port, error);
  if (!error)
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return Status::error(
        nameOf(rank) + " cannot listen at " + where + ": " + error.message() +
        (error == asio::error::address_in_use ? ", perhaps by another run"
                                              : "") +
        "; MASTER_ADDR and MASTER_PORT choose another place");
  if (!options.sharePort)
    return Status::success();
  if (rank == 0)
    port = acceptor.local_endpoint().port();
  return options.sharePort(port);
}

asio::awaitable<void> Meeting::acceptAll() {
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a pointer of asio's.
  for (;;) {
    asio::error_code error;
    tcp::socket socket = co_await acceptor.async_accept(
        asio::redirect_error(asio::use_awaitable, error));
    if (!acceptor.is_open())
      co_return;
    if (!error) {
      asio::co_spawn(io, receive(std::move(socket)), asio::detached);
      continue;
    }
    dropSilent();
    asio::steady_timer timer(io, crowdTime);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

/// Drops the half of the silent connections that has been silent for longest.
void Meeting::dropSilent() {
  for (size_t count = (silent.size() + 1) / 2; count > 0; --count) {
    asio::error_code ignored;
    if (std::shared_ptr<tcp::socket> socket = silent.front().lock())
      socket->shutdown(tcp::socket::shutdown_both, ignored);
    silent.pop_front();
  }
}

void Meeting::drop(tcp::socket &socket, const char *why) {
  if (numDrops++ < maxDropsTold)
    std::fprintf(stderr, "veeline: rank %d: dropped a connection from %s: %s\n",
                 rank, describe(socket).c_str(), why);
  else if (numDrops == maxDropsTold + 1)
    std::fprintf(stderr,
                 "veeline: rank %d: drops further connections, and says no "
                 "more of them\n",
                 rank);
  asio::error_code ignored;
  socket.close(ignored);
}

/// Compares in constant time.
bool Meeting::hasToken(const Hello &hello) const {
  char expected[sizeof(hello.token)] = {};
  std::memcpy(expected, options.token.data(),
              std::min(options.token.size(), sizeof(expected)));
  unsigned difference = 0;
  for (size_t i = 0; i < sizeof(expected); ++i)
    difference |= static_cast<unsigned char>(expected[i] ^ hello.token[i]);
  return difference == 0;
}

asio::awaitable<void> Meeting::receive(tcp::socket socket) {
  // Shared with the timer's handler, which may outlive this coroutine.
  auto shared = std::make_shared<tcp::socket>(std::move(socket));
  silent.push_back(shared);
  asio::steady_timer timer(
      io, std::min<Duration>(helloTime, inSeconds(options.timeoutSeconds / 4)));
  timer.async_wait([shared](asio::error_code error) {
    asio::error_code ignored;
    if (!error)
      shared->shutdown(tcp::socket::shutdown_both, ignored);
  });
  Hello hello = {};
  asio::error_code error;
  std::string about;
  co_await asio::async_read(*shared, asio::buffer(&hello, sizeof(hello)),
                            asio::redirect_error(asio::use_awaitable, error));
  bool isOurs = !error && std::memcmp(hello.magic, magic, sizeof(magic)) == 0;
  if (isOurs && hasToken(hello) && hello.aboutBytes <= maxTextBytes) {
    about.resize(hello.aboutBytes);
    co_await asio::async_read(*shared, asio::buffer(about),
                              asio::redirect_error(asio::use_awaitable, error));
  }
  timer.cancel();
  std::erase_if(silent,
                [&](const auto &other) { return other.lock() == shared; });
  if (result) {
    if (isOurs && !error && hasToken(hello))
      co_await tellResult(*shared);
    co_return;
  }
  if (!isOurs)
    co_return drop(*shared, "it does not speak Veeline's protocol");
  if (!hasToken(hello))
    co_return drop(*shared, "its token (VEELINE_TOKEN) is another one");
  if (error)
    co_return drop(*shared, "it ended before it had said who it is");
  if (hello.sought != rank)
    co_return drop(*shared,
                   ("it looks for " + nameOf(hello.sought) + " here").c_str());
  if (std::string why = whyStranger(*shared, about); !why.empty())
    co_return drop(*shared, why.c_str());
  if (std::string text = findDifference(hello, about); !text.empty()) {
    if (!isNamed)
      co_return co_await refuse(*shared, hello.rank, text + otherRun);
    finish(Status::error(text));
    co_return co_await tellResult(*shared);
  }
  ports[static_cast<size_t>(hello.rank)] =
      shared->remote_endpoint(error).address().to_string() + " " +
      std::to_string(hello.port);
  welcome(hello, std::move(*shared));
}

static std::string nameOfLine(const std::string &line) {
  return line.substr(0, line.find(' '));
}

static std::string firstLine(const std::string &text) {
  return text.substr(0, text.find('\n'));
}

/// Why the other end certainly belongs to another run; empty if it may belong
/// to this one.
std::string Meeting::whyStranger(const tcp::socket &socket,
                                 const std::string &theirs) const {
  std::string their = firstLine(theirs), our = firstLine(about);
  if (their != our)
    return "it is of another run: '" + their + "', not '" + our + "'";
  return options.token.empty() ? whyOfAnotherUser(socket) : "";
}

/// Turns away a process that differs, which may belong to this run or to
/// another. The run continues if the right process comes in time.
asio::awaitable<void> Meeting::refuse(tcp::socket &socket, int32_t who,
                                      std::string text) {
  if (refused.empty())
    giveUp = steady_clock::now() + (end - begin) / 4;
  refused.emplace(who, text);
  startDeadline();
  co_await answer(socket, /*isError=*/true, text);
  drop(socket, text.c_str());
}

/// Why the process that said `hello` does not fit; empty if it does.
std::string Meeting::findDifference(const Hello &hello,
                                    const std::string &about) {
  std::string who = nameOf(hello.rank);
  if (hello.isRefusal)
    return who + " cannot take part: " + about.substr(about.rfind('\n') + 1);
  if (hello.numRanks != numRanks)
    return who + " was started as one of " + std::to_string(hello.numRanks) +
           " processes, " + nameOf(rank) + " as one of " +
           std::to_string(numRanks);
  if (hello.rank < 0 || hello.rank >= numRanks || hello.rank == rank ||
      peers[static_cast<size_t>(hello.rank)].is_open())
    return "two processes were started as " + who;
  std::istringstream theirs(about), ours(this->about);
  std::string their, our;
  while (std::getline(ours, our)) {
    if (!std::getline(theirs, their))
      their.clear();
    if (their != our)
      return who + " was started with another " + nameOfLine(our) + ": '" +
             their.substr(std::min(their.size(), nameOfLine(our).size() + 1)) +
             "', " + nameOf(rank) + " with '" +
             our.substr(std::min(our.size(), nameOfLine(our).size() + 1)) + "'";
  }
  return "";
}

/// Rank 0 answers when all have come, the other ranks at once.
void Meeting::welcome(const Hello &hello, tcp::socket socket) {
  peers[static_cast<size_t>(hello.rank)] = std::move(socket);
  left.erase(hello.rank);
  if (refused.erase(hello.rank))
    startDeadline();
  if (rank != 0) {
    asio::co_spawn(
        io,
        answer(peers[static_cast<size_t>(hello.rank)], /*isError=*/false, ""),
        [this](const std::exception_ptr &) { finishIfComplete(); });
    return;
  }
  isComplete = true;
  for (int32_t i = 1; i < numRanks; ++i)
    isComplete &= peers[static_cast<size_t>(i)].is_open();
  if (isComplete)
    asio::co_spawn(io, answerAll(), asio::detached);
  else
    asio::co_spawn(io, watch(hello.rank), asio::detached);
}

/// A process that has come sends nothing before it is answered. So if there is
/// something to read, it has ended, and another one may take its place.
asio::awaitable<void> Meeting::watch(int32_t who) {
  tcp::socket &peer = peers[static_cast<size_t>(who)];
  asio::error_code error;
  co_await peer.async_wait(tcp::socket::wait_read,
                           asio::redirect_error(asio::use_awaitable, error));
  if (error || isComplete || result)
    co_return;
  left.insert(who);
  drop(peer, ("it was " + nameOf(who) + ", which has gone").c_str());
}

std::string Meeting::table() const {
  std::string text;
  for (const std::string &place : ports)
    text += place + "\n";
  return text;
}

asio::awaitable<void> Meeting::answer(tcp::socket &socket, bool isError,
                                      std::string text) {
  Welcome welcome = {};
  std::memcpy(welcome.magic, magic, sizeof(magic));
  welcome.isError = isError;
  welcome.bytes = static_cast<uint32_t>(text.size());
  std::string bytes(reinterpret_cast<const char *>(&welcome), sizeof(welcome));
  bytes += text;
  // Whoever reads the first frame notices that a peer is gone.
  asio::error_code ignored;
  co_await asio::async_write(
      socket, asio::buffer(bytes),
      asio::redirect_error(asio::use_awaitable, ignored));
}

/// Tells an error of this rank to a process that has come, or that comes when
/// it is too late to take part.
asio::awaitable<void> Meeting::tellResult(tcp::socket &socket) {
  if (!result || result->ok())
    co_return;
  co_await answer(socket, /*isError=*/true, result->message());
  ++numTold;
}

/// Tells an error to a process that may already have met all others, and then
/// reads frames.
asio::awaitable<void> Meeting::tellFailure(tcp::socket &socket) {
  Header header = {};
  header.kind = FrameKind::failure;
  header.bytes = result->message().size();
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  bytes += result->message();
  asio::error_code ignored;
  co_await asio::async_write(
      socket, asio::buffer(bytes),
      asio::redirect_error(asio::use_awaitable, ignored));
  ++numTold;
}

asio::awaitable<void> Meeting::answerAll() {
  for (int32_t i = 1; i < numRanks; ++i)
    co_await answer(peers[static_cast<size_t>(i)], /*isError=*/false, table());
  isJoined = true;
  finishIfComplete();
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// If nobody listens at a port, and the system chooses the same port for the
/// connecting socket, the socket is connected to itself.
static bool isConnectedToItself(const tcp::socket &socket) {
  asio::error_code error, otherError;
  return socket.local_endpoint(error) == socket.remote_endpoint(otherError) &&
         !error && !otherError;
}

/// Connects to the first address that answers.
static asio::awaitable<void> connect(tcp::socket &socket,
                                     const tcp::resolver::results_type &found,
                                     asio::error_code &error) {
  for (const auto &entry : found) {
    socket.close(error);
    socket.open(entry.endpoint().protocol(), error);
    // So a socket connected to itself does not keep rank 0 from its port.
    if (!error)
      socket.set_option(tcp::socket::reuse_address(true), error);
    if (!error)
      co_await socket.async_connect(
          entry.endpoint(), asio::redirect_error(asio::use_awaitable, error));
    if (!error && isConnectedToItself(socket))
      error = asio::error::connection_refused;
    if (!error)
      co_return;
  }
}

/// Tries until a process listens there; the deadline ends it.
asio::awaitable<tcp::socket> Meeting::reach(std::string host,
                                            std::string port) {
  for (;;) {
    tcp::socket socket(io);
    asio::error_code error;
    tcp::resolver resolver(io);
    auto found = resolver.resolve(host, port, error);
    if (!error)
      co_await connect(socket, found, error);
    if (!error || result)
      co_return socket;
    asio::steady_timer timer(io, retryTime);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

/// Sends a Hello and reads the Welcome. Returns false if the connection ended,
/// or if the answer is not a Welcome.
asio::awaitable<bool> Meeting::greet(tcp::socket &socket, int32_t peer,
                                     Welcome &welcome, std::string &text) {
  Hello hello = {};
  std::memcpy(hello.magic, magic, sizeof(magic));
  std::memcpy(hello.token, options.token.data(),
              std::min(options.token.size(), sizeof(hello.token)));
  hello.rank = rank;
  hello.sought = peer;
  hello.numRanks = numRanks;
  hello.isRefusal = !options.refusal.empty();
  hello.aboutBytes = static_cast<uint32_t>(about.size());
  hello.port = acceptor.local_endpoint().port();
  std::string bytes(reinterpret_cast<const char *>(&hello), sizeof(hello));
  bytes += about;
  asio::error_code error;
  co_await asio::async_write(socket, asio::buffer(bytes),
                             asio::redirect_error(asio::use_awaitable, error));
  if (!error)
    co_await asio::async_read(socket, asio::buffer(&welcome, sizeof(welcome)),
                              asio::redirect_error(asio::use_awaitable, error));
  if (error || std::memcmp(welcome.magic, magic, sizeof(magic)) != 0 ||
      welcome.bytes > maxTextBytes)
    co_return false;
  text.resize(welcome.bytes);
  co_await asio::async_read(socket, asio::buffer(text),
                            asio::redirect_error(asio::use_awaitable, error));
  co_return !error;
}

asio::awaitable<void> Meeting::join() {
  std::vector<std::string> places = {options.place.address + " " +
                                     std::to_string(port)};
  for (int32_t peer = 0; peer < rank && !result; ++peer) {
    const std::string place = places[static_cast<size_t>(peer)];
    size_t blank = place.find(' ');
    sought = peer;
    soughtAt = place;
    tcp::socket socket =
        co_await reach(place.substr(0, blank), place.substr(blank + 1));
    Welcome welcome = {};
    std::string text;
    bool isAnswered = co_await greet(socket, peer, welcome, text);
    if (result)
      co_return;
    std::string who = nameOf(peer) + " at " + nameOfPlace(place);
    if (!isAnswered)
      co_return finish(Status::error(
          who + " has closed the connection; is another run, or something "
                "else, listening there, or is its VEELINE_TOKEN another "
                "one?"));
    if (welcome.isError)
      co_return finish(Status::error(text));
    peers[static_cast<size_t>(peer)] = std::move(socket);
    if (peer > 0)
      continue;
    std::istringstream lines(text);
    places.clear();
    for (std::string line; std::getline(lines, line);)
      places.push_back(line);
    if (places.size() != static_cast<size_t>(numRanks))
      co_return finish(Status::error(who + " does not know all ranks"));
  }
  isJoined = true;
  finishIfComplete();
}

//===----------------------------------------------------------------------===//
// The whole meeting
//===----------------------------------------------------------------------===//

void Meeting::finishIfComplete() {
  if (!isJoined || result)
    return;
  for (int32_t i = 0; i < numRanks; ++i)
    if (i != rank && !peers[static_cast<size_t>(i)].is_open())
      return;
  finish(Status::success());
}

void Meeting::finish(Status status) {
  if (result)
    return;
  result = std::move(status);
  deadline.cancel();
  asio::error_code ignored;
  // Nobody knows where a rank listens before rank 0 has answered it.
  if (result->ok() || (rank > 0 && !peers[0].is_open())) {
    acceptor.close(ignored);
    return;
  }
  // This tells the error to all that have come; `receive` tells it to those
  // that still come. So they do not blame this rank for an error that it has
  // found in another one.
  for (tcp::socket &socket : peers)
    if (socket.is_open())
      asio::co_spawn(io, rank > 0 ? tellFailure(socket) : tellResult(socket),
                     asio::detached);
}

std::string Meeting::missing() const {
  std::string ranks;
  int32_t count = 0;
  for (int32_t i = 0; i < numRanks; ++i)
    if (i != rank && !peers[static_cast<size_t>(i)].is_open()) {
      ranks += (count ? ", " : "") + std::to_string(i);
      ++count;
    }
  return (count == 1 ? "rank " : "ranks ") + ranks;
}

void Meeting::noteLeft() {
  for (int32_t i = 0; i < numRanks; ++i)
    if (peers[static_cast<size_t>(i)].is_open() &&
        hasEnded(peers[static_cast<size_t>(i)]))
      left.insert(i);
}

std::string Meeting::whoLeft() const {
  std::string text;
  for (int32_t i : left)
    text += "; " + nameOf(i) + " had come, and has gone";
  return text;
}

std::string Meeting::inVain() const {
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%g", options.timeoutSeconds);
  std::string who = missing(),
              where = options.place.address + " " + std::to_string(port);
  // Ranks that it has not tried yet need not be missing.
  if (rank > 0 && !isJoined && sought > 0) {
    who = nameOf(sought);
    where = soughtAt;
  }
  return nameOf(rank) + " waited " + seconds + " s in vain for " + who +
         " at " + nameOfPlace(where) + whoLeft() +
         (isNamed || !left.empty() ? "" : otherRun);
}

void Meeting::startDeadline() {
  deadline.expires_at(refused.empty() ? end : std::min(end, giveUp));
  deadline.async_wait([this](asio::error_code error) {
    if (error)
      return;
    noteLeft();
    finish(Status::error(refused.empty() ? inVain() : refused.begin()->second));
  });
}

Status Meeting::wait() {
  end = begin + inSeconds(options.timeoutSeconds);
  startDeadline();
  asio::co_spawn(io, acceptAll(), asio::detached);
  if (rank > 0)
    asio::co_spawn(io, join(), asio::detached);
  else if (!options.refusal.empty())
    finish(Status::error("rank 0 cannot take part: " + options.refusal));
  while (!result) {
    io.run_one_for(interruptTime);
    if (!result && options.isInterrupted && options.isInterrupted())
      finish(Status::error(
          nameOf(rank) + " was interrupted while it waited for " + missing()));
  }
  // The others hear of a refusal when they come, so this rank waits for them.
  const Time until =
      steady_clock::now() + (options.refusal.empty()
                                 ? farewellTime
                                 : inSeconds(options.timeoutSeconds));
  while (!result->ok() && numTold < numRanks - 1 && io.run_one_until(until))
    ;
  return *result;
}

Expected<std::vector<tcp::socket>> Meeting::run(asio::io_context &target) {
  Status status = listen();
  if (status.ok())
    status = wait();
  if (!status.ok())
    return status;
  std::vector<tcp::socket> sockets;
  for (tcp::socket &peer : peers) {
    tcp::socket &socket = sockets.emplace_back(target);
    if (!peer.is_open())
      continue;
    tcp protocol = peer.local_endpoint().protocol();
    socket.assign(protocol, peer.release());
    socket.set_option(tcp::no_delay(true));
  }
  return sockets;
}

static std::atomic<bool> hasBegun = false;

bool net::hasMet() { return hasBegun; }

Expected<std::vector<tcp::socket>> net::meet(asio::io_context &io,
                                             const MeetingOptions &options) {
  hasBegun = true;
  // A connection may end at any time; calls on it then throw.
  try {
    return Meeting(options).run(io);
  } catch (const asio::system_error &error) {
    return Status::error(std::string("a connection failed: ") + error.what());
  }
}
