import { GoogleGenAI } from "@google/genai";
import { main, OPTIONS } from "./cases.mjs";

const client = (baseUrl) =>
  new GoogleGenAI({ apiKey: OPTIONS.apiKey, httpOptions: { baseUrl, timeout: OPTIONS.timeout } });

const plain = ({ candidates, usageMetadata, modelVersion, responseId, promptFeedback }) =>
  ({ candidates, usageMetadata, modelVersion, responseId, promptFeedback });

const chunks = async (stream) => {
  const seen = [];
  for await (const chunk of stream) seen.push(plain(chunk));
  return seen;
};

await main({
  create: async (url, params) => [plain(await client(url).models.generateContent(params))],
  stream: async (url, params) => chunks(await client(url).models.generateContentStream(params)),
  again: async (url, { model, contents, config }) => {
    const history = contents.slice(0, -1);
    const chat = client(url).chats.create({ model, config, history });
    await chunks(await chat.sendMessageStream({ message: contents.at(-1).parts }));
    return [plain(await chat.sendMessage({ message: "Go on." }))];
  },
});
