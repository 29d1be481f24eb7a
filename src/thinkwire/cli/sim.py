"""`thinkwire sim`: every provider on one port of this machine, strict, scripted and without a key."""

from __future__ import annotations

import click

_TRY = """
Everything here is simulated: no key is checked, nothing leaves this machine, no model is asked.
Any key passes, but for one that begins with "bad".

Point any client at a provider's path, for example:
  ANTHROPIC_BASE_URL={url}/anthropic
  OPENAI_BASE_URL={url}/openai/v1
  GOOGLE_GEMINI_BASE_URL={url}/google

Or ask by hand:
  curl -N {url}/anthropic/v1/messages -H 'x-api-key: any' -H 'anthropic-version: 2023-06-01' \\
    -d '{{"model":"{claude}","max_tokens":2000,"stream":true,
         "messages":[{{"role":"user","content":"[[think:Let me see.]] [[say:Hello!]]"}}]}}'

Script the model inside the text: [[think:…]] [[say:…]] [[call:TOOL {{…}}]] & [[call:…]] [[shell:CMD]]
  [[refuse]] [[fail:429]] [[cut]] [[stall:5]]; trouble for one request: header x-sim-chaos: cut=120

Providers: {providers}
"""


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8017, show_default=True, help="0 takes any.")
@click.option("--chaos", "spec", metavar="SPEC", help="Trouble for all, e.g. latency=0.2,cut=120,p=0.1.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, other thoughts.")
def sim(port: int, spec: str | None, seed: int) -> None:
    """Serve strict simulated providers until Ctrl-C."""
    from thinkwire.cli.signals import run
    from thinkwire.errors import ConfigError
    from thinkwire.sim.app import Simulator
    from thinkwire.sim.chaos import Chaos

    try:
        chaos = Chaos.parse(spec) if spec else None
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    try:
        run(_serve(Simulator(seed=seed, chaos=chaos), port))
        click.echo("\nThe simulators are closed.")
    except OSError as error:
        raise click.ClickException(f"port {port}: {error.strerror or error}") from None
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is missing: pip install {error.name}") from None


async def _serve(app: object, port: int) -> int:
    import asyncio

    from thinkwire.catalog import default_catalog
    from thinkwire.providers import default_providers
    from thinkwire.sim.app import Simulator
    from thinkwire.sim.server import serving

    assert isinstance(app, Simulator)
    claude = next(facts.id for facts in default_catalog() if facts.provider == "anthropic")
    async with serving(app, port=port) as url:
        click.secho(f"Simulated providers at {url}", bold=True)
        if app.chaos is not None:
            click.echo(f"Chaos: {app.chaos}")
        click.echo(_TRY.format(url=url, claude=claude, providers=" ".join(default_providers())))
        await asyncio.Event().wait()
    return 0
