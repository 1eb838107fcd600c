"""What is installed: recipes, workflows and wheels."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_recipe_of_conda_has_the_dependencies_of_the_project():
    recipe = (ROOT / "packaging/conda/recipe.yaml").read_text()
    [listed] = re.findall(r"^  run:\n((?:    - .*\n)+)", recipe, re.MULTILINE)
    names = {line.strip("- ").replace(" ", "") for line in listed.splitlines()}
    python = {f"python{PROJECT['requires-python']}"}
    assert names == {*PROJECT["dependencies"], *python}


def test_the_extra_for_everything_names_all_that_users_need():
    [everything] = PROJECT["optional-dependencies"]["all"]
    listed = set(re.search(r"\[(.*)\]", everything)[1].split(","))
    for_developers = {"all", "test", "peers", "check"}
    assert listed == set(PROJECT["optional-dependencies"]) - for_developers


def test_pages_name_only_extras_that_are_there():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    pages += (ROOT / "src").rglob("*.py")
    named = set()
    for page in pages:
        for extras in re.findall(r"(?:thalweg|\.)\[([a-z,]+)\]", page.read_text()):
            named.update(extras.split(","))
    assert named <= set(PROJECT["optional-dependencies"])


@pytest.fixture
def hook(monkeypatch):
    """The hook of the wheel, without hatch; the programs that it starts end well."""
    for name in ("hatchling", "hatchling.builders", "hatchling.builders.hooks",
                 "hatchling.builders.hooks.plugin"):  # fmt: skip
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.BuildHookInterface = _Interface
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    spec = importlib.util.spec_from_file_location(
        "build_wheel", ROOT / "tools/build_wheel.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Interface:
    root = str(ROOT)
    app = SimpleNamespace(display_warning=print)

    def __class_getitem__(cls, settings):
        return cls


def build(hook, monkeypatch, version="standard", is_pure=False, code=0):
    monkeypatch.setattr(hook, "IS_PURE", is_pure)
    done = SimpleNamespace(returncode=code)
    monkeypatch.setattr(hook.subprocess, "run", lambda *command, **settings: done)
    data = {"force_include": {}, "pure_python": True}
    builder = hook.ShippedKernels()
    builder.initialize(version, data)
    builder.finalize(version, data, "")
    return data


def test_a_wheel_with_kernels_is_for_one_python_and_platform(hook, monkeypatch):
    data = build(hook, monkeypatch)
    assert list(data["force_include"].values()) == [hook.ARCHIVE]
    assert not data["pure_python"]
    monkeypatch.setattr(hook.sysconfig, "get_platform", lambda: "linux-x86_64")
    python = "".join(map(str, sys.version_info[:2]))
    assert hook._tag() == f"cp{python}-none-manylinux_2_17_x86_64"
    monkeypatch.setattr(hook.sysconfig, "get_platform", lambda: "macosx-11.0-arm64")
    assert hook._tag() == f"cp{python}-none-macosx_11_0_arm64"


@pytest.mark.parametrize(
    "settings", [{"version": "editable"}, {"is_pure": True}, {"code": 1}], ids=str
)
def test_a_wheel_without_kernels_is_for_all(hook, monkeypatch, settings):
    data = build(hook, monkeypatch, **settings)
    assert data == {"force_include": {}, "pure_python": True}
