# SPDX-License-Identifier: GPL-2.0-only
"""Settings of Sphinx for the documentation site; `make docs` builds it. See Documentation/sphinx/build."""
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "Documentation/sphinx"))

project = "closnet"
author = "The closnet authors"
copyright = "the closnet authors; GPL-2.0-only"
version = release = (TOP / "VERSION").read_text(encoding="utf-8").strip()

extensions = ["closnet_site"]
root_doc = "index"
source_suffix = {".rst": "restructuredtext"}
exclude_patterns = ["man", "netlink", "sphinx"]

# "--" is an option, not a dash
smartquotes = False
# what follows "::" is mostly output
highlight_language = "none"

html_theme = "furo"
html_title = "closnet " + version
html_static_path = ["sphinx/static"]
html_css_files = ["closnet.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
# the same input gives the same bytes
html_last_updated_fmt = None
