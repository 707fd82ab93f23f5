"""Training, evaluation and the benchmark; run from the checkout, as in `python -m train.ppo`."""

import os

# Idle threads of torch sleep instead of spinning. On an idle machine this changes nothing; where other
# processes share the cores, spinning made training four times slower. It must be set before torch loads.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
