// The AI SDK, streaming and whole: URL WIRE MODEL PROMPT
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, wire, model, prompt] = process.argv.slice(2);
const { resolve } = createRequire(`${process.env.LIBRARY}/package.json`);
const load = (name) => import(pathToFileURL(resolve(name)));

const { streamText, generateText, tool, isStepCount } = await load("ai");
const { z } = await load("zod");
const apiKey = process.env.GW_KEY;

const makers = {
  messages: async () => {
    const { createAnthropic } = await load("@ai-sdk/anthropic");
    const anthropic = { thinking: { type: "enabled", budgetTokens: 2048 } };
    return [createAnthropic({ baseURL: `${url}/v1`, apiKey })(model), { anthropic }];
  },
  responses: async () => {
    // Nothing is said about storing, so the second turn only names the reasoning of the first by its id.
    const { createOpenAI } = await load("@ai-sdk/openai");
    return [createOpenAI({ baseURL: `${url}/v1`, apiKey })(model), { openai: { reasoningSummary: "auto" } }];
  },
  chat: async () => {
    const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
    const made = createOpenAICompatible({ name: "gw", baseURL: `${url}/v1`, apiKey, includeUsage: true });
    return [made(model), { gw: { reasoningEffort: "high" } }];
  },
  gemini: async () => {
    const { createGoogleGenerativeAI } = await load("@ai-sdk/google");
    const google = { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } };
    return [createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })(model), { google }];
  },
};

const [made, providerOptions] = await makers[wire]();
const get_weather = tool({
  description: "The weather in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async () => ["tool", "ran", "7319"].join("-"),
});
const asked = {
  model: made,
  prompt,
  tools: { get_weather },
  stopWhen: isStepCount(6),
  providerOptions,
  maxRetries: 0,
};

const told = { reasoning: "", text: "" };
for await (const part of streamText({ ...asked, onError: () => {} }).fullStream) {
  if (part.type === "error") throw part.error;
  if (part.type === "reasoning-delta") told.reasoning += part.text;
  if (part.type === "text-delta") told.text += part.text;
}
console.log("streamed thinking:", told.reasoning);
const whole = await generateText(asked);
console.log("whole thinking:", whole.steps.map((step) => step.reasoningText).join(" "));
if (told.text !== whole.text) throw new Error(`streamed ${told.text}, whole ${whole.text}`);
console.log("said:", whole.text);
