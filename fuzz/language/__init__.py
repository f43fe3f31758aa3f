"""The language as the table of contents: every function, operator, method and dtype of `triton.language` in one call.

row.py        Row: one function, how it is drawn, written, judged
promotion.py  the type that operands of mixed types are computed in
choices.py    draws that rows share: shapes, element types, numbers
rows/         the rows, by topic
table.py      what the installed Triton has, against what rows, targets and refusals cover
cases.py      the arrays that belong to a call, which cases are valid, simpler calls
draw.py       Hypothesis strategies
answers.py    a call evaluated with the functions of the oracles
launching.py  call -> kernel -> launch
joined.py     which calls may be made in one launch with others
"""
