"""Steps as lines of Gluon."""

from __future__ import annotations

from dataclasses import dataclass, field

from tridiff.kernels.gluon.dialect import GL_DTYPES, Dialect
from tridiff.kernels.pipelines import layouts, steps as s
from tridiff.kernels.pipelines.plan import MOVES, Dot, Fold, Op, Plan, TmaStore

_LEAST = {"gl.int8": "-128", "gl.int16": "-32768", "gl.int32": "-2147483648", "gl.int64": "-9223372036854775808",
          "gl.uint32": "0"}


@dataclass
class Lines:
    """Lines of code at one indentation."""

    lines: list[str] = field(default_factory=list)
    depth: int = 0

    def add(self, *lines: str) -> None:
        self.lines += [("    " * self.depth + line) if line else "" for line in lines]

    def extend(self, other: Lines) -> None:
        self.lines += other.lines


@dataclass(frozen=True)
class Names:
    """Names of the layouts of one partition, and of the places of a tile's elements."""

    plan: Plan
    role: str
    warps: int

    def _suffix(self, source: int) -> str:
        same = self.plan.tile_shape(source) == self.plan.tile_shape(0)
        return f"{self.role.upper()}" + ("" if same else str(source))

    def tile(self, source: int) -> str:
        return f"TILE_{self._suffix(source)}"

    def other(self, source: int) -> str:
        return f"OTHER_{self._suffix(source)}"

    def transposed(self, source: int, *, other: bool) -> str:
        return f"{'OTHER' if other else 'TILE'}_T_{self._suffix(source)}"

    def coordinates(self, source: int) -> list[str]:
        """Rows and columns of a tile's elements, as `rows<n>` and `columns<n>`."""
        rows, columns = self.plan.tile_shape(source)
        layout = self.tile(source)
        return [f"rows{source} = gl.arange(0, {rows}, layout=gl.SliceLayout(1, {layout}))[:, None]",
                f"columns{source} = gl.arange(0, {columns}, layout=gl.SliceLayout(0, {layout}))[None, :]"]


class Writer:
    """Writes the steps of one partition."""

    def __init__(self, kernel: s.Kernel, dialect: Dialect, names: Names) -> None:
        self._kernel, self._plan, self._dialect, self._names = kernel, kernel.plan, dialect, names
        self._integer = layouts.integer(self._plan)
        self._computes = any(op.kind not in MOVES for op in self._plan.ops) or isinstance(self._plan.sink, Fold)
        self._bitcast = self._computes and self._integer != GL_DTYPES[self._plan.dtype]
        self._other = False
        """Whether the tile in registers lies in the other layout."""

    def steps(self, steps: tuple[s.Step, ...]) -> Lines:
        """The partition's body: coordinates, then every step."""
        body = Lines(depth=1)
        self._block(steps, body)
        text = "\n".join(body.lines)
        head = Lines(depth=1)
        for source in range(len(self._plan.sources)):
            if f"columns{source}" in text:
                head.add(*self._names.coordinates(source))
        head.extend(body)
        return head

    def _block(self, steps: tuple[s.Step, ...], out: Lines) -> None:
        for step in steps:
            self._step(step, out)

    # -- places

    def _tile(self, at: s.At) -> str:
        """The tile's number."""
        known = self._plan.loop != "range"
        if at.base == "start":
            return str(at.shift)
        if at.base == "end" and known:
            return str(self._plan.tiles + at.shift)
        name = "t" if at.base == "loop" else "tiles"
        if at.shift == 0:
            return name
        return f"({name} {'+' if at.shift > 0 else '-'} {abs(at.shift)})"

    def _slot(self, at: s.At, depth: int) -> str:
        tile = self._tile(s.At(at.shift % depth if at.shift < 0 and at.base == "loop" else at.shift, at.base))
        if tile.isdigit():
            return str(int(tile) % depth)
        return "0" if depth == 1 else f"{tile} % {depth}"

    def _phase(self, at: s.At, depth: int, *, opposite: bool) -> str:
        tile = self._tile(at)
        if tile.isdigit():
            return str((int(tile) // depth & 1) ^ opposite)
        phase = f"({tile} // {depth}) & 1" if depth > 1 else f"{tile} & 1"
        return f"({phase}) ^ 1" if opposite else phase

    def _start(self, at: s.At) -> str:
        """The tile's first column."""
        before = f" - {self._plan.before}" if self._plan.before else ""
        return f"{self._tile(at)} * {self._plan.columns}{before}"

    def _when(self, at: s.At, when: s.When) -> str:
        """A condition, "" for always."""
        if when == "exists":
            return f"{self._tile(at)} < tiles"
        return f"{self._tile(at)} >= 0" if when == "not_negative" else ""

    def _depth(self, barrier: str) -> int:
        return next(ring.depth for ring in self._kernel.barriers if ring.name == barrier)

    def _barrier(self, name: str, at: s.At) -> str:
        return f"{name}.index({self._slot(at, self._depth(name))})"

    def _ring(self, source: int, at: s.At) -> str:
        return f"x{source}.index({self._slot(at, self._plan.ring)})"

    def _out_slot(self, at: s.At) -> str:
        sink = self._plan.sink
        return f"staged.index({self._slot(at, sink.buffers if isinstance(sink, TmaStore) else self._plan.ring)})"

    def _place(self, source: int, at: s.At) -> tuple[str, str, str]:
        """(row, column, condition) of a tile's elements in the source's array."""
        shape, across = self._plan.tile_shape(source), self._plan.sources[source].across
        if across:
            return (f"program * width + {self._start(at)} + rows{source}", f"columns{source}", "")
        column = f"{self._start(at)} + columns{source}"
        inside = [f"({column} >= 0)"] * bool(self._plan.before) + [f"({column} < width)"] * bool(self._plan.cut)
        return f"program * {shape[0]} + rows{source}", column, " & ".join(inside)

    def _mask(self, source: int, at: s.At, when: s.When) -> str:
        _, column, inside = self._place(source, at)
        exists = self._when(at, when)
        if exists and not inside:
            inside = f"({column} >= 0)"
        parts = [one for one in (inside, f"({exists})" if exists else "") if one]
        return " & ".join(parts)

    def _pointers(self, source: int, at: s.At) -> str:
        row, column, _ = self._place(source, at)
        return f"x{source}_ptr + ({row}) * pitch{source} + {column}"

    def _corner(self, source: int, at: s.At) -> str:
        """A tile's coordinates in a tensor map."""
        shape = self._plan.tile_shape(source)
        if self._plan.sources[source].across:
            return f"[program * width + {self._start(at)}, 0]"
        return f"[program * {shape[0]}, {self._start(at)}]"

    # -- steps

    def _step(self, step: s.Step, out: Lines) -> None:
        plan, dialect = self._plan, self._dialect
        match step:
            case s.Loop(body, short):
                self._loop(body, short, out)
            case s.If(at, body):
                inner = Lines(depth=out.depth + 1)
                self._block(body, inner)
                out.add(f"if {self._when(at, 'exists')}:")
                out.extend(inner)
            case s.Barrier():
                out.add(dialect.barrier)
            case s.Fence():
                out.add(f"fence_async_shared({'cluster=True' if self._plan.cluster_fence else ''})")
            case s.Copy(source, at, when):
                mask = self._mask(source, at, when)
                wanted = plan.sources[source]
                extra = f", mask={mask}" if mask else ""
                extra += f', cache_modifier="{wanted.cache}"' if wanted.cache else ""
                extra += f', eviction_policy="{wanted.evict}"' if wanted.evict else ""
                places = f"{self._ring(source, at)}, {self._pointers(source, at)}"
                out.add(f"async_copy.{dialect.async_load}({places}{extra})")
            case s.Commit():
                out.add("async_copy.commit_group()")
            case s.WaitGroups(pending):
                out.add(f"async_copy.wait_group({pending})")
            case s.ArriveOnCopies(barrier, at, counted):
                out.add(f"async_copy.mbarrier_arrive({self._barrier(barrier, at)}, increment_count={counted})")
            case s.Expect(barrier, at, size, when):
                pred = self._when(at, when)
                out.add(f"mbarrier.expect({self._barrier(barrier, at)}, {size}{f', pred={pred}' if pred else ''})")
            case s.TmaLoad(source, at, barrier, when):
                pred = self._when(at, when)
                out.add(f"tma.{dialect.tma_load}(x{source}_map, {self._corner(source, at)}, "
                        f"{self._barrier(barrier, at)}, {self._ring(source, at)}{f', pred={pred}' if pred else ''})")
            case s.Fill(source, at, when):
                mask = self._mask(source, at, when)
                zero = "0.0" if self._floats() else "0"
                other = f", mask={mask}, other={zero}" if mask else ""
                out.add(f"{self._ring(source, at)}.store(gl.load({self._pointers(source, at)}{other}))")
            case s.WaitBarrier(barrier, at, opposite):
                phase = self._phase(at, self._depth(barrier), opposite=opposite)
                out.add(f"mbarrier.wait({self._barrier(barrier, at)}, {phase})")
            case s.Arrive(barrier, at, when):
                pred = self._when(at, when)
                count = self._plan.weight if barrier.startswith("empty") else 1
                extra = f", pred={pred}" if pred else ""
                out.add(f"mbarrier.arrive({self._barrier(barrier, at)}, count={count}{extra})")
            case _:
                self._compute(step, out)

    def _loop(self, body: tuple[s.Step, ...], short: int, out: Lines) -> None:
        inner = Lines(depth=out.depth + 1)
        self._block(body, inner)
        static = self._plan.loop == "static"
        if static and self._plan.tiles <= short:
            return
        count = max(self._plan.tiles - short, 0) if self._plan.loop != "range" else f"tiles - {short}" if short else (
            "tiles")
        out.add(f"for t in {'gl.static_range' if static else 'range'}({count}):")
        out.extend(inner)

    def _compute(self, step: s.Step, out: Lines) -> None:
        plan = self._plan
        match step:
            case s.Read(source, at):
                name = "v" if source == 0 else "w"
                out.add(f"{name} = {self._ring(source, at)}.load({self._names.tile(source)})")
                if self._bitcast:
                    out.add(f"{name} = {name}.to({self._integer}, bitcast=True)")
                self._other = False
            case s.ZeroOutside(source, at):
                name = "v" if source == 0 else "w"
                inside = self._mask(source, at, "")
                zero = f"gl.zeros([{plan.rows}, {plan.columns}], {name}.dtype, layout={self._names.tile(source)})"
                out.add(f"{name} = gl.where({inside}, {name}, {zero})")
            case s.Apply(op, buffer, explicit):
                self._apply(op, buffer, explicit, out)
            case s.StoreOut(at, output):
                self._back(out)
                row, column, inside = self._place(0, at)
                mask = f", mask={inside}" if inside and self._kernel.masked else ""
                out.add(f"gl.store({output}_ptr + ({row}) * out_pitch + {column}, v{mask})")
            case s.PutOut(at):
                self._back(out)
                out.add(f"{self._out_slot(at)}.store(v)")
            case s.GetOut(at):
                out.add(f"v = {self._out_slot(at)}.load({self._names.tile(0)})")
                self._other, self._bitcast = False, False
            case s.TmaStore(at):
                sink = plan.sink
                assert isinstance(sink, TmaStore)
                call = f"async_atomic_{sink.reduce}" if sink.reduce else self._dialect.tma_store
                row = "0" if sink.reduce else f"program * {plan.rows}"
                out.add(f"tma.{call}(out_map, [{row}, {self._start(at)}], {self._out_slot(at)})")
            case s.StoreWait(pending):
                out.add(f"tma.store_wait({pending})")
            case s.Side():
                out.add(f"lanes = gl.arange(0, 256, layout=gl.BlockedLayout([1], [32], [{self._names.warps}], [0]))",
                        "gl.store(side_ptr + program * 256 + lanes, program * 1000 + lanes * 3)")
            case _:
                self._accumulate(step, out)

    def _accumulate(self, step: s.Step, out: Lines) -> None:
        plan, tile = self._plan, f"[{self._plan.rows}, {self._plan.columns}]"
        sink = plan.sink
        match step:
            case s.FoldBegin():
                assert isinstance(sink, Fold)
                first = _LEAST[self._integer] if sink.op == "max" else "0"
                out.add(f"folded = gl.full({tile}, {first}, {self._integer}, layout={self._names.tile(0)})")
            case s.FoldStep():
                assert isinstance(sink, Fold)
                self._settle(out)
                out.add({"add": "folded = folded + v", "xor": "folded = folded ^ v",
                         "max": "folded = gl.maximum(folded, v)"}[sink.op])
            case s.FoldEnd():
                assert isinstance(sink, Fold)
                if self._bitcast:
                    out.add(f"folded = folded.to({GL_DTYPES[plan.dtype]}, bitcast=True)")
                if sink.returned:
                    out.add("return (folded,)")
                else:
                    out.add(f"gl.store(out_ptr + (program * {plan.rows} + rows0) * out_pitch + columns0, folded)")
            case s.DotBegin():
                assert isinstance(sink, Dot)
                out.add(f"sums = gl.zeros([{plan.rows}, {sink.n}], "
                        f"{'gl.int32' if plan.dtype == 'i8' else 'gl.float32'}, layout=ACCUMULATOR)")
            case s.DotStep(at):
                assert isinstance(sink, Dot)
                left = self._ring(0, at)
                if sink.registers:
                    self._back(out, settle=False)
                    left = "gl.convert_layout(v, OPERAND)"
                right = self._ring(1, at) + ("" if plan.sources[1].across else ".permute((1, 0))")
                later = ", is_async=True" if sink.asynchronous else ""
                out.add(f"sums = warpgroup_mma({left}, {right}, sums{later})")
            case s.DotWait(pending):
                assert isinstance(sink, Dot)
                if sink.asynchronous:
                    out.add(f"sums = warpgroup_mma_wait({pending}, deps=[sums])")
            case s.DotEnd():
                assert isinstance(sink, Dot)
                out.add(f"out_rows = gl.arange(0, {plan.rows}, layout=gl.SliceLayout(1, ACCUMULATOR))[:, None]",
                        f"out_columns = gl.arange(0, {sink.n}, layout=gl.SliceLayout(0, ACCUMULATOR))[None, :]",
                        f"gl.store(out_ptr + (program * {plan.rows} + out_rows) * out_pitch + out_columns, sums)")
            case _:
                raise TypeError(f"no text for {step}")

    # -- operations

    def _layout(self) -> str:
        return self._names.other(0) if self._other else self._names.tile(0)

    def _apply(self, op: Op, buffer: str, explicit: bool, out: Lines) -> None:
        constant = op.constant
        simple = {"add": f"v + {constant}", "multiply": f"v * {constant}", "xor": f"v ^ {constant}", "invert": "~v",
                  "mix": f"v ^ (v << {constant})", "scan": "gl.associative_scan(v, 1, add)",
                  "row_max": f"v - gl.expand_dims(gl.max(v, 1), 1).to({self._integer})"}
        if op.kind in simple:
            out.add(f"v = {simple[op.kind]}")
        elif op.kind.startswith("second"):
            w = f"gl.convert_layout(w, {self._layout()})" if self._other else "w"
            out.add({"second_add": f"v = v + {w}", "second_xor": f"v = v ^ {w}",
                     "second_max": f"v = gl.maximum(v, {w})"}[op.kind])
        else:
            barrier = [self._dialect.barrier] if explicit else []
            self._other = not self._other
            if op.kind == "convert":
                out.add(f"v = gl.convert_layout(v, {self._layout()})")
                return
            stored = f"v.to({self._integer}, bitcast=True)" if not self._bitcast and self._floats() else "v"
            out.add(*barrier, f"{buffer}.store({stored})", *barrier)
            if op.kind == "stage":
                out.add(f"v = {buffer}.load({self._layout()})")
            else:
                transposed = self._names.transposed(0, other=self._other)
                out.add(f"v = gl.permute({buffer}.permute((1, 0)).load({transposed}), (1, 0))")
            if stored != "v":
                out.add(f"v = v.to({GL_DTYPES[self._plan.dtype]}, bitcast=True)")

    def _floats(self) -> bool:
        return self._integer != GL_DTYPES[self._plan.dtype]

    def _settle(self, out: Lines) -> None:
        """The tile back in its first layout."""
        if self._other:
            out.add(f"v = gl.convert_layout(v, {self._names.tile(0)})")
            self._other = False

    def _back(self, out: Lines, *, settle: bool = True) -> None:
        """The tile as elements, in its first layout."""
        if settle:
            self._settle(out)
        self._other = False
        if self._bitcast:
            out.add(f"v = v.to({GL_DTYPES[self._plan.dtype]}, bitcast=True)")
