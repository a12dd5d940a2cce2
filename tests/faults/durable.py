"""What a power cut leaves, at the worst, of a sequence of calls that faults.c recorded.

A file has the content of its last fsync, a folder the names of its last fsync: no write and no rename counts before. A
folder that is made counts at once, since journals bring it to the disk with the first file in it.
"""
import os
import pathlib


class File:
    def __init__(self, content=b""):
        self.content = content
        self.durable = content


class Disk:
    def __init__(self, root):
        """As the folder `root` is now, all of it durable."""
        self.names = {str(path): File(path.read_bytes()) for path in pathlib.Path(root).rglob("*") if path.is_file()}
        self.durable_names = dict(self.names)
        self.open = {}  # by file descriptor

    def call(self, line):
        """Does what a line of the record says."""
        _, name, descriptor, path, detail = line.split("\t")
        file = self.open.get(descriptor)
        if name == "open":
            is_file = path in self.names or not os.path.isdir(path)
            self.open[descriptor] = self.names.setdefault(path, File()) if is_file else path
            if detail == "t":
                self.open[descriptor].content = b""
        elif name == "write":
            file.content += bytes.fromhex(detail)
        elif name == "ftruncate":
            file.content = file.content[:int(detail)]
        elif name == "rename":
            self.names[detail] = self.names.pop(path)
        elif name == "unlink":
            del self.names[path]
        elif name == "fsync" and isinstance(file, File):
            file.durable = file.content
        elif name == "fsync":
            self._sync_folder(file)

    def _sync_folder(self, folder):
        def is_in(path):
            return os.path.dirname(path) == folder
        elsewhere = {path: file for path, file in self.durable_names.items() if not is_in(path)}
        self.durable_names = elsewhere | {path: file for path, file in self.names.items() if is_in(path)}

    def now(self):
        """What a process would read: {path: content}."""
        return {path: file.content for path, file in self.names.items()}

    def after_power_cut(self):
        return {path: file.durable for path, file in self.durable_names.items()}
