"""What histograms give where the lowering counts an element as often as registers of a thread hold it, in torch."""


from tridiff.fuzz.known.issue import Masks, Wrong


def counted_twice(seen: Wrong) -> Masks:
    """Twice the count: the lowering divides by the threads that repeat an element, and not by its two registers."""
    return {name: seen.actual[name] == 2 * seen.expected[name] for name in seen.wrong if name in seen.expected}
