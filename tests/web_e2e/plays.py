"""Questions that a person might ask, and what the simulated model then plays."""

QUESTION = "Why does every odd square leave the remainder one when it is divided by eight?"
MORE = "Show me in Python."
SLOWLY = "Say it slowly."

PLAYS = {
    QUESTION: """[[think:I write the odd number as 2k+1 and square it: 4k² + 4k + 1, which is 4k(k+1) + 1. \
One of two neighbours is even, so eight divides 4k(k+1).

**So** the remainder is one. Let me check with a few numbers: 9 = 8 + 1, 25 = 24 + 1, 49 = 48 + 1.]] \
[[say:Write the odd number as `2k + 1`. Its square is `4k(k + 1) + 1`.

1. Of the neighbours `k` and `k + 1`, one is **even**.
2. So eight divides `4k(k + 1)`, and the remainder is one.

| n | n² | n² mod 8 |
|--:|--:|--:|
| 3 | 9 | 1 |
| 5 | 25 | 1 |
| 7 | 49 | 1 |]]""",
    MORE: """[[think:A check over many odd numbers is enough to show it; the proof stands above.]] \
[[say:Of course:

```python
assert all(n * n % 8 == 1 for n in range(1, 10_000, 2))
```

It passes in silence, as a proof should.]]""",
    SLOWLY: """[[think:I begin with one thought. And HOLD it here.]] \
[[say:Words, then code:

```python
def odd(n):
    # one
    return n % 2 == 1
```

| a | b |
|---|---|
| 1 | 2 |

The end.]]""",
}
