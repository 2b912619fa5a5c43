# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A page in headless Chromium, with mouse and keys, by the DevTools protocol over two pipes."""

import base64
import fcntl
import json
import os
import subprocess


class BrowserError(Exception):
    pass


class Browser:
    """`command` starts Chromium. Times out with it."""

    def __init__(self, command):
        to_read, self.output = os.pipe()
        self.input, to_write = os.pipe()
        # Away from 3 and 4, where Chromium wants them.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
        os.close(to_read)
        os.close(to_write)

        def give():
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen([*command, "--remote-debugging-pipe"], preexec_fn=give, close_fds=False,
                                        stderr=subprocess.DEVNULL)
        for end in ends:
            os.close(end)
        self.rest, self.number, self.session, self.events = b"", 0, None, []

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        # It may end before it answers.
        try:
            self.session = None
            self.call("Browser.close")
        except BrowserError:
            pass
        os.close(self.output)
        self.process.wait()
        os.close(self.input)

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.input, 1 << 20)
            if not more:
                raise BrowserError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def open(self, address, width=1200, height=800, scale=1):
        """Opens a page; what it complained about is in `problems`."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        self.events.clear()
        # Otherwise an address that differs after the # alone would load nothing.
        self.call("Page.navigate", url="about:blank")
        self.wait_for("Page.loadEventFired")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")
        self.settle()

    def problems(self):
        """Errors of the page, and what it asked for from elsewhere."""
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
            elif event.get("method") == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    found.append(f"asks for {url}")
        return found

    def run(self, script):
        """The value of an expression, or of its promise."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def settle(self):
        """Until two frames have been drawn."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        for number in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, x, y, button="left", buttons=1, clickCount=number)
        self.settle()

    def drag(self, start, end, steps=4):
        self.mouse("mousePressed", *start, button="left", buttons=1, clickCount=1)
        for step in range(1, steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(start, end))
            self.mouse("mouseMoved", x, y, button="left", buttons=1)
        self.mouse("mouseReleased", *end, button="left", clickCount=1)
        self.settle()

    # Keys whose names are not what they type.
    CODES = {"Escape": 27, "Enter": 13, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}

    def key(self, name):
        shown = {} if name in self.CODES else {"text": name}
        code = {"windowsVirtualKeyCode": self.CODES[name]} if name in self.CODES else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, **code, **shown)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, **code)
        self.settle()

    def type(self, text):
        for letter in text:
            self.key(letter)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.settle()

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
