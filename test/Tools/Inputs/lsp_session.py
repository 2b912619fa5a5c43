"""Usage: lsp_session.py MODEL

A session with veeline-lsp-server: opens a file, points at ops, goes to a definition, asks for completions, and breaks the file.
"""

import json
import pathlib
import subprocess
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
uri = pathlib.Path(sys.argv[1]).resolve().as_uri()
server = subprocess.Popen(["veeline-lsp-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
count = 0


def send(method, params, **more):
    content = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
    server.stdin.flush()


def receive():
    length = 0
    while (line := server.stdout.readline().strip()):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(server.stdout.read(length))


def ask(method, params):
    """The result of a request."""
    global count
    count += 1
    send(method, params, id=count)
    while "id" not in (answer := receive()):
        pass
    return answer.get("result")


def diagnostics():
    while (message := receive()).get("method") != "textDocument/publishDiagnostics":
        pass
    return message["params"]["diagnostics"]


def at(word, after=0):
    """The place of a word in the file."""
    offset = text.index(word) + after
    line = text.count("\n", 0, offset)
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": offset - text.rfind("\n", 0, offset) - 1}}


about = ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
print(about["capabilities"]["hoverProvider"], about["serverInfo"]["name"], about["serverInfo"]["version"])
send("initialized", {})
send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": text}})
print("errors:", len(diagnostics()))
print("hover:", json.dumps(ask("textDocument/hover", at("pipe.boundary", 6))["contents"]["value"]))
print("of another dialect:", json.dumps(ask("textDocument/hover", at("arith.subf", 2))["contents"]["value"]))
print("of a value:", json.dumps(ask("textDocument/hover", at("%h,", 1))["contents"]["value"]))
print("of nothing:", ask("textDocument/hover", at("\n", 0)))
definition = ask("textDocument/definition", at("%h,", 1))
print("definition: line", definition[0]["range"]["start"]["line"], "of", at("%h = ")["position"]["line"])
print("symbols:", *(symbol["name"] for symbol in ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})))
broken = text.replace("%h = pipe.boundary %a0 : tensor<8x16xf32>", "%h = pipe.boundary %a0 : tensor<8x17xf32>")
send("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": broken}]})
for error in diagnostics():
    print(f"error at line {error['range']['start']['line'] - at('%h = ')['position']['line']} of the op:", error["message"])
    for note in error.get("relatedInformation", []):
        print("note:", note["message"])
script = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    transform.pipe.cut %module : !transform.any_op
    transform.yield
  }
}
"""
script_uri = f"{uri}.script.mlir"
send("textDocument/didOpen", {"textDocument": {"uri": script_uri, "languageId": "mlir", "version": 1, "text": script}})
print("errors of the script:", len(diagnostics()))
place = {"textDocument": {"uri": script_uri}, "position": {"line": 2, "character": 20}}
print("op of a script:", json.dumps(ask("textDocument/hover", place)["contents"]["value"]))
# Found by a verifier, and not by the parser.
wrong = script.replace("%module : !transform", "%module {behind = 1} : !transform")
send("textDocument/didChange", {"textDocument": {"uri": script_uri, "version": 2}, "contentChanges": [{"text": wrong}]})
for error in diagnostics():
    print("error of a verifier:", error["message"], [note["message"] for note in error.get("relatedInformation", [])])
# With a note of its own.
twice = "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n" * 2
send("textDocument/didChange", {"textDocument": {"uri": script_uri, "version": 3}, "contentChanges": [{"text": twice}]})
for error in diagnostics():
    print("error with a note:", error["message"], [note["message"] for note in error.get("relatedInformation", [])])
send("textDocument/didChange", {"textDocument": {"uri": uri, "version": 3}, "contentChanges": [{"text": text}]})
print("errors:", len(diagnostics()))
ask("shutdown", None)
send("exit", None)
print("exit code", server.wait())
