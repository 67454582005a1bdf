"""Tokens that name their vendor: a fixed beginning and a run of characters. One line a shape.

Lengths are lower than the vendors' own, so that a token which was cut short goes too; where a beginning also occurs in
ordinary names (`npm_config`, `hf_hub`, `sk-`), the class or the length tells them apart. A regular expression here ends
in its run, unbounded and possessive, so that a scan over many beginnings stays linear.
"""

from __future__ import annotations

from typing import NamedTuple


class Vendor(NamedTuple):
    kind: str
    starts: tuple[str, ...]
    """Literals of which one begins the token (or stands where `pattern` is tried), in the token's own case."""
    run: str
    """What follows the literal, as a regular expression."""
    inside_words: bool = False
    """Whether the literal is so rare that no boundary is asked for on its left."""
    random: bool = False
    """Whether the token must also look random, because people write such names."""


_A, _W = "[A-Za-z0-9]", "[A-Za-z0-9_-]"

VENDORS: tuple[Vendor, ...] = (
    Vendor("github", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _A + "{16,}+", True),
    Vendor("github", ("github_pat_",), "[A-Za-z0-9_]{16,}+", True),
    Vendor(
        "gitlab",
        tuple(f"gl{x}-" for x in ("pat", "dt", "rt", "ptt", "ft", "soat", "imt", "agent", "cbt", "ffct", "wt")),
        _W + r"{16,}+(?:\.[0-9a-z]{2,}+)*+",
        True,
    ),
    Vendor("bitbucket", ("ATBB", "ATCTT3"), r"[A-Za-z0-9_=-]{20,}+", False, True),
    Vendor("atlassian", ("ATATT3",), r"[A-Za-z0-9_=-]{20,}+", True),
    Vendor("anthropic", ("sk-ant-",), _W + "{16,}+", True),
    Vendor("openai", ("sk-proj-", "sk-svcacct-", "sk-admin-"), _W + "{16,}+", True),
    Vendor("openrouter", ("sk-or-v1-",), _A + "{16,}+", True),
    Vendor("langfuse", ("sk-lf-",), "[0-9a-f-]{16,}+", True),
    Vendor("openai", ("sk-", "sess-"), _W + "{20,}+", False, True),
    Vendor("aws", ("AKIA", "ASIA", "ABIA", "ACCA"), "[A-Z2-7]{16}(?![A-Za-z0-9])"),
    Vendor("aws", ("ABSK",), "[A-Za-z0-9+/]{80,}+={0,2}"),
    Vendor("aws", ("bedrock-api-key-",), "[A-Za-z0-9+/=]{32,}+", True),
    Vendor("google", ("AIza",), _W + "{30,}+", True),
    Vendor("google", ("GOCSPX-",), _W + "{16,}+", True),
    Vendor("google", ("ya29.",), r"[A-Za-z0-9_.-]{20,}+"),
    Vendor("google", ("1//0",), _W + "{32,}+"),
    Vendor("firebase", (":APA91b",), _W + "{60,}+", True),
    Vendor("azure", ("Q~",), r"(?<=[A-Za-z0-9_~.-]{3}[0-9]Q~)[A-Za-z0-9_~.-]{28,}+", True),
    Vendor("alibaba", ("LTAI",), _A + "{12,}+", False, True),
    Vendor("tencent", ("AKID",), _A + "{28,}+", False, True),
    Vendor("yandex", ("AQVN",), _W + "{32,}+", False, True),
    Vendor("digitalocean", ("dop_v1_", "doo_v1_", "dor_v1_"), "[a-f0-9]{32,}+", True),
    Vendor("heroku", ("HRKU-",), _W + "{30,}+", True),
    Vendor("fly", ("FlyV1 fm1_", "FlyV1 fm2_", "fm2_", "fo1_"), r"[A-Za-z0-9+/_-]{32,}+={0,3}", False, True),
    Vendor("vercel", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), _A + "{24,}+"),
    Vendor("netlify", ("nfp_",), _A + "{32,}+"),
    Vendor("render", ("rnd_",), _A + "{24,}+"),
    Vendor("supabase", ("sbp_", "sb_secret_"), _W + "{24,}+"),
    Vendor("planetscale", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[A-Za-z0-9_.=-]{24,}+", True),
    Vendor("databricks", ("dapi",), "[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9])"),
    Vendor("vault", ("hvs.", "hvb.", "hvr."), _W + "{20,}+"),
    Vendor("terraform", (".atlasv1.",), r"[A-Za-z0-9_=-]{40,}+", True),
    Vendor("pulumi", ("pul-",), "[0-9a-f]{32,}+"),
    Vendor("doppler", tuple(f"dp.{x}." for x in ("pt", "st", "ct", "sa", "scim", "audit")), r"[A-Za-z0-9_.]{32,}+"),
    Vendor(
        "tailscale", tuple(f"tskey-{x}-" for x in ("auth", "api", "client", "scim", "webhook")), _W + "{16,}+", True
    ),
    Vendor("onepassword", ("ops_eyJ",), "[A-Za-z0-9+/_-]{40,}+={0,3}", True),
    Vendor("onepassword", ("A3-",), r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}+"),
    Vendor("age", ("AGE-SECRET-KEY-1",), "[A-Z0-9]{20,}+", True),
    Vendor("docker", ("dckr_pat_", "dckr_oat_"), _W + "{20,}+", True),
    Vendor("npm", ("npm_",), _A + "{30,}+"),
    Vendor("pypi", ("pypi-AgE",), _W + "{40,}+", True),
    Vendor("rubygems", ("rubygems_",), "[0-9a-f]{32,}+", True),
    Vendor("nuget", ("oy2",), "[a-z0-9]{43}(?![A-Za-z0-9])"),
    Vendor("crates", ("cio",), "[A-Za-z0-9]{32}(?![A-Za-z0-9])", False, True),
    Vendor("clojars", ("CLOJARS_",), "[0-9a-z]{40,}+", True),
    Vendor("artifactory", ("AKCp",), _A + "{50,}+"),
    Vendor(
        "slack",
        (*(f"xox{x}-" for x in "abeoprsc"), "xoxe.xox", "xapp-"),
        _W + r"{10,}+(?:\.[A-Za-z0-9-]{4,}+)*+",
        True,
        True,
    ),
    Vendor(
        "slack",
        ("hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"),
        r"[A-Za-z0-9/_-]{20,}+",
        True,
    ),
    Vendor(
        "discord",
        ("discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
        r"[0-9]{5,}+/[A-Za-z0-9_-]{20,}+",
        True,
    ),
    Vendor("teams", (".webhook.office.com/webhookb2/",), r"[A-Za-z0-9@/_-]{40,}+", True),
    Vendor("telegram", (":AA",), "(?<=[0-9]{8}:AA)" + _W + "{30,}+", True),
    Vendor("twilio", ("SK",), "[0-9a-f]{32}(?![A-Za-z0-9])"),
    Vendor("sendgrid", ("SG.",), r"[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    Vendor("mailgun", ("key-",), "[0-9a-f]{32}(?![A-Za-z0-9])"),
    Vendor("mailgun", ("pubkey-",), "[0-9a-f]{32}(?![A-Za-z0-9])"),
    Vendor("brevo", ("xkeysib-", "xsmtpsib-"), "[0-9a-f]{32,}+(?:-[A-Za-z0-9]{8,}+)?+", True),
    Vendor("resend", ("re_",), r"[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,}+"),
    Vendor("stripe", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), _A + "{16,}+", True),
    Vendor("stripe", ("whsec_",), "[A-Za-z0-9+/]{24,}+={0,2}", True),
    Vendor("square", ("sq0atp-", "sq0csp-", "sq0idp-"), _W + "{20,}+", True),
    Vendor("facebook", ("EAA",), _A + "{60,}+"),
    Vendor("shopify", tuple(f"shp{x}_" for x in ("at", "ca", "pa", "ss", "it", "ua")), "[0-9a-fA-F]{24,}+", True),
    Vendor("easypost", ("EZAK", "EZTK"), _A + "{40,}+"),
    Vendor("shippo", ("shippo_live_", "shippo_test_"), "[0-9a-f]{32,}+", True),
    Vendor("flutterwave", ("FLWSECK-", "FLWSECK_TEST-"), "[0-9a-zA-Z-]{20,}+", True),
    Vendor("razorpay", ("rzp_live_", "rzp_test_"), _A + "{14,}+", True),
    Vendor("dropbox", ("sl.",), _W + "{60,}+"),
    Vendor("notion", ("ntn_",), _A + "{40,}+"),
    Vendor("notion", ("secret_",), "[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    Vendor("airtable", ("pat",), r"[A-Za-z0-9]{14}\.[0-9a-f]{48,}+"),
    Vendor("linear", ("lin_api_", "lin_oauth_"), _A + "{24,}+", True),
    Vendor("figma", ("figd_", "figp_"), _W + "{24,}+", True),
    Vendor("postman", ("PMAK-",), r"[0-9a-f]{24}-[0-9a-f]{24,}+", True),
    Vendor("typeform", ("tfp_",), r"[A-Za-z0-9_.=-]{40,}+"),
    Vendor("contentful", ("CFPAT-",), _W + "{32,}+", True),
    Vendor("readme", ("rdme_",), "[a-z0-9]{48,}+", True),
    Vendor("grafana", ("glsa_",), r"[A-Za-z0-9]{32}(?:_[0-9a-f]{8})?", True),
    Vendor("grafana", ("glc_",), r"[A-Za-z0-9+/]{32,}+={0,3}", True),
    Vendor("datadog", ("ddapi_", "ddapp_", "ddpat_"), _A + "{24,}+"),
    Vendor("newrelic", ("NRAK-", "NRJS-", "NRII-"), r"[A-Za-z0-9_-]{19,}+", True),
    Vendor("sentry", ("sntrys_", "sntryu_", "sntryi_"), r"[A-Za-z0-9+/_=.-]{32,}+", True),
    Vendor("dynatrace", ("dt0c01.", "dt0s01."), r"[A-Z0-9]{24}\.[A-Z0-9]{40,}+", True),
    Vendor("posthog", ("phx_",), _A + "{30,}+"),
    Vendor("sonar", ("sqp_", "sqa_", "squ_"), "[0-9a-f]{32,}+"),
    Vendor("sourcegraph", ("sgp_",), r"(?:[0-9a-f]{16}_)?[0-9a-f]{32,}+"),
    Vendor("circleci", ("CCIPAT_", "CCIPRJ_"), _W + "{30,}+", True),
    Vendor("buildkite", ("bkua_", "bkpt_"), "[0-9a-f]{32,}+"),
    Vendor("prefect", ("pnu_",), _A + "{30,}+"),
    Vendor("huggingface", ("hf_", "api_org_"), "[A-Za-z0-9]{30,}+"),
    Vendor("replicate", ("r8_",), _A + "{30,}+"),
    Vendor("groq", ("gsk_",), _A + "{30,}+"),
    Vendor("xai", ("xai-",), _A + "{40,}+"),
    Vendor("perplexity", ("pplx-",), _A + "{32,}+", True),
    Vendor("nvidia", ("nvapi-",), _W + "{40,}+", True),
    Vendor("langsmith", ("lsv2_pt_", "lsv2_sk_"), "[0-9a-f_]{32,}+", True),
    Vendor("pinecone", ("pcsk_",), r"[A-Za-z0-9]{4,10}_[A-Za-z0-9]{32,}+", True),
    Vendor("runpod", ("rpa_",), _A + "{32,}+"),
    Vendor("cursor", ("crsr_",), "[0-9a-f]{40,}+", True),
    Vendor("adobe", ("p8e-",), _W + "{24,}+"),
    Vendor("duffel", ("duffel_live_", "duffel_test_"), _W + "{32,}+", True),
    Vendor("cloudflare", ("cfut_", "cfat_", "cfk_"), _A + "{32,}+"),
    Vendor("cloudflare", ("v1.0-",), "[0-9a-f]{20,}+-[0-9a-f]{100,}+"),
)
