#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the language of comments, strings and Markdown, and the form of files.

  scripts/check-english.py --all                 every finding in the tree
  scripts/check-english.py --base COMMIT         findings in lines that are new since COMMIT
  scripts/check-english.py [--check]             compares with scripts/english-baseline.txt
  scripts/check-english.py --update-baseline     writes scripts/english-baseline.txt
  scripts/check-english.py FILE...               every finding in these files

Each finding is printed as `file:line: problem; write ...`. The rules are in RULES below: each rejects
one idiom and names the replacement. Text in backticks, code blocks of Markdown, and lines that
FileCheck or the diagnostic verifier reads are not checked.

The baseline holds the number of known findings of each file. The check fails when a file has more
findings than its number, and also when it has fewer: update the baseline then, so that the number can
only go down. Markdown must wrap at 100 columns (tables, code and links excepted), its relative links
and the files that it names must exist, and each source file must have an SPDX line; these rules have
no baseline.
"""

import argparse
import bisect
import io
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINE = "scripts/english-baseline.txt"
COLUMNS = 100

# The idioms are quoted in the first two; documents of the third follow from .td files, which are checked.
EXCLUDED = ("scripts/check-english.py", "test/Docs/Inputs/", "docs/generated/", "build/", "LICENSE")

C_LIKE = {".cpp", ".h", ".c", ".cu", ".inc", ".td"}
HASH = {".sh", ".cmake", ".txt", ".toml", ".cfg", ".yml", ".map", ".in"}
SUFFIXES = C_LIKE | HASH | {".py", ".md", ".mlir", ".test"}
NEEDS_SPDX = {".cpp", ".h", ".c", ".cu", ".td", ".py", ".sh", ".cmake", ".toml", ".cfg", ".yml", ".map", ".in"}

# A sentence starts at the beginning of a text, or after the end of another sentence.
START = r"(?:^|(?<=[.!?:;]\s)|(?<=[.!?:;][\"')]\s)|(?<=^- )|(?<=[|]\s))"
# No letter, digit or part of a name on either side: `repack-operands` and `a.products` are names.
WORD = r"(?<![\w.`<#%@/-])(?:{})(?![\w`>-])(?!\.\w)(?!\()"


def word(pattern):
    return WORD.format(pattern)


# (name, pattern, what to write instead, pattern of text before the match that permits it)
RULES = [
    ("sentence starts with 'Of'", START + r"Of (?!course\b)", "the subject first", None),
    ("clause starts with 'of'", r"(?<=[;:] )of (?!course\b)", "the subject first", None),
    (
        "sentence starts with a noun clause",
        START + r"(?:What|Who|Whoever|Whatever|Whose) (?=[^?]*?(?:[.!;:](?:\s|$)|$))",
        "a subject that is a noun",
        None,
    ),
    (
        "'is no X'",
        word(
            r"(?:is|are|was|were|be|been|being) no (?!(?:longer|more|less|fewer|greater|larger|"
            r"smaller|later|earlier|better|worse|slower|faster|higher|lower|one|such|different|need)\b)(?=[a-z`'<(])"
        )
        .replace(r"(?![\w`>-])", "")
        .replace(r"(?!\.\w)(?!\()", ""),
        "'is not an X' or 'there is no X'",
        r"\bthere (?:\w+ )?$|\bthere(?: \w+){0,2} $|\b[Ii]f $",
    ),
    ("'mend'", word(r"mend(?:s|ed|ing)?"), "'fix'", None),
    ("'bring'", word(r"bring(?:s|ing)?|brought"), "'load', 'fetch' or 'copy'", None),
    (
        "'turn' for an iteration",
        word(
            r"(?:next|last|first|each|every|previous|other|some|one|two|per|many|few|its|a) turns?"
            r"|turns? of (?:a|an|the|its|this|that|each|every) (?:\w+ )?loops?|turn to turn"
        ),
        "'iteration'",
        None,
    ),
    ("'turned round'", word(r"turn(?:s|ed|ing)? (?:a)?round"), "'transposed' or 'reversed'", None),
    ("'one behind the other'", word(r"(?:one|each|lie|lies) behind (?:the other|each other|another)"),
     "'one after the other' or 'contiguous'", None),
    (
        "'behind' for after",
        word(
            r"behind (?:it|its|them|this|that|these|those|which|what|each|every|all|"
            r"(?:the|a|an|another|its|their|that|this) (?:\w+ )?(?:loop|copy|copies|load|loads|store|"
            r"stores|wait|waits|barrier|barriers|product|products|last|first|next|end|one|ones|op|ops|launch|"
            r"array|arrays|argument|arguments|name|comma|line|write|writes|read|reads|matmul|use|definition|element|"
            r"row|column|colon|header|number|value|instruction|step|branch|call|block|region))"
        ),
        "'after'",
        r"\b(?:left|fall|falls|fell|lag|lags) $",
    ),
    (
        "'is to be'",
        word(r"(?:is|are|was|were) (?:not )?to (?:be|have)"),
        "'must be', 'should be' or the plain verb",
        r"\b(?:goal|aim|purpose|idea|intent|intention|point|task|job|remedy|way|thing|choice) $",
    ),
    ("'stands' for a position", word(
        r"(?:stands?|standing|stood) (?:in|at|on|before|after|behind|there|here|beside|between|around|"
        r"above|below|ahead|where|alone|first|last)"), "'is', 'appears' or 'precedes'", None),
    ("'stands twice'", word(r"stands? (?:twice|more than once)"), "'duplicate'", None),
    ("'of no use'", word(r"of no use"), "'not usable' or 'useless'", None),
    ("'refuse'", word(r"refus(?:e|es|ed|ing|al|als)"), "'reject'", r"[Cc]onnection (?:is |was )?$"),
    ("'spell'", word(r"spell(?:s|ed|ing|ings)?|spelt"), "'print', 'format' or 'write'", None),
    ("'direct copy'", word(r"direct cop(?:y|ies)"), "'async copy to LDS'", None),
    ("'bulk copy engine'", word(r"bulk cop(?:y|ies) engines?"), "'TMA'", None),
    ("'interleaved tiles'", word(r"interleaved tiles?"), "'k-packed (VNNI) layout'", None),
    ("'repack'", word(r"repack(?:s|ed|ing)?"), "'pack'", None),
    (
        "'product' for a matmul",
        word(r"products?") + r"(?! of (?:the |all |both |these |two |its |their )?(?:\w+ )?(?:extents|sizes|"
        r"factors|dimensions|numbers|powers|primes|strides|counts|lengths|bounds|likelihoods?|"
        r"probabilities|scales|term|terms))",
        "'matmul', 'GEMM' or 'contraction'",
        r"(?:\b(?:dot|outer|inner|scalar|vector|partial|cross|matrix|Hadamard|Kronecker|Cartesian|element-?wise|tensor|Intel|NVIDIA|AMD|"
        r"running|release)[ -]|\bsums? of (?:the )?|'s )$",
    ),
    ("'as it should be'", word(r"as (?:it|they) should(?: be)?"), "'expected' or 'as expected'", None),
    ("'tell' of a program", word(r"tells|told"), "'reports', 'prints' or 'states'", None),
    ("'say' of a program", word(r"says?|said|saying"), "'reports', 'states' or 'prints'", None),
    ("'nobody'", word(r"nobody|whoever"), "the agent, such as 'no thread' or 'no caller'", None),
    ("'look at'", word(r"look(?:s|ed|ing)? at"), "'check', 'compare' or 'read'", None),
    ("'for want of'", word(r"for want of"), "'for lack of'", None),
    ("clause starts with a noun clause", r"(?<=[;:] )(?:what|who|whoever|whatever) ", "a subject that is a noun", None),
    ("'all the same'", word(r"all the same"), "'anyway' or 'nevertheless'", None),
]
RULES = [
    (name, re.compile(pattern, 0 if "starts with" in name else re.I), instead, re.compile(unless, re.I) if unless else None)
    for name, pattern, instead, unless in RULES
]

DIRECTIVE = re.compile(
    r"^\W*(?:RUN|REQUIRES|UNSUPPORTED|XFAIL|ALLOW_RETRIES|DEFINE|REDEFINE|[A-Z][A-Z0-9_]*(?:-[A-Z0-9_]+)*)\s*:"
    r"|expected-(?:error|note|remark|warning)|clang-format|NOLINT"
)
C_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(?P<delimiter>[^\s()\\]*)\(.*?\)(?P=delimiter)\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'",
    re.S,
)
TITLE = re.compile(r"===- \S+ - (?P<title>.*?) ?-*(?:\*- C\+\+ -\*-+)?-*===(?://)?$")
TD_DESCRIPTION = re.compile(r"(?P<key>description|summary)\s*=\s*\[\{(?P<text>.*?)\}\]", re.S)
HASH_TOKEN = re.compile(r"\"(?:\\.|[^\"\\])*\"|'[^'\n]*'|(?:^|(?<=\s))#[^\n]*")
INCLUDE = re.compile(r"#\s*(?:include|ifndef|define|endif|if)\b")


class Text:
    """Words that are read as one text, and the line of each of its characters."""

    def __init__(self, is_literal=False):
        self.content = ""
        self.is_literal = is_literal
        self.starts = []
        self.lines = []

    def add(self, content, line, separator=" "):
        if self.content:
            self.content += separator
        for offset, part in enumerate(content.split("\n")):
            if offset:
                self.content += "\n"
            self.starts.append(len(self.content))
            self.lines.append(line + offset)
            self.content += part

    def line_of(self, position):
        return self.lines[bisect.bisect_right(self.starts, position) - 1]


def blank_code(text):
    """Replaces what is between backticks, and addresses, by a word that no rule knows."""
    text = re.sub(r"(`+)[^`]+?\1", lambda match: "`" + "_" * (len(match.group()) - 2) + "`", text)
    return re.sub(r"https?://\S+|\]\([^)]*\)", lambda match: "_" * len(match.group()), text)


def join_comments(found):
    """Texts of (line, content, kind): comments of consecutive lines, and literals side by side."""
    texts, last = [], None
    for line, content, kind in found:
        end = line + content.count("\n")
        if texts and last and kind == last[1] and line <= last[0] + 1 and content.strip():
            texts[-1].add(content, line, " " if kind == "comment" else "")
        else:
            texts.append(Text(kind.startswith("literal")))
            texts[-1].add(content, line)
        last = (end, kind) if content.strip() else None
    return texts


def read_c(source, is_td):
    found, descriptions = [], []
    if is_td:

        def take(match):
            line = source.count("\n", 0, match.start("text")) + 1
            descriptions.extend(read_markdown(textwrap.dedent(match.group("text")), line))
            return re.sub(r"[^\n]", " ", match.group())

        source = TD_DESCRIPTION.sub(take, source)
    line, position, last_literal = 1, 0, -1
    for match in C_TOKEN.finditer(source):
        line += source.count("\n", position, match.start())
        position = match.start()
        token = match.group()
        if token.startswith("//"):
            content = token.lstrip("/!<").strip()
            if title := TITLE.match(content):
                found.append((line, title["title"], "title"))
            elif not DIRECTIVE.search(content) and not content.startswith(("===", "SPDX")):
                content = re.sub(r"^===-+|-+===$", "", content)
                found.append((line, content, "comment"))
        elif token.startswith("/*"):
            found.append((line, token[2:-2], "block"))
        elif token.startswith(("R\"", "\"")):
            before = source.rfind("\n", 0, match.start()) + 1
            if INCLUDE.match(source[before : match.start()].lstrip()):
                continue
            content = token[token.index("\"") + 1 : -1]
            if token[0] == "R":
                content = content[content.index("(") + 1 : content.rindex(")")]
                # Programs and their output: only whole texts, line by line.
                found.append((line, content, f"raw {line}"))
                continue
            content = content.replace("\\n", "  ").replace("\\\"", "''")
            adjacent = last_literal >= 0 and not source[last_literal : match.start()].strip()
            kind = found[-1][2] if adjacent and found and found[-1][2].startswith("literal") else f"literal {match.start()}"
            if adjacent and kind == found[-1][2]:
                start, text, _ = found[-1]
                gap = line - start - text.count("\n")
                found[-1] = (start, (text.rstrip() if gap and text.endswith(" ") else text) + "\n" * gap + content, kind)
            else:
                found.append((line, content, kind))
            last_literal = match.end()
    return join_comments(found) + descriptions


def read_python(source):
    found = []
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return []
    for token in tokens:
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            content = token.string.lstrip("#").strip()
            if not content.startswith("!") and not DIRECTIVE.search(content):
                found.append((line, content, "comment"))
        elif token.type == tokenize.STRING or token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
            content = re.sub(r"^[rRbBuUfF]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$", "", token.string)
            content = re.sub(r"\{[^{}\n]*\}", lambda match: "_" * len(match.group()), content)
            found.append((line, content, f"literal {line} {token.start[1]}"))
    return join_comments(found)


def read_hash(source):
    found, position, line = [], 0, 1
    for match in HASH_TOKEN.finditer(source):
        line += source.count("\n", position, match.start())
        position = match.start()
        token = match.group()
        if token[0] == "#":
            content = token.lstrip("#").strip()
            if not content.startswith(("!", "SPDX")) and not DIRECTIVE.search(content):
                found.append((line, content, "comment"))
        else:
            found.append((line, token[1:-1], f"literal {match.start()}"))
    return join_comments(found)


def read_test(source, is_prose):
    """Comments; with `is_prose`, also lines without a mark, up to the first file that split-file makes."""
    found = []
    for number, line in enumerate(source.split("\n"), 1):
        if re.match(r"(?://|#)---", line):
            is_prose = False
            continue
        match = re.match(r"\s*(?://+|#)?\s?(.*)" if is_prose else r"\s*(?://+|#)\s?(.*)", line)
        if match and not DIRECTIVE.search(line) and not match.group(1).startswith("-----"):
            found.append((number, match.group(1), "comment"))
    return join_comments(found)


def read_markdown(source, first=1):
    texts, fenced, current = [], False, None
    for number, line in enumerate(source.split("\n"), first):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced, current = not fenced, None
            continue
        if fenced or not stripped or re.match(r"[#|]", stripped) or re.match(r"([-*]|\d+\.) ", stripped):
            current = None
        if line.startswith("    ") and current is None:
            continue  # Code.
        # A heading is a noun phrase: it may start with "What".
        if fenced or not stripped or stripped.startswith(("# ", "## ", "### ", "#### ", "<!--")):
            continue
        if stripped.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", stripped):
                if cell.strip():
                    texts.append(Text())
                    texts[-1].add(cell.strip(), number)
            continue
        if current is None:
            current = Text()
            texts.append(current)
        current.add(re.sub(r"^([-*]|\d+\.) +", "", stripped), number)
    return texts


def read_texts(name, source):
    suffix = pathlib.PurePath(name).suffix
    if suffix in C_LIKE:
        return read_c(source, suffix == ".td")
    if suffix == ".py":
        return read_python(source)
    if suffix == ".md":
        return read_markdown(source)
    if suffix in (".mlir", ".test"):
        return read_test(source, suffix == ".test")
    if suffix == ".txt" and pathlib.PurePath(name).name != "CMakeLists.txt":
        return []
    return read_hash(source)


def find_long_lines(source):
    fenced = False
    for number, line in enumerate(source.split("\n"), 1):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not stripped.startswith("|") and not line.startswith("    "):
            # The address of a link, and long code that cannot be wrapped, do not count.
            visible = re.sub(r"\]\([^)]*\)", "]()", line)
            visible = re.sub(r"`[^`]{50,}`", "``", visible)
            if len(visible) > COLUMNS and "://" not in line:
                yield number, len(line)


def get_anchor(heading):
    """The fragment by which GitHub links to a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).replace("`", "")
    return re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-")


def find_broken_links(root, name, source):
    """Links to files, and to headings of Markdown, that do not exist."""
    def drop_code(text):
        return re.sub(r"^```.*?^```", lambda match: "\n" * match.group().count("\n"), text, flags=re.S | re.M)

    for match in re.finditer(r"\]\(([^)\s]+)\)", drop_code(source)):
        path, _, anchor = match.group(1).partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        file = (root / name).parent / path if path else root / name
        line = source.count("\n", 0, match.start()) + 1
        if not file.exists():
            yield line, match.group(1)
        elif anchor and file.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", drop_code(file.read_text(encoding="utf-8")), flags=re.M)
            if anchor not in map(get_anchor, headings):
                yield line, match.group(1)


FILE = re.compile(r"`((?:lib|include|test|tools|scripts|docs|unittests|benchmarks|examples|python|cmake)/[^`\s:]*)`")


def find_missing_files(root, name, source):
    """Paths in backticks, or beginnings of paths, that do not exist. Names in capitals are placeholders; history may name old files."""
    if name == "CHANGELOG.md":
        return
    for match in FILE.finditer(source):
        path = re.sub(r"[A-Z]{3,}-[A-Z]{3,}", "*", match.group(1))
        if not any(root.glob(path + "*")) and not re.search(r"[{<]", path):
            yield source.count("\n", 0, match.start()) + 1, match.group(1)


def check(root, name, source):
    """Findings as (line, rule, text), in the order of lines."""
    found = []
    for text in read_texts(name, source):
        content = blank_code(text.content).replace("\n", " ")
        if text.is_literal and " " not in content.strip():
            continue  # A name.
        for rule, pattern, instead, unless in RULES:
            for match in pattern.finditer(content):
                if unless and unless.search(content[: match.start()]):
                    continue
                found.append((text.line_of(match.start()), rule, f"{rule}: write {instead}"))
    path = pathlib.PurePath(name)
    if path.suffix == ".md":
        for line, length in find_long_lines(source):
            found.append((line, "columns", f"{length} columns: wrap Markdown at {COLUMNS}"))
        for line, link in find_broken_links(root, name, source):
            found.append((line, "link", f"'{link}' does not exist"))
        for line, file in find_missing_files(root, name, source):
            found.append((line, "link", f"'{file}' does not exist"))
    if path.suffix in NEEDS_SPDX or path.name == "CMakeLists.txt":
        if "SPDX-License-Identifier:" not in source[:4000] and source.strip():
            found.append((1, "SPDX", "no SPDX line: write 'SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception'"))
    return sorted(found)


def list_files(root):
    """The files of a checkout that git knows or does not ignore; of any other folder, all files."""
    result = subprocess.run(
        ["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False,
    ) if (root / ".git").exists() else None
    if result and result.returncode == 0:
        names = result.stdout.split("\0")
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return sorted(
        name for name in set(names)
        if name and is_checked(name) and (root / name).is_file()
    )


def is_checked(name):
    path = pathlib.PurePath(name)
    return path.suffix in SUFFIXES and not name.startswith(EXCLUDED)


def read_source(root, name):
    return (root / name).read_text(encoding="utf-8", errors="replace")


class AllLines:
    """The lines of a file that git does not know."""

    def __contains__(self, line):
        return True


def find_new_lines(root, base):
    """The numbers of the lines that are new since `base`, by file."""
    diff = subprocess.run(
        ["git", "-c", f"safe.directory={root}", "-C", str(root), "diff", "-U0", "--no-color", "--no-prefix", base],
        capture_output=True, text=True, errors="replace", check=False,
    )
    if diff.returncode:
        sys.exit(f"error: cannot compare with {base}: {diff.stderr.strip()}")
    new, name = {}, None
    for line in diff.stdout.split("\n"):
        if line.startswith("+++ "):
            name = line[4:].split("\t")[0]
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            start, count = int(match[1]), int(match[2] or 1)
            new.setdefault(name, set()).update(range(start, start + count))
    others = subprocess.run(
        ["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z", "--others", "--exclude-standard"],
        capture_output=True, text=True, check=False,
    )
    for name in filter(None, others.stdout.split("\0")):
        new[name] = AllLines()
    return new


def show(name, findings):
    for line, _, text in findings:
        print(f"{name}:{line}: {text}")


def read_baseline(path):
    counts = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                count, name = line.split(maxsplit=1)
                counts[name] = int(count)
    return counts


def is_baselined(finding):
    return finding[1] not in ("columns", "link", "SPDX")


def compare(found, baseline):
    """Prints each difference from the baseline; returns how many there are."""
    problems = 0
    for name in sorted(set(found) | set(baseline)):
        findings = found.get(name, [])
        strict = [finding for finding in findings if not is_baselined(finding)]
        counted = [finding for finding in findings if is_baselined(finding)]
        known = baseline.get(name, 0)
        show(name, strict)
        problems += len(strict)
        if len(counted) > known:
            show(name, counted)
            print(f"{name}: {len(counted)} findings, where the baseline has {known}: fix the new ones")
            problems += 1
        elif len(counted) < known:
            print(f"{name}: {len(counted)} findings, where the baseline has {known}: run "
                  "scripts/check-english.py --update-baseline")
            problems += 1
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--all", action="store_true", help="print every finding in the tree")
    mode.add_argument("--base", metavar="COMMIT", help="print findings in lines that are new since COMMIT")
    mode.add_argument("--check", action="store_true", help="compare with the baseline (the default)")
    mode.add_argument("--update-baseline", action="store_true", help="write the baseline")
    mode.add_argument("--summary", action="store_true", help="print the number of findings of each rule")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the tree to check")
    parser.add_argument("--baseline", type=pathlib.Path, help=f"the baseline (default: {BASELINE} in the tree)")
    parser.add_argument("files", nargs="*", help="check these files only, and print every finding")
    arguments = parser.parse_args()

    root = arguments.root.resolve()
    baseline = arguments.baseline or root / BASELINE
    if arguments.files:
        names = [os.path.relpath(pathlib.Path(file).resolve(), root) for file in arguments.files]
    else:
        names = list_files(root)
    new = find_new_lines(root, arguments.base) if arguments.base else None
    if new is not None:
        names = [name for name in names if name in new]
    found = {}
    for name in names:
        findings = check(root, name, read_source(root, name))
        if new is not None:
            findings = [finding for finding in findings if finding[0] in new[name]]
        if findings:
            found[name] = findings
    total = sum(len(findings) for findings in found.values())

    if arguments.update_baseline:
        counts = [(name, sum(map(is_baselined, findings))) for name, findings in sorted(found.items())]
        lines = ["# Findings of scripts/check-english.py per file. They may only decrease; the script writes this file",
                 "# (--update-baseline)."]
        lines += [f"{count} {name}" for name, count in counts if count]
        baseline.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{sum(count for _, count in counts)} findings in {len(lines) - 2} files")
        return 0
    if arguments.summary:
        rules = {}
        for findings in found.values():
            for finding in findings:
                rules[finding[1]] = rules.get(finding[1], 0) + 1
        for rule, count in sorted(rules.items(), key=lambda item: -item[1]):
            print(f"{count:6} {rule}")
        return 0
    if arguments.all or arguments.base or arguments.files:
        for name, findings in found.items():
            show(name, findings)
        print(f"{total} findings in {len(found)} of {len(names)} files")
        return 1 if total else 0
    problems = compare(found, read_baseline(baseline))
    print(f"{total} findings in {len(found)} of {len(names)} files, {problems} differences from the baseline")
    return 1 if problems else 0


sys.exit(main())
