"""Generates random command lines from the whole grammar."""
import random

PROGRAMS = ["p", "q", "rm", "ls", "git", "cat", "echo", "grep", "x1", "make", "true", "false", "test", "find", "printf"]
LITERALS = ["a", "b.c", "-rf", "--flag", "-x", "/srv/x", "a=b", "1", "2", "x:y", "k=~/v", "~", "~/f", "@", "%", "^", "#no", "a#b", ",", "+x", "=", "-", "--", "!", "]", "{}", "{", "}", "]]", "if", "then", "in", "do", "done", "for", "{a", "b}", "x{", "a.b", "..", "1..3", "+", ":", "!x", "x!", "~+", "~nouser/f", "a~", "[", "time", "coproc", "esac", "2x"]
GLOBS = ["*", "*.c", "?.c", "[ab].c", ".h*", "sub/*", "*/*.c", "nothing*", "*/", "[!a].c", "s?b/e.h", "-*", "./*.c", "[a-z].c", "[[]odd]", "*/*/f.c", "l*/", "~/*", "/w/*.c", "*.[ch]", "a*\\*", "\\**", "'*'*", "[x", "a]"]
BRACES = ["{a,b}", "x{1..3}y", "{a,b}{c,d}", "{a,{b,c}}", "{,z}", "{a..c}", "{01..03}", "{3..1}", "{a}", "{a,b", "a,b}", "{1..5..2}", "pre{x,'y z'}post", "{$x,b}", "{a,b}\\{c,d}", "{{a,b}}", "{a,b}}", "{a..}", "{-1..1}", "{a,\"b c\",d}", "{'a',b}", "a{b,c}d{e,f}", "{a,b}.c", "{*.c,x}", "{c..a}", "{a,b,}", "{}{a,b}", "{1..2}{a,b}", "${x}{a,b}", "{x,y}$k", "{$(p),b}", "{\\,,a}", "{a,b}$(q)", "{a..{b,c}}", "{},a}", "x{},a}", "{a}b,c}", "{a}b..c}", "{a..}b,c}", "{1..2x}{a,b}", "{{1..2}..3}", "{'a,b'..c}", "{{a,b}}{a,b}\\{c,d}", "{a{b,c}d", "{a,b}{},c}", "{a,{b}c,d}", "{a,\\ {},c}", "{{1..2}}", "{a...c}", "{a,b}}c,d}", "{1..$x}"]
NAMES = ["x", "y", "k", "v9", "HOME", "PWD", "unset_one"]


class Lines:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.documents = []
        self.quoted_depth = 0
        self.in_substitution = 0

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, share):
        return self.random.random() < share

    def line(self):
        self.documents = []
        self.in_substitution = 0
        return self.list(3) + self.bodies()

    def bodies(self):
        """The bodies of here-documents that are still open, after a newline."""
        out = ""
        if self.documents and not self.in_substitution:
            out = "\n" + "".join(self.documents)
            self.documents = []
        return out

    def list(self, depth):
        out = self.and_or(depth)
        while self.chance(0.35):
            if self.documents and not self.in_substitution:
                separator = self.bodies()
            else:
                separator = self.pick([";", "; ", " ;", "\n", " &\n", " & ", "\n\n", " ; # note\n", ";\\\n", " # it's \"a note\n"])
                if self.documents and "\n" in separator:
                    separator = "; "
            out += separator + self.and_or(depth)
        return out

    def and_or(self, depth):
        out = self.pipeline(depth)
        while self.chance(0.2):
            out += self.pick([" && ", " || ", "&&", "||", " && \\\n"]) + self.pipeline(depth)
        return out

    def pipeline(self, depth):
        out = self.pick(["", "", "", "", "", "", "! ", "time ", "time -p ", "! time "]) + self.command(depth)
        while self.chance(0.15):
            out += self.pick([" | ", "|", " |& ", " | \\\n"]) + self.command(depth)
        return out

    def command(self, depth):
        if depth <= 0 or self.chance(0.6):
            return self.simple(depth)
        inner = depth - 1
        kind = self.random.randrange(12)
        body = lambda: self.closed(inner)
        if kind == 0:
            made = "{ " + body() + "}"
        elif kind == 1:
            made = self.pick(["(", "( "]) + body() + ")"
        elif kind == 2:
            made = "if " + body() + "then " + body() + (self.pick(["elif " + body() + "then " + body(), ""])) + (self.pick(["else " + body(), ""])) + "fi"
        elif kind == 3:
            made = self.pick(["while ", "until "]) + body() + "do " + body() + "break; done"
        elif kind == 4:
            made = "for " + self.pick(["x", "y", "k"]) + " in " + " ".join(self.word(inner) for _ in range(self.random.randrange(4))) + "; do " + body() + "done"
        elif kind == 5:
            patterns = [self.pick(["a", "*", "b|c", "x*", "'q'", "[ab]", "$x", "(y"]) for _ in range(2)]
            made = "case " + self.word(inner) + " in " + patterns[0].replace("(y", "(y") + ") " + body() + self.pick([";; ", ";& ", ";;& "]) + "(" + patterns[1].replace("(y", "y") + ") " + body() + ";; esac"
        elif kind == 6:
            made = "[[ " + self.pick([self.word(inner) + " == " + self.pick(["a*", "(a|b)", "$x", "'x'"]), "-n " + self.word(inner), "! -f " + self.word(inner), self.word(inner) + " =~ ^(a|b)+$", "a < b && ( -z $x || 1 -lt 2 )"]) + " ]]"
        elif kind == 7:
            made = self.pick(["((1 + 2))", "((x = 3))", "(( $(" + body() + ") ))", "((x++ < 2 || 1))", "(( ${#x} ))"])
        elif kind == 8:
            made = "for ((i=0; i<2; i++)); do " + body() + "done"
        elif kind == 9:
            made = "while " + body() + "do break; done"
        elif kind == 10:
            made = "for y; do " + body() + "done"
        else:
            made = "{ " + body() + "} 2>/dev/null"
        if self.chance(0.15):
            made += self.redirection(inner)
        return made

    def closed(self, depth):
        """A list before a closing word."""
        held, self.documents = self.documents, []
        text = self.list(depth)
        if self.documents:
            text += "\n" + "".join(self.documents)
            self.documents = held
            return text
        self.documents = held
        if text.rstrip(" ").endswith("&") and not text.rstrip(" ").endswith("&&"):
            return text + " "
        return text + self.pick(["; ", ";\n" if not held else "; "])

    def simple(self, depth):
        words = []
        while self.chance(0.12):
            words.append(self.pick(NAMES[:4]) + self.pick(["=", "=", "+="]) + self.pick(["", self.word(depth), "(" + " ".join(self.word(0) for _ in range(2)) + ")"]))
        if words and self.chance(0.4):
            pass
        else:
            words.append(self.program(depth))
            for _ in range(self.random.randrange(4)):
                words.append(self.word(depth))
        if self.chance(0.2):
            words.insert(self.random.randrange(len(words) + 1), self.redirection(depth).strip())
        return self.pick([" ", " ", " ", "  ", "\t", " \\\n"]).join(words)

    def program(self, depth):
        name = self.pick(PROGRAMS)
        form = self.random.randrange(14)
        if form == 0:
            return "'" + name + "'"
        if form == 1:
            return name[0] + "\\\n" + name[1:]
        if form == 2:
            return "\\" + name
        if form == 3:
            return name[:1] + '""' + name[1:]
        if form == 4:
            return "$'" + "".join("\\x%02x" % ord(c) for c in name) + "'"
        if form == 5 and depth > 0:
            return self.pick(["eval", "command", "exec", "nohup", "env", "xargs", "sudo", "bash -c"])
        if form == 6:
            return "$x"
        return name

    def redirection(self, depth):
        kind = self.random.randrange(11)
        if kind < 3:
            return self.pick([" >/dev/null", " 2>/dev/null", " > /out/f", " >>/out/f", " &>/dev/null", " >|/out/g", " 2>&1", " <>/out/h", " 2>&-", " 1>&2"])
        if kind == 3:
            return self.pick([" < a.c", " <a.c", " 0<x.txt", " < ./sub/d.c"])
        if kind == 4:
            return " <<< " + self.word(depth)
        if kind == 5 and depth > 0 and not self.quoted_depth:
            return " < <(" + self.closed_substitution(depth - 1) + ")"
        if kind == 6 and depth > 0 and not self.quoted_depth:
            return " > >(" + self.closed_substitution(depth - 1) + ")"
        if kind in (7, 8) and not self.quoted_depth and (not self.in_substitution or not self.documents):
            return self.document(depth)
        return " 2>/dev/null"

    def document(self, depth):
        quoted = self.chance(0.4)
        name = self.pick(["EOF", "E-1", "A"]) + str(len(self.documents))
        strip = self.chance(0.3)
        lines = []
        for _ in range(self.random.randrange(3)):
            lines.append(self.pick(["text", "it's", 'a "b', "x\\", "\\$x", "#", "$x", "${x}", "$((1+1))", " EOF", "`q`", "$(p)", "  t", "\\\\", "${x:-y}", "a\\`b", "$"]))
        indent = "\t" if strip else ""
        body = "".join(indent + line + "\n" for line in lines) + indent + name + "\n"
        self.documents.append(body)
        written = self.pick(["'%s'", '"%s"', "\\%s"]) % name if quoted else name
        return " <<" + ("-" if strip else "") + self.pick(["", " "]) + written

    def closed_substitution(self, depth):
        held, self.documents = self.documents, []
        self.in_substitution += 1
        text = self.list(depth) if not held else self.simple(0)
        self.in_substitution -= 1
        own, self.documents = self.documents, held
        if own:
            return text + "\n" + "".join(own)
        return text

    def word(self, depth):
        return "".join(self.piece(depth) for _ in range(1 if self.chance(0.75) else 2)) or "''"

    def piece(self, depth):
        kind = self.random.randrange(22)
        if kind < 6:
            return self.pick(LITERALS)
        if kind < 8:
            return self.pick(GLOBS)
        if kind < 10:
            return self.pick(BRACES)
        if kind == 10:
            return self.pick(["'a b'", "'it\"s'", "'$x'", "''", "'`'", "'\\'", "'#'", "'a\nb'" if not self.documents else "'ab'"])
        if kind in (11, 12):
            self.quoted_depth += 1
            inner = "".join(self.quoted(depth) for _ in range(self.random.randrange(4)))
            self.quoted_depth -= 1
            return '"' + inner + '"'
        if kind == 13:
            return self.pick(["$x", "${x}", "$HOME", "$PWD", "$1", "$@", "$#", "$?", "$k", "${unset_one}", "$y$x", "$", "a$", "$-", "$!", "$$"])
        if kind == 14:
            return self.pick(["${x:-d}", "${x:+e f}", "${#x}", "${x%.c}", "${x##*/}", "${x/a/b}", "${x:1}", "${x:1:2}", "${x:='q r'}", "${x:-\"d e\"}", "${x^^}", "${x//[ab]/}", "${x:-$k}", "${x:-'}'}", "${x:-\\}}", "${x?}", "${x[0]}", "${x[@]}", "${@:1}"])
        if kind == 15:
            return self.pick(["\\ ", "\\*", "\\$x", "\\\\", "\\'", '\\"', "\\`", "\\a", "\\#", "\\~", "\\{a,b\\}", "\\\n"])
        if kind == 16:
            return self.pick(["$'a\\tb'", "$'\\x41'", "$'\\'q'", "$'\\101'", "$'a\\\\b'", "$'\\u0041'", "$'\\e'", "$'\\z'", "$'\\0411'", "$'\\x4g'", "$''", "$'\\n'"])
        if kind == 17 and depth > 0:
            return "$(" + self.pick(["", " "]) + self.closed_substitution(depth - 1) + ")"
        if kind == 18 and depth > 0:
            text = self.simple(0)
            if any(c in text for c in "`\\\n") or self.documents:
                return "`q a`"
            return "`" + text + "`"
        if kind == 19:
            return self.pick(["$((1+2))", "$(( x + 1 ))", "$[1+1]", "$(( (1) ))", "$((${#x}*2))", "$(( 2#101 ))"])
        if kind == 20 and depth > 0 and not self.quoted_depth:
            return " " + self.pick(["<(", ">("]) + self.closed_substitution(depth - 1) + ")"
        return '$"l"'

    def quoted(self, depth):
        kind = self.random.randrange(12)
        if kind < 4:
            return self.pick(["a", " ", "b c", "'", "*", "~", "\\\"", "\\$x", "\\\\", "\\a", "#", "{a,b}", ";", "$", "\\`", "$'q'", "!", "\\\n", "(", "})"])
        if kind < 6:
            return self.pick(["$x", "${x}", "$@", "$*", "${x:-d}", "$?", "${x%.c}", "${#x}", "${x:-$(q)}", "${x:-a b}", "$HOME", "$((1+1))", "${x+\"\"}"])
        if kind == 6 and depth > 0:
            text = self.simple(0)
            if any(c in text for c in "`\\\n\"") or self.documents:
                return "`q`"
            return "`" + text + "`"
        if kind == 7 and depth > 0:
            held, self.quoted_depth = self.quoted_depth, 0
            text = "$(" + self.closed_substitution(depth - 1) + ")"
            self.quoted_depth = held
            return text
        return self.pick(["x", "y z", "1"])
