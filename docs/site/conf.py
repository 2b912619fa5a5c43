# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sphinx's configuration of the site. stage.py makes the folder that it reads."""

from pygments.lexer import RegexLexer
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, Text


class MlirLexer(RegexLexer):
    """MLIR as text: as much of it as a reader looks for."""
    name = "MLIR"
    tokens = {"root": [
        (r"//.*$", Comment.Single),
        (r'"(\\.|[^"\\])*"', String),
        (r"%[\w$.#-]+", Name.Variable),
        (r"@[\w$.-]+", Name.Function),
        (r"\^\w+", Name.Label),
        (r"#[\w.$-]+", Name.Attribute),
        (r"![\w.$-]+", Keyword.Type),
        (r"\b([su]?i\d+|f\d+\w*|bf16|index|(tensor|memref|vector)(?=<)|none)\b", Keyword.Type),
        (r"\b[a-z_]\w*\.[\w.]+", Keyword),
        (r"\b(func|module|return|call|ins|outs|attributes|loc|dense|dense_resource|affine_map|affine_set|array|true|false)\b", Keyword),
        (r"-?\b\d+(\.\d+)?(e[+-]?\d+)?\b|\b0x[0-9A-Fa-f]+\b", Number),
        (r"->|[:=*+]", Operator),
        (r"^\.\.\.$", Generic.Subheading),
        (r".|\n", Text),
    ]}


def setup(app):
    app.add_lexer("mlir", MlirLexer)
    app.add_lexer("tablegen", MlirLexer)
    app.add_lexer("mermaid", TextLexer)


project = "Veeline"
copyright = "the authors of Veeline; Apache-2.0 with LLVM exceptions"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["**/Inputs/**"]
# Headings are linked to as on other hosts of Markdown.
myst_heading_anchors = 4
nitpicky = True
# Options keep both of their dashes.
smartquotes = False
html_theme = "furo"
html_title = "Veeline"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"light_css_variables": {"font-stack": "system-ui, sans-serif"}}
pygments_style = "friendly"
highlight_language = "none"
