"""Usage: lsp_editor_goes.py MODEL

Editors that go away: each closes what it sends by, what it reads, or both, at some point of a session with veeline-lsp-server. The server and
the process that it starts have to be gone in a few seconds.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

LIMIT = 20  # seconds, of a machine that has much else to do
text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
uri = pathlib.Path(sys.argv[1]).resolve().as_uri()


def message(method, params, **more):
    content = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
    return b"Content-Length: %d\r\n\r\n" % len(content) + content


INITIALIZE = message("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, id=1)
OPEN = message("initialized", {}) + message(
    "textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": text}})
HOVER = message("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}}, id=2)


def is_there(pid):
    """Whether a process runs. One that has ended and whose parent has not asked for its status does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def wait_until(done):
    end = time.monotonic() + LIMIT
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def read_answer(stream):
    """Up to the end of one message."""
    length = 0
    while line := stream.readline().strip():
        length = int(line.rpartition(b":")[2])
    return stream.read(length)


def start():
    """The server, and the process that it has started."""
    server = subprocess.Popen(["veeline-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)
    if not wait_until(lambda: children(server.pid)):
        sys.exit("the server starts no process")
    return server, children(server.pid)[0]


def send(server, data):
    """Whether the server still took it."""
    try:
        server.stdin.write(data)
        return True
    except BrokenPipeError:
        return False


def go(when, sent, answers, closed, then=b""):
    """An editor that sends something, reads so many answers, and closes streams; what it sends `then` nobody answers."""
    server, child = start()
    send(server, sent)
    reader = os.fdopen(os.dup(server.stdout.fileno()), "rb")
    for _ in range(answers):
        read_answer(reader)
    reader.close()
    for name in closed:
        getattr(server, name).close()
    if then:
        send(server, then)
    gone = wait_until(lambda: server.poll() is not None and not is_there(child))
    print(f"{when}, {' and '.join(closed)} closed: {'gone' if gone else f'server {server.poll()}, child {is_there(child)}'}")
    for pid in [] if gone else [server.pid, child]:
        if is_there(pid):
            os.kill(pid, 9)
    for stream in (server.stdin, server.stdout):
        stream.close()
    server.wait()


def server_ends():
    """The process that the relay has started goes first; the editor keeps both ends open."""
    server, child = start()
    os.kill(child, 15)
    print("its own server ended:", "gone" if wait_until(lambda: server.poll() is not None) else "it waits", "code", server.poll())
    server.stdin.close()
    server.stdout.close()
    server.wait()


BOTH = ("stdin", "stdout")
for streams in (("stdin",), BOTH):
    go("at once", b"", 0, streams)
    go("in a header", INITIALIZE[:10], 0, streams)
    go("in a message", INITIALIZE[:60], 0, streams)
    go("before an answer", INITIALIZE, 0, streams)
    go("after an answer", INITIALIZE, 1, streams)
    go("with a file open", INITIALIZE + OPEN, 2, streams)
    go("with a question asked", INITIALIZE + OPEN + HOVER, 1, streams)
# Nobody reads, and the editor still writes: the next answer has no reader.
go("before an answer", b"", 0, ("stdout",), then=INITIALIZE)
go("with a file open", INITIALIZE + OPEN, 2, ("stdout",), then=HOVER)
server_ends()
