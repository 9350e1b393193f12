"""Functions behind decorators, of which the outer ones decide."""

import functools

from salver import HTTPError


def needs_token(function):
    @functools.wraps(function)
    def wrapper(request, *args, **kwargs):
        if request.header("authorization") != "Token secret":
            raise HTTPError(401, "who are you?", headers={"WWW-Authenticate": "Token"})
        return function(*args, **kwargs)

    # A signature of its own: what the wrapper takes is more than what is wrapped.
    del wrapper.__wrapped__
    return wrapper


def logged(level="info"):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            print(level, function.__name__, result)
            return result

        return wrapper

    return decorate


def retried(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(times):
                try:
                    return function(*args, attempt=attempt, **kwargs)
                except ConnectionError:
                    continue
            raise HTTPError(502, f"{times} attempts failed")

        return wrapper

    return decorate


#* @get /secret
@needs_token
def secret(name="you"):
    return f"hello, {name}"


#* @get /sum
@logged("debug")
def add(a: int, b: int = 1) -> int:
    return a + b


#* @get /flaky
@retried(3)
def flaky(works_at: int, attempt: int = 0):
    if attempt < works_at:
        raise ConnectionError
    return attempt


#* @get /fib
@functools.lru_cache(maxsize=None)
def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)
