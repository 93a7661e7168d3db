"""Fixtures for every test of this package: published OpenAPI files as judges of messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml  # type: ignore[import-untyped]
from openapi_schema_validator import OAS30Validator, oas30_format_checker

from op_openbanking.flow import Request, Response, Transport

Node = dict[str, Any]
_VERBS = ("get", "post", "put", "delete", "patch")


@dataclass(frozen=True)
class Operation:
    """One operation of a document."""

    document: Node
    template: str
    verb: str
    node: Node
    parameters: list[Node]

    @property
    def name(self) -> str:
        return f"{self.verb.upper()} {self.template}"


@dataclass
class Messages:
    """OpenAPI 3.0 and Swagger 2.0 documents that requests and answers must obey.

    `check_request` and `check_answer` raise AssertionError; `checking(transport)` is a transport
    that does both. `seen` counts what was checked, so that a test can say that something was.
    Prefixes replace the server's own path where a bank has another.
    """

    documents: list[tuple[str, Node]]
    seen: list[str] = field(default_factory=list)
    links: set[str] = field(default_factory=set)

    def check_request(self, request: Request) -> None:
        operation = self.operation(request)
        problems = [*self._parameters(operation, request), *self._body(operation, request)]
        assert not problems, f"{operation.name}: {problems}"
        self.seen.append(operation.name)

    def check_answer(self, request: Request, response: Response) -> None:
        operation = self.operation(request)
        answers = {str(status): node for status, node in operation.node["responses"].items()}
        answer = answers.get(str(response.status)) or answers.get("default")
        assert answer is not None, f"{operation.name} answers no {response.status}"
        answer = resolved(operation.document, answer)
        schema = answer.get("schema") or _content(answer, response.media_type)
        if schema is None or not response.body:
            return
        self.links.update(re.findall(r'"(https://[^"]+)"', response.body.decode()))
        problems = list(errors(operation.document, schema, json.loads(response.body)))
        assert not problems, f"answer of {operation.name}: {problems}"

    def checking(self, inner: Transport, *, only: str) -> Transport:
        """A transport that checks what goes to URLs below `only`, and what comes back."""
        return _Checking(self, inner, only)

    def operation(self, request: Request) -> Operation:
        path = urlsplit(request.url).path
        found: list[Operation] = []
        for prefix, document in self.documents:
            if path.startswith(prefix):
                found += _operations(document, path.removeprefix(prefix), request.method.lower())
        assert found, f"no document has {request.method} {path}"
        # A literal segment wins over a template.
        return min(found, key=lambda operation: operation.template.count("{"))

    def _parameters(self, operation: Operation, request: Request) -> Iterator[str]:
        query = dict(parse_qsl(urlsplit(request.url).query))
        names = {p["name"] for p in operation.parameters if p["in"] == "query"}
        # A link that the bank wrote may have parameters of its own, for paging above all.
        names |= set(query) if request.url in self.links else set()
        yield from (f"query {name} is not in the document" for name in sorted(set(query) - names))
        for parameter in operation.parameters:
            where, name = parameter["in"], parameter["name"]
            if where == "header":
                value = request.header(name)
            elif where == "query":
                value = query.get(name)
            else:
                continue
            if value is None:
                if parameter.get("required"):
                    yield f"{where} {name} is missing"
                continue
            schema = parameter.get("schema") or {
                key: parameter[key]
                for key in ("type", "format", "enum", "pattern")
                if key in parameter
            }
            kind = resolved(operation.document, schema).get("type")
            typed: object = value
            if kind in {"integer", "number", "boolean"}:
                typed = json.loads(value)
            found = list(errors(operation.document, schema, typed))
            if found and where == "query" and "date-time" in found[0]:
                # OBIE's text wants no offset in a query, where its files say `date-time`, which
                # cannot be written without one.
                found = list(errors(operation.document, schema, f"{value}Z"))
            for problem in found:
                yield f"{where} {name}: {problem}"

    def _body(self, operation: Operation, request: Request) -> Iterator[str]:
        stated = operation.node.get("requestBody")
        inline = next((p for p in operation.parameters if p["in"] == "body"), None)
        if stated is None and inline is None:
            if request.body:
                yield "a body is not in the document"
            return
        media = (request.header("content-type") or "").partition(";")[0].strip()
        if inline is not None:
            schema: Node | None = inline["schema"]
        else:
            body = resolved(operation.document, stated or {})
            if not request.body:
                if body.get("required"):
                    yield "the body is missing"
                return
            schema = _content(body, media)
            if schema is None:
                yield f"media type {media} is not in the document"
                return
        if media.endswith("json"):
            yield from errors(operation.document, schema or {}, json.loads(request.body))


class _Checking:
    def __init__(self, messages: Messages, inner: Transport, only: str) -> None:
        self._messages, self._inner, self._only = messages, inner, only

    def send(self, request: Request) -> Response:
        judged = request.url.startswith(self._only)
        if judged:
            self._messages.check_request(request)
        response = self._inner.send(request)
        if judged:
            self._messages.check_answer(request, response)
        return response


def resolved(document: Node, node: Node) -> Node:
    while "$ref" in node:
        found: Any = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        node = found
    return node


def errors(document: Node, schema: Node, value: object) -> Iterator[str]:
    """What is wrong with a value, each with its place."""
    whole: Node = {"allOf": [schema]}
    for key in ("components", "definitions", "parameters"):
        if key in document:
            whole[key] = document[key]
    validator = OAS30Validator(whole, format_checker=oas30_format_checker)
    for error in validator.iter_errors(value):
        yield f"{error.json_path}: {error.message[:300]}"


def _operations(document: Node, path: str, verb: str) -> Iterator[Operation]:
    for template, item in document["paths"].items():
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template))
        if verb in item and re.fullmatch(pattern, path):
            node = item[verb]
            stated = [*item.get("parameters", []), *node.get("parameters", [])]
            parameters = [resolved(document, parameter) for parameter in stated]
            yield Operation(document, template, verb, node, parameters)


def _content(node: Node, media: str) -> Node | None:
    for stated, content in (node.get("content") or {}).items():
        if stated.partition(";")[0].strip() in {media, "*/*"}:
            schema: Node = content.get("schema", {})
            return schema
    return None


@pytest.fixture(scope="session")
def openapi_file() -> Callable[[Path], Node]:
    """Reads a published document, once for each session."""
    read: dict[Path, Node] = {}

    def load(path: Path) -> Node:
        if path not in read:
            text = path.read_text()
            document = (
                json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
            )
            assert any(set(_VERBS) & set(item) for item in document["paths"].values())
            read[path] = document
        return read[path]

    return load


@pytest.fixture
def messages(shared: Path, openapi_file: Callable[[Path], Node]) -> Callable[..., Messages]:
    """Makes a judge of messages.

    `messages("obie/v3.1.11/*.yaml")` takes files below the published OpenAPI files; the prefix of
    their paths is the server's path, or `prefix` where it is given.
    """
    folder = shared / "specs" / "openbanking"

    def make(*patterns: str, prefix: str | None = None) -> Messages:
        paths = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
        if not paths:
            pytest.skip(f"no published file {patterns[0]} beside this checkout")
        documents = []
        for path in paths:
            document = openapi_file(path)
            servers = document.get("servers") or [{"url": document.get("basePath", "")}]
            own = urlsplit(servers[0]["url"]).path.rstrip("/")
            documents.append((own if prefix is None else prefix, document))
        return Messages(documents)

    return make
