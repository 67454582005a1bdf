"""What a night does at each of its steps. Everything that it needs comes from its World."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from skillopt_core.gate import Recurrence
from skillopt_core.memory import Rejection
from skillopt_core.protocols import Screen
from skillopt_core.types import Evolution, Skill, Step, Verdict
from skillopt_sleep.calibrate import Calibrated
from skillopt_sleep.critics.grammar import parse, subject
from skillopt_sleep.critics.preferences import from_preference
from skillopt_sleep.domain.frictions import Friction, Pattern
from skillopt_sleep.domain.proposals import Document
from skillopt_sleep.domain.reports import HarvestCounts, NightReport
from skillopt_sleep.domain.sentences import Said, Sentence
from skillopt_sleep.domain.world import Natively, Replays, World
from skillopt_sleep.mine import Mined, episodes_of, mine
from skillopt_sleep.mine.kinds import is_kind
from skillopt_sleep.mine.tasks import recurrence, recurrence_of_kind, shown_by
from skillopt_sleep.night import calibration, growing, grown, records, requested
from skillopt_sleep.night.growing import Grown
from skillopt_sleep.night.health import skill_is_sound, spent_much
from skillopt_sleep.night.journal import Journal
from skillopt_sleep.night.kinds import kinds_in
from skillopt_sleep.night.natively import Plan, overshot, practise_natively
from skillopt_sleep.night.natively import planned as planned_natively
from skillopt_sleep.night.plan import Subject, documents, mined, preferred, rule_id
from skillopt_sleep.night.plan import kinds as of_kinds
from skillopt_sleep.night.projects import Project, in_code_bases
from skillopt_sleep.night.staging import (
    Practised,
    planned_edit,
    practised,
    remembered,
    stage_document,
    tried_before,
    unchecked,
)
from skillopt_sleep.night.summary import Tally, write_report
from skillopt_sleep.night.watch import alarms, watched
from skillopt_sleep.replay.practice import Practice, practise, prevented_in
from skillopt_sleep.review.skills import skeleton
from skillopt_sleep.review.stage import EditResult
from skillopt_sleep.store.adoptions import Adoptions
from skillopt_sleep.store.evidence import rejections
from skillopt_sleep.store.mining import tasks as kept_tasks
from skillopt_sleep.store.proposals import find_proposal


@dataclass
class Night:
    """The night's own state: what was found of the code base at hand, and what the morning will be told."""

    world: World
    journal: Journal
    tally: Tally = field(default_factory=Tally)
    _results: list[tuple[Subject, Practised]] = field(default_factory=list)
    _agent: Replays | None = None
    _screen: Screen | None = None
    _known: Calibrated | None = None
    _natively: Plan | None = None
    _patterns: Sequence[Pattern] = ()
    _player: Natively | None = None
    _grown: Grown | None = None

    def harvest(self) -> None:
        """Bring the store up to date; done once a night."""
        self.world.progress.stage("harvest")
        self.tally.harvest = self.journal.step("harvest", "harvest", HarvestCounts, self.world.harvest)

    def projects(self) -> Sequence[Project]:
        """The code bases in whose sessions a person typed, those with the newest sessions first."""
        chosen = projects_of(self.world)
        self.tally.projects = tuple(project.name for project in chosen)
        return chosen

    def mine(self, project: Project) -> Mined:
        """What recurs in a project and what it costs. Free and deterministic: a resumed night does it again."""
        self.world.progress.stage(f"mine {project.shown}")
        found = mine(project.episodes)
        self.tally.take(found)
        if not self.world.dry_run:
            self.tally.count_tasks(*records.keep_mined(self.world.store, self.journal.id, found, self.world.config))
        self._results = []
        self._grown = None
        self._patterns = found.patterns
        self._agent = self.world.replays(project.episodes)
        self._screen = self.world.screen(self._preferences(), project.episodes)
        self._player = self.world.natively(self.journal.id, project.name, found.history)
        self._known = calibration.of_gate(self.world, self._player or self._agent)
        self.tally.warnings += [line for line in calibration.said(self._known) if line not in self.tally.warnings]
        return found

    def plan(self, project: Project, found: Mined) -> list[Subject]:
        """What to practise: what the person prefers, then rules on trial and new ones by what is at stake.

        What a live document says already is watched, not practised again. Before that a model, where there is one,
        reads what a person said and asked for.
        """
        kinds = self._kinds(project, found)
        self._write_tasks(project, found)
        planned = planned_subjects(self.world, project, found, kinds)
        self._natively = self._attempted(project, planned)
        self.world.progress.stage(f"practise {project.shown}", len(planned))
        return planned

    def _attempted(self, project: Project, planned: Sequence[Subject]) -> Plan | None:
        """Which of these rules a real agent attempts, said with the price before anything is spent."""
        if self._player is None:
            return None
        kept = kept_tasks(self.world.store, project=project.name)
        plan = planned_natively(self.world, self._player, planned, kept, project.episodes)
        for line in plan.said(planned, self.world.spending(self.journal.id).tokens):
            self.world.progress.say(line)
        return plan

    def _kinds(self, project: Project, found: Mined) -> Sequence[Pattern]:
        """What a model makes of a person's words, in patterns of its own."""
        kinds, said = kinds_in(self.world, self.journal, project, found)
        self.tally.take_kinds(kinds, said)
        if kinds and not self.world.dry_run:
            records.keep_kinds(self.world.store, self.journal.id, kinds)
        return kinds

    def _write_tasks(self, project: Project, found: Mined) -> None:
        """What a model makes of a person's requests: tasks with checks of their own."""
        asked = requested.write_tasks(self.world, self.journal, project, found)
        if asked is not None:
            self.tally.count_tasks(asked.written, {**asked.sides, "patterns": asked.kinds})
            self.tally.warnings += requested.said(project, asked)

    def practise(self, project: Project, one: Subject) -> None:
        """Take one rule through the optimizer and its gate; what it came to is journaled."""
        done = self.journal.step("evolve", f"practise {one.rule}", Practised, lambda: self._practise(project, one))
        if done.exhausted:
            self.journal.exhausted = self.journal.exhausted or "the budget was out before every rule was tried"
        self._results.append((one, done))
        self.tally.take_verdict(one.rule, one.title, done.verdict)
        self.world.progress.advance(len(self._results))

    def grow(self, project: Project) -> None:
        """Where a model edits and an agent attempts: train the learned skill on what the person had asked for."""
        complete = self.world.optimizer(self.journal.id)
        if self._player is None or complete is None:
            return
        kept = [task for task in kept_tasks(self.world.store, project=project.name) if task.written]
        live = live_skill(self.world, documents(project.name)["skill"])
        before, scored = growing.before(self.world, project.name, self._player)
        at = growing.Growing(
            self.world, self.journal.id, project.name, self._player, complete,
            partial(self.world.screen, self._preferences(), project.episodes), self._rejected(),
            self._known.state if self._known else None, project.episodes,
        )  # fmt: skip
        self.world.progress.stage(f"train the skill of {project.shown}")
        key = growing.key_of(project.name, self.world.as_of_ms)
        self._grown = self.journal.step("evolve", key, Grown, lambda: growing.grow(at, live, kept, before, scored))
        if self._grown.exhausted:
            self.journal.exhausted = self.journal.exhausted or "the budget was out before the skill was trained"
        self.tally.warnings += grown.said(project.shown, self._grown)

    def stage(self, project: Project) -> None:
        """Keep trials, and leave one proposal a document for the morning."""
        for document in documents(project.name).values():
            results = [(one, done) for one, done in self._results if one.document == document]
            further = self._trained(project, document)
            if results or further:
                staged, trials, warnings = stage_document(self.world, self.journal.id, document, results, further)
                self.tally.documents.append(staged)
                self.tally.trials.extend(trials)
                self.tally.warnings.extend(warnings)
                self.tally.warnings.extend(self._health(project, document))

    def _trained(self, project: Project, document: Document) -> Sequence[EditResult]:
        """The edits of a skill that was trained tonight; its trial is kept, but for a backtest."""
        if self._grown is None or document.kind != "learned":
            return ()
        if self.world.as_of_ms is None and not self.world.dry_run:
            line = grown.keep(self.world, self.journal.id, project.name, document, self._grown)
            self.tally.trials += [line] if line else []
        return grown.results(project.name, self._grown, kept_tasks(self.world.store), project.episodes)

    def watch_adopted(self, project: Project) -> None:
        """What adopted rules did in the person's own later sessions."""
        keeps = self.world.as_of_ms is None and not self.world.dry_run
        if keeps:
            said = live_rules(self.world, project.name)
            records.end_adopted(self.world.store, project.name, said, self.world.clock.now_ms())
        for document, rules in records.adopted_rules(self.world.store, project.name).items():
            live = self.world.live(document)
            if live is not None and self._agent is not None:
                note = partial(records.note_watched, self.world.store, document) if keeps else lambda *_: None
                found = watched(document, live, rules, project.episodes, self._agent, note)
                self.tally.watch += found
                self.tally.warnings += alarms(found)

    def watch_gate(self, project: Project) -> None:
        """Where a noisy agent attempts: once a week the gate is asked about a text and itself."""
        world, noisy = self.world, self._player or self._agent
        keeps = world.as_of_ms is None and not world.dry_run and world.config.gate.mode != "off"
        if noisy is None or noisy.deterministic or not keeps or calibration.halted(self._known):
            return
        if calibration.due(world) and (itself := self._itself(project)) is not None:
            live = live_skill(world, documents(project.name)["skill"])
            work = partial(calibration.compare_with_itself, world, self.journal.id, itself, live)
            self.journal.step("watch", f"a/a {project.name}", Verdict, work)

    def _itself(self, project: Project) -> calibration.Itself | None:
        night = self.journal.id
        if self._player is not None:
            kept = kept_tasks(self.world.store, project=project.name)
            return calibration.natively(self.world, night, self._player, kept)
        agent = self._agent or self.world.replays(project.episodes)
        return calibration.on_recordings(self.world, night, agent, project.episodes)

    def report(self) -> NightReport:
        """The morning's report, on disk and in the journal. Raises the first error of a skill, if any failed."""
        self.tally.warnings.extend(spent_much(self.world, self.journal.id))
        self.tally.warnings.extend(overshot(self._player))
        return write_report(self.world, self.journal, self.tally)

    def _health(self, project: Project, document: Document) -> Sequence[str]:
        """What is to be said of a learned skill as a whole."""
        text = self.world.live(document)
        if document.kind != "learned" or text is None:
            return []
        store = self.world.store
        written = [one for one in Adoptions(store).all() if one.state == "written"]
        dates = [one.at_ms for one in written if find_proposal(store, one.proposal).document == document]
        name = f"{project.shown}, {document.name}"
        return skill_is_sound(self.world, name, text, max(dates, default=None), self._patterns)

    def _practise(self, project: Project, one: Subject) -> Practised:
        live = live_skill(self.world, one.document)
        if isinstance(one.sentence, Said):
            return unchecked(one, live)
        before = remembered(one, live, self._rejected())
        if before is not None:
            return tried_before(one, live, before)
        if self._natively is not None and one.rule in self._natively.rules:
            return self._attempt(self._natively, project, one, live)
        return practised(one, live, self._evolve(project, one, live))

    def _attempt(self, plan: Plan, project: Project, one: Subject, live: Skill) -> Practised:
        return practise_natively(
            self.world,
            self.journal.id,
            plan,
            one,
            live,
            shown=_by_episode(one),
            screen=self._screen or self.world.screen(self._preferences(), project.episodes),
            rejected=self._rejected(),
            calibration=self._known.state if self._known else None,
        )

    def _evolve(self, project: Project, one: Subject, live: Skill) -> Evolution:
        practice = Practice(
            rule=one.rule,
            live=live,
            cut_ms=one.cut_ms,
            until_ms=self.world.clock.now_ms(),
            shown_by=shown_by(one.pattern) if one.pattern else {},
            edit=planned_edit(one) if calibration.halted(self._known) else one.edit,  # nothing is worth an attempt
            recurrence=self._recurrence(project, one),
        )
        return practise(
            practice,
            project.episodes,
            self._agent or self.world.replays(project.episodes),
            self.world.attempter(),
            records.attempts(self.world.store, self.journal.id, self.world.redactor),
            self.world.critic(_by_episode(one)),
            calibration.guarded(self.world, self._known),
            screen=self._screen or self.world.screen(self._preferences(), project.episodes),
            observer=Quiet(),
            preferences=self.world.config.preferences.rules,
            rejected=self._rejected(),
        )

    def _rejected(self) -> Sequence[Rejection]:
        """What earlier nights paid for and gave up. Recordings cost nothing: what they show is measured every night."""
        return [] if self.world.evidence == "recorded" else rejections(self.world.store)

    def _recurrence(self, project: Project, one: Subject) -> Recurrence | None:
        """How often it came back after its cut: the friction by its signature, a kind of wish by its predicate."""
        if one.pattern is None:
            return None
        later = [episode for episode in project.episodes if episode.began_ms >= one.cut_ms]
        if not is_kind(one.pattern):
            return recurrence(one.pattern, {episode.session for episode in later}, self.tally.frictions)
        agent = self._agent or self.world.replays(project.episodes)
        return recurrence_of_kind(one.pattern, prevented_in(agent, one.sentence, later), later, self.tally.frictions)

    def _preferences(self) -> list[Sentence]:
        read = (from_preference(text) for text in self.world.config.preferences.rules)
        return [sentence for sentence in read if sentence is not None]


def projects_of(world: World) -> Sequence[Project]:
    """The code bases in whose sessions a person typed, as far as this night may work on them."""
    origins = ("interactive", "headless") if world.config.mine.headless else ("interactive",)
    sessions = world.store.stored_sessions(origins=origins)
    episodes = [episode for session in sessions for episode in episodes_of(session)]
    return in_code_bases(episodes, world.config.harvest.projects)


def planned_subjects(world: World, project: Project, found: Mined, kinds: Sequence[Pattern] = ()) -> list[Subject]:
    """The rules that are not in a live document yet, each once: wishes, what the miner found, kinds."""
    trials = [] if world.as_of_ms else records.trials_of(world.store, project.name)
    cuts = {trial.rule: trial.cut_ms for trial in trials}
    wanted = [
        *preferred(world.config.preferences.rules, project.name, records.preferred_by(world)),
        *mined(found, found.patterns, cuts, world.as_of_ms),
        *of_kinds(kinds),
    ]
    said = {document: _said(world, document) for document in documents(project.name).values()}
    first = {one.rule: one for one in reversed(wanted) if subject(one.sentence) not in said[one.document]}
    return [one for one in wanted if first.get(one.rule) is one]


def live_skill(world: World, document: Document) -> Skill:
    """The document as it stands, or the empty one that learning starts from."""
    return Skill(world.live(document) or skeleton(document), document.name)


def live_rules(world: World, project: str) -> frozenset[str]:
    """Ids of the rules that stand in a project's documents."""
    texts = [live_skill(world, document).text for document in documents(project).values()]
    return frozenset(rule_id(project, sentence) for text in texts for sentence in parse(text))


def _said(world: World, document: Document) -> frozenset[str]:
    return frozenset(subject(sentence) for sentence in parse(live_skill(world, document).text))


class Quiet:
    """An observer: what a step came to is journaled as a whole."""

    def step(self, step: Step) -> None:
        """A step went by."""

    def done(self, evolution: Evolution) -> None:
        """The run is over."""


def _by_episode(one: Subject) -> Mapping[str, Sequence[tuple[Friction, Sentence]]]:
    shown: dict[str, list[tuple[Friction, Sentence]]] = defaultdict(list)
    for friction in one.shown:
        if friction.at_ms < one.cut_ms:
            shown[friction.episode].append((friction, one.sentence))
    return shown
