"""Arbitrary sentences for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from skillopt_sleep.domain import sentences as s

PRINTABLE = st.characters(exclude_categories=("C", "Z"), include_characters=" ")
SLOT = (st.text(PRINTABLE, min_size=1, max_size=12) | st.text("`a -.*_", min_size=1, max_size=8)).filter(
    lambda t: bool(t.strip()) and t.isprintable() and "<!--" not in t and "-->" not in t
)
MAYBE = SLOT | st.just("")
WORDS = SLOT.map(lambda t: " ".join(t.split()))
CHECKS = st.sampled_from(["tests", "linter", "formatter", "type checker", "build"])

SENTENCES: st.SearchStrategy[s.Sentence] = st.one_of(
    st.builds(s.Use, SLOT, SLOT),
    st.builds(s.RunBefore, SLOT, SLOT),
    st.builds(s.CheckBefore, SLOT, CHECKS),
    st.builds(s.DoNotRun, SLOT),
    st.builds(s.AskBefore, SLOT),
    st.builds(s.DoNotLookUnder, SLOT),
    st.builds(s.FileIs, SLOT, SLOT),
    st.builds(s.AddFlag, SLOT, SLOT),
    st.builds(s.DropFlag, SLOT, SLOT),
    st.builds(s.DoNotWrite, MAYBE, SLOT, MAYBE, MAYBE),
    st.builds(s.AlwaysWrite, MAYBE, SLOT, SLOT),
    st.just(s.ReadBeforeEdit()),
    st.builds(s.Said, WORDS),
)
