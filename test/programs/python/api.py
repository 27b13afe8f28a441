"""Uses the native API by a client that openapi-python-client has made: a turn, an approval, the rest of a parked turn."""

import json
import sys
import time

sys.path.insert(0, sys.argv[2])

from turnpike_client import Client  # noqa: E402
from turnpike_client.api.native import answer_ask, begin_turn, get_turn  # noqa: E402
from turnpike_client.models import ApprovalType0, ContinueTurn, TurnStart  # noqa: E402

client = Client(base_url=sys.argv[1])


def ask(agent, session, **more):
    body = TurnStart.from_dict({"input": "hello", "agent": agent, "session": {"id": session}})
    return begin_turn.sync(client=client, body=body, **more)


turn = ask("helper", "plain")
state = get_turn.sync(turn.turn, client=client)

parked = ask("careful", "parked")
again = {"type": "ask-reply", "target": {"continuation": parked.continuation}, "ask": parked.asks[0].ask}
again["reply"] = {"kind": "approval", "option": "allow"}
rest = begin_turn.sync(client=client, body=ContinueTurn.from_dict(again))

begun = ask("careful", "asked", accept="text/event-stream", prefer="respond-async")
answered = False
for _ in range(500):
    asks = get_turn.sync(begun.id, client=client).asks
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
