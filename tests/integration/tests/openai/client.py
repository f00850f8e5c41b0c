"""The official openai package as a client of the gateway; prints one JSON document."""

import json
import sys

import openai

ADDRESS, TOKEN, WHAT = sys.argv[1:4]
WORDS = sys.argv[4:]
client = openai.OpenAI(base_url=f"{ADDRESS}/v1", api_key=TOKEN, max_retries=0, timeout=60)


def said(text):
    return [{"role": "system", "content": "Answer like a pirate."}, {"role": "user", "content": text}]


def models():
    return {"ids": [model.id for model in client.models.list()], "one": client.models.retrieve("openclaw/main").id}


def chat(text):
    whole = client.chat.completions.create(model="openclaw", messages=said(text), temperature=0.5)
    choice = whole.choices[0]
    return {"text": choice.message.content, "finish": choice.finish_reason, "usage": whole.usage.to_dict()}


def chat_stream(text):
    options = {"include_usage": True}
    pieces, finish, usage = [], None, None
    for chunk in client.chat.completions.create(
        model="openclaw/main", messages=said(text), stream=True, stream_options=options
    ):
        usage = chunk.usage.to_dict() if chunk.usage else usage
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            if choice.delta.content:
                pieces.append(choice.delta.content)
    return {"pieces": pieces, "finish": finish, "usage": usage}


def chat_watch(text):
    """Prints every piece when it comes."""
    for chunk in client.chat.completions.create(model="openclaw", messages=said(text), stream=True):
        print(chunk.choices[0].delta.content, flush=True)


def conversation(*texts):
    """Sends the whole conversation every time, as chat clients do."""
    messages = []
    for text in texts:
        messages.append({"role": "user", "content": text})
        answer = client.chat.completions.create(model="openclaw", messages=messages)
        messages.append({"role": "assistant", "content": answer.choices[0].message.content})
    return {"messages": messages}


def responses(text, more):
    first = client.responses.create(model="openclaw", input=text, instructions="Answer like a pirate.")
    second = client.responses.create(model="openclaw", input=more, previous_response_id=first.id)
    return {
        "status": first.status,
        "texts": [first.output_text, second.output_text],
        "usage": first.usage.to_dict(),
        "previous": second.previous_response_id == first.id,
    }


def responses_stream(text):
    events, pieces, final = [], [], None
    for event in client.responses.create(model="openclaw", input=text, stream=True):
        events.append(event.type)
        if event.type == "response.output_text.delta":
            pieces.append(event.delta)
        if event.type == "response.completed":
            final = event.response.output_text
    return {"events": events, "pieces": pieces, "final": final}


def refused(what):
    calls = {
        "model": lambda: client.chat.completions.create(model="gpt-4o", messages=said("hi")),
        "tools": lambda: client.chat.completions.create(
            model="openclaw", messages=said("hi"), tools=[{"type": "function", "function": {"name": "f"}}]
        ),
        "empty": lambda: client.chat.completions.create(model="openclaw", messages=[]),
        "chat": lambda: client.chat.completions.create(model="openclaw", messages=said("hi")),
        "stream": lambda: list(client.chat.completions.create(model="openclaw", messages=said("hi"), stream=True)),
    }
    try:
        calls[what]()
    except openai.APIError as error:
        return {"error": type(error).__name__, "code": error.code, "message": error.message}
    return {"error": None}


print(json.dumps(globals()[WHAT](*WORDS)))
