"""Where training ends, and what cost a λ rule has: tests of the 2006 and 2007 papers, shown in results/report.md."""

from experiments.yue2007.optimality import plots
from experiments.yue2007.optimality.jacobian import LambdaJacobian, lambda_jacobian, loop_work
from experiments.yue2007.optimality.local_optimum import LocalOptimum, local_optimum_test
from experiments.yue2007.optimality.sweep import WeightSweep, weight_sweep

__all__ = [
    "LambdaJacobian",
    "LocalOptimum",
    "WeightSweep",
    "lambda_jacobian",
    "local_optimum_test",
    "loop_work",
    "plots",
    "weight_sweep",
]
