"""`thinkwire serve`: any client on any model, with its reasoning intact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from thinkwire.errors import ThinkwireError

if TYPE_CHECKING:
    from thinkwire.gateway.auth.keys import Keys
    from thinkwire.gateway.config.gateway_config import GatewayConfig
    from thinkwire.web.auth.start_token import StartToken

_SIMULATED = """\
Everything is SIMULATED: no model is asked, no key is used, and nothing leaves this machine.
{why}"""

_CLIENTS = """
Claude Code   ANTHROPIC_BASE_URL={url} ANTHROPIC_API_KEY={key} claude --model {model}
Codex         GW_KEY={key} codex -c model_provider=gw -m {model} \\
                -c 'model_providers.gw={{name="gw",base_url="{url}/v1",env_key="GW_KEY"}}'
Gemini CLI    GOOGLE_GEMINI_BASE_URL={url} GEMINI_API_KEY={key} gemini -m {model}
opencode      in opencode.json: "provider": {{"gw": {{"npm": "@ai-sdk/openai-compatible",
                "options": {{"baseURL": "{url}/v1", "apiKey": "{key}"}}, "models": {{"{model}": {{}}}}}}}}
OpenAI SDKs   OPENAI_BASE_URL={url}/v1 OPENAI_API_KEY={key}
By hand       curl -N {url}/v1/chat/completions -H 'content-type: application/json' \\
                -d '{{"model":"{model}/high","stream":true,"messages":[{{"role":"user","content":"Why?"}}]}}'

MODEL is any name that `thinkwire models` lists; MODEL/high sets how hard it thinks.
What would be sent, and why, without sending it: header x-thinkwire-explain: true
"""


@click.command()
@click.option("--host", metavar="ADDRESS", help="Where to listen; 127.0.0.1 unless configured.")
@click.option("--port", type=click.IntRange(0, 65535), help="4141 unless configured; 0 takes any.")
@click.option("--sim/--no-sim", default=None, help="Simulated providers; also when there is no key at all.")
@click.option("--config", "file", metavar="FILE", help="Else gateway.toml in the configuration folder.")
@click.option("--workers", type=click.IntRange(1, 64), metavar="N", help="Processes; 1 unless configured.")
@click.option("--web/--no-web", default=True, help="The web app at /, beside the gateway.")
@click.option(
    "--auth", is_flag=True, help="People sign in to the web app, and the gateway needs access keys."
)
@click.option("--check", is_flag=True, help="Read the configuration, say what is wrong with it, and end.")
def serve(*, file: str | None, sim: bool | None, check: bool, web: bool, auth: bool, **said: Any) -> None:
    """Serve Claude Code, Codex, Gemini CLI, opencode and every SDK on any model, and the web app.

    \b
    Examples:
      thinkwire serve --sim
      thinkwire serve --port 8080 --config gateway.toml
      thinkwire serve --check
    """
    try:
        config = _configured(file, {name: value for name, value in said.items() if value is not None})
        if check:
            _checked(config)
            return
        _run(config, sim, web=web, auth=auth)
    except ThinkwireError as error:
        raise click.ClickException(str(error)) from None
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is missing: pip install 'thinkwire[gateway]'") from None


def _configured(file: str | None, said: dict[str, Any]) -> GatewayConfig:
    """The configuration, with what the command line says over it."""
    import msgspec

    from thinkwire.gateway.config.gateway_config import GatewayConfig

    config = GatewayConfig.load(file)
    return msgspec.structs.replace(config, server=msgspec.structs.replace(config.server, **said))


def _checked(config: GatewayConfig) -> None:
    """Names that lead nowhere are legal, and worth knowing about."""
    from thinkwire.reasoning.model_names import parse_name
    from thinkwire.reasoning.target import find_target

    providers = config.providers()
    listed = [*config.aliases.values(), *(name for names in config.fallbacks.values() for name in names)]
    listed += [rule.to for rule in config.rules if "{name}" not in rule.to]
    for name in dict.fromkeys(listed):
        if find_target(parse_name(name).name, None, providers).provider is None:
            click.echo(f"warning: nobody is known to have {name!r}", err=True)
    click.echo(f"{config.file}: in order")


def _run(config: GatewayConfig, sim: bool | None, *, web: bool, auth: bool) -> None:
    import msgspec

    from thinkwire.client.credentials import find_key
    from thinkwire.gateway.auth.keys import KeyFile
    from thinkwire.gateway.http.security import require_keys
    from thinkwire.gateway.server.serve import ServeOptions, listen, run

    keys = KeyFile().read()
    require_keys(config, keys)
    web, why_not = _with_web(config, web, auth, keyed=keys is not None)
    token = _start_token() if web else None
    held = [provider.name for provider in config.providers().values() if find_key(provider)]
    simulated = not held if sim is None else sim
    listener = listen(config.server.host, config.server.port)
    try:
        port = listener.getsockname()[1]
        config = msgspec.structs.replace(config, server=msgspec.structs.replace(config.server, port=port))
        why = "There is no key for any provider; `--no-sim` serves without." if sim is None else ""
        click.echo(_banner(config, held, None if not simulated else why, _access(config, keys, auth=auth)))
        click.echo(f"Web app        {why_not or _web_address(config, token, auth=auth)}\n")
        if token is not None:
            token.share()
        run(ServeOptions(config, simulated, web, auth), listener)
    finally:
        listener.close()


def _start_token() -> StartToken:
    from thinkwire.web.auth.start_token import StartToken

    return StartToken.from_environment()


def _web_address(config: GatewayConfig, token: StartToken | None, *, auth: bool) -> str:
    """The address that signs a browser in; with accounts, the plain one."""
    return config.server.url if auth or token is None else token.url(config.server.url)


def _with_web(config: GatewayConfig, wanted: bool, auth: bool, *, keyed: bool) -> tuple[bool, str]:
    """Whether the web app is served, and if not, why not."""
    import os
    from importlib.util import find_spec

    from thinkwire.errors import ConfigError
    from thinkwire.gateway.http.security import why_web_is_off
    from thinkwire.request_origin import is_loopback

    if not wanted:
        return False, "off (--no-web)"
    if find_spec("starlette") is None or find_spec("sqlalchemy") is None:
        return False, "off: pip install 'thinkwire[web,store]'"
    if not is_loopback(config.server.host) and not auth:
        raise ConfigError(
            f"{config.server.host} can be reached from elsewhere: people must log in to the web app (--auth, "
            "after `thinkwire users add NAME --admin`), or leave it out (--no-web)"
        )
    if (why_off := why_web_is_off(config, auth=auth, keyed=keyed)) is not None:
        return False, why_off
    if config.server.workers > 1 and not os.environ.get("THINKWIRE_REDIS_URL"):
        return False, "off: several workers share it through Redis only (THINKWIRE_REDIS_URL)"
    return True, ""


def _access(config: GatewayConfig, keys: Keys | None, *, auth: bool) -> tuple[str, str]:
    """Who may use the gateway, and the key that the examples show."""
    if keys is not None:
        return f"{len(keys.key)} access keys", "tw_…"
    if auth or config.server.allowed_hosts:
        return "no client yet; create an access key with `thinkwire keys create NAME`", "tw_…"
    return "everybody on this machine, with any key or none; through a proxy only with an access key", "any"


def _banner(config: GatewayConfig, held: list[str], simulated: str | None, access: tuple[str, str]) -> str:
    from pathlib import Path

    url = config.server.url
    lines = [click.style(f"thinkwire gateway at {url}", bold=True)]
    if simulated is not None:
        lines.append(click.style(_SIMULATED.format(why=simulated).rstrip(), fg="yellow"))
    else:
        lines.append(f"Keys for       {', '.join(held) or 'nobody; local servers can still be asked'}")
    there = Path(config.file).exists() if config.file else False
    lines.append(f"Open to        {access[0]}")
    lines.append(f"Configuration  {config.file if there else f'none ({config.file} is not there)'}")
    return (
        "\n".join(lines)
        + "\n"
        + _CLIENTS.format(url=url, key=access[1], model=_example(held, simulated is not None))
    )


def _example(held: list[str], simulated: bool) -> str:
    """The newest model of the first service that can be asked."""
    from thinkwire.catalog import default_catalog

    wanted = held[0] if held and not simulated else "deepseek"
    thinking = [facts for facts in default_catalog() if facts.provider == wanted and facts.can_think]
    named = [facts for facts in thinking if "*" not in facts.id]
    newest = max(named, key=lambda facts: str(facts.released or ""), default=None)
    return f"{newest.provider}/{newest.id}" if newest is not None else "PROVIDER/MODEL"
