"""The plainest agent there is: a skill as system message, a prompt, a model; with tools where a task needs them."""

from __future__ import annotations

from skillopt_sleep.agents.chat.agent import ChatAgent, ChatSettings
from skillopt_sleep.agents.chat.in_words import read_answer
from skillopt_sleep.agents.chat.tools import OURS, Offer, Workshop

__all__ = ["OURS", "ChatAgent", "ChatSettings", "Offer", "Workshop", "read_answer"]
