"""From transcripts to the store: what the harvesters read is redacted and stored, each record once."""

from skillopt_sleep.ingest.harvest import Harvested, harvest
from skillopt_sleep.ingest.projects import person_of, project_root

__all__ = ["Harvested", "harvest", "person_of", "project_root"]
