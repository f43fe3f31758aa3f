"""Programs that a case may carry: pure data whose meaning is defined where the kernels are generated.

The union is tagged; a new kind of program is added here and nowhere else.
"""

from tridiff.kernels.codegen.graph import Graph
from tridiff.kernels.gluon.chain import Chain
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.refusal import Refusal
from tridiff.kernels.language.script import Script
from tridiff.kernels.pipelines.boxes import Boxes
from tridiff.kernels.pipelines.cluster_exchange import Exchange
from tridiff.kernels.pipelines.loop_programs import Loop
from tridiff.kernels.pipelines.plan import Plan
from tridiff.kernels.ttgir.text import Text

Program = Graph | Chain | Plan | Loop | Text | Boxes | Exchange | Call | Script | Refusal
