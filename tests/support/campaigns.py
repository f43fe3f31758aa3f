"""Records of campaigns, of which a test names what it is about."""

from tridiff.fuzz.campaign.record import CampaignOptions, ShardSpec


def shard_spec(**changes: object) -> ShardSpec:
    """The first shard of a campaign, of vector addition in the interpreter."""
    return ShardSpec(**{"index": 0, "target": "triton.vector_add", "subject": "own", "backend": "interpreter",
                        "device": 0, "seed": 1, "seconds": 600, "elements": 64, "rows": 8, **changes})


def campaign_options(**changes: object) -> CampaignOptions:
    """One worker for a minute."""
    return CampaignOptions(**{"seconds": 60.0, "targets": (), "subjects": (), "backends": (), "devices": (0,),
                              "workers": 1, "seed": 0, **changes})
