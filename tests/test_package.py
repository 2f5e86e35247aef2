"""What is built and installed works: magsim from its wheel, and a package of somebody's bot.

Both are run from a folder outside, in an environment where nothing of a checkout is found.
"""

import email
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import magsim
from magsim.cli import main

ROOT = Path(__file__).parent.parent
OPTIONAL = {"dask", "distributed", "gymnasium", "matplotlib", "ray"}
HEAVY = OPTIONAL | {"numba", "polars"}
BUILD = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]

PYPROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "magsim-sage"
version = "0.1"

[project.entry-points."magsim.bots"]
sage = "magsim_sage:Sage"

[tool.setuptools]
py-modules = ["magsim_sage"]
"""
BOT = """
from magsim.bot import Bot, Position, option
from magsim.decision import Decision


class Sage(Bot):
    last: bool = option(False, "the last legal decision rather than the first")

    def decide(self, position: Position) -> Decision:
        found = position.ruins() or position.placements()
        return found[-1 if self.last else 0]
"""


def run(*words: str | Path, cwd: Path, **env: str) -> str:
    """What a command prints, which must end well."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, env=clean | env, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tracked() -> list[Path]:
    """The files of the sources: those that git tracks, or all where there is no git."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    names = [Path(name) for name in listing.stdout.split("\0") if name]
    if listing.returncode or not names:
        names = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
    hidden = (".venv", "__pycache__", "build", "dist", "results", "tests")
    return [
        name
        for name in names
        if (ROOT / name).is_file()
        and name.parts[0] not in hidden
        and not any(part.endswith(".egg-info") or part in hidden for part in name.parts)
    ]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel, the sdist, and the wheel that is built from the unpacked sdist."""
    folder = tmp_path_factory.mktemp("built")
    sources = folder / "sources"
    for name in tracked():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, sources / name)
    again = shutil.copytree(sources, folder / "again")
    script = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    run(sys.executable, "-c", script, folder, cwd=again)
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    found = {"sdist": sdist}
    for name, source in (("wheel", sources), ("from sdist", unpacked)):
        run(sys.executable, "-m", "pip", *BUILD, "-w", folder / name, source, cwd=folder)
        (found[name],) = (folder / name).glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(
    built: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., str]:
    """Runs a command of a fresh environment that has the wheel, outside of any checkout.

    What magsim depends on is lent by this environment: its packages can be imported there, but its
    ``.pth`` files, by which an editable magsim is found, are not read.
    """
    folder = tmp_path_factory.mktemp("installed")
    home, outside = folder / "venv", folder / "outside"
    outside.mkdir()
    venv.create(home, symlinks=True)
    python = home / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-warn-script-location"]
    run(sys.executable, "-m", "pip", "--python", python, *install, built["wheel"], cwd=outside)
    (site,) = (home / "lib").glob("python*/site-packages")
    lent = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    (site / "lent.pth").write_text("\n".join(sorted(lent)), encoding="utf-8")

    def command(name: str, *words: str, **env: str) -> str:
        env = {"XDG_CACHE_HOME": str(folder / "cache"), "NUMBA_DISABLE_JIT": "1"} | env
        return run(home / "bin" / name, *words, cwd=outside, **env)

    return command


def test_the_sdist_builds_the_same_wheel(built: dict[str, Path]) -> None:
    contents = []
    for name in ("wheel", "from sdist"):
        with zipfile.ZipFile(built[name]) as archive:
            contents.append({entry: archive.read(entry) for entry in archive.namelist()})
    assert contents[0] == contents[1]


def test_the_wheel_holds_every_package_and_its_data(built: dict[str, Path]) -> None:
    with zipfile.ZipFile(built["wheel"]) as archive:
        names = set(archive.namelist())
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(about))
    homes = {"bots": "magsim_bots", "magsim": "magsim"}
    wanted = {
        "/".join((homes[name.parts[0]], *name.parts[1:]))
        for name in tracked()
        if name.parts[0] in homes and name.suffix in {".py", ".po", ".npz", ".typed"}
    }
    assert wanted == {name for name in names if ".dist-info/" not in name}
    assert metadata["Version"] == magsim.__version__
    needs = [need for need in metadata.get_all("Requires-Dist") if "extra ==" not in need]
    assert not [need for need in needs if need.startswith(tuple(OPTIONAL - {"matplotlib"}))]


def test_what_is_installed_is_not_a_checkout(installed: Callable[..., str]) -> None:
    script = "import sys, magsim, magsim_bots; print(sys.prefix, magsim, magsim_bots, sep='\\n')"
    prefix, *found = installed("python", "-c", script).splitlines()
    assert len(found) == 2
    assert all(prefix in line for line in found)


def test_installed_commands_run(installed: Callable[..., str]) -> None:
    version = f"magsim, version {magsim.__version__}\n"
    assert installed("magsim", "--version") == version
    assert installed("python", "-m", "magsim", "--version") == version
    listed = f"\n{installed('magsim', 'bots')}"
    for name in ("random", "greedy", "lookahead", "mcts", "ntuple", "optimal"):
        assert f"\n{name}  " in listed


def test_installed_catalogues_and_networks_are_found(installed: Callable[..., str]) -> None:
    script = """
from magsim.play.language import Tongue
from magsim_bots.network import shipped
print(*sorted(path.stem for path in shipped().values()))
print(*(Tongue(code).say("turn") for code in ("en", "pl", "tr", "he")))
"""
    networks, words = installed("python", "-X", "utf8", "-c", script).splitlines()
    assert networks.split() == ["nightmare", "peaceful", "survival"]
    assert len(set(words.split())) == 4


def test_an_installed_tournament_plays_and_imports_no_extras(installed: Callable[..., str]) -> None:
    script = """
import sys
from magsim.cli import main
main(sys.argv[1:], standalone_mode=False)
print(*sys.modules)
"""
    words = ["--bots", "random", "--games", "2", "--difficulty", "nightmare", "--jobs", "1"]
    output = installed("python", "-c", script, "tournament", *words, "--out", "run")
    *table, modules = output.splitlines()
    assert any("random" in line for line in table)
    assert not OPTIONAL & set(modules.split())
    count = installed("magsim", "query", "run", "select count(*) n from games", "--format", "csv")
    assert count.split() == ["n", "2"]


@pytest.mark.parametrize("words", [None, ["--help"], ["tournament", "--help"]], ids=str)
def test_little_is_imported_for_little(words: list[str] | None, tmp_path: Path) -> None:
    script = "import magsim, sys, contextlib\n"
    if words is not None:
        script += "from magsim.cli import main\nwith contextlib.suppress(SystemExit): main()\n"
    script += "print(*sys.modules)"
    output = run(sys.executable, "-c", script, *(words or []), cwd=tmp_path)
    assert not HEAVY & set(output.splitlines()[-1].split())


def completed(command: Callable[..., str], *words: str) -> list[str]:
    """What the shell is offered for the last of the words."""
    env = {"_MAGSIM_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["magsim", *words])}
    output = command("magsim", **env, COMP_CWORD=str(len(words)))
    return [line.partition(",")[2] for line in output.splitlines()]


def test_the_shell_completes_commands_and_options(installed: Callable[..., str]) -> None:
    assert completed(installed, "tour") == ["tournament"]
    assert set(main.commands) <= set(completed(installed, ""))
    assert "--difficulty" in completed(installed, "tournament", "--diff")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_of_the_readme_set_up_a_shell(installed: Callable[..., str], shell: str) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"_MAGSIM_COMPLETE={shell}_source magsim" in readme
    assert "_magsim_completion" in installed("magsim", _MAGSIM_COMPLETE=f"{shell}_source")


def test_a_bot_of_an_installed_package_plays(tmp_path: Path) -> None:
    package, site = tmp_path / "package", tmp_path / "site"
    package.mkdir()
    (package / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (package / "magsim_sage.py").write_text(BOT, encoding="utf-8")
    install = ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    words = [sys.executable, "-m", *install, "--target", str(site), str(package)]
    subprocess.run(words, check=True, capture_output=True)

    def magsim(*words: str) -> str:
        # Uncompiled: another package that registers bots has kernels compiled anew.
        env = os.environ | {"PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"}
        line = [sys.executable, "-m", "magsim", *words]
        done = subprocess.run(line, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "sage" in magsim("bots")
    bots = "sage,sage:last=true"
    magsim("tournament", "--bots", bots, "--games", "2", "--difficulty", "survival", "--out", "run")
    played = magsim("query", "run", "select count(*) n from games", "--format", "csv")
    assert played.split() == ["n", "4"]
    assert "magsim-sage 0.1" in (tmp_path / "run" / "manifest.json").read_text(encoding="utf-8")
