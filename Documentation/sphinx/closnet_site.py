# SPDX-License-Identifier: GPL-2.0-only
"""What the documentation site adds to Sphinx:

* the directive "experiments": pages of that folder, shown as cards with picture, question and answer
* the directive "claims": a table with the number of claims per verdict, counted in claims-NAME.csv of that folder
* the language "session" of code blocks: lines after the prompts "$ ", "# " and "lab> " are commands, which
  selftests/docs/tutorials.py runs; the other lines are output
* links: "tc-ndp(8)" in a text, ``Documentation/concepts/lab.rst``, and `this <lab.rst>`_, become links to these pages
"""
import csv
import html
import os
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from pygments.lexers.shell import BashLexer, ShellSessionBaseLexer
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.osutil import relative_uri

TITLE = re.compile(r"^(?:[=#*]{3,}\n)?([^\n=.:][^\n]*)\n[=#*]{3,}$", re.M)
IMAGE = re.compile(r"^\.\. (?:image|figure):: (\S+)(?:\n +:alt: (.*))?", re.M)
PAGE = re.compile(r"^(?:Documentation/)?((?:tutorials|howto|concepts|reference|experiments)/[\w/-]+)\.(?:rst|md)$")


class SessionLexer(ShellSessionBaseLexer):
    """A session of `lab shell` or of a shell"""
    name = "session"
    aliases = ["session"]
    _innerLexerCls = BashLexer
    _ps1rgx = re.compile(r"^((?:lab>|[$#])\s)(.*\n?)")
    _ps2 = "> "


def plain(text):
    """TEXT in one line, without the marks of rst"""
    return " ".join(re.sub(r":\w+:`([^`<]*?)(?: <[^>]*>)?`|`([^`<]+?)(?: <[^>]*>)?`_*|[`*]|\[(\d+)\]_",
                           lambda m: m[1] or m[2] or "", text).split())


class Card:
    """What the gallery shows of a page: title, question and answer (its first two paragraphs), picture"""

    def __init__(self, path):
        text = path.read_text(encoding="utf-8")
        title = TITLE.search(text)
        image = IMAGE.search(text)
        body = text[title.end():] if title else text
        paragraphs = [p.strip() for p in body.split("\n\n")]
        paragraphs = [p for p in paragraphs if p and not p.startswith((".. ", ":", "|", "="))]
        self.title = title[1].strip().replace("``", "") if title else path.stem
        self.question = self.answer = ""
        if paragraphs:
            self.question = plain(re.sub(r"^\*\*Question[.:]?\*\*[.:]? *", "", paragraphs[0]))
        if len(paragraphs) > 1 and paragraphs[1].startswith("**Answer"):
            self.answer = plain(re.sub(r"^\*\*Answer[.:]?\*\*[.:]? *", "", paragraphs[1]))
        self.image, self.alt = (image[1], image[2] or "") if image else (None, "")


class experiments_gallery(nodes.General, nodes.Element):
    """Becomes the cards when the page is written"""


class Experiments(Directive):
    """.. experiments::, with the names of pages of the same folder, one a line"""
    has_content = True

    def run(self):
        env = self.state.document.settings.env
        names = [os.path.join(os.path.dirname(env.docname), name.strip()) for name in self.content if name.strip()]
        unknown = [name for name in names if name not in env.found_docs]
        if unknown:
            raise self.error("no page %s" % unknown[0])
        pictures = nodes.container(classes=["gallery-pictures"])
        gallery = experiments_gallery()
        gallery["cards"] = []
        for name in names:
            env.note_dependency(env.doc2path(name))
            card = Card(Path(env.doc2path(name)))
            gallery["cards"].append((name, card))
            if card.image:  # so that the picture is copied to the site
                picture = nodes.image(uri=card.image, alt=card.alt)
                pictures += picture
        return [gallery, pictures]


class Gallery(SphinxPostTransform):
    """The cards, with links that fit the page"""
    default_priority = 200

    def run(self, **kwargs):
        builder = self.app.builder
        here = builder.get_target_uri(self.env.docname) if builder.format == "html" else ""
        for gallery in list(self.document.findall(experiments_gallery)):
            out = ['<div class="gallery">']
            for name, card in gallery["cards"]:
                uri = relative_uri(here, builder.get_target_uri(name))
                out.append('<a class="card" href="%s">' % html.escape(uri))
                if card.image:
                    path = self.env.relfn2path(card.image, name)[0]
                    out.append('<span class="picture"><img src="%s_images/%s" alt="%s" loading="lazy"></span>' % (
                        "../" * here.count("/"), html.escape(self.env.images[path][1]), html.escape(card.alt)))
                out.append("<strong>%s</strong><span>%s</span><span>%s</span></a>" % tuple(
                    html.escape(text) for text in (card.title, card.question, card.answer)))
            gallery.replace_self(nodes.raw("", "\n".join(out + ["</div>"]), format="html"))
        for pictures in list(self.document.findall(nodes.container)):
            if "gallery-pictures" in pictures.get("classes", ()):
                pictures.parent.remove(pictures)


class Claims(Directive):
    """.. claims::, with names, one a line: of each, claims-NAME.csv has the claims, and the label claims-NAME the title"""
    has_content = True
    columns = ["source", "claim", "bar", "ours", "verdict", "seeds", "page"]
    verdicts = ["holds", "open", "**fails**", "mixed"]
    seeds = ["5", "1", "exact"]

    def run(self):
        env = self.state.document.settings.env
        counts = {}
        for name in filter(None, map(str.strip, self.content)):
            path = Path(env.doc2path(env.docname)).parent / ("claims-%s.csv" % name)
            env.note_dependency(str(path))
            verdicts = self.read(path)
            counts[":ref:`claims-%s`" % name] = [verdicts.count(verdict) for verdict in self.verdicts]
        counts["all"] = [sum(column) for column in zip(*counts.values())]
        table = [".. csv-table::", "   :header-rows: 1", "   :widths: auto", "",
                 "   claims about," + ",".join(self.verdicts + ["all"])]
        table += ["   %s,%s" % (name, ",".join(map(str, row + [sum(row)]))) for name, row in counts.items()]
        node = nodes.container()
        self.state.nested_parse(StringList(table, source=env.docname), self.content_offset, node)
        return node.children

    def read(self, path):
        """Return: verdict of each claim in PATH. Each column with a closed set of values must have one of them."""
        with open(path, encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        if head != self.columns:
            raise self.error("%s: columns are not %s" % (path.name, ", ".join(self.columns)))
        for number, row in enumerate(rows, 2):
            if len(row) != len(head) or "" in row:
                raise self.error("%s:%d: a column is missing" % (path.name, number))
            if row[4] not in self.verdicts or row[5] not in self.seeds:
                raise self.error("%s:%d: no such verdict or seeds: %s, %s" % (path.name, number, row[4], row[5]))
        return [row[4] for row in rows]


class NoContents(Directive):
    """.. contents:: is for readers of the source; the theme shows the contents of a page at its side."""
    optional_arguments = 1
    final_argument_whitespace = True
    option_spec = {"local": str, "depth": str, "backlinks": str, "class": str}

    def run(self):
        return []


class Links(SphinxPostTransform):
    """Names of manual pages and of files of this documentation become links."""
    default_priority = 5

    def run(self, **kwargs):
        pages = {}
        for name in self.env.found_docs:
            if name.startswith("reference/man/"):
                stem, _, section = name[len("reference/man/"):].rpartition(".")
                pages["%s(%s)" % (stem, section)] = name
        for node in list(self.document.findall(nodes.reference)):
            found = re.fullmatch(r"([\w./-]+)\.(?:rst|md)", node.get("refuri", ""))
            target = found and os.path.normpath(os.path.join(os.path.dirname(self.env.docname), found[1]))
            if target in self.env.found_docs:
                node.replace_self(self.link(target, nodes.Text(node.astext())))
        if not pages:
            return
        names = re.compile(r"(?<![\w-])(?:%s)" % "|".join(map(re.escape, sorted(pages, key=len, reverse=True))))
        for node in list(self.document.findall(nodes.Text)):
            if not self.is_prose(node):
                continue
            parent, text = node.parent, node.astext()
            if isinstance(parent, (nodes.literal, addnodes.manpage)):
                found = PAGE.match(text)
                target = pages.get(text) or (found[1] if found and found[1] in self.env.found_docs else None)
                if target and target != self.env.docname:
                    parent.replace_self(self.link(target, parent.deepcopy()))
                continue
            parts, end = [], 0
            for found in names.finditer(text):
                if pages[found[0]] != self.env.docname:
                    parts += [nodes.Text(text[end:found.start()]), self.link(pages[found[0]], nodes.Text(found[0]))]
                    end = found.end()
            if parts:
                parent.replace(node, [p for p in parts + [nodes.Text(text[end:])] if p.astext()])

    @staticmethod
    def is_prose(node):
        """Whether a link can be in the text"""
        while node.parent is not None:
            node = node.parent
            if isinstance(node, (nodes.title, nodes.reference, addnodes.pending_xref, nodes.literal_block, nodes.raw,
                                 nodes.term, addnodes.toctree)):
                return False
        return True

    def link(self, target, child):
        link = addnodes.pending_xref("", child, refdomain="std", reftype="doc", reftarget="/" + target,
                                     refexplicit=True, refwarn=True)
        link["refdoc"] = self.env.docname
        return link


def setup(app):
    app.add_node(experiments_gallery)
    app.add_lexer("session", SessionLexer)
    app.add_directive("experiments", Experiments)
    app.add_directive("claims", Claims)
    app.add_directive("contents", NoContents, override=True)
    app.add_post_transform(Links)
    app.add_post_transform(Gallery)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
