"""A broker's HTTP API (port 9644) in memory, for the operator on a real API server. Mutations ask for the token."""

import http.server
import json
import threading
import urllib.parse


class FakeBroker:
    def __init__(self, address):
        self.cluster_id, self.secret = "", None
        self.index, self.topics, self.listeners = 10, {}, {}
        self.unauthorized = 0
        self.lock = threading.Lock()
        broker = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, body=None):
                data = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def handle_any(self):
                url = urllib.parse.urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                with broker.lock:
                    if self.command != "GET" and self.headers.get("Authorization") != f"Bearer {broker.secret}":
                        broker.unauthorized += 1
                        return self.answer(401, {"error": "CLUSTER_AUTHORIZATION_FAILED", "message": "wrong token"})
                    self.answer(*broker.act(self.command, url.path, urllib.parse.parse_qs(url.query),
                                            json.loads(body) if body else {}))

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any

            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer((address, 9644), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def put_topic(self, name, partitions, configs):
        self.index += 1
        self.topics[name] = {"name": name, "id": f"id-{self.index:019d}", "partitions": partitions, "replicationFactor": 1,
                             "configs": configs, "createdIndex": self.index, "changedIndex": self.index}
        return self.topics[name]

    def act(self, method, path, query, body):
        parts = [urllib.parse.unquote(part) for part in path.strip("/").split("/")[1:]]
        if parts == ["cluster"]:
            return 200, self.cluster()
        if parts[0] == "listeners" and method == "PUT":
            self.listeners[parts[1]] = {"name": parts[1], "host": body["host"], "port": body["port"]}
            self.index += 1
            return 200, self.listeners[parts[1]]
        if parts == ["topics"]:
            return self.create(body) if method == "POST" else self.page(query)
        if parts[0] == "topics" and len(parts) == 2:
            return self.topic(method, parts[1], query, body)
        return 404, {"error": "NOT_FOUND", "message": path}

    def cluster(self):
        founded = 0 if self.cluster_id else -1
        return {"clusterId": self.cluster_id, "version": "0.1.0", "brokerId": 0, "controllerId": founded,
                "metadataIndex": self.index, "replicationFactor": 1,
                "brokers": [{"id": 0, "incarnation": "life-1", "alive": True, "draining": False,
                             "listeners": list(self.listeners.values())}],
                "braids": [{"id": 0, "leader": founded, "term": 1, "commitIndex": self.index, "appliedIndex": self.index,
                            "visibleIndex": self.index, "replicas": [0]}]}

    def create(self, body):
        if body["replicationFactor"] > 1:
            return 422, {"error": "INVALID_REPLICATION_FACTOR", "message": "one copy only: set replicationFactor to 1"}
        if any(key.startswith("bogus") for key in body["configs"]):
            return 422, {"error": "INVALID_CONFIG", "message": "there is no such config: remove it"}
        if body["name"] in self.topics:
            return 409, {"error": "TOPIC_ALREADY_EXISTS", "message": body["name"]}
        return 201, self.put_topic(body["name"], body["partitions"], dict(body["configs"]))

    def page(self, query):
        after, limit = query.get("after", [""])[0], int(query.get("limit", ["100"])[0])
        names = sorted(name for name in self.topics if name > after)
        page = {"metadataIndex": self.index, "topics": [self.topics[name] for name in names[:limit]]}
        return 200, page | ({"next": names[limit - 1]} if len(names) > limit else {})

    def topic(self, method, name, query, body):
        topic = self.topics.get(name)
        if topic is None:
            return 404, {"error": "UNKNOWN_TOPIC_OR_PARTITION", "message": name}
        if (query.get("id", [None])[0] or body.get("id") or topic["id"]) != topic["id"]:
            return 409, {"error": "UNKNOWN_TOPIC_ID", "message": name}
        if method == "GET":
            return 200, topic
        self.index += 1
        if method == "DELETE":
            del self.topics[name]
            return 204, None
        topic["partitions"] = body.get("partitions") or topic["partitions"]
        for key, value in body.get("configs", {}).items():
            topic["configs"].pop(key, None)
            if value is not None:
                topic["configs"][key] = value
        topic["changedIndex"] = self.index
        return 200, topic
