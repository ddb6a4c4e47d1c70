"""A server of the official Python SDK (2.x) for tests. It serves both eras.

python3 server.py stdio|sessions|stateless|sse

Over HTTP it prints its address, and serves until it is killed.
"""

import socket
import sys
from typing import Annotated

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.types import Completion
from pydantic import BaseModel

server = MCPServer("python", version="1", log_level="WARNING")


class Name(BaseModel):
    name: str


async def a_name() -> Name | Elicit[Name]:
    return Elicit("a name?", Name)


@server.tool()
def echo(text: str) -> str:
    return text


@server.tool()
async def tell(ctx: Context) -> str:
    await ctx.report_progress(1, 2)
    await ctx.warning("a log line")
    return "told"


@server.tool()
def ask(answer: Annotated[Name, Resolve(a_name)]) -> str:
    return f"answered {answer.name}"


@server.resource("x:1")
def one() -> str:
    return "the text of one"


@server.prompt()
def greet(who: str) -> str:
    return f"Hello {who}"


@server.completion()
async def complete(ref, argument, context) -> Completion:
    return Completion(values=[argument.value + "!"])


def main(transport: str) -> None:
    if transport == "stdio":
        server.run("stdio")
        return
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    if transport == "sse":
        app, path = server.sse_app(), "/sse"
    else:
        app, path = server.streamable_http_app(stateless_http=transport == "stateless"), "/mcp"
    print(address + path, flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1])
