import OpenAI from "openai";
import { main, OPTIONS } from "./cases.mjs";

const client = (url) => new OpenAI({ ...OPTIONS, baseURL: `${url}/v1` });
const completions = (url) => client(url).chat.completions;
const responses = (url) => client(url).responses;
const usage = { stream_options: { include_usage: true } };

// Of fields that it does not know, the stream helper keeps the last piece only. Programs that want the reasoning
// gather it themselves, like this.
const told = async (url, params) => {
  const gathered = {};
  const stream = completions(url).stream({ ...params, ...usage });
  stream.on("chunk", ({ choices }) => {
    for (const name of ["reasoning_content", "reasoning"]) {
      const piece = choices[0]?.delta[name];
      if (piece) gathered[name] = (gathered[name] ?? "") + piece;
    }
  });
  const completion = await stream.finalChatCompletion();
  Object.assign(completion.choices[0].message, gathered);
  return completion;
};

await main({
  "chat.create": (url, params) => completions(url).create(params),
  "chat.stream": told,
  "chat.again": async (url, params) => {
    const { choices } = await told(url, params);
    const more = [choices[0].message, { role: "user", content: "Go on." }];
    return completions(url).create({ ...params, messages: [...params.messages, ...more] });
  },
  "responses.create": (url, params) => responses(url).create(params),
  "responses.stream": (url, params) => responses(url).stream(params).finalResponse(),
  "responses.again": async (url, params) => {
    const { output } = await responses(url).stream(params).finalResponse();
    const more = [...output, { role: "user", content: "Go on." }];
    return responses(url).create({ ...params, input: [...params.input, ...more] });
  },
});
