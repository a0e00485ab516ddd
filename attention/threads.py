"""Work that threads share."""

from _thread import start_new_thread
from queue import SimpleQueue


def run_in_threads(work, tasks, workspaces):
    """Call work(tasks, workspace) in a thread for each workspace; the caller is one.

    `tasks` iterates over what no other thread has taken yet. An error in any thread
    is raised here.
    """
    queue, done = SimpleQueue(), SimpleQueue()
    for task in [*tasks, *[None] * len(workspaces)]:
        queue.put(task)

    def work_and_report(workspace):
        try:
            done.put(work(iter(queue.get, None), workspace))
        except BaseException as error:  # for the one who waits
            done.put(error)

    # To start a threading.Thread is to wait until it runs: too long for a short input.
    own, *others = workspaces
    for workspace in others:
        start_new_thread(work_and_report, (workspace,))
    work(iter(queue.get, None), own)
    for error in (done.get() for _ in others):
        if error:
            raise error
