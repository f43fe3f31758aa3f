"""Where a failing case goes wrong: stage and pass of the compiler, with the evidence.

The failing case is run again under one change at a time (`trial`), each in a process of its own (`laboratory`,
`child`); the passes run one by one (`stepping`), the IR between them is evaluated on the case's inputs (`points`),
and a decision is made from what was seen (`decide`).
"""
