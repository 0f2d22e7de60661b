/**
 * The clock of one process, set while it runs. All nodes share the clock of this machine, which no test may set, and a namespace of time
 * has no wall clock: so the agent starts with this module, and what it reads of the time of day is shifted by a file. Its monotonic
 * clock is not, as that of a machine whose clock is set. What OpenSSL reads is not shifted either.
 */
import type { TestNode } from '../node-kit.ts';
import { AGENT_UNIT, NODE_PATHS } from './breakage.ts';

/** JavaScript that Node.js imports before the program. */
export const CLOCK_PROGRAM = `import { readFileSync } from 'node:fs';
const Real = Date;
let shiftMs = 0;
let readAtMs = -Infinity;
function nowMs() {
  const atMs = performance.now();
  if (atMs - readAtMs > 100) {
    readAtMs = atMs;
    try { shiftMs = Number(readFileSync('${NODE_PATHS.clock}', 'utf8')); } catch { shiftMs = 0; }
  }
  return Real.now() + shiftMs;
}
globalThis.Date = new Proxy(Real, {
  construct: (real, words) => (words.length === 0 ? new real(nowMs()) : new real(...words)),
  get: (real, key) => (key === 'now' ? nowMs : Reflect.get(real, key)),
});`;

/** Starts the agent by a clock that a file of the node decides. */
export async function putAgentClock(node: TestNode): Promise<void> {
  const program = '/usr/local/lib/kubenode/clock.mjs';
  const dropIn = `/etc/systemd/system/${AGENT_UNIT}.service.d/clock.conf`;
  const write = `cat > ${program} <<'EOT'\n${CLOCK_PROGRAM}\nEOT\n`;
  const unit = `printf '[Service]\\nEnvironment=NODE_OPTIONS=--import=${program}\\n' > ${dropIn}`;
  await node.run(
    '/bin/bash',
    '-ec',
    `${write}${unit}\nsystemctl daemon-reload\nsystemctl restart ${AGENT_UNIT}`,
  );
}
