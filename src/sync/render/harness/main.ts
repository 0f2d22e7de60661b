/** Renders one commit into lines of JSON, inside the sandbox. sandbox.ts starts this program, and nothing imports it. */
import type { RenderErrorCode } from '../errors.ts';
import { FACTS_SYMBOL, type RenderJob } from '../protocol.ts';
import { disableBuiltins } from './disable-builtins.ts';
import { findEntry } from './entry.ts';
import { fixClockAndSeed } from './fixed-clock-and-seed.ts';
import { ignoredFileWarnings } from './ignored-files.ts';
import { lockWarnings } from './lock-file.ts';
import { resolveFromToolchain } from './modules.ts';
import { createOutput } from './output.ts';
import { renderPlain } from './plain.ts';
import { collectPolicyTests } from './policy-tests.ts';
import { renderProgram } from './program.ts';
import { createSourceLocator, problemOf } from './source-location.ts';

const job = JSON.parse(process.argv[2] ?? '') as RenderJob;
// The program must not see folders of this machine, nor how it is isolated.
for (const name of ['NODE_COMPILE_CACHE', 'NODE_COMPILE_CACHE_READONLY', 'PATH']) delete process.env[name];
const out = createOutput();
const locator = createSourceLocator(job);
Object.defineProperty(globalThis, FACTS_SYMBOL, { value: Object.freeze(job.facts) });
resolveFromToolchain(job);
fixClockAndSeed();
const exit = disableBuiltins();

for (const warning of lockWarnings(job.root, job.path, job.versions)) out.warning(warning);
try {
  if (job.content === 'policyTests') await collectPolicyTests(job, out, report);
  else await renderObjects();
} catch (error) {
  report(error);
}
out.end();
exit(0);

/** `file`: of an error that does not tell where it was thrown. */
function report(error: unknown, file?: string): void {
  const problem = problemOf(error, locator);
  out.problem(codeOf(error), file === undefined ? problem : { file, ...problem });
}

async function renderObjects(): Promise<void> {
  const entry = findEntry(job.root, job.path);
  for (const warning of ignoredFileWarnings(job.root, job.path, entry)) out.warning(warning);
  if (entry.kind === 'program') await renderProgram(job.root, entry.file, locator, out);
  else if (entry.kind === 'plain') renderPlain(job.root, entry.folder, out);
  else out.problem('NoEntry', { message: entry.reason });
}

/** A library may have wrapped the error. */
function codeOf(error: unknown): RenderErrorCode {
  type Cause = { code?: unknown; cause?: unknown } | undefined;
  for (let cause = error as Cause; cause; cause = cause.cause as Cause) {
    if (cause.code === 'ERR_ACCESS_DENIED' || cause.code === 'ERR_DLOPEN_DISABLED') return 'Denied';
    if (cause.code === 'ERR_MEMORY_ALLOCATION_FAILED') return 'OutOfMemory';
    if (cause.code === 'KUBENODE_MISSING_MODULE') return 'MissingModule';
  }
  return 'Failed';
}
