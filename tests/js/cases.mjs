// Runs one mode of an SDK over the cases on standard input, {name: {url, params}}, and prints what came of each:
// {name: {value}} with the SDK's final object, or {name: {error}} with what it threw.
import { text } from "node:stream/consumers";

export const OPTIONS = { apiKey: "none", maxRetries: 0, timeout: 15_000 };

const outcome = async (run, url, params) => {
  try {
    return { value: await run(url, params) };
  } catch (thrown) {
    const { status, code, message } = thrown;
    return { error: { name: thrown.constructor.name, status, code, message } };
  }
};

export const main = async (modes) => {
  const run = modes[process.argv[2]];
  const results = {};
  for (const [name, { url, params }] of Object.entries(JSON.parse(await text(process.stdin)))) {
    results[name] = await outcome(run, url, params);
  }
  process.stdout.write(JSON.stringify(results));
};
