#!/bin/bash
# Says which Triton a branch changes to which: `changed-pin.sh BASE HEAD [FILE ...]` prints "baseline=3.6.0" and "candidate=3.9.0" for the
# first pin that differs between two commits of this repository, nothing where none does. A pin is `triton==VERSION`, or `triton: "VERSION"`
# in a workflow.
set -euo pipefail

base=$1 head=$2
shift 2
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
    files=(pyproject.toml 'requirements*.txt' 'constraints*.txt' 'Containerfile' 'Dockerfile' '.github/workflows/*.yml')
fi

# The version in the first line that the branch takes away (-) or adds (+).
pin() {
    git diff --unified=0 "$base...$head" -- "${files[@]}" |
        sed -nE "s/^[$1].*\\btriton(==|: ?[\"'])([0-9]+\\.[0-9][0-9A-Za-z.+]*).*/\\2/p" | sed -n 1p
}

before=$(pin -) after=$(pin +)
if [ -n "$before" ] && [ -n "$after" ] && [ "$before" != "$after" ]; then
    echo "baseline=$before"
    echo "candidate=$after"
fi
