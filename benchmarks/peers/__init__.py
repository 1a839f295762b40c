"""Other clients, each in a process of an environment of its own, for the measurements that set them side by side.

`environment` builds that environment, `peer` starts the processes, `child` is what runs in them, `scores` is the table.
"""
