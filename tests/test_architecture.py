"""The layers, the borders of the native package, the sizes and the names hold."""

import ast
import re
from pathlib import Path

import pytest
from importlinter import cli

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "ambergate"
NATIVE = ROOT / "ext" / "ambergate_native"
NATIVE_IMPORTERS = {"channels", "kernels"}
CEILING, TEST_CEILING = 400, 500

BANNED_WORDS = {"manager", "helper", "helpers", "util", "utils", "impl", "context"}
BANNED_NAMES = {"data", "info"}

PYTHON = sorted(PACKAGE.rglob("*.py"))
CYTHON = sorted(NATIVE.glob("*.pyx")) + sorted(NATIVE.glob("*.pxd"))


def relative(path):
    return str(path.relative_to(ROOT))


def imported(tree):
    """Names of the modules a syntax tree imports, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def words(name):
    """The lower-case words of a CamelCase or snake_case name.

    >>> words("ResourceManager2"), words("task_helpers")
    (['resource', 'manager'], ['task', 'helpers'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def given_names(tree):
    """Names given to classes, functions, parameters and variables, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno


def banned(name):
    if name.startswith("__"):
        return False
    if name in BANNED_NAMES or BANNED_WORDS & set(words(name)):
        return True
    # "common" names no thing, but may tell which: `common_type`
    return bool(re.match(r"_?Base[A-Z]|.*Common", name))


def test_each_layer_imports_only_those_below_it():
    failed = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert not failed, "the report above names the import that breaks a layer"


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_the_native_package_is_imported_by_channels_and_kernels_only(path):
    layer = path.relative_to(PACKAGE).parts[0]
    native = [
        name
        for name in imported(ast.parse(path.read_text()))
        if name.split(".")[0] == "ambergate_native"
    ]
    assert not native or layer in NATIVE_IMPORTERS, f"{relative(path)} imports {native}"


@pytest.mark.parametrize("path", [*CYTHON, *sorted(NATIVE.glob("*.py*"))], ids=relative)
def test_the_native_package_knows_nothing_of_the_engine(path):
    found = re.findall(r"^\s*(?:from|import|cimport)\s+ambergate(?!_)\b.*", path.read_text(), re.M)
    assert not found, f"{relative(path)}: {found}"


def test_every_native_module_has_a_stub():
    modules = {path.stem for path in NATIVE.glob("*.pyx")}
    assert modules == {path.stem for path in NATIVE.glob("*.pyi")}


@pytest.mark.parametrize(
    ("folder", "patterns", "ceiling"),
    [
        ("src", ["*.py"], CEILING),
        ("ext", ["*.pyx", "*.pxd", "*.pyi", "*.h"], CEILING),
        ("benchmarks", ["*.py"], CEILING),
        ("tests", ["*.py"], TEST_CEILING),
    ],
)
def test_no_file_is_too_long_to_read(folder, patterns, ceiling):
    lengths = {
        relative(path): len(path.read_text().splitlines())
        for pattern in patterns
        for path in (ROOT / folder).rglob(pattern)
    }
    assert {path: lines for path, lines in lengths.items() if lines > ceiling} == {}


@pytest.mark.parametrize("path", PYTHON, ids=relative)
def test_no_banned_name_in_the_engine(path):
    found = [
        f"{relative(path)}:{line}: {name}"
        for name, line in given_names(ast.parse(path.read_text()))
        if banned(name)
    ]
    assert not found, "\n".join(found)
    assert not banned(path.stem) and path.stem != "common", f"{relative(path)}: a banned file name"


@pytest.mark.parametrize("path", CYTHON, ids=relative)
def test_no_banned_name_in_the_native_package(path):
    given = re.compile(r"^\s*(?:cdef|cpdef|def|class|struct|enum)\b[^=(:]*?(\w+)\s*[=(:]", re.M)
    found = [name for name in given.findall(path.read_text()) if banned(name)]
    assert not found, f"{relative(path)}: {found}"


@pytest.mark.parametrize(
    "name", ["TaskManager", "parse_utils", "data", "BaseReader", "RunContext", "CommonRows"]
)
def test_a_banned_name_is_seen(name):
    assert banned(name)


@pytest.mark.parametrize("name", ["database", "metadata", "base", "__context__", "simple"])
def test_an_innocent_name_is_let_through(name):
    assert not banned(name)
