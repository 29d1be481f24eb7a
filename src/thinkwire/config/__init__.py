"""Settings on a machine: the user's file, a project's file, profiles."""

from thinkwire.config.files import (
    PROJECT_FILE,
    change_file,
    file_layer,
    load_settings,
    project_file,
    user_file,
    working_folder,
)
from thinkwire.config.profiles import ProfileEntry, Profiles
from thinkwire.config.read_toml import read_values

__all__ = [
    "PROJECT_FILE",
    "ProfileEntry",
    "Profiles",
    "change_file",
    "file_layer",
    "load_settings",
    "project_file",
    "read_values",
    "user_file",
    "working_folder",
]
