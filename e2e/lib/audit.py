"""What ServiceAccounts wrote, from the API server's audit log of our own Kubernetes (e2e/cluster)."""

import json

from lib.base import Skip


class Audit:
    """Events since the last look. `stages`: RequestReceived comes before the write, ResponseComplete after it."""

    def __init__(self, platform, account):
        if platform.audit_log is None:
            raise Skip(f"{platform.name} has no audit log that can be read")
        self.account = account
        self.log = open(platform.audit_log, encoding="utf-8")  # noqa: SIM115 - closed by close()
        self.log.seek(0, 2)
        self.rest = ""

    def close(self):
        self.log.close()

    def writes(self, stage="ResponseComplete"):
        """["patch topics/status crud", ...] of the account, but for its Lease."""
        self.rest += self.log.read()
        *lines, self.rest = self.rest.split("\n")
        found = []
        for line in lines:
            event = json.loads(line)
            target = event.get("objectRef", {})
            if event["stage"] != stage or event["user"]["username"] != self.account or target.get("resource") == "leases":
                continue
            kind = "/".join(filter(None, [target.get("resource"), target.get("subresource")]))
            found.append(f"{event['verb']} {kind} {target.get('name', '')}")
        return found
