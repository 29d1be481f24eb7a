"""The tools that every session has."""

from __future__ import annotations

from pathlib import Path

from thinkwire.session.tools.command import command_tools
from thinkwire.session.tools.files import file_tools
from thinkwire.session.tools.search import search_tools
from thinkwire.session.tools.tool import Spec
from thinkwire.session.tools.workspace import Workspace


def builtin_tools(workspace: Workspace | Path | str) -> tuple[Spec, ...]:
    """Reading, finding, writing and editing files of a workspace, and running commands in it."""
    space = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
    read_file, write_file, edit_file = file_tools(space)
    return (read_file, *search_tools(space), write_file, edit_file, *command_tools(space))
