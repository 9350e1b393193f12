"""Applications of web frameworks are refused: no function of theirs is served past what they ask of callers."""

import importlib.util
import unittest

from served import Served

FASTAPI = '''
    from typing import Annotated
    from fastapi import APIRouter, Depends, FastAPI, HTTPException
    def user(): raise HTTPException(401)
    app = FastAPI()
    @app.get("/admin", dependencies=[Depends(user)])
    def admin(): return {"secret": 42}
'''
APPLICATIONS = {
    "fastapi": [
        FASTAPI,
        FASTAPI.replace("app = FastAPI()", "app = APIRouter(dependencies=[Depends(user)])"),
        FASTAPI.replace("app = FastAPI()", "class Own(FastAPI): pass\n    app = Own()"),
        FASTAPI.replace("app = FastAPI()", "import sys, types; made = types.ModuleType('made'); made.app = FastAPI()")
        .replace("@app", "@made.app"),
        # One that is made by a function that nobody has called yet.
        "import fastapi\ndef create():\n    app = fastapi.FastAPI()\n    return app",
        "def create():\n    from fastapi import FastAPI\n    return FastAPI()",
        # What would let everybody be whom they say they are.
        "from fastapi import Depends\ndef user(): ...\ndef admin(user=Depends(user)): return 42",
        "from fastapi import Security\nfrom typing import Annotated\ndef user(): ...\n"
        "def admin(user: Annotated[str, Security(user)]): return 42",
    ],
    "flask": [
        '''
        import flask
        app = flask.Flask("app")
        @app.before_request
        def guard(): flask.abort(401)
        @app.route("/admin")
        def admin(): return {"secret": 42}
        ''',
        "from flask import Blueprint\nparts = Blueprint('parts', 'parts')\n@parts.get('/s')\ndef secret(): return 42",
    ],
    "asyncio": [
        "async def app(scope, receive, send): ...",
        "def application(environ, start_response): return [b'x']",
        "class Own:\n    def __call__(self, environ, start_response): ...\napplication = Own()\ndef f(): return 1",
    ],
}
FUNCTIONS = {
    # What is taken of a framework, but for an application.
    "fastapi": ["from fastapi import Depends, status\nfrom fastapi.encoders import jsonable_encoder\ndef f(): return 1"],
    "flask": ["from flask import current_app, request, session\ndef f(): return 1"],
    "asyncio": [
        "class Graph:\n    def route(self, a, b): return a\ngraph = Graph()\ndef f(a, b): return graph.route(a, b)",
        "def f(scope, receive): ...",
    ],
}


class Applications(unittest.TestCase):
    def served(self, sources):
        for package, files in sources.items():
            if importlib.util.find_spec(package) is None:
                continue
            for source in files:
                with self.subTest(source=source), Served(source) as served:
                    yield served.control.read()

    def test_they_are_refused(self):
        for kind, said in self.served(APPLICATIONS):
            self.assertEqual((kind, b"past an application" in said), (b"P", True), said)

    def test_functions_are_not(self):
        for kind, said in self.served(FUNCTIONS):
            self.assertEqual(kind, b"R", said)


if __name__ == "__main__":
    unittest.main()
