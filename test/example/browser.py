#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: browser.py BROWSER PROFILE URL

Opens a page in a headless Chromium, over its debugging pipe, and does what it reads, line by line:
`screenshot FILE`, or an expression of JavaScript, which is asked until it is true. Answers "ok" to each.
"""
import base64
import json
import os
import subprocess
import sys
import time

OPTIONS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --remote-debugging-pipe --window-size=900,640""".split()


class Browser:
    def __init__(self, program, profile, url):
        commands, self.to_browser = os.pipe()
        self.from_browser, answers = os.pipe()

        def as_it_expects():  # commands on 3, answers on 4
            spare = os.dup(commands), os.dup(answers)
            os.dup2(spare[0], 3)
            os.dup2(spare[1], 4)

        self.process = subprocess.Popen(
            [program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            close_fds=False, preexec_fn=as_it_expects, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)
        self.unread = b""
        self.number = 0
        self.session = None
        target = self.call("Target.createTarget", url=url)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def read(self):
        while b"\0" not in self.unread:
            piece = os.read(self.from_browser, 65536)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.unread += piece
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def is_true(self, expression):
        try:
            answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        except RuntimeError as problem:
            if "navigated" in str(problem):  # to another page, where it is asked again
                return False
            raise
        return answer["result"].get("value") is True

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


def main():
    browser = Browser(*sys.argv[1:4])
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "screenshot":
            browser.screenshot(rest)
        else:
            while not browser.is_true(line):
                time.sleep(0.05)
        print("ok", flush=True)
    browser.session = None
    browser.call("Browser.close")
    browser.process.wait()


main()
