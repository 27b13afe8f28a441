"""Anthropic's client for Python: asks what each line of JSON says, and answers with a line of JSON."""

import json
import sys

from anthropic import Anthropic, APIError

# The stops in the words that all drivers here share.
STOPS = {"end_turn": "stop", "tool_use": "tool_calls"}


def shown(message):
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [[block.id, block.name, json.dumps(block.input, separators=(",", ":"))] for block in message.content if block.type == "tool_use"]
    return {"text": text, "finish": STOPS.get(message.stop_reason, message.stop_reason), "calls": calls}


def whole(client, request):
    return client.messages.create(**request)


def streamed(client, request):
    with client.messages.stream(**request) as stream:
        return stream.get_final_message()


for line in sys.stdin:
    asked = json.loads(line)
    client = Anthropic(base_url=asked["url"], api_key="none", max_retries=asked.get("retries", 0))
    try:
        answer = shown((streamed if asked["stream"] else whole)(client, asked["request"]))
    except APIError as error:
        answer = {"error": type(error).__name__, "message": str(error)}
    print(json.dumps(answer), flush=True)
