"""The programs of `device_peers.py` in other languages, a module for each."""
