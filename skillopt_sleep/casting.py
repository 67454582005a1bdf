"""Who plays in a training run: the composition root of `train` and `eval`, beside `world`, which is that of a night."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skillopt_core.critic import ModelCritic
from skillopt_core.types import Skill, Task
from skillopt_sleep.agents.answering import AnsweringAgent
from skillopt_sleep.agents.chat import ChatAgent
from skillopt_sleep.agents.native import LINES, NativeAgent, beside_digest, folder_of
from skillopt_sleep.agents.native.purse import FIRST
from skillopt_sleep.agents.others import further_agents
from skillopt_sleep.agents.simulated import SimulatedAgent
from skillopt_sleep.budget import most_tokens
from skillopt_sleep.checks import BUILT_IN, Need
from skillopt_sleep.checks.judge import RubricJudge
from skillopt_sleep.checks.others import further_kinds
from skillopt_sleep.checks.scorers import scorers
from skillopt_sleep.config.roles import PLUGIN
from skillopt_sleep.critics.complaints import ComplaintCritic
from skillopt_sleep.critics.leaks import own_entities
from skillopt_sleep.critics.screen import Grounds, StrictScreen
from skillopt_sleep.critics.simulated import Quality, SimulatedCritic
from skillopt_sleep.domain.health import thresholds
from skillopt_sleep.errors import ConfigError, UsageError
from skillopt_sleep.log import one_line
from skillopt_sleep.models.choice import LOCAL, RECORDED
from skillopt_sleep.models.making import HANDOFF
from skillopt_sleep.paths import Home
from skillopt_sleep.playing import native, runs, search_path, the_walls
from skillopt_sleep.replay.workspace import Start, has_commit, lay_out
from skillopt_sleep.talking import paid_talker, talker
from skillopt_sleep.tokens import size_of
from skillopt_sleep.train.cast import Attempter, Cast
from skillopt_sleep.train.costs import Ask, Attempts, Forecast
from skillopt_sleep.train.judging import Judging
from skillopt_sleep.train.loading import Judges
from skillopt_sleep.train.misses import remembered
from skillopt_sleep.train.rows import LoadedTask
from skillopt_sleep.train.runfolder import read_skill
from skillopt_sleep.world import LocalWorld

if TYPE_CHECKING:
    from skillopt_core.protocols import Critic
    from skillopt_sleep.config import Config
    from skillopt_sleep.store.engine import Store
    from skillopt_sleep.train.recipe import Recipe
    from skillopt_sleep.train.runfolder import RunFolder

SIMULATED = "simulated"
OFFERED = frozenset({Need.TOOLS})
"""What the simulated agent has beside words: calls of tools; no folder and no judge."""


def attempter(
    config: Config, recipe: Recipe, skills: Iterable[Path] = (), hidden: Iterable[Path] = (), *, home: Home
) -> Attempter:
    """Who attempts tasks of one's own. Raises `ConfigError` where nobody is named who could, and what the models raise.

    `skills` are the files of the skills in question, the trained one first: what stands beside them may come along.
    `hidden` is what no agent may see: `UsageError` where it would come along. `home` is ours: pulled models are there.
    """
    models = config.models
    backend = models.target_backend or models.backend
    if backend.startswith(PLUGIN):
        return _brought(backend.removeprefix(PLUGIN), models.target, recipe.seed)
    if backend in LINES:
        return _native(config, backend, tuple(skills), tuple(hidden))
    if backend != SIMULATED:
        return talker(config, recipe, home, _lay_out)
    if models.target is not None:
        remedy = "Leave it out, or name who attempts with it: --target-backend openai, local, claude, …"
        raise UsageError("the simulated agent has no model", where="models.target", remedy=remedy)
    judging = Judging()
    agent = SimulatedAgent(judging, seed=recipe.seed, obedience=recipe.simulated_obedience)
    settings = f"seed {recipe.seed}, obedience {recipe.simulated_obedience:g}"
    return Attempter(agent, {"name": SIMULATED, "version": "1", "settings": settings}, "simulated", judging=judging)


def _native(config: Config, backend: str, skills: tuple[Path, ...], hidden: tuple[Path, ...]) -> Attempter:
    """A real agent's command line, each attempt in rooms of its own. Raises `ConfigError` where it is not there."""
    beside = {read_skill(file).digest: folder for file in reversed(skills) if (folder := folder_of(file))}
    own = folder_of(skills[0]) if skills else None
    for folder, path in product(beside.values(), hidden):
        if path.resolve().is_relative_to(folder):
            why = "lies in the folder of the skill, all of which the agent is given"
            raise UsageError(why, where=one_line(str(path)), remedy="Keep tasks and runs in another folder")
    files = "".join(f", files {beside_digest(folder)[:16]}" for folder in dict.fromkeys(beside.values()))
    judging = Judging(None if the_walls() is None else partial(runs, config))
    player = native(config, backend, judging, _lay_out, beside=lambda skill: beside.get(skill.digest, own), files=files)
    return Attempter(
        player.agent,
        player.named,
        batch=player.at_once,
        offers=frozenset({Need.TOOLS, Need.FILES, *([Need.SANDBOX] if judging.runs else [])}),
        open=player.open,
        sessions=player.sessions,
        judging=judging,
    )


def costs(player: Attempter) -> bool:
    """Whether attempts are paid for from a budget."""
    return isinstance(player.environment, (NativeAgent, ChatAgent))


def paid(player: Attempter, world: LocalWorld, run: str) -> Attempter:
    """The same, paid for out of the budget of the run where its attempts cost anything."""
    environment = player.environment
    if isinstance(environment, NativeAgent):
        return replace(player, environment=environment.paid_from(world.budget(run)))
    if isinstance(environment, ChatAgent):
        return paid_talker(player, environment, world, run)
    return player


def forecast(
    world: LocalWorld,
    attempts: Attempts,
    player: Attempter,
    skill: Skill,
    prompts: Sequence[str],
    *,
    edits: bool = False,
    judgements: int = 0,
) -> Forecast:
    """What is planned with what an attempt, and with `edits` a question to who edits, is paid. Asks nobody."""
    return Forecast(
        attempts,
        _attempt(world, player, skill, prompts),
        _question(world) if edits else None,
        (player.batch or 1) if isinstance(player.environment, NativeAgent) else 1,
        judgements,
    )


def _attempt(world: LocalWorld, player: Attempter, skill: Skill, prompts: Sequence[str]) -> Ask | None:
    agent = player.environment
    if isinstance(agent, NativeAgent):
        return Ask(agent.model, *FIRST, least=min((size_of(text).least for text in prompts), default=0))
    if not isinstance(agent, ChatAgent):
        return None
    world.priced(agent.model.model, agent.model.where)
    whole = [skill.text + text for text in prompts]
    most, least = max(map(most_tokens, whole), default=0), min((size_of(text).least for text in whole), default=0)
    return Ask(agent.model.model, most, agent.max_output, least)


def _question(world: LocalWorld) -> Ask | None:
    asked = not _edits_simulated(world.config) and world.part("optimizer").backend != HANDOFF
    completer = world.completer("optimizer") if asked else None
    if completer is None:
        return None
    return Ask(completer.model, most_tokens(""), world.config.models.max_output, most_tokens(""))


def _lay_out(task: Task, folder: Path) -> None:
    loaded = task.payload
    if isinstance(loaded, LoadedTask) and loaded.commit:
        lay_out(Start(loaded.repository or _at_hand(), loaded.commit, loaded.files), folder, search_path())
    else:
        lay_out(Start(files=_start(task)), folder, search_path())


def _at_hand() -> Path:
    """The project in whose folder the command was given."""
    here = Path.cwd()
    return next((place for place in (here, *here.parents) if (place / ".git").exists()), here)


def _brought(name: str, model: str | None, seed: int) -> Attempter:
    """An agent of another distribution. Raises `ConfigError` where there is none of this name."""
    found = further_agents()
    if name not in found.found:
        why = "; ".join(bad.why for bad in found.bad if bad.name == name) or "none of this name is installed"
        there = ", ".join(found.found) or "none"
        raise ConfigError(
            f"no agent plugin {name!r}: {why}", where="models.target_backend", remedy=f"There are {there}"
        )
    agent = found.found[name].made(model, seed)
    judging = Judging()
    environment = AnsweringAgent(name, agent, judging, _start)
    named = {"name": PLUGIN + name, "version": agent.version, "settings": f"seed {seed}"}
    named |= {"model": model} if model else {}
    return Attempter(environment, named, offers=frozenset(agent.offers), judging=judging)


def _start(task: Task) -> Mapping[str, bytes]:
    return task.payload.files if isinstance(task.payload, LoadedTask) else {}


def editor(world: LocalWorld, recipe: Recipe) -> str:
    """Who edits, in a word. Raises `ConfigError` where nobody is named, and what `LocalWorld.completer` raises."""
    if _edits_simulated(world.config):
        return f"{SIMULATED} ({recipe.simulated_critic})"
    if (completer := world.completer("optimizer")) is not None:
        return completer.model
    remedy = "Take --optimizer-backend simulated, anthropic or openai"
    raise ConfigError("nobody is named who edits", where="models.optimizer_backend", remedy=remedy)


NO_JUDGES: Final = frozenset({RECORDED, SIMULATED, HANDOFF})
"""Backends that cannot judge: two have no model, and a person's own agent would be waited for in the middle of work."""


def readings(tasks: Iterable[LoadedTask], recipe: Recipe) -> int:
    """How often a judge is asked about one answer, at most."""
    return recipe.judge_readings * max((len(task.rubrics) for task in tasks), default=0)


def wants_judge(tasks: Iterable[LoadedTask]) -> bool:
    """Whether any of them is judged by a model."""
    return any(Need.JUDGE in task.needs for task in tasks)


def judge(
    world: LocalWorld, run: str, journal: Store, recipe: Recipe, tasks: Iterable[LoadedTask], *players: Attempter
) -> str:
    """Seat a judge for the answers of who attempts, where a task has a rubric; says who it is, "" where there is none.

    What it says is kept in `journal`, what it costs is paid from the run's budget. Raises what `LocalWorld.completer`
    raises, before anything is asked.
    """
    if not wants_judge(tasks):
        return ""
    part = world.part("judge")
    completer = None if part.backend in NO_JUDGES else world.completer("judge")
    if completer is None:
        raise ConfigError(
            f"the backend {part.backend} cannot judge" + (f" ({part.why})" if part.why else ""),
            where="models.judge_backend",
            remedy="Take --judge-backend anthropic, openai, local, claude, codex or copilot",
        )
    complete = world.completion(completer, run, journal, "judge")
    for player in players:
        player.judging.judge = RubricJudge(complete, recipe.judge_readings)
    return completer.model


def cast(
    world: LocalWorld, run: str, folder: RunFolder, recipe: Recipe, skill: Skill, tasks: Iterable[LoadedTask],
    player: Attempter | None = None,
) -> Cast:  # fmt: skip
    """Who takes part in a run. Replies are kept in its folder, what they cost in the world's store.

    No edit may quote what the checks of any of the tasks look for, or what a single task names.
    """
    known = list(tasks)
    secrets = {secret for task in known for secret in task.secrets}
    completer = None if _edits_simulated(world.config) else world.completer("optimizer")
    critic: Critic
    if completer is None:
        critic = SimulatedCritic(Quality(recipe.simulated_critic), seed=recipe.seed, leaks=tuple(sorted(secrets)))
    else:
        complete = remembered(world.completion(completer, run, folder.store), folder.misses)
        weak = world.backend == LOCAL
        critic = ComplaintCritic(complete) if weak else ModelCritic(complete, minibatch=recipe.minibatch)
    entities = own_entities([task.prompt for task in known], skill.text)
    grounds = Grounds(literals=frozenset(secrets), entities=entities)
    screen = StrictScreen(grounds, is_secret=lambda text: world.redactor.redact(text) != text)
    player = paid(player or attempter(world.config, recipe, home=world.home), world, run)
    budget = world.budget(run)
    return Cast(
        player, critic, screen, editor(world, recipe), budget, thresholds(world.config.health),
        judge(world, run, folder.store, recipe, known, player),
    )  # fmt: skip


def judges(players: Iterable[Attempter] = (), config: Config | None = None) -> tuple[Judges, tuple[str, ...]]:
    """How tasks can be judged whoever of these attempts, and what is wrong with plugins that are left out.

    By rubrics where the configuration names a judge: none is taken that was not named.
    """
    kinds, found, known = further_kinds(), scorers(), list(players)
    said = tuple(str(bad) for bad in (*kinds.bad, *found.bad))
    offered = frozenset.intersection(*(player.offers for player in known)) if known else OFFERED
    if config is not None and (config.models.judge_backend or config.models.judge):
        offered |= {Need.JUDGE}
    remedy = next((player.remedy for player in known if player.remedy), "")

    def there(repository: Path | None, commit: str) -> bool:
        return has_commit(repository or _at_hand(), commit, search_path())

    return Judges({**BUILT_IN, **kinds.found}, found.found, offered, there, remedy), said


def _edits_simulated(config: Config) -> bool:
    return (config.models.optimizer_backend or config.models.backend) == SIMULATED
