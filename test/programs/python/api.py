"""Uses the native API by a client that openapi-python-client has made: a turn, an approval, the rest of a parked turn."""

import json
import sys
import time
from typing import Any, TypeVar

sys.path.insert(0, sys.argv[2])

from turnpike_client import Client  # noqa: E402
from turnpike_client.api.native import answer_ask, begin_turn, get_turn  # noqa: E402
from turnpike_client.models import Accepted, Answer, ApprovalType0, ContinueTurn, TurnDetails, TurnStart  # noqa: E402
from turnpike_client.types import Unset  # noqa: E402

Wanted = TypeVar("Wanted")
client = Client(base_url=sys.argv[1])


def is_a(kind: type[Wanted], value: object) -> Wanted:
    """The value, which is of this type: operations also answer with failures."""
    assert isinstance(value, kind), value
    return value


def start(agent: str, session: str) -> TurnStart:
    return TurnStart.from_dict({"input": "hello", "agent": agent, "session": {"id": session}})


turn = is_a(Answer, begin_turn.sync(client=client, body=start("helper", "plain")))
state = is_a(TurnDetails, get_turn.sync(turn.turn, client=client))

parked = is_a(Answer, begin_turn.sync(client=client, body=start("careful", "parked")))
assert not isinstance(parked.asks, Unset)
again: dict[str, Any] = {"type": "ask-reply", "target": {"continuation": parked.continuation}, "ask": parked.asks[0].ask}
again["reply"] = {"kind": "approval", "option": "allow"}
rest = is_a(Answer, begin_turn.sync(client=client, body=ContinueTurn.from_dict(again)))

body = start("careful", "asked")
begun = is_a(Accepted, begin_turn.sync(client=client, body=body, accept="text/event-stream", prefer="respond-async"))
answered = False
for _ in range(500):
    asks = is_a(TurnDetails, get_turn.sync(begun.id, client=client)).asks
    if asks:
        done = answer_ask.sync_detailed(begun.id, asks[0].ask, client=client, body=ApprovalType0(option="deny"))
        answered = done.status_code == 200
        break
    time.sleep(0.02)

print(
    json.dumps(
        {
            "turn": [turn.outcome, turn.text, state.state, state.text],
            "parked": [parked.outcome, parked.asks[0].question.kind],
            "rest": [rest.outcome, rest.text],
            "answered": answered,
        }
    )
)
