"""Receives the messages of a webhook: the same as webhook-receiver.ts, in Python.

It verifies each signature with the library of Standard Webhooks, and handles each change once: the
service repeats a message until it gets a 2xx response, so a change can come again.

    pip install standardwebhooks
    WEBHOOK_SECRETS=whsec_... python3 webhook-receiver.py

Environment: WEBHOOK_SECRETS, one secret, or two with a comma during a rotation; PORT; and SEQ_FILE,
where it stores the number of the last change. A program with a database stores this number in the
transaction in which it handles the change.
"""

import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

WEBHOOKS = [Webhook(secret) for secret in os.environ["WEBHOOK_SECRETS"].split(",")]
FILE = os.environ.get("SEQ_FILE", "webhook-seq")
BODY_BYTES_MAX = 100_000  # The service sends at most 20 kB.


def verify(body, headers):
    """Returns the message if one of the secrets signed it."""
    for webhook in WEBHOOKS:
        try:
            return webhook.verify(body, headers)
        except (WebhookVerificationError, ValueError) as error:
            reason = error
    raise WebhookVerificationError(str(reason))


def read_seq():
    if not os.path.exists(FILE):
        return 0
    with open(FILE, encoding="utf-8") as file:
        return int(file.read())


def store_seq(seq):
    """Replacing is atomic, so a crash leaves the old number or the new one."""
    with open(FILE + ".new", "w", encoding="utf-8") as file:
        file.write(str(seq))
        file.flush()
        os.fsync(file.fileno())
    os.replace(FILE + ".new", FILE)


def handle(change):
    after = change["after"]
    left = "removed" if after is None else after["quantity"]
    # Python's integers have any number of digits, so a 64-bit id stays exact.
    print(f"change {change['seq']}: pet {change['petId']}, {left}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # A sender that stops in the middle must not block the next one.

    def do_POST(self):
        self.send_response(self.receive())
        self.end_headers()

    def receive(self):
        """Returns the status of the response. The service sends the message again unless it is 2xx."""
        length = int(self.headers.get("content-length", "0"))
        body = self.rfile.read(min(length, BODY_BYTES_MAX + 1)) if length > 0 else b""
        if len(body) > BODY_BYTES_MAX:
            return 413
        try:
            message = verify(body, dict(self.headers))
        except WebhookVerificationError as error:
            print(f"rejected: {error}", flush=True)
            return 400
        # Messages of other types have no changes.
        for change in message["data"].get("changes", []):
            if change["seq"] > read_seq():
                handle(change)
                store_seq(change["seq"])
        return 204


# One request at a time, so that changes are handled in order.
server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
print(f"listening on http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
