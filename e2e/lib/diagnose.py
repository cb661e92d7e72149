"""What a person would look at when a promise does not hold: written to files, the most telling part printed."""

from lib.base import Broken


def attempt(action):
    try:
        return action()
    except (Broken, OSError) as error:
        return f"(not to be had: {error})"


def collect(kube, namespaces, folder):
    """Files in `folder`; returns the lines worth printing."""
    folder.mkdir(parents=True, exist_ok=True)

    def save(name, *arguments):
        text = attempt(lambda: kube.kubectl(*arguments, seconds=30, ok=None))
        (folder / f"{name}.txt").write_text(text)
        return text

    save("nodes", "get", "nodes", "-o", "wide")
    told = []
    for namespace in sorted(namespaces):
        told.append(save(f"{namespace}-all", "-n", namespace, "get", "pods,sts,deploy,svc,pvc,cm,bc,bpool,bt", "-o", "wide"))
        save(f"{namespace}-kinds", "-n", namespace, "get", "bc,bpool,bt", "-o", "yaml")
        save(f"{namespace}-describe", "-n", namespace, "describe", "bc,bpool,bt,sts,pods,pvc")
        told.append(save(f"{namespace}-events", "-n", namespace, "get", "events", "--sort-by=.lastTimestamp")[-3000:])
        for pod in attempt(lambda name=namespace: kube.list("pods", name)) or []:
            if not isinstance(pod, dict):
                continue
            name = pod["metadata"]["name"]
            text = save(f"{namespace}-log-{name}", "-n", namespace, "logs", "--all-containers", "--tail=2000", name)
            save(f"{namespace}-log-{name}-previous", "-n", namespace, "logs", "--previous", "--tail=500", name)
            told.append(f"--- {name}, last words:\n" + "\n".join(text.splitlines()[-8:]))
    return "\n".join(told)
