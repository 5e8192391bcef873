"""Strings of ints that only the device knows: their digits, and what is made of these."""

import re
import string
from collections import Counter
from functools import reduce

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


def large(ints, p):
    """Of up to ten digits, of both signs."""
    return int(ints(p) * ints(p + (1, 0)) * ints(p + (0, 1)) * 1237 + ints(p + (1, 1)))


@program
def numbers_of_digits(ints: Image, p: Position):
    n = large(ints, p)
    return len(str(n)), len(str(ints(p))), len(str(abs(n))), len(f"{n}")


@program
def first_and_last_digit(ints: Image, p: Position):
    n = abs(large(ints, p))
    s = str(n)
    return int(s[-1]), int(s[0]), int(str(n)[0]) * 10 + n % 10


@program
def sums_of_digits(ints: Image, p: Position):
    n = abs(large(ints, p))
    return (
        sum(int(d) for d in str(n)),
        sum(map(int, str(n))),
        sum([int(c) for c in str(n)]),
        reduce(lambda total, d: 3 * total + int(d), str(n), 0),
    )


@program
def digits_in_a_loop(ints: Image, p: Position):
    total = 0
    for d in str(abs(large(ints, p))):
        total = total * 3 + int(d) ** 2
    return total


@program
def palindromes(ints: Image, p: Position):
    n = abs(ints(p)) * ints(p)
    m = str(abs(n))
    return str(n) == str(n)[::-1], m == "".join(reversed(m)), int(m[::-1])


@program
def palindrome_by_places(ints: Image, p: Position):
    s = str(abs(large(ints, p)))
    same = True
    for i in range(len(s) // 2):
        if s[i] != s[len(s) - 1 - i]:
            same = False
    odd = i = 0
    while i < len(s):
        if s[i] in "13579":
            odd += 1
        i += 1
    return same, odd


@program
def bits_of_ints(ints: Image, p: Position):
    n = large(ints, p)
    return bin(n).count("1"), len(bin(n)), bin(n)[2:].count("0"), n.bit_count(), n.bit_length()


@program
def other_bases(ints: Image, p: Position):
    n = large(ints, p)
    m = abs(n)
    return len(hex(n)), hex(m).count("a"), oct(m).count("7"), int(hex(m), 16) == m


@program
def formats(ints: Image, p: Position):
    n = ints(p)
    t = f"{abs(n):04d}"
    u = "%05d" % n
    v = "{:3d}|{:x}".format(n, abs(n))
    return format(n, "08b").count("1"), int(t[0]) * 1000 + int(t[3]), len(u), v.count(" "), len(v)


@program
def kaprekars_routine(ints: Image, p: Position):
    n = abs(large(ints, p)) % 10000
    k = 0
    for _ in range(4):
        if n == 6174:
            break
        high = int("".join(sorted(f"{n:04d}", reverse=True)))
        low = int("".join(sorted(f"{n:04d}")))
        n = high - low
        k += 1
    return k, n


@program
def lists_of_digits(ints: Image, p: Position):
    n = abs(large(ints, p))
    ds = [int(d) for d in str(n)]
    return ds[0], ds[-1], max(ds), min(ds), len(ds), len(set(str(n))), sorted(ds)[0]


@program
def filled_by_zeros(ints: Image, p: Position):
    s = str(ints(p)).zfill(6)
    t = str(abs(ints(p))).zfill(3)
    return s.count("0"), len(s), int(t[1]), int(t), int(s), t == "007"


@program
def luhns_check(ints: Image, p: Position):
    total = 0
    for i, d in enumerate(reversed(str(abs(large(ints, p))))):
        v = int(d)
        if i % 2 == 1:
            v *= 2
            if v > 9:
                v -= 9
        total += v
    return total % 10 == 0, total


@program
def powers_of_digits(ints: Image, p: Position):
    n = abs(large(ints, p)) % 1000
    return n == sum(int(d) ** len(str(n)) for d in str(n)), n


@program
def happy_numbers(ints: Image, p: Position):
    n = abs(ints(p))
    k = 0
    while n not in (1, 4) and k < 20:
        n = sum(int(d) ** 2 for d in str(n))
        k += 1
    return n == 1, k


@program
def neighbours_among_digits(ints: Image, p: Position):
    s = str(abs(large(ints, p)))
    return (
        any(a == b for a, b in zip(s, s[1:], strict=False)),
        all(a <= b for a, b in zip(s, s[1:], strict=False)),
        list(s) == sorted(s),
        sum(int(a) * b for a, b in zip(s, range(1, 11), strict=False)),
    )


@program
def counted_digits(ints: Image, p: Position):
    counts = Counter(str(abs(large(ints, p)) % 1000))
    return counts["1"], counts["7"]


@program
def messages_that_nobody_reads(ints: Image, p: Position):
    n = ints(p)
    if n == 12345:
        raise ValueError(f"bad {n} at {p.x}, {p.y}: {n / 3:.2f}")
    label = ""
    total = 0
    for i in range(n % 5):
        label += str(i)
        total += i
    return total


@program
def letters_by_number(ints: Image, p: Position):
    c = chr(ord("a") + ints(p) % 26)
    return ord(c) - ord("a"), c in "aeiou", c.upper() == "E", c.isalpha()


@program
def segments_of_a_display(ints: Image, p: Position):
    lit = {"0": 6, "1": 2, "2": 5, "3": 5, "4": 4, "5": 5, "6": 6, "7": 3, "8": 7, "9": 6}
    return sum(lit[c] for c in f"{abs(ints(p)):03d}")


@program
def questions_to_strings(ints: Image, p: Position):
    s = str(ints(p))
    return (
        s.startswith("-"),
        s.endswith("7"),
        "3" in s,
        s.isdigit(),
        s.find("2"),
        s.replace("1", "").count("2"),
        s.lstrip("-")[0] == "1",
    )


@program
def numbers_one_after_the_other(ints: Image, p: Position):
    a, b = abs(ints(p)) % 100, p.x
    return (
        int(str(a) + str(b)),
        int(f"{a}{b}"),
        len(f"{a}-{b}"),
        f"{a}" < f"{b}",
        str(a) == str(b),
    )


@program
def bits_backwards(ints: Image, p: Position):
    b = bin(abs(ints(p)) % 64)[2:].zfill(6)
    return int(b, 2), int(b[::-1], 2), sum(b[i] != b[i - 1] for i in range(1, 6))


@program
def words_of_bools(ints: Image, p: Position):
    b = ints(p) > 3
    return str(b) == "True", len(f"{b}")


@program
def digits_unpacked(ints: Image, p: Position):
    n = abs(ints(p))
    bits = [int(x) for x in format(n, "08b")]
    a, b, *rest = bits
    d, e, f = f"{n % 1000:03d}"
    return bits[0] * 2 + bits[7], a + b, sum(rest), int(d) + int(e) * 2 + int(f) * 3


@program
def a_sign_that_is_no_digit(ints: Image, p: Position):
    total = 0
    for c in str(ints(p)):
        try:
            total += int(c)
        except ValueError:
            total += 100
    return total


@program
def sums_that_grow_backwards(ints: Image, p: Position):
    n = abs(ints(p))
    k = 0
    for _ in range(3):
        m = int(str(n)[::-1])
        if m == n:
            break
        n = n + m
        k += 1
    return k, n


@program
def ends_of_the_ints(ints: Image, p: Position):
    n = (2147483647, -2147483648, 0, -1, 1000000000, 999999999, -999999999)[p.x]
    n = n if ints(p) != 1000 else ints(p)
    s = str(n)
    return len(s), int(s[-1]), sum(int(c) for c in s if c != "-"), int(s) == n, s.count("9")


@program
def bits_of_a_neighbourhood(im: Image, p: Position):
    bits = [int(im(p + (k, 0)) > 0.25) for k in (-1, 0, 1)]
    a, b, c = bits
    table = {"000": 0, "001": 1, "010": 1, "011": 1, "100": 0, "101": 1, "110": 1, "111": 0}
    word = "".join(str(bit) for bit in bits)
    return 110 >> int("".join(map(str, bits)), 2) & 1, int(f"{a}{b}{c}", 2), table[word]


@program
def single_digits(im: Image, p: Position):
    a, b, c = str(p.x % 2), f"{p.y % 3}", str(int(p.x > 1))
    return int(a + b + c), (a + b).count("1"), a == c, a.zfill(2) == "01", f"{b:>2}" == " 1", ord(b)


@program
def check_digit_of_every_second_one(counts: Image, p: Position):
    digits = [int(d) for d in str(counts(p) * 37 + 5)]
    doubled = sum(sum(divmod(2 * d, 10)) for d in digits[-2::-2])
    return (sum(digits[-1::-2]) + doubled) % 10, len(digits[-3::-1])


@program
def digits_written_by_a_long_loop(counts: Image, p: Position):
    s = t = ""
    for k in range(40):
        s, t = s + str((counts(p) + k) % 2), str((counts(p) + k) % 10) + t
    return s == "01" * 20, len(t), t.count("1"), int(t[0])


_TEXT = "the quick brown fox jumps over the lazy dog"


@program
def parts_of_known_strings_at_dynamic_places(ints: Image, counts: Image, p: Position):
    word, k = "hello world", ints(p)
    same = (
        word[k : k + 3] == "llo",
        word[k:] == "world",
        word[:k] != "he",
    )
    asked = (
        len(word[k : k + 2]),
        len(word[k:]),
        word[-k:].count("o"),
        word[::-1][k:].startswith("w"),
    )
    name = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta")[counts(p)]
    own = name[p.x :] == "ta", int("12345678"[p.y : p.y + 2]), name[: p.x].upper() in ("AL", "ZE")
    letters = 0
    for letter in _TEXT[k % 40 : k % 40 + 3]:
        letters = letters * 31 + ord(letter)
    return (
        *same,
        *asked,
        *own,
        letters,
        _TEXT[k % 40 : k % 40 + 3] == "fox",
        _TEXT[k % 40 :].count("o"),
    )


@program
def digits_that_are_written_on_one_path(im: Image, ints: Image, p: Position):
    text = ""
    for number in (ints(p), p.y - 1):
        if number > 1:
            text += str(number)
        elif number < 0:
            text += f"({number})"
    opened = 0
    for letter in text:
        opened += letter == "("
    return len(text), text == "23", text.count("2"), opened


@program
def strings_of_which_one_is_written(im: Image, ints: Image, p: Position):
    few = "z" if im(p) > 0.4 else str(p.x)
    other = hex(p.x * 5) if p.y > 2 else f"{p.y - 3:04d}"
    text = f"<{few}>"
    zeros = other.count("0"), other.startswith("0x")
    return len(text), few == "z", "-".join([few, "a"]) == "z-a", len(few + str(p.y)), *zeros


@program
def letters_of_strings_of_which_one_is_empty(im: Image, p: Position):
    word = "" if p.x % 3 == 0 else "abc" if p.x % 3 == 1 else "xaxax"
    count = 0
    for k in range(6):
        if k >= len(word):
            break
        if word[k] == "a":
            count += 1
    begins = bool(word) and word[0] == "x"
    ends = word[-1] == "c" if word else False
    return count, begins, ends, len(word) > 3 and word[p.y % 5] == "a"


@program
def roman_numerals(ints: Image, p: Position):
    n = abs(ints(p)) % 20 + 1
    out = ""
    for value, letters in ((9, "IX"), (1, "I")):
        while n >= value:
            out += letters
            n -= value
    return len(out), out.count("X"), out.endswith("I"), out == "IXII", out < "II"


@program
def digits_in_a_base(ints: Image, p: Position):
    n = abs(ints(p)) + 1
    out = ""
    while n:
        n, digit = divmod(n, 5)
        out = "01234"[digit] + out
    return len(out), out.count("1"), out[0] == "1", int(out, 5)


@program
def text_that_an_object_gathers(im: Image, ints: Image, p: Position):
    class Log:
        def __init__(self):
            self.text = "<"

        def add(self, letter):
            self.text += letter

    log = Log()
    n = abs(ints(p)) % 7
    while n > 0:
        if im(p + (n, 0)) > 0.5:
            log.add("ab")
        n -= 1
    log.add(">")
    return len(log.text), log.text.count("b"), log.text.endswith("b>"), log.text[1] == "a"


@program
def numbers_of_growing_lists_are_joined(im: Image, p: Position):
    found = []
    for k in range(4):
        if im(p + (k, 0)) > 0.5:
            found.append(7 * k + p.x)
    plain, text = "".join(str(v) for v in found), ", ".join(map(str, found))
    return len(plain), len(text), text.count(","), text.startswith(plain)


@program
def words_of_a_list_that_a_loop_fills(ints: Image, p: Position):
    n = abs(ints(p)) % 6
    words = []
    for k in range(n):
        words.append("fizz" if k % 3 == 0 else "b")
    text = "".join(words)
    return len(text), text.count("z"), text.endswith("b"), text == "fizzbb"


@program
def number_of_a_string_that_may_have_no_digits(ints: Image, p: Position):
    ones = ""
    for _ in range(abs(ints(p)) % 4):
        ones += "1"
    try:
        binary = int(ones, 2)
    except ValueError:
        binary = -1
    few = "".join(c for c in str(abs(ints(p)) % 1000) if c in "12")
    try:
        return binary, int(few), float(few or "7")
    except ValueError:
        return binary, -2, 0.5


@program
def caesars_cipher(im: Image, p: Position):
    key = int(im(p) * 25)
    out = ""
    for letter in "HELLO":
        out += chr((ord(letter) - 65 + key) % 26 + 65)
    return sum(ord(c) for c in out), out[0] == "H", out.count("L"), out.find(out[2])


@program
def checksum_of_a_card(im: Image, p: Position):
    total = 0
    for i, letter in enumerate(reversed(f"{int(im(p) * im(p) * 999):04d}")):
        digit = int(letter) * (1 + i % 2)
        total += digit - 9 if digit > 9 else digit
    return total % 10


@program
def zeros_before_digits_and_last_places(ints: Image, p: Position):
    n = ints(p) % 512 - 200
    filled, cut = str(n).replace("7", "").zfill(5), bin(abs(n))[2:].zfill(6)
    places = cut.rfind("1"), cut.find("1"), filled.rindex(filled[-1]), filled.rfind("00")
    return len(filled), filled.count("0"), filled[0] == "-", len(cut), int(cut[::-1], 2), *places


@program
def runs_are_written_by_their_lengths(im: Image, p: Position):
    out, last, n = "", "", 0
    for k in range(3):
        letter = "a" if im(p + (k, 0)) > 0.5 else "b"
        if letter == last:
            n += 1
        else:
            if n:
                out += last + str(n)
            last, n = letter, 1
    out += last + str(n)
    return len(out), out[0] == "a", out.count("1"), int(out[1])


@program
def digits_of_a_number_of_other_digits(ints: Image, p: Position):
    bits = [int(bit) for bit in f"{ints(p) % 16:04b}"]
    return int("".join(map(str, (bits[0] ^ bits[1], *bits))), 2)


@program
def numbers_with_a_sign(ints: Image, p: Position):
    n = ints(p)
    sizes = (
        len(f"{n:+}"),
        len(f"{n: d}"),
        len(f"{n:+06d}"),
        len("%+5d|%-4d" % (n, n)),
        len(f"{n:>+7}"),
    )
    same = f"{n:+}" == "+7", f"{n: }" == " 7", "%+03d" % n == "+07", f"{n:-d}" == "7"
    return *sizes, *same


@program
def numbers_with_marks(ints: Image, p: Position):
    n = ints(p) * (1 if p.x < 2 else 321 if p.x < 4 else 40321 if p.x < 6 else 52345678)
    return (
        len(f"{n:,}"),
        f"{n:_}".count("_"),
        f"{n:,}"[-4:] == ",642",
        f"{n:,}" == "7",
        len(f"{n:>16,}"),
    )


@program
def bools_as_digits(mask: Image, p: Position):
    return f"{mask(p):d}" == "1", len(f"{mask(p):+d}"), f"{mask(p):>3d}" == "  0", len(f"{mask(p)}")


@program
def characters_by_formats(counts: Image, p: Position):
    k = 65 + counts(p) % 3
    return (
        *(f"{k:c}" == "B", "%c" % k == "C", f"{k:3c}|" == "  A|", "%-3c|" % k == "B  |"),
        *(f"{k:*^3c}" == "*C*", "%c" % f"{k:c}" == "A", ord(f"{k + 1:c}")),
    )


@program
def templates(ints: Image, counts: Image, p: Position):
    text = string.Template("$a of ${b}, $$").substitute(a=counts(p), b=["x", "yz"][p.x % 2])
    safe = string.Template("$a $c").safe_substitute({"a": ints(p)})
    marked = re.sub(r"\d", lambda m: str(int(m[0]) + counts(p)), "1a2b")
    return len(text), text[0] == "3", len(safe), marked.count("5"), len(marked)


@program
def lengths_of_mapped_words(ints: Image, counts: Image, p: Position):
    text = ["one two", "three"][counts(p) % 2]
    return (
        *(
            sum(map(len, [str(ints(p)), "abc", ["ab", "c"][counts(p) % 2]])),
            max(map(len, text.split())),
        ),
        *(list(map(len, [text, "abc"]))[0], len(max(text.split(), key=len))),
    )


@program
def places_of_digits(ints: Image, p: Position):
    total = sum("0123456789".index(digit) for digit in str(abs(ints(p))))
    found = 0
    try:
        for digit in str(ints(p)):
            found += "0123456789".index(digit)
    except ValueError:
        found = -1
    return total, found, int(f"{p.x:032b}"[::-1], 2) & 0xFFFFFFFF


@program
def bases_by_keyword(counts: Image, p: Position):
    return int("11", base=2) + int(f"{p.x:03b}", base=2) * 10


@program
def numbers_in_a_text(ints: Image, p: Position):
    text = f"{ints(p)},{p.x};{p.y}"
    comma, end = text.find(","), text.find(";")
    return int(text[:comma]) + int(text[comma + 1 : end]) * 100 + int(text[end + 1 :]) * 1000


@program
def widths_by_fields(ints: Image, p: Position):
    k = ints(p)
    return (
        len("{:>{width}}|".format(k, width=7)),
        "{0:{1}d}{x}".format(k, 7, x=p.x).count(" "),
        len("{:{}}{}".format(k, 9, p.x)),
    )


@program
def bytes_of_a_text(ints: Image, p: Position):
    rest = 0
    for byte in str(ints(p)).encode():
        rest = (rest * 3 + byte) % 1000
    return rest


@program
def parts_of_a_text(ints: Image, p: Position):
    first, mark, rest = f"{ints(p)},{p.x}".partition(",")
    return int(first) + int(rest) * 100, len(mark), str(ints(p)).isalnum(), hash(ints(p))


@program
def long_loop_over_digits(counts: Image, ints: Image, p: Position):
    digits = f"{counts(p) + 7 * abs(ints(p)) % 25:05b}"
    common = [[0] * 6 for _ in range(6)]
    for i, x in enumerate(digits):
        for j, y in enumerate("10110"):
            if x == y:
                common[i + 1][j + 1] = common[i][j] + 1
            else:
                common[i + 1][j + 1] = max(common[i + 1][j], common[i][j + 1])
    return common[5][5], common[2][5]


@program
def texts_split_at_what_is_known(ints: Image, p: Position):
    line = f"{ints(p)},{p.x},{abs(ints(p + (1, 0)))}"
    a, b, c = line.split(",")
    first, rest = line.split(sep=",", maxsplit=1)
    words = f" n {ints(p)}  of\t{p.y} {('a', 'bc')[p.x % 2]}".split()
    return (
        int(a) + int(b) + len(c),
        sum(map(int, line.split(","))),
        int(first) * 2 + rest.count(","),
        len(words) + int(words[1]) + len(words[-1]),
        len(",".join(line.split(", "))),
    )


@program
def digits_in_the_middle_and_translated(ints: Image, p: Position):
    text = str(ints(p)).center(8, "*")
    opposite = str.maketrans("0123456789", "9876543210", "-")
    spelled = str(abs(ints(p))).translate(str.maketrans({"1": None, "2": "77"}))
    return (
        text.count("*"),
        text.index(str(ints(p))[-1]),
        int(str(ints(p)).translate(opposite)),
        len(spelled),
        spelled.count("7"),
        len(str(p.x).center(1)),
    )


@program
def roman_numerals_by_division(ints: Image, p: Position):
    n, text = abs(ints(p)) % 500, ""
    for value, letters in ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        times, n = divmod(n, value)
        text += letters * times
    dashes = "-+" * (ints(p) % 100)
    return len(text), text.count("I"), text[-1] == "X", len(dashes), f"<{dashes}>".count("+")


@program
def methods_of_one_of_many_texts(ints: Image, p: Position):
    n = ints(p) % 23
    zone = "CDEFGHJKLMNPQRSTUVWXXYZ"[n] if n > 3 else None
    north = zone is not None and zone.lower() >= "n"
    code = ""
    for i in range(3):
        k = ints(p + (i, 0)) % 4
        if k == 1:
            code += "A"
        elif k == 2:
            code += "TX" if n > 9 else str(n)
        elif k == 3:
            code += "X"
    return north, len(code), code.count("X"), code.startswith("A")


@program
def digits_of_all_bits(ints: Image, p: Position):
    n = ints(p) * 2654435769 & 0xFFFFFFFF
    bits = format(n, "032b")
    word = "".join(str(n >> i & 1) for i in range(32))
    return int(bits[::-1], 2), int(word, 2), int(hex(n), 16), int(str(n)), int(bits[:8], 2) - 300


@program
def found_between_bounds(ints: Image, p: Position):
    s = f"{ints(p) + 10:04d}|ab|ab"
    return s.find("|", 5), s.index("a", -4), s.rfind("ab", 0, 7), s.find("b", 20), s.rindex("|", 1)


@program
def parts_of_text(im: Image, p: Position):
    s = str(p.x * 1371 + p.y * 1001) + "0110"
    return (
        *(s.count("1", 2), s.count("01"), s.count("0", 1, 4), s.count("11", -4), s.count("", 1)),
        *(s.startswith("1", 1), s.startswith(("0", "2"), 2), s.endswith("10", 2)),
        *(s.endswith(("10", "0")), s.endswith("11", 0, -1)),
    )


@program
def text_before_and_after(im: Image, p: Position):
    s = f"{p.x * 7}-{p.y + 90}-{p.x}"
    head, mark, tail = s.rpartition("-")
    return len(head), mark == "-", int(tail), len(s.removesuffix("-3")), s.isspace()


@program
def cases_of_text(im: Image, p: Position):
    s = ("ab" if p.x % 2 else "Cd") + hex(p.y * 37)[2:] + " " + "xY"[p.x % 2]
    same = s.title() == s.capitalize(), s.casefold() == s.lower()
    return *same, s.swapcase().count("A"), s.islower(), s.upper().isupper(), len(s.title())
