// The page's policy forbids making code from text, and zod need not even try. Imported before whatever uses it.
import { config } from "zod/v4/core";

config({ jitless: true });
