// The SDKs as agents write them: stream, run the tools, give everything back, until the model has answered.
// Params are {model, prompt, tool: {name, description, schema}, result}; what comes is {thoughts, text}.
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { main, OPTIONS } from "./cases.mjs";

const ROUNDS = 8;

const loop = async (turn) => {
  const thoughts = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { thought, text, done } = await turn();
    thoughts.push(thought);
    if (done) return { thoughts, text };
  }
  throw new Error("it never ends");
};

const joined = (texts) => texts.filter(Boolean).join("");

const anthropic = (baseURL, { model, prompt, tool, result }) => {
  const client = new Anthropic({ ...OPTIONS, baseURL });
  const tools = [{ name: tool.name, description: tool.description, input_schema: tool.schema }];
  const thinking = { type: "enabled", budget_tokens: 4000 };
  const messages = [{ role: "user", content: prompt }];
  return loop(async () => {
    const asked = { model, max_tokens: 16_000, thinking, tools, messages };
    const { content } = await client.messages.stream(asked).finalMessage();
    const calls = content.filter(({ type }) => type === "tool_use");
    const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: result }));
    messages.push({ role: "assistant", content }, { role: "user", content: results });
    const of = (field) => joined(content.map((block) => block[field]));
    return { thought: of("thinking"), text: of("text"), done: calls.length === 0 };
  });
};

const chat = (url, { model, prompt, tool, result }) => {
  const client = new OpenAI({ ...OPTIONS, baseURL: `${url}/v1` });
  const { name, description, schema: parameters } = tool;
  const tools = [{ type: "function", function: { name, description, parameters } }];
  const messages = [{ role: "user", content: prompt }];
  return loop(async () => {
    let thought = "";
    const stream = client.chat.completions.stream({ model, reasoning_effort: "high", tools, messages });
    stream.on("chunk", ({ choices }) => { thought += choices[0]?.delta.reasoning_content ?? ""; });
    const { content, tool_calls } = (await stream.finalChatCompletion()).choices[0].message;
    const calls = tool_calls ?? [];
    messages.push({ role: "assistant", content, ...(calls.length ? { tool_calls: calls } : {}) });
    messages.push(...calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: result })));
    return { thought, text: content, done: calls.length === 0 };
  });
};

const responses = (url, { model, prompt, tool, result }) => {
  const client = new OpenAI({ ...OPTIONS, baseURL: `${url}/v1` });
  const { name, description, schema: parameters } = tool;
  const tools = [{ type: "function", name, description, parameters, strict: false }];
  const reasoning = { effort: "high", summary: "auto" };
  const include = ["reasoning.encrypted_content"];
  const input = [{ role: "user", content: prompt }];
  return loop(async () => {
    const asked = { model, reasoning, include, store: false, tools, input };
    const { output, output_text } = await client.responses.stream(asked).finalResponse();
    const calls = output.filter(({ type }) => type === "function_call");
    input.push(...output);
    input.push(...calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: result })));
    const summaries = output.flatMap(({ summary }) => summary ?? []);
    return { thought: joined(summaries.map(({ text }) => text)), text: output_text, done: calls.length === 0 };
  });
};

const gemini = (baseUrl, { model, prompt, tool, result }) => {
  const httpOptions = { baseUrl, timeout: OPTIONS.timeout };
  const client = new GoogleGenAI({ apiKey: OPTIONS.apiKey, httpOptions });
  const { name, description, schema: parametersJsonSchema } = tool;
  const config = {
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema }] }],
    thinkingConfig: { includeThoughts: true },
  };
  const contents = [{ role: "user", parts: [{ text: prompt }] }];
  return loop(async () => {
    const parts = [];
    for await (const chunk of await client.models.generateContentStream({ model, contents, config })) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    }
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    const answers = calls.map(({ id, name }) => ({ functionResponse: { id, name, response: { result } } }));
    contents.push({ role: "model", parts }, { role: "user", parts: answers });
    const of = (thought) => joined(parts.filter((part) => Boolean(part.thought) === thought).map(({ text }) => text));
    return { thought: of(true), text: of(false), done: calls.length === 0 };
  });
};

await main({ anthropic, "openai-chat": chat, "openai-responses": responses, gemini });
