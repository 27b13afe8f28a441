"""OpenAI's client for Python: asks what each line of JSON says, and answers with a line of JSON."""

import json
import sys

from openai import APIError, OpenAI


def shown(text, finish, calls):
    return {"text": text, "finish": finish, "calls": calls}


def whole(client, request):
    choice = client.chat.completions.create(**request).choices[0]
    calls = [[call.id, call.function.name, call.function.arguments] for call in choice.message.tool_calls or []]
    return shown(choice.message.content or "", choice.finish_reason, calls)


def streamed(client, request):
    text, finish, calls = "", None, []
    for chunk in client.chat.completions.create(**request, stream=True):
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or []:
                if call.index == len(calls):
                    calls.append([call.id, call.function.name, ""])
                calls[call.index][2] += call.function.arguments
    return shown(text, finish, calls)


for line in sys.stdin:
    asked = json.loads(line)
    client = OpenAI(base_url=asked["url"] + "/v1", api_key="none", max_retries=asked.get("retries", 0))
    try:
        answer = (streamed if asked["stream"] else whole)(client, asked["request"])
    except APIError as error:
        answer = {"error": type(error).__name__, "message": str(error)}
    print(json.dumps(answer), flush=True)
