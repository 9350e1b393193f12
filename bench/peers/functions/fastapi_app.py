"""The same function behind FastAPI."""

from fastapi import FastAPI

app = FastAPI()


@app.get("/f")
def f(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@app.get("/f-async")
async def f_async(n: int) -> int:
    return f(n)
