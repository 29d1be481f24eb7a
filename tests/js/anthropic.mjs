import Anthropic from "@anthropic-ai/sdk";
import { main, OPTIONS } from "./cases.mjs";

const messages = (baseURL) => new Anthropic({ ...OPTIONS, baseURL }).messages;

await main({
  create: (url, params) => messages(url).create(params),
  stream: (url, params) => messages(url).stream(params).finalMessage(),
  again: async (url, params) => {
    const { content } = await messages(url).stream(params).finalMessage();
    const more = [{ role: "assistant", content }, { role: "user", content: "Go on." }];
    return messages(url).create({ ...params, messages: [...params.messages, ...more] });
  },
});
