"""The tables of bench/peers, in Markdown and HTML."""

import html

OURS = "Undertone, Python array"


def shown(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


class Page:
    """Markdown and HTML, written side by side."""

    def __init__(self):
        self.markdown, self.html = [], []

    def text(self, text):
        self.markdown += [text, ""]
        self.html.append(f"<p>{html.escape(text)}</p>")

    def title(self, text, level=3):
        self.markdown += ["#" * level + " " + text, ""]
        self.html.append(f"<h{level}>{html.escape(text)}</h{level}>")

    def table(self, header, rows):
        self.markdown.append("| " + " | ".join(header) + " |")
        self.markdown.append("|---|" + "---:|" * (len(header) - 1))
        self.markdown += ["| " + " | ".join(map(str, row)) + " |" for row in rows] + [""]
        cells = lambda tag, row: "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in row)
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
        self.html.append(f"<table><tr>{cells('th', header)}</tr>{body}</table>")


STYLE = "body{font:15px system-ui;max-width:60em;margin:2em auto}td,th{padding:.2em .8em;text-align:right}td:first-child,th:first-child{text-align:left}tr:nth-child(even){background:#f4f4f4}"


def ratios(page, title, found, unit="ns per value"):
    """One table of times against ours."""
    page.title(title)
    ours = found[OURS]
    order = sorted(found.items(), key=lambda item: item[1])
    page.table(["", unit, "times ours"], [(name, shown(value), shown(value / ours)) for name, value in order])


def aims(report):
    """What was aimed at and what was reached, in this run."""
    if "response" not in report:
        return large_aims(report["large"])
    python = ("pure-ldp", "multi-freq-ldpy")
    at = lambda kind, k: report[kind][k]
    best = lambda found, names: min(found[name] for name in names) / found[OURS]
    rr, oue = at("response", 128), at("unary", 1024)
    seconds, _ = report["iterative"]
    ours = next(value for name, value in seconds.items() if name.startswith(OURS))
    laplace = report["laplace"]
    return [
        ("k-RR at 128 against the fastest of pure-ldp, multi-freq-ldpy, OpenDP", 50, best(rr, (*python, "OpenDP, per call"))),
        ("k-RR at 128 against plain NumPy with its insecure generator", 1, rr["NumPy, insecure generator"] / rr[OURS]),
        ("k-RR at 128 against OpenDP's call for each value (mostly call overhead)", 1000, rr["OpenDP, per call"] / rr[OURS]),
        ("OUE at 1024 against the fastest of pure-ldp, multi-freq-ldpy, OpenDP", 20, best(oue, (*python, "OpenDP, per call"))),
        ("IBU at 1024 (ours: the whole of estimate)", 50, seconds["multi-freq-ldpy IBU"] / ours),
        ("bounded Laplace against diffprivlib", 1000, laplace["diffprivlib"] / laplace[OURS]),
        *large_aims(report["large"]),
    ]


# Which of ours does what which of theirs do. Thresholded histograms are no shape of ours: blocks serve the same end.
COUNTERPARTS = {
    "subset": ("multi-freq-ldpy SS",),
    "hashing": ("pure-ldp OLH", "multi-freq-ldpy OLH"),
    "hadamard": ("pure-ldp Hadamard",),
    "blocks": ("pure-ldp THE", "multi-freq-ldpy THE"),
}
WHOLE = " (count, all estimates, intervals, drift)"


def large_aims(part):
    """Each protocol for large alphabets against the fastest that does the same, drawing and decoding; and against all of theirs."""
    rows = []
    for k, (found, _) in part["drawing"].items():
        theirs = {name: value for name, value in found.items() if not name.startswith("Undertone")}
        for method, names in COUNTERPARTS.items():
            protocol = names[0].split(" ", 1)[1]
            rows.append((f"drawing, {k} symbols: {protocol}, ours {method}", 50, min(theirs[name] for name in names) / found[f"Undertone {method}"]))
        rows.append((f"drawing, {k} symbols: the fastest of theirs, ours blocks", 50, min(theirs.values()) / found["Undertone blocks"]))
    for k, found in part["decoding"].items():
        for method, names in COUNTERPARTS.items():
            protocol = names[0].split(" ", 1)[1]
            best = min(found[name] for name in names)
            shares = f"Undertone {method}, Rust (count, unbiased shares)"
            if shares in found:
                rows.append((f"decoding, {k} symbols: {protocol}, ours {method} in Rust", 50, best / found[shares]))
            rows.append((f"decoding, {k} symbols: {protocol}, ours {method} (the whole of estimate)", 50, best / found[f"Undertone {method}{WHOLE}"]))
    return rows


def large(page, part):
    """The tables for large alphabets, and where the others were more accurate."""
    for k, (found, bulk) in part["drawing"].items():
        page.title(f"Large alphabets: drawing a report, k = {k}, epsilon = 1")
        order = sorted(found.items(), key=lambda item: item[1])
        page.table(
            ["", "ns per report", "the sampler alone, Rust", "times our blocks"],
            [(name, shown(value), shown(bulk[name]) if name in bulk else "", shown(value / found["Undertone blocks"])) for name, value in order],
        )
    for k, found in part["decoding"].items():
        page.title(f"Large alphabets: from reports to shares, k = {k}, epsilon = 1, 20,000 reports")
        order = sorted(found.items(), key=lambda item: item[1])
        page.table(["", "ns per report"], [(name, shown(value)) for name, value in order])
    page.title("Large alphabets: a million symbols, epsilon = 1")
    page.text(
        "Ours draws a million reports and makes shares of them: in Rust unbiased ones, in Python all estimates with intervals. Theirs drew 2,000 reports, subset selection and unary encoding 20; "
        "Hadamard response decoded a million, local hashing two, others none. Local hashing decodes every report by itself, so its time per report is what it takes for any number of them."
    )
    page.table(
        ["", "drawing, ns per report", "from reports to shares, ns per report"],
        [(name, shown(draw), "not tried" if decode is None else shown(decode)) for name, (draw, decode) in part["million"].items()],
    )
    missed = []
    for name, kinds in part["errors"].items():
        k, epsilon = name.split(", ")
        for kind, found in kinds.items():
            page.title(f"Large alphabets: error of one share at equal LDP, {kind} estimates: k = {k}, epsilon = {epsilon}, 20,000 people, Zipf")
            rows = sorted(found.items(), key=lambda item: item[1][0])
            page.table(
                ["", "mean squared error", "simulation error", "bytes per report"],
                [(method, f"{mean:.3e}", f"{spread:.0e}", f"{size:,}") for method, (mean, spread, size) in rows],
            )
            sentence, worse = accuracy({method: row[:2] for method, row in found.items()})
            page.text(sentence)
            if worse:
                missed.append(f"accuracy, {kind}, at k, epsilon = {name}: {sentence}")
    return missed


def accuracy(found):
    """The best of both sides at equal LDP: a sentence, and whether ours is worse beyond simulation error."""
    side = lambda ours: min((mean, spread, name) for name, (mean, spread) in found.items() if name.startswith("Undertone") == ours)
    (mine, my_spread, my_name), (theirs, their_spread, their_name) = side(True), side(False)
    worse = mine - theirs > 2 * (my_spread**2 + their_spread**2) ** 0.5
    verdict = "worse, beyond twice the simulation error" if worse else "not worse beyond simulation error"
    return f"Best of ours: {my_name}, {mine:.3e}; best of the others: {their_name}, {theirs:.3e}: {verdict}.", worse


def write(report):
    """Markdown, HTML, and the aims that were missed."""
    page = Page()
    page.title("Side by side", 2)
    page.text(f"{report['date']}; {report['machine']}; undertone {report['version']['version']} ({report['version']['rustc']}).")
    page.text(
        "Processor time, one thread each, medians of runs that take turns. Undertone draws with ChaCha12 seeded by the system; pure-ldp, multi-freq-ldpy "
        "and NumPy use generators that are not cryptographic; OpenDP's and diffprivlib's are. OpenDP and the two LDP libraries take one value per call, so "
        "much of their time is Python's."
    )
    reached = aims(report)
    missed = [f"{name}: aim {aim}x, reached {shown(value)}x" for name, aim, value in reached if value < aim]
    page.title("Aims")
    page.table(
        ["", "aim", "reached", ""],
        [(name, f"{aim:,}x", f"{shown(value)}x", "met" if value >= aim else "missed") for name, aim, value in reached],
    )
    if "response" in report:
        missed += small(page, report)
    missed += large(page, report["large"])
    body = "\n".join(page.html)
    return "\n".join(page.markdown), f"<!doctype html><meta charset=utf-8><title>Side by side</title><style>{STYLE}</style>{body}", missed


def small(page, report):
    """The tables for alphabets that a report can name or list, and where the others were more accurate."""
    missed = []
    for k, found in report["response"].items():
        ratios(page, f"k-ary randomised response, k = {k}, epsilon = 1", found)
    for k, found in report["unary"].items():
        ratios(page, f"Optimised unary encoding, k = {k}, epsilon = 1 (one report of {k} bits)", found)
    for k, found in report["aggregation"].items():
        page.title(f"From reports to shares, k-RR, k = {k}")
        ours = found[OURS + " (count)"]
        order = sorted(found.items(), key=lambda item: item[1])
        page.table(["", "ns per report", "times our count"], [(name, shown(value), shown(value / ours)) for name, value in order])
    seconds, beside = report["iterative"]
    page.title("Maximum likelihood, k-RR, k = 1024, epsilon = 3, a million reports")
    ours = min(seconds.values())
    page.table(["", "seconds", "times ours"], [(name, shown(value), shown(value / ours)) for name, value in sorted(seconds.items(), key=lambda item: item[1])])
    page.text("Beside it: " + ", ".join(f"{name} {value:.2e}" for name, value in beside.items()) + ". Ours is exact for this shape.")
    ratios(page, "Bounded Laplace on [0, 3], LDP at 1 (ours: 1,000 outputs)", report["laplace"])
    for name, found in report["errors"].items():
        k, epsilon = name.split(", ")
        page.title(f"Error of one share at equal LDP: k = {k}, epsilon = {epsilon}, 20,000 people, Zipf")
        rows = sorted(found.items(), key=lambda item: item[1][0])
        page.table(["", "mean squared error", "simulation error"], [(method, f"{mean:.3e}", f"{spread:.0e}") for method, (mean, spread) in rows])
        sentence, worse = accuracy(found)
        page.text(sentence)
        if worse:
            missed.append(f"accuracy at k, epsilon = {name}: {sentence}")
    page.title("One answer read as it stands: LIP designs against LDP at the same attained level")
    page.text(
        "A LIP design promises more than the LDP level it attains: that no belief moves by more than its own, smaller level. Against the best channel for that LDP level alone it "
        "cannot win on the error rate; the last two columns show the promise it makes instead."
    )
    page.table(
        ["LIP level", "LDP attained by both", "error rate, LIP design", "error rate, best at that LDP", "belief moves by, LIP design", "belief moves by, the other"],
        [(f"{e:g}", *(f"{value:.4f}" for value in row)) for e, *row in report["guesses"]],
    )
    return missed
