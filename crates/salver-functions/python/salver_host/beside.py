"""Modules beside a file, which count as parts of it."""

import ast
import os
import sys

# Of more modules beside a file the server does not look at the rest.
_BESIDE = 500


def files(path, tree):
    """The files of modules that are imported from the folder of a file, also by functions that nobody has called yet:
    when one changes, all is loaded again."""
    folder = os.path.dirname(path)
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    waiting = [os.path.abspath(each) for each in files if isinstance(each, str)]
    waiting += _imported(tree, folder, folder)
    found = {path}
    while waiting and len(found) <= _BESIDE:
        file = waiting.pop()
        if file in found or not _is_in(file, folder):
            continue
        found.add(file)
        try:
            with open(file, "rb") as source:
                waiting += _imported(ast.parse(source.read()), os.path.dirname(file), folder)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
    return sorted(found - {path})


def _is_in(file, folder):
    """Whether a file is in a folder, and no package that was installed there."""
    below = file[len(folder) + 1:].split(os.sep)
    return file.startswith(folder + os.sep) and not {"site-packages", "dist-packages"}.intersection(below)


def _imported(tree, own, folder):
    """The files of what a module in the directory `own` imports from the folder of the file."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            base, names = folder, [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = os.path.normpath(os.path.join(own, *[os.pardir] * (node.level - 1))) if node.level else folder
            within = f"{node.module}." if node.module else ""
            names = [within[:-1], *(within + each.name for each in node.names)]
        else:
            continue
        for place in (os.path.join(base, *name.split(".")) for name in names):
            found += filter(os.path.isfile, (f"{place}.py", os.path.join(place, "__init__.py")))
    return found
