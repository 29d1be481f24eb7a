import OpenAI from "openai";
import { main, OPTIONS } from "./cases.mjs";

const client = (url) => new OpenAI({ ...OPTIONS, baseURL: `${url}/v1` });
const completions = (url) => client(url).chat.completions;
const responses = (url) => client(url).responses;
const usage = { stream_options: { include_usage: true } };

const events = async (url, params) => {
  const seen = [];
  for await (const event of await responses(url).create({ ...params, stream: true })) seen.push(event);
  return seen;
};

await main({
  "chat.create": (url, params) => completions(url).create(params),
  "chat.stream": (url, params) => completions(url).stream({ ...params, ...usage }).finalChatCompletion(),
  "chat.again": async (url, params) => {
    const { choices } = await completions(url).stream({ ...params, ...usage }).finalChatCompletion();
    const more = [choices[0].message, { role: "user", content: "Go on." }];
    return completions(url).create({ ...params, messages: [...params.messages, ...more] });
  },
  "responses.create": (url, params) => responses(url).create(params),
  "responses.events": events,
  "responses.stream": (url, params) => responses(url).stream(params).finalResponse(),
  "responses.again": async (url, params) => {
    const { output } = await responses(url).stream(params).finalResponse();
    const more = [...output, { role: "user", content: "Go on." }];
    return responses(url).create({ ...params, input: [...params.input, ...more] });
  },
});
