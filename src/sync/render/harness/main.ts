/** Runs inside the sandbox: one commit in, lines of JSON out. Started by sandbox.ts, never imported. */
import type { RenderErrorCode } from '../errors.ts';
import { FACTS, type RenderJob } from '../protocol.ts';
import { disableBuiltins } from './disable-builtins.ts';
import { findEntry } from './entry.ts';
import { fixClockAndSeed } from './fixed-clock-and-seed.ts';
import { lockWarnings } from './lock-file.ts';
import { resolveFromToolchain } from './modules.ts';
import { createOutput } from './output.ts';
import { renderPlain } from './plain.ts';
import { renderProgram } from './program.ts';
import { createSourceLocator, problemOf } from './source-location.ts';

const job = JSON.parse(process.argv[2] ?? '') as RenderJob;
process.argv.splice(2);
// Folders of this machine are no input of a render.
for (const name of ['NODE_COMPILE_CACHE', 'NODE_COMPILE_CACHE_READONLY']) delete process.env[name];
const out = createOutput();
const locator = createSourceLocator(job);
Object.defineProperty(globalThis, FACTS, { value: Object.freeze(job.facts) });
resolveFromToolchain(job);
fixClockAndSeed();
const end = disableBuiltins();

for (const warning of lockWarnings(job.root, job.path, job.versions)) out.warning(warning);
const entry = findEntry(job.root, job.path);
try {
  if (entry.kind === 'program') await renderProgram(job.root, entry.file, locator, out);
  else if (entry.kind === 'plain') renderPlain(job.root, entry.folder, out);
  else out.problem('NoEntry', { message: entry.because });
} catch (error) {
  out.problem(codeOf(error), problemOf(error, locator));
}
out.end();
end(0);

/** A denial may be wrapped in what a library makes of it. */
function codeOf(error: unknown): RenderErrorCode {
  for (let at = error as { code?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at) {
    if (at.code === 'ERR_ACCESS_DENIED' || at.code === 'ERR_DLOPEN_DISABLED') return 'Denied';
    if (at.code === 'ERR_MEMORY_ALLOCATION_FAILED') return 'OutOfMemory';
    if (at.code === 'KUBENODE_MISSING_MODULE') return 'MissingModule';
  }
  return 'Failed';
}
