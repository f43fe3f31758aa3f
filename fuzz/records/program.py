"""Programs that a case may carry: pure data whose meaning is defined where the kernels are generated.

The union is tagged; a new kind of program is added here and nowhere else.
"""

from kernels.codegen.graph import Graph
from kernels.gluon.chain import Chain
from kernels.pipelines.plan import Plan

Program = Graph | Chain | Plan
