"""Records of campaigns, of which a test names what it is about."""

import concurrent.futures
import contextlib
from collections.abc import Iterator

from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec


def shard_spec(**changes: object) -> ShardSpec:
    """The first shard of a campaign, of vector addition in the interpreter."""
    return ShardSpec(**{"index": 0, "target": "triton.vector_add", "subject": "own", "backend": "interpreter",
                        "device": 0, "seed": 1, "seconds": 600, "elements": 64, "rows": 8, **changes})


def campaign_options(**changes: object) -> CampaignOptions:
    """One worker for a minute."""
    return CampaignOptions(**{"seconds": 60.0, "targets": (), "subjects": (), "backends": (), "devices": (0,),
                              "workers": 1, "seed": 0, **changes})


@contextlib.contextmanager
def drivers_here(options: CampaignOptions, preloaded: object = None) -> Iterator[concurrent.futures.Executor]:
    """In the place of `campaign.run.drivers`: shards run one after another, in a thread of this process."""
    with concurrent.futures.ThreadPoolExecutor(1) as one:
        yield one
