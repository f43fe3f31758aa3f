"""Programs that a case may carry: pure data whose meaning is defined where the kernels are generated.

The union is tagged; a new kind of program is added here and nowhere else.
"""

from tridiff.kernels.codegen.graph import Graph
from tridiff.kernels.gluon.chain import Chain
from tridiff.kernels.pipelines.plan import Plan

Program = Graph | Chain | Plan
