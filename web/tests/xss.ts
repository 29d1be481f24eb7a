// What a model, a tool or a file name could try. None of it may become more than text.
import corpus from "./corpus.json";

export const CORPUS: string[] = corpus;
